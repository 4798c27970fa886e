"""A plugin of pytest for Keras' tests: `tensorflow` is tape_compat, but where KERAS_ON=tensorflow.

KERAS_RESULTS names a file that gets a line for each test: its outcome and its id.
"""

import gc
import os
import sys
import types
from importlib.machinery import ModuleSpec
from importlib.util import find_spec

import pytest

gc.set_threshold(100_000, 50, 100)  # as in tests/conftest.py
os.environ["KERAS_BACKEND"] = "tensorflow"
ON_TENSORFLOW = os.environ.get("KERAS_ON") == "tensorflow"
if not ON_TENSORFLOW:
    import tape_compat

    tape_compat.install_as_tensorflow()


def skip_if_backend(given_backend, reason):
    return pytest.mark.skipif(given_backend == "tensorflow", reason=reason)


#: What some of the tests import of a file that the wheel has not.
sys.modules["conftest"] = types.ModuleType("conftest")
sys.modules["conftest"].skip_if_backend = skip_if_backend

#: Libraries that whole files of tests import for a few of them. Where one is not installed, a
#: module of empty classes stands for it until the files are collected, and their other tests run.
IMPORTED = ("grain", "pandas", "torch", "torch.utils", "torch.utils.data")


class Absent(types.ModuleType):
    """A library that is not installed: any name of it is an empty class."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        setattr(self, name, type(name, (), {"__module__": self.__name__}))
        return getattr(self, name)


ABSENT = [name for name in IMPORTED if find_spec(name.partition(".")[0]) is None]
for name in ABSENT:
    sys.modules[name] = Absent(name)
    sys.modules[name].__spec__ = ModuleSpec(name, None, is_package=True)
    sys.modules[name].__path__ = []

#: Outcomes of the tests by their ids; the worst of set-up, call and tear-down.
OUTCOMES = {}


def pytest_configure(config):
    config.addinivalue_line("markers", "requires_trainable_backend: ours is one")


def pytest_collection_finish():
    for name in ABSENT:
        sys.modules.pop(name, None)


def pytest_runtest_logreport(report):
    before = OUTCOMES.get(report.nodeid, "passed")
    if before == "passed":
        OUTCOMES[report.nodeid] = report.outcome


def pytest_collectreport(report):
    """A file that cannot be collected stands for its tests."""
    if report.failed:
        OUTCOMES[report.nodeid] = "failed"


def pytest_sessionfinish(session):
    path = os.environ.get("KERAS_RESULTS")
    if path and not hasattr(session.config, "workerinput"):
        with open(path, "a") as file:
            for name, outcome in OUTCOMES.items():
                file.write(f"{outcome}\t{name.partition('src/')[2]}\n")
