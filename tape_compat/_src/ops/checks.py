"""Refusals that the elementwise ops, reductions and activations share, in TensorFlow's words."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..core import dtypes
from ..core.avals import Aval
from .declare import (
    TextOperands,
    allowed,
    check_broadcast,
    check_same_dtype,
    invalid,
    tf_dtype_name,
)

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
            raise TypeError(
                f"Value for attr 'T' of {x.dtype.name} is not in the list of allowed values: "
                f"{names}\n\t; NodeDef: {{{{node {kernel}}}}}"
            )
        return function(x, *others, **attributes)

    return signed


def check_bool(kernel: str) -> Callable[..., None]:
    """A check that all inputs are bool."""

    def check(avals: tuple[Aval, ...], **_: Any) -> None:
        for i, aval in enumerate(avals):
            if aval.dtype is not dtypes.bool:
                raise invalid(
                    f"cannot compute {kernel} as input #{i}(zero-based) was expected to be a bool "
                    f"tensor but is a {tf_dtype_name(aval.dtype)} tensor",
                    kernel,
                )

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
                raise invalid(
                    "Value for attr 'Tidx' of string is not in the list of allowed values: int32, "
                    f"int64\n\t; NodeDef: {{{{node {kernel}}}}}",
                    kernel,
                )
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

    def check(avals: tuple[Aval, ...], axis: int = 0, **_: Any) -> None:
        rank = len(avals[0].shape)
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
            raise invalid(
                f"Value for attr 'T' of {tf_dtype_name(avals[0].dtype)} is not in the list of "
                f"allowed values: {', '.join(sorted(names))}\n\t; NodeDef: {{{{node {kernel}}}}}",
                kernel,
            )
        check_broadcast(avals[0], avals[1], kernel)

    return check


def check_dtypes(kernel: str, kinds: str) -> Callable[..., None]:
    """A check that all inputs have one dtype, of these kinds."""
    names = allowed(kinds)

    def check(avals: tuple[Aval, ...], **_: Any) -> None:
        for aval in avals:
            if aval.dtype.name not in names:
                raise invalid(
                    f"Value for attr 'T' of {tf_dtype_name(aval.dtype)} is not in the list of "
                    f"allowed values: {', '.join(sorted(names))}\n\t; NodeDef: "
                    f"{{{{node {kernel}}}}}",
                    kernel,
                )
        check_same_dtype(avals, kernel)

    return check
