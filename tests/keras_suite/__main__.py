"""Keras' own tests on us: `python -m tests.keras_suite [folders or files below keras/src]`.

A test counts if it passes on the real TensorFlow: `not_on_tensorflow.txt` lists those that do not
(`failed`, or `skipped` as those for another backend), and is written by
`python -m tests.keras_suite --on-tensorflow`. Those that pass there and not here
stand in `differences.txt`, each with its reason. `--sample` runs those of `sample.txt`, which all
pass.

Exits with 1 if a test that is not listed fails, or if less than 98 % of those that count pass.
"""

import argparse
import importlib.util
import os
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
NOT_ON_TENSORFLOW = HERE / "not_on_tensorflow.txt"
DIFFERENCES = HERE / "differences.txt"
SAMPLE = HERE / "sample.txt"
ASKED = 0.98

#: Folders of Keras' tests that say something about the backend.
FOLDERS = (
    "activations applications/imagenet_utils_test.py backend/common backend/tensorflow "
    "backend/tests callbacks constraints datasets distillation distribution dtype_policies "
    "export/saved_model_test.py export/tfsm_layer_test.py initializers layers legacy losses "
    "metrics models ops optimizers quantizers random regularizers saving testing trainers tree "
    "utils"
).split()


def source() -> Path:
    """The folder `keras/src`."""
    spec = importlib.util.find_spec("keras")
    assert spec is not None and spec.origin is not None, "Keras is not installed"
    return Path(spec.origin).parent / "src"


def listed(file: Path) -> dict[str, str]:
    """The tests that a file lists, and what it says of them."""
    if not file.exists():
        return {}
    lines = [
        line.split("\t") for line in file.read_text().splitlines() if line[:1] not in ("#", "")
    ]
    return {name: "\t".join(rest) for name, *rest in lines}


def outcomes(tests: list[str], on_tensorflow: bool, workers: int) -> dict[str, str]:
    """How the tests of Keras ended: 'passed', 'failed' or 'skipped' by 'layers/x_test.py::X::y'."""
    keras = source()
    with tempfile.TemporaryDirectory() as folder:
        results = Path(folder) / "results"
        environment = {
            **os.environ,
            "KERAS_ON": "tensorflow" if on_tensorflow else "tape_compat",
            "KERAS_RESULTS": str(results),
            "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]),
        }
        command = [sys.executable, "-m", "pytest", "-q", "-n", str(workers), "--dist", "worksteal"]
        command += ["-p", "tests.keras_suite.plugin", "-p", "no:cacheprovider", "--tb=native"]
        command += ["-c", os.devnull, "--rootdir", str(keras.parent), "--import-mode=prepend"]
        command += ["-W", "ignore", "--continue-on-collection-errors"]
        command += [*(str(keras / test) for test in tests)]
        subprocess.run(command, cwd=folder, env=environment, check=False)
        lines = results.read_text().splitlines() if results.exists() else []
    return {name: outcome for outcome, name in (line.split("\t") for line in lines)}


def main() -> int:
    parser = argparse.ArgumentParser("python -m tests.keras_suite", description=__doc__)
    parser.add_argument("tests", nargs="*", help="below keras/src; default is all that count")
    parser.add_argument("--on-tensorflow", action="store_true", help="write the list of TensorFlow")
    parser.add_argument("--sample", action="store_true", help="run the sample")
    parser.add_argument("-n", type=int, default=min(os.cpu_count() or 1, 4), help="workers")
    given = parser.parse_args()
    tests = [*(given.tests or (listed(SAMPLE) if given.sample else FOLDERS))]
    found = outcomes(tests, given.on_tensorflow, given.n)
    return note(found) if given.on_tensorflow else compare(found)


def file_of(test: str) -> str:
    """The file of a test. One that cannot be collected is listed in place of its tests."""
    return test.partition("::")[0]


def note(found: dict[str, str]) -> int:
    """List the tests that do not pass on TensorFlow; of those that were not run as they were."""
    collected = {file_of(name) for name in found if "::" in name}
    rows = {n: how for n, how in listed(NOT_ON_TENSORFLOW).items() if n not in collected}
    rows = {name: how for name, how in {**rows, **found}.items() if how != "passed"}
    NOT_ON_TENSORFLOW.write_text("".join(f"{n}\t{how}\n" for n, how in sorted(rows.items())))
    passed = list(found.values()).count("passed")
    print(f"{passed} of {len(found)} pass on TensorFlow")
    return 0


def compare(found: dict[str, str]) -> int:
    """Say how many of the tests that pass on TensorFlow pass here; one that is skipped does not."""
    not_there, differences = listed(NOT_ON_TENSORFLOW), listed(DIFFERENCES)
    absent = {n for n in found if n in not_there or file_of(n) in not_there}
    counted = {n: how for n, how in found.items() if n not in absent}
    failed = [name for name, outcome in counted.items() if outcome != "passed"]
    surprising = [name for name in failed if name not in differences]
    for name in surprising:
        print(f"failed, and not listed: {name}")
    for name in differences:
        if counted.get(name) == "passed":
            print(f"listed, but passes: {name}")
    passed = len(counted) - len(failed)
    share = passed / max(len(counted), 1)
    print(f"{share:.2%} of {len(counted)} tests that pass on TensorFlow pass here")
    print(f"{passed} passed, {len(surprising)} failed")
    return int(bool(surprising) or share < ASKED or not counted)


if __name__ == "__main__":
    sys.exit(main())
