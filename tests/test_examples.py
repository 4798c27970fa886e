"""Every example runs to its end; each asserts its own result."""

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

EXAMPLES = sorted((Path(__file__).resolve().parent.parent / "examples").glob("*.py"))
#: A largest value is compared with what is computed a second time: where nothing is optimized XLA
#: rounds the two in other ways, and the gradient of `jnp.max`, as ours, is 0 / 0.
AS_USERS_DO = {"keras_transfer"}
SAYS = {
    "gan_1d": "deviation",
    "hessian_newton": "minimum at [1. 1. 1. 1. 1. 1.]",
    "jax_inside": "real values 2.0, 0.3",
    "keras_gan": "distance from the centre",
    "keras_maml": "last 50 steps",
    "keras_pinn": "largest error 0.00",
    "keras_transfer": "left or right, 2 new weights",
    "many_models": "model 7 goes on",
    "pinn_burgers": "error at t = 1",
    "resume_training": "the last 40 losses are those of a run without a break",
    "train_digits": "test accuracy 9",
}


@pytest.mark.parametrize("path", [pytest.param(path, id=path.stem) for path in EXAMPLES])
def test_example(path, tmp_path):
    for needed in ("matplotlib", "sklearn", "tqdm"):
        if needed in path.read_text():
            pytest.importorskip(needed, reason=f"{needed} (extra `examples`) is not installed")
    if path.stem.startswith("keras_") and find_spec("keras") is None:
        pytest.skip("keras (extra `keras`) is not installed")
    environment = {**os.environ, "PYTHONPATH": str(path.parent.parent)}
    if path.stem in AS_USERS_DO:
        environment["XLA_FLAGS"] = ""
    copy = tmp_path / path.name  # what it writes beside itself goes there
    copy.write_text(path.read_text())
    done = subprocess.run(
        [sys.executable, "-W", "error::DeprecationWarning:__main__", str(copy)],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert SAYS[path.stem] in done.stdout
    if path.stem == "train_digits":
        assert (tmp_path / "train_digits.png").stat().st_size > 10_000
