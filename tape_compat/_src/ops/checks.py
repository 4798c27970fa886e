"""Refusals that the elementwise ops, reductions and activations share, in TensorFlow's words."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..core import dtypes
from ..core.avals import Aval
from ..core.refuse import check_dtype_of, invalid, not_allowed, not_allowed_text
from .arguments import as_axis
from .declare import TextOperands, allowed, check_broadcast, check_same_dtype

INEXACT = "float complex"
REAL = "float integer"
NUMBER = "float integer complex"
_UNSIGNED = frozenset(("uint8", "uint16", "uint32", "uint64"))
_LISTED = ("bfloat16", "half", "float", "double", "int8", "int16", "int32", "int64")


def refuse_unsigned(function: Callable[..., Any], kernel: str, complex_too: bool = True) -> Any:
    """`function`, refusing the dtypes that have no sign."""
    names = ", ".join(_LISTED + (("complex64", "complex128") if complex_too else ()))

    def signed(x: Any, *others: Any, **attributes: Any) -> Any:
        if x.dtype.name in _UNSIGNED or x.dtype == bool:
            raise TypeError(not_allowed_text(x.dtype.name, names, kernel))
        return function(x, *others, **attributes)

    return signed


def check_bool(kernel: str) -> Callable[..., None]:
    """A check that all inputs are bool."""

    def check(avals: tuple[Aval, ...], **_: Any) -> None:
        for i, aval in enumerate(avals):
            check_dtype_of(aval, i, dtypes.bool, kernel)

    return check


def check_axes(kernel: str) -> Callable[..., None]:
    """A check that the axes to reduce lie inside and differ."""

    def check(avals: tuple[Aval, ...], axis: Any = None, **_: Any) -> None:
        rank = len(avals[0].shape)
        seen = set()
        for i in axis if isinstance(axis, tuple) else () if axis is None else (axis,):
            if not isinstance(i, (int, str)):
                raise TypeError(f"Cannot convert {i!r} to EagerTensor of dtype int32")
            if isinstance(i, str):
                raise not_allowed("string", "int32, int64", kernel, "Tidx")
            if not -rank <= i < rank:
                raise invalid(
                    f"Invalid reduction dimension ({i} for input with {rank} dimension(s)", kernel
                )
            if i % rank in seen:
                raise invalid(
                    f"Invalid reduction arguments: Axes contains duplicate dimension: {i % rank}",
                    kernel,
                )
            seen.add(i % rank)

    return check


def check_scan(kernel: str) -> Callable[..., None]:
    """A check that the axis of a scan lies inside."""

    def check(avals: tuple[Aval, ...], axis: Any = 0, **_: Any) -> None:
        rank = len(avals[0].shape)
        if not isinstance(axis, int):
            axis = as_axis(axis, kernel, "Tidx", "ScanOp: axis must be a scalar, not {shape}")
        if not -rank <= axis < rank:
            raise invalid(
                f"ScanOp: Expected scan axis in the range [{-rank}, {rank}), but got {axis}", kernel
            )

    return check


def check_arithmetic(kernel: str, kinds: str) -> Callable[..., None]:
    """A check of dtypes and shapes for a pair, strings apart: the host computes those."""
    names = allowed(kinds)

    def check(avals: tuple[Aval, ...], **_: Any) -> None:
        check_same_dtype(avals, kernel)
        if avals[0].dtype is dtypes.string:
            raise TextOperands
        if avals[0].dtype.name not in names:
            raise not_allowed(avals[0].dtype, names, kernel)
        check_broadcast(avals[0], avals[1], kernel)

    return check


def check_dtypes(kernel: str, kinds: str) -> Callable[..., None]:
    """A check that all inputs have one dtype, of these kinds."""
    names = allowed(kinds)

    def check(avals: tuple[Aval, ...], **_: Any) -> None:
        for aval in avals:
            if aval.dtype.name not in names:
                raise not_allowed(aval.dtype, names, kernel)
        check_same_dtype(avals, kernel)

    return check
