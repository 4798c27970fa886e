"""A plugin of pytest for Keras' tests: `tensorflow` is tape_compat, but with KERAS_ON=tensorflow."""

import os

os.environ["KERAS_BACKEND"] = "tensorflow"
if os.environ.get("KERAS_ON", "tape_compat") == "tape_compat":
    import tape_compat

    tape_compat.install_as_tensorflow()


if os.path.exists("/tmp/stub.py"):
    import sys; sys.path.insert(0,"/tmp"); import stub

def pytest_configure(config):
    config.addinivalue_line("markers", "requires_trainable_backend: all that are run here are")
