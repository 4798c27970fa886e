"""`experimental_enable_numpy_behavior`: NumPy's methods, promotion and indices for tensors.

Off, tensors are as they always were, and nothing is asked at a call. On, the operators of tensors
and variables bring their operands to one dtype before they call the ops.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import jax
import numpy as np

from ...values import operators
from ...values.convert import convert
from ...values.tensor import Tensor
from ...values.variable import Variable
from ..casting import cast
from . import reductions, shapes
from .arithmetic import clip
from .arrays import converted
from .dtypes import common_type, prefer_float32 as _prefer_float32, result_type, settles
from .elementwise import around
from .indexing import numpy_getitem
from .products import matmul

_TWO_WAYS = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "and", "or", "xor")
_ONE_WAY = ("lt", "le", "gt", "ge", "eq", "ne")
_ARRAYS = (Tensor, Variable)
_MODES = ("off", "legacy", "safe", "all")


def _together(x: Any, y: Any) -> tuple[Any, Any]:
    """Operands of one dtype, by NumPy's rules. What NumPy has no dtype for stays as it is."""
    if isinstance(y, _ARRAYS):
        if x.dtype is y.dtype:
            return x, y
    elif not isinstance(y, (bool, int, float, complex, list, tuple, np.ndarray, np.generic)):
        if not isinstance(y, jax.Array):
            return x, y
    elif settles(x, y):
        return x, y
    if x.dtype.name == "string":
        return x, y
    dtype = common_type(x, y) if x.__class__ is Tensor else result_type(x, y)
    if isinstance(y, _ARRAYS):
        return cast(x, dtype), cast(y, dtype)
    return cast(x, dtype), converted(y, dtype) if _is_host(y) else convert(y, dtype)


def _is_host(y: Any) -> bool:
    return isinstance(y, (np.ndarray, np.generic, jax.Array))


def _promoting(plain: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """An operator whose operands are brought to one dtype first."""

    def call(x: Any, y: Any) -> Any:
        if isinstance(x, _ARRAYS) and y is not None:
            x, y = _together(x, y)
        return plain(x, y)

    return functools.update_wrapper(call, plain) if hasattr(plain, "__name__") else call


def _matmul(x: Any, y: Any) -> Any:
    return matmul(x, y)


def _rmatmul(y: Any, x: Any) -> Any:
    return matmul(x, y)


def _reshape(a: Tensor, *newshape: Any, **kwargs: Any) -> Tensor:
    """The elements in another shape: `reshape(2, -1)`, `reshape((2, -1), order="F")`."""
    order = kwargs.pop("order", "C")
    if kwargs:
        raise ValueError(f"Unsupported arguments: {kwargs.keys()}")
    wanted = newshape[0] if len(newshape) == 1 else newshape
    return shapes.reshape(a, wanted, order=order)


def _size(x: Tensor) -> Any:
    return np.prod(x._aval.shape) if x.shape.is_fully_defined() else None


def _tolist(x: Tensor) -> Any:
    """The value as nested lists of Python numbers."""
    if x._is_symbolic():
        raise ValueError("Symbolic Tensors do not support the tolist API.")
    return x.numpy().tolist()


#: What tensors get beside TensorFlow's methods.
_METHODS: dict[str, Any] = {
    "T": property(shapes.transpose),
    "__pos__": lambda x: x,
    "__round__": around,
    "astype": cast,
    "clip": clip,
    "data": property(lambda x: x),
    "flatten": shapes.flatten,
    "max": reductions.amax,
    "mean": reductions.mean,
    "min": reductions.amin,
    "ravel": shapes.ravel,
    "reshape": _reshape,
    "size": property(_size),
    "tolist": _tolist,
    "transpose": shapes.transpose,
    "__getitem__": numpy_getitem,
}

#: The operators as the ops define them, while others stand in their place.
_PLAIN: dict[str, Any] = {}


def _promote(on: bool) -> None:
    if not on:
        for name, plain in _PLAIN.items():
            setattr(operators.Operators, name, plain)
        _PLAIN.clear()
    elif not _PLAIN:
        names = [f"__{name}__" for name in (*_TWO_WAYS, *_ONE_WAY)]
        names += [f"__r{name}__" for name in _TWO_WAYS]
        for name in names:
            _PLAIN[name] = vars(operators.Operators)[name]
            setattr(operators.Operators, name, _promoting(_PLAIN[name]))
        for name, function in (("__matmul__", _matmul), ("__rmatmul__", _rmatmul)):
            _PLAIN[name] = vars(operators.Operators)[name]
            setattr(operators.Operators, name, function)


def experimental_enable_numpy_behavior(
    prefer_float32: bool = False, dtype_conversion_mode: str = "legacy"
) -> None:
    """Give tensors NumPy's methods and indices, and their operators its promotion of dtypes.

    From then on, everywhere: `x.T`, `x.reshape(2, -1)`, `x.ravel()`, `x.flatten()`,
    `x.transpose()`, `x.astype(dtype)`, `x.clip(a, b)`, `x.size`, `x.max()`, `x.min()`, `x.mean()`,
    `x.tolist()`, `round(x)`; `x[[0, 2]]` and other indices with arrays; `x + y` of two dtypes.

    Args:
      prefer_float32: whether Python's floats are of 32 bits where they decide.
      dtype_conversion_mode: "legacy", NumPy's promotion, or "off", none.
    Raises: NotImplementedError for the modes "safe" and "all", whose weak tensors are not here;
      ValueError for others.

    >>> import tape_compat as tf
    >>> tf.experimental.numpy.experimental_enable_numpy_behavior(dtype_conversion_mode="safe")
    Traceback (most recent call last):
        ...
    NotImplementedError: experimental_enable_numpy_behavior: dtype_conversion_mode='safe' needs ...
    """
    if dtype_conversion_mode not in _MODES:
        raise ValueError(f"The provided promotion mode {dtype_conversion_mode} does not exist.")
    if dtype_conversion_mode in ("safe", "all"):
        raise NotImplementedError(
            f"experimental_enable_numpy_behavior: dtype_conversion_mode={dtype_conversion_mode!r} "
            "needs tensors of weak dtypes, which are not here; 'legacy' is NumPy's promotion."
        )
    for name, method in _METHODS.items():
        setattr(Tensor, name, method)
    _promote(dtype_conversion_mode == "legacy")
    _prefer_float32(prefer_float32)


def disable_numpy_behavior() -> None:
    """Undo `experimental_enable_numpy_behavior`: for tests."""
    for name in _METHODS:
        if name in vars(Tensor):
            delattr(Tensor, name)
    _promote(False)
    _prefer_float32(False)
