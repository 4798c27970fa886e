"""Images of another size."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from ...composites.ragged import RaggedTensor
from ...core import dtypes
from ...core.avals import Aval
from ...core.dimensions import Shape, is_symbolic, less
from ...core.errors import NeedsValue
from ...core.op import Op
from ...core.refuse import invalid, not_allowed
from ...values import dispatch
from ...values.convert import convert
from ...values.host_steps import by_host
from ...values.record import apply
from ...values.tensor import Tensor
from ..arguments import dims, known_value, sketched
from ..creation import zeros
from ..joining import stack
from ..shapes import host_shape, set_sizes
from . import resize_weights
from .resample import resample


class ResizeMethod:
    """The methods of `tf.image.resize`."""

    BILINEAR = "bilinear"
    NEAREST_NEIGHBOR = "nearest"
    BICUBIC = "bicubic"
    AREA = "area"
    LANCZOS3 = "lanczos3"
    LANCZOS5 = "lanczos5"
    GAUSSIAN = "gaussian"
    MITCHELLCUBIC = "mitchellcubic"


_KERNELS = {
    "bilinear": "ResizeBilinear",
    "nearest": "ResizeNearestNeighbor",
    "bicubic": "ResizeBicubic",
    "area": "ResizeArea",
}
_LISTED = "int8, uint8, int16, uint16, int32, int64, bfloat16, half, float, double, bfloat16"
_TAKEN = frozenset("int8 uint8 int16 uint16 int32 int64 bfloat16 float16 float32 float64".split())
#: Up to so many old pixels for a new one are looked up; more are a product with a matrix. Of 8 that
#: gave one pixel each, 8 images 64 x 64 x 64 took 10 ms, and 24 by a product.
_FEW = 8


def _along(x: Any, axis: int, new: int, method: str, antialias: bool, xp: Any) -> Any:
    """`x` with `axis` of another size, by `jax.numpy` or NumPy."""
    old = x.shape[axis]
    if method == "nearest":
        return xp.take(x, resize_weights.nearest(new, old), axis=axis)
    if method == "bilinear" and not antialias:
        low, high, share = resize_weights.bilinear(new, old)
        share = share.reshape([-1 if i == axis else 1 for i in range(x.ndim)])
        first = xp.take(x, low, axis=axis)
        return first + (xp.take(x, high, axis=axis) - first) * share
    return weighted(x, axis, _weights(new, old, method, antialias), xp)


def _weights(new: int, old: int, method: str, antialias: bool) -> np.ndarray:
    """What each new pixel takes of each old one, [new, old]."""
    if method == "area":
        return resize_weights.area(new, old)
    if antialias or method not in _KERNELS:
        return resize_weights.filtered(new, old, method, antialias)
    if method == "bicubic":
        return resize_weights.bicubic(new, old)
    if method == "nearest":
        return one_each(old, resize_weights.nearest(new, old))
    low, high, share = resize_weights.bilinear(new, old)
    return one_each(old, low) * (1 - share)[:, None] + one_each(old, high) * share[:, None]


def one_each(old: int, places: np.ndarray) -> np.ndarray:
    """Weights of new pixels that are each one of `old` ones."""
    return (places[:, None] == np.arange(old)).astype(np.float32)


def weighted(x: Any, axis: int, weights: np.ndarray, xp: Any) -> Any:
    """`x` times weights [new, old] along an axis, by `jax.numpy` or NumPy."""
    most = int((weights != 0).sum(1).max()) if isinstance(weights, np.ndarray) else _FEW + 1
    if most > _FEW:
        exact = {"precision": lax.Precision.HIGHEST} if xp is jnp else {}
        return xp.moveaxis(xp.tensordot(x, weights, ((axis,), (1,)), **exact), -1, axis)
    # The places with a weight first, in their order.
    places = np.argsort(weights == 0, axis=1, kind="stable")[:, :most]
    shares = np.take_along_axis(weights, places, 1)
    shape = [-1 if i == axis else 1 for i in range(x.ndim)]
    return sum(
        xp.take(x, places[:, k], axis=axis) * shares[:, k].reshape(shape) for k in range(most)
    )


def _resize(x: Any, size: tuple[int, int], method: str, antialias: bool, xp: Any = jnp) -> Any:
    if method != "nearest":
        x = x.astype(np.float32)
    if x.ndim == 3:
        return _resize(x[None], size, method, antialias, xp)[0]
    if 0 in x.shape:
        return xp.zeros((x.shape[0], *size, x.shape[3]), x.dtype)
    for axis in (2, 1):
        x = _along(x, axis, size[axis - 1], method, antialias, xp)
    return x


def _pull(
    arrays: Sequence[Any],
    cotangents: Sequence[Any],
    wrt: tuple[int, ...],
    size: Shape,
    method: str,
    antialias: bool,
) -> tuple[Any, ...]:
    given = {"size": size, "method": method, "antialias": antialias}
    weights = partial(_weights, method=method, antialias=antialias)
    return (given_back(arrays[0], cotangents[0], size, partial(_resize, **given), weights),)


def given_back(
    x: Any,
    dy: Any,
    size: Shape,
    resized: Callable[[Any], Any],
    weights: Callable[[int, int], np.ndarray],
) -> Any:
    """The cotangent of images by that of `resized(x)`: the same with what each old pixel gives to
    each new one, by weights of a new and an old size. JAX would add that up one by one: 8 images
    64 x 64 x 16 to 96 x 96 took the gradient 8.3 ms, so 0.7."""
    if 0 in x.shape or not all(isinstance(n, int) for n in (*x.shape, *size)):
        return jax.vjp(resized, x)[1](dy)[0]
    for axis, new in ((-3, size[0]), (-2, size[1])):
        dy = weighted(dy, x.ndim + axis, weights(new, x.shape[axis]).T, jnp)
    return dy.astype(x.dtype)


def _on_host(x: np.ndarray, size: tuple[int, int], method: str, antialias: bool) -> np.ndarray:
    """The same by NumPy, which needs no trace for images of yet another size."""
    if method != "bilinear" or antialias or 0 in x.shape:
        return _resize(x, size, method, antialias, np)
    if x.ndim == 3:
        return _on_host(x[None], size, method, antialias)[0]
    if x.dtype not in (np.uint8, np.float32):
        x = x.astype(np.float32)
    found = np.empty((x.shape[0], *size, x.shape[3]), np.float32)
    rows, columns = [resize_weights.bilinear(n, old) for n, old in zip(size, x.shape[1:3])]
    resample(np.ascontiguousarray(x), found, *rows, *columns)
    return found


def _kernel(method: str, antialias: bool) -> str:
    scaled = method not in _KERNELS or (antialias and method in ("bilinear", "bicubic"))
    return "ScaleAndTranslate" if scaled else _KERNELS[method]


def _check(avals: tuple[Aval, ...], size: Shape, method: str, antialias: bool) -> None:
    (x,), kernel = avals, _kernel(method, antialias)
    if x.dtype.name not in _TAKEN:
        raise not_allowed(x.dtype, _LISTED, kernel)
    if any(less(n, 1) for n in size):
        raise invalid("output dimensions must be positive", kernel)
    if any(less(n, 1) for n in x.shape[-3:-1]):
        raise invalid("input image must be of non-zero size", kernel)


def _shape(avals: tuple[Aval, ...], size: Shape, method: str, antialias: bool) -> Aval:
    *count, _, _, channels = avals[0].shape
    dtype = avals[0].dtype if method == "nearest" else dtypes.float32
    return Aval.of((*count, *size, channels), dtype)


_RESIZE = {
    kernel: Op(_resize, kernel, check=_check, shapes=_shape, host=_on_host, pull=_pull)
    for kernel in (*_KERNELS.values(), "ScaleAndTranslate")
}


def within(have: Sequence[int], target: Sequence[int]) -> tuple[list[int], list[int]]:
    """The size of an image of its own proportions inside a target, and where it begins there."""
    old, new = np.asarray(have, np.float32), np.asarray(target, np.float32)
    fitted = old / np.max(old / new)
    return np.floor(fitted).astype(int).tolist(), np.maximum(
        0, np.floor((new - fitted) / 2)
    ).astype(int).tolist()


def _resize_and_pad(x: Any, size: tuple[int, int], method: str, antialias: bool) -> Any:
    inner, pairs = _fitted_within(x, size)
    return jnp.pad(_resize(x, inner, method, antialias), pairs)


def _resize_and_pad_on_host(
    x: np.ndarray, size: tuple[int, int], method: str, antialias: bool
) -> np.ndarray:
    inner, pairs = _fitted_within(x, size)
    return np.pad(_on_host(x, inner, method, antialias), pairs)


def _fitted_within(x: Any, size: tuple[int, int]) -> tuple[tuple[int, int], list[tuple[int, int]]]:
    """The size of images inside a target, and how they are padded to that."""
    inner, offset = within(x.shape[1:3], size)
    pairs = [(o, n - o - i) for o, n, i in zip(offset, size, inner, strict=True)]
    return (inner[0], inner[1]), [(0, 0), *pairs, (0, 0)]


_RESIZE_AND_PAD = Op(
    _resize_and_pad,
    "ResizeWithPad",
    check=_check,
    shapes=_shape,
    host=_resize_and_pad_on_host,
)


def resize_and_pad(x: Tensor, size: tuple[int, int], method: str, antialias: bool) -> Tensor:
    """Images [n, h, w, c] of unknown height or width, inside a size, with zeros around them."""
    antialias = _antialias(method, antialias)
    return apply(_RESIZE_AND_PAD.bind(size=size, method=method, antialias=antialias), (x,))


def _antialias(method: str, antialias: bool) -> bool:
    if method not in _KERNELS and method not in resize_weights.FILTERS:
        raise ValueError(f"Resize method is not implemented: {method}")
    return bool(antialias) and method not in ("nearest", "area")


def _new_size(size: Any) -> Shape:
    if isinstance(size, Tensor) and len(size._aval.shape) == 1 and is_symbolic(size._aval.shape[0]):
        size = set_sizes(size, (2,))
    try:
        given = dims(size)
    except NeedsValue:  # a TypeError, too
        raise
    except TypeError:
        raise ValueError("'size' must be a 1-D int32 Tensor") from None
    rank = 1 if isinstance(size, (list, tuple)) else len(np.shape(size))  # it may have symbols
    if len(given) != 2 or rank != 1:
        raise ValueError("'size' must be a 1-D Tensor of 2 elements: new_height, new_width")
    return given


@by_host()
def _fitted(size: Tensor, have: Tensor) -> Tensor:
    """The largest size inside `size` with the proportions of `have`, int32 [2]."""
    sketch = sketched(size, have)
    if sketch is not None:
        return sketch.tensor((2,), dtypes.int32)
    old, new = (known_value(x).astype(np.float32) for x in (have, size))
    return convert(np.rint(np.min(new / old) * old).astype(np.int32))


def of_ragged(function: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """What a function that resizes images does with ragged ones, each of a size of its own."""

    def form(images: RaggedTensor, size: Any, *args: Any, **kwargs: Any) -> Tensor:
        if images.shape.rank != 4:
            raise ValueError("tf.image.resize: images.shape.rank must be 4 if images is ragged.")
        rows = [images[i] for i in range(int(known_value(images.nrows())))]
        dense = [x.to_tensor() if isinstance(x, RaggedTensor) else x for x in rows]
        if not dense:
            return zeros([0, *dims(size), images.shape[-1]])
        return stack([function(x, size, *args, **kwargs) for x in dense])

    return form


@dispatch.takes_composites
def resize(
    images: Any,
    size: Any,
    method: str = ResizeMethod.BILINEAR,
    preserve_aspect_ratio: bool = False,
    antialias: bool = False,
    name: str | None = None,
) -> Tensor:
    """Images [n, h, w, c] or [h, w, c] resized to `size` [2]; float32, but by "nearest" as given.
    Ragged images, each of a size of its own, become dense.

    Args:
      method: a `ResizeMethod` or its name: "bilinear", "nearest", "bicubic", "area", "lanczos3",
        "lanczos5", "gaussian" or "mitchellcubic".
      preserve_aspect_ratio: whether to fit the images into `size` with their own proportions.
      antialias: whether filters are wide enough for a smaller size ("area" always is).
    Raises: ValueError for another rank, size or method; InvalidArgumentError for an empty one.

    >>> import tape_compat as tf
    >>> tf.image.resize([[[0.0], [4.0]]], [1, 4]).numpy().ravel().tolist()
    [0.0, 1.0, 3.0, 4.0]
    """
    x = convert(images)
    rank = len(x._aval.shape)
    if rank not in (3, 4):
        raise ValueError("'images' must have either 3 or 4 dimensions.")
    wanted = _new_size(size)
    if preserve_aspect_ratio:
        have = host_shape(x._aval.shape[-3:-1], dtypes.int32)
        wanted = dims(_fitted(host_shape(wanted, dtypes.int32), have))
    antialias = _antialias(method, antialias)
    op = _RESIZE[_kernel(method, antialias)]
    return apply(op.bind(size=wanted, method=method, antialias=antialias), (x,))


dispatch.define(RaggedTensor, resize=of_ragged(resize))


def _scale_and_translate(
    x: Any,
    *,
    size: tuple[int, int],
    scale: tuple[float, float],
    translation: tuple[float, float],
    method: str,
    antialias: bool,
) -> Any:
    x = x.astype(np.float32)
    for i in (1, 0):
        moves = np.float32(scale[i]), np.float32(translation[i])
        weights = resize_weights.moved(size[i], x.shape[1 + i], *moves, method, antialias)
        x = weighted(x, 1 + i, weights, jnp)
    return x


_SCALE = Op(_scale_and_translate, "ScaleAndTranslate")


def scale_and_translate(
    images: Tensor,
    size: Sequence[int],
    scale: Sequence[float],
    translation: Sequence[float],
    method: str,
    antialias: bool,
) -> Tensor:
    """Images [n, size, channels], float32, of images that are made `scale` as large and then moved
    on by `translation`: of height and width, each. Pixels from outside are 0."""
    pairs = {"size": tuple(size), "scale": tuple(scale), "translation": tuple(translation)}
    return apply(_SCALE.bind(**pairs, method=method, antialias=antialias), (images,))
