"""`tensorflow.python.framework.test_util`: decorators of tests, as tests of libraries use them."""

from __future__ import annotations

import contextlib
import functools
import unittest
from collections.abc import Callable, Iterator
from typing import Any

from .runtime import graph_mode


def _as_it_is(target: Any = None, **_: Any) -> Any:
    """A decorator that does nothing: with arguments, or without."""
    return target if target is not None else _as_it_is


disable_cudnn_autotune = disable_tfrt = disable_xla = _as_it_is
run_all_in_graph_and_eager_modes = run_in_graph_and_eager_modes = run_v2_only = _as_it_is
run_all_without_tensor_float_32 = run_without_tensor_float_32 = _as_it_is
with_eager_op_as_function = enable_eager_op_as_function = _as_it_is


def for_all_test_methods(decorator: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """A decorator of classes, which decorates their methods that are tests."""

    def decorate(cls: Any) -> Any:
        for name, value in list(vars(cls).items()):
            if callable(value) and name.startswith("test"):
                setattr(cls, name, decorator(*args, **kwargs)(value))
        return cls

    return decorate


def deprecated_graph_mode_only(target: Any) -> Any:
    """A decorator of a test, or of a class of tests, that is written for a graph: it raises when it
    runs."""
    if isinstance(target, type):
        return for_all_test_methods(lambda: deprecated_graph_mode_only)(target)

    @functools.wraps(target)
    def test(*args: Any, **kwargs: Any) -> Any:
        with graph_mode():
            return target(*args, **kwargs)

    return test


run_deprecated_v1 = deprecated_graph_mode_only


def run_v1_only(reason: str, func: Any = None) -> Any:
    """A decorator of a test, or of a class of tests, of TensorFlow 1, which are skipped."""
    skipped = unittest.skip(reason)
    return skipped if func is None else skipped(func)


def is_gpu_available(*_: Any, **__: Any) -> bool:
    """False: what tests ask that of are TensorFlow's kernels."""
    return False


is_xla_enabled = is_mlir_bridge_enabled = is_gpu_available


@contextlib.contextmanager
def device(use_gpu: bool) -> Iterator[None]:
    """Nothing: devices are JAX's."""
    yield


use_gpu = force_gpu = contextlib.nullcontext
