"""Every example runs to its end; each asserts its own result."""

from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.processes import run

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


@pytest.mark.part
@pytest.mark.parametrize("path", [pytest.param(path, id=path.stem) for path in EXAMPLES])
def test_example(path, tmp_path):
    for needed in ("matplotlib", "sklearn", "tqdm"):
        if needed in path.read_text():
            pytest.importorskip(needed, reason=f"{needed} (extra `examples`) is not installed")
    if path.stem.startswith("keras_") and find_spec("keras") is None:
        pytest.skip("keras (extra `keras`) is not installed")
    environment = {"XLA_FLAGS": ""} if path.stem in AS_USERS_DO else {}
    after = "keras" if path.stem.startswith("keras_") else "tape_compat"
    copy = tmp_path / path.name  # what it writes beside itself goes there
    copy.write_text(path.read_text())
    strict = "error::DeprecationWarning:__main__"
    done = run("-W", strict, str(copy), after=after, cwd=tmp_path, **environment)
    assert SAYS[path.stem] in done.stdout
    if path.stem == "train_digits":
        assert (tmp_path / "train_digits.png").stat().st_size > 10_000
