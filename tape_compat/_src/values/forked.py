"""After `os.fork()` JAX cannot run in the child if it ran in the parent: its threads are gone, and
a call waits for them for ever. There everything that would reach JAX raises instead."""

from __future__ import annotations

import os
from typing import Any, NoReturn

import jax
import numpy as np

from ..core import x64
from ..core.native import provide
from .tensor import Tensor


def refuse(*_: Any) -> NoReturn:
    raise RuntimeError(
        "This process was forked from one in which JAX had started, so no op can run in it: it "
        "would wait for ever. Start processes by multiprocessing.get_context('spawn') or "
        "'forkserver', or fork before the first op runs."
    )


def _value(tensor: Tensor) -> Any:
    """`Tensor._value` in such a child: only what was never given to JAX can be read."""
    array = tensor._array
    return array if isinstance(array, np.ndarray) else refuse()


def _started() -> bool:
    """Whether JAX has started its devices: then it refuses another number of them."""
    name = "jax_num_cpu_devices"
    number = getattr(jax.config, name)
    try:
        jax.config.update(name, max(number, 1) + 1)
    except RuntimeError:
        return True
    jax.config.update(name, number)
    return False


def _in_child() -> None:
    if _started():
        x64.enable_x64 = refuse
        provide(enable_x64=refuse)
        Tensor._value = _value  # type: ignore[method-assign]


def watch() -> None:
    """Have this seen to in every forked process."""
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=_in_child)
