"""Discrete Fourier transforms of the last axes, and of given ones."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import jax.numpy as jnp

from ...core.avals import Aval
from ...core.dimensions import Shape, less, maximum
from ...core.dtypes import as_dtype, complex64, float32
from ...core.op import Op
from ...core.refuse import invalid, not_allowed, shown
from ...values.convert import convert
from ...values.record import apply
from ...values.tensor import Tensor
from ..arguments import dims
from ..declare import static
from ..ordering import roll

_COMPLEX = ("complex64", "complex128")
_REAL = ("float32", "float64")


def _transform(x: Any, axes: tuple[int, ...], kind: str, length: Shape | None) -> Any:
    """One axis at a time; the last is the one of which half is kept where numbers are real."""
    if length is not None and 0 in length:  # JAX refuses such sizes
        empty = _shape((Aval.of(x.shape, as_dtype(x.dtype)),), axes, kind, length)
        return jnp.zeros(empty.shape, empty.np_dtype)
    sizes = [None] * len(axes) if length is None else list(length)
    pairs = list(zip(axes, sizes, strict=True))
    if kind == "rfft":
        x = jnp.fft.rfft(x, n=sizes[-1], axis=axes[-1])
        pairs, kind = pairs[:-1], "fft"
    last = pairs.pop() if kind == "irfft" else None
    one = jnp.fft.fft if kind == "fft" else jnp.fft.ifft
    for axis, size in reversed(pairs):
        x = one(x, n=size, axis=axis)
    return x if last is None else jnp.fft.irfft(x, n=last[1], axis=last[0])


def _check(rank: int, kernel: str) -> Callable[..., None]:
    def check(avals: tuple[Aval, ...], **_: Any) -> None:
        x = avals[0]
        if x.dtype.name not in _COMPLEX:
            raise not_allowed(x.dtype, "complex64, complex128", kernel, "Tcomplex")
        if len(x.shape) < rank:
            raise invalid(
                f"Input must have rank of at least {rank} but got: {shown(x.shape)}", kernel
            )

    return check


def _complex_transform(kind: str, rank: int) -> Callable[..., Tensor]:
    name = kind if rank == 1 else f"{kind}{rank}d"
    axes = tuple(range(-rank, 0))
    op = Op(_transform, name.upper(), check=_check(rank, name.upper()))
    closure = op.bind(axes=axes, kind=kind, length=None)

    def transform(input: Any, name: str | None = None) -> Tensor:
        x = convert(input)
        if x.dtype.name not in _COMPLEX and not isinstance(input, Tensor):
            x = convert(input, "complex64")
        return apply(closure, (x,))

    what = "Inverse Fourier" if kind == "ifft" else "Fourier"
    return _named(
        transform,
        name,
        f"{what} transform of the last {_axes_text(rank)}, complex64 or complex128.",
    )


def _axes_text(rank: int) -> str:
    return "axis" if rank == 1 else f"{rank} axes"


def _named(function: Callable[..., Tensor], name: str, doc: str) -> Callable[..., Tensor]:
    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc
    return function


def _require_rank(x: Tensor, rank: int) -> None:
    if len(x._aval.shape) < rank:
        raise ValueError(f"Shape {x.shape} must have rank at least {rank}")


def _of_real(value: Any) -> Tensor:
    x = convert(value, hint=float32)
    if x.dtype.name not in _REAL:
        raise ValueError(f"RFFT requires tf.float32 or tf.float64 inputs, got: {x}")
    return x


def _to_real(value: Any) -> Tensor:
    x = convert(value, hint=complex64)
    if x.dtype.name not in _COMPLEX:
        raise ValueError(f"IRFFT requires tf.complex64 or tf.complex128 inputs, got: {x}")
    return x


def _real_transform(kind: str, rank: int) -> Callable[..., Tensor]:
    name = kind if rank == 1 else f"{kind}{rank}d"
    axes, kernel = tuple(range(-rank, 0)), name.upper()
    op = Op(_transform, kernel, shapes=_shape)

    def transform(input_tensor: Any, fft_length: Any = None, name: str | None = None) -> Tensor:
        x = (_of_real if kind == "rfft" else _to_real)(input_tensor)
        _require_rank(x, rank)
        length = _length(x, axes, fft_length, kind)
        if len(length) != rank:
            raise invalid(f"fft_length must have shape [{rank}]", kernel)
        for i, size in enumerate(length):
            if less(size, 0):
                raise invalid(f"fft_length[{i}] must >= 0, but got: {size}", kernel)
        return apply(op.bind(axes=axes, kind=kind, length=length), (x,))

    if kind == "rfft":
        doc = (
            f"Fourier transform of the last {_axes_text(rank)} of real numbers: the half that "
            "tells the other.\n\n    `fft_length` pads with zeros or cuts first, one size an axis."
        )
    else:
        doc = (
            f"Inverse of `rfft{'' if rank == 1 else f'{rank}d'}`: real numbers.\n\n"
            "    `fft_length` is the size of what it gives; by default the last one is even."
        )
    return _named(transform, name, doc)


def _length(x: Tensor, axes: tuple[int, ...], given: Any, kind: str) -> Shape:
    if given is not None:
        if isinstance(given, int):
            raise TypeError("`fft_length` must be a vector, one size an axis, not a number")
        return dims(given)
    have = [x._aval.shape[axis] for axis in axes]
    if kind == "irfft":
        have[-1] = maximum(2 * (have[-1] - 1), 0)
    return tuple(have)


def _shape(avals: tuple[Aval, ...], axes: tuple[int, ...], kind: str, length: Shape) -> Aval:
    shape, dtype = list(avals[0].shape), avals[0].dtype
    for axis, size in zip(axes, length, strict=True):
        shape[axis] = size
    if kind == "rfft":
        if length[-1] != 0:
            shape[axes[-1]] = length[-1] // 2 + 1
        dtype = "complex64" if dtype.name == "float32" else "complex128"
    elif kind == "irfft":
        dtype = dtype.real_dtype
    return Aval.of(tuple(shape), as_dtype(dtype))


fft, ifft = _complex_transform("fft", 1), _complex_transform("ifft", 1)
fft2d, ifft2d = _complex_transform("fft", 2), _complex_transform("ifft", 2)
fft3d, ifft3d = _complex_transform("fft", 3), _complex_transform("ifft", 3)
rfft, irfft = _real_transform("rfft", 1), _real_transform("irfft", 1)
rfft2d, irfft2d = _real_transform("rfft", 2), _real_transform("irfft", 2)
rfft3d, irfft3d = _real_transform("rfft", 3), _real_transform("irfft", 3)


_OF_AXES = {
    kind: Op(_transform, f"{kind.upper()}ND", shapes=_shape)
    for kind in ("fft", "ifft", "rfft", "irfft")
}


def _transform_of_axes(kind: str) -> Callable[..., Tensor]:
    op = _OF_AXES[kind]

    def transform(
        input_tensor: Any,
        fft_length: Any = None,
        axes: Any = None,
        norm: str | None = None,
        name: str | None = None,
    ) -> Tensor:
        x = {"rfft": _of_real, "irfft": _to_real}.get(kind, _as_complex)(input_tensor)
        rank = len(x._aval.shape)
        places = tuple(range(rank)) if axes is None else _places(static(axes), rank)
        length = _length(x, places, fft_length, kind)
        if len(length) != len(places):
            raise invalid(f"fft_length must have shape [{len(places)}]", op.name)
        found = apply(op.bind(axes=places, kind=kind, length=length), (x,))
        factor = _factor(norm, length, kind.startswith("i"))
        return found if factor == 1 else found * factor

    what = {"fft": "Fourier", "ifft": "Inverse Fourier", "rfft": "Fourier", "irfft": "Inverse"}
    of = " of real numbers" if kind == "rfft" else " to real numbers" if kind == "irfft" else ""
    return _named(
        transform,
        f"{kind}nd",
        f"{what[kind]} transform{of} along `axes`, by default all.\n\n"
        "    fft_length: sizes, one an axis. norm: the scale is that of the inverse transform "
        '(None,\n    "backward"), of this one ("forward"), or shared ("ortho").',
    )


def _as_complex(value: Any) -> Tensor:
    x = convert(value)
    return x if x.dtype.name in _COMPLEX else convert(value, "complex64")


def _places(axes: Any, rank: int) -> tuple[int, ...]:
    given = axes if isinstance(axes, tuple) else (axes,)
    if any(not -rank <= axis < rank for axis in given):
        raise invalid(f"axes must be in [{-rank}, {rank}), got {list(given)}", "FFTND")
    return tuple([axis % rank for axis in given])


def _factor(norm: str | None, length: Shape, inverse: bool) -> Any:
    if norm is None or norm == "backward":
        return 1
    if norm not in ("forward", "ortho"):
        raise ValueError(f'norm must be "backward", "forward" or "ortho". Received: norm={norm}')
    size = math.prod(length)
    size = size if norm == "forward" else math.sqrt(size)
    return size if inverse else 1 / size


fftnd, ifftnd = _transform_of_axes("fft"), _transform_of_axes("ifft")
rfftnd, irfftnd = _transform_of_axes("rfft"), _transform_of_axes("irfft")


def _shifted(x: Any, axes: Any, sign: int) -> Tensor:
    tensor = convert(x)
    shape = tensor._aval.shape
    given: Sequence[int]
    if axes is None:
        given = range(len(shape))
    else:
        found = static(axes)
        given = found if isinstance(found, tuple) else (found,)
    for axis in given:
        if not -len(shape) <= axis < len(shape):
            raise invalid(f"indices[0] = {axis} is not in [0, {len(shape)})", "GatherV2")
    return roll(tensor, [sign * (shape[a] // 2) for a in given], list(given))


def fftshift(x: Any, axes: Any = None, name: str | None = None) -> Tensor:
    """`x` with frequency 0 moved to the middle of `axes`, by default all.

    >>> import tape_compat as tf
    >>> tf.signal.fftshift([0, 1, 2, -2, -1]).numpy().tolist()
    [-2, -1, 0, 1, 2]
    """
    return _shifted(x, axes, 1)


def ifftshift(x: Any, axes: Any = None, name: str | None = None) -> Tensor:
    """The inverse of `fftshift`.

    >>> import tape_compat as tf
    >>> tf.signal.ifftshift([-2, -1, 0, 1, 2]).numpy().tolist()
    [0, 1, 2, -2, -1]
    """
    return _shifted(x, axes, -1)
