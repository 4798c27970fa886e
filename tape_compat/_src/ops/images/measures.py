"""How much images differ, and where they change."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from ...core.avals import Aval
from ...core.dimensions import broadcast, differ, less
from ...core.op import Op
from ...core.refuse import invalid
from ...values.convert import convert
from ...values.record import apply
from ...values.tensor import Tensor
from ..activations import relu
from ..arithmetic import add, multiply, pow, squared_difference, subtract
from ..casting import cast
from ..depthwise import depthwise_conv2d
from ..elementwise import abs, log
from ..joining import pad, stack
from ..pooling import avg_pool
from ..reductions import reduce_mean, reduce_prod, reduce_sum
from ..repeating import tile
from ..shapes import reshape
from .colors import convert_image_dtype

_SCALES = (0.0448, 0.2856, 0.3001, 0.2363, 0.1333)


def _change(x: Tensor, axis: int, padded: bool) -> Tensor:
    """Each pixel's distance from the one before along an axis."""
    return apply((_CHANGE_PADDED if padded else _CHANGE)[axis], (x,))


def _differences(x: Any, axis: int, padded: bool) -> Any:
    found = jnp.diff(x, axis=axis)
    if not padded:
        return found
    return jnp.concatenate([found, jnp.zeros_like(lax.slice_in_dim(x, 0, 1, axis=axis))], axis)


_DIFFERENCES = Op(_differences, "Sub")
_CHANGE = {i: _DIFFERENCES.bind(axis=i, padded=False) for i in range(3)}
_CHANGE_PADDED = {i: _DIFFERENCES.bind(axis=i, padded=True) for i in range(3)}


def image_gradients(image: Any) -> tuple[Tensor, Tensor]:
    """How much images [n, h, w, c] change from row to row, and from column to column.

    The last row, and column, is 0. Raises: ValueError for another rank.

    >>> import tape_compat as tf
    >>> dy, dx = tf.image.image_gradients(tf.reshape(tf.range(4), [1, 2, 2, 1]))
    >>> dy.numpy().ravel().tolist(), dx.numpy().ravel().tolist()
    ([2, 2, 0, 0], [1, 0, 1, 0])
    """
    x = convert(image)
    if len(x._aval.shape) != 4:
        raise ValueError(
            f"image_gradients expects a 4D tensor [batch_size, h, w, d], not {x.shape}."
        )
    return _change(x, 1, True), _change(x, 2, True)


_SOBEL = np.transpose(
    [[[-1, -2, -1], [0, 0, 0], [1, 2, 1]], [[-1, 0, 1], [-2, 0, 2], [-1, 0, 1]]], (1, 2, 0)
)[:, :, None]


def sobel_edges(image: Any) -> Tensor:
    """Sobel's derivatives by rows and by columns, [n, h, w, c, 2], of images [n, h, w, c].

    >>> import tape_compat as tf
    >>> ramp = tf.reshape(tf.range(9.0), [1, 3, 3, 1])
    >>> tf.image.sobel_edges(ramp).numpy()[0, 1, 1, 0].tolist()
    [24.0, 8.0]
    """
    x = convert(image)
    shape = x._aval.shape
    filters = tile(convert(_SOBEL, x.dtype), [1, 1, shape[-1], 1])
    padded = pad(x, [[0, 0], [1, 1], [1, 1], [0, 0]], "REFLECT")
    return reshape(depthwise_conv2d(padded, filters, [1, 1, 1, 1], "VALID"), (*shape, 2))


def total_variation(images: Any, name: str | None = None) -> Tensor:
    """The sum of the distances between neighbouring pixels of each image.

    Raises: ValueError for another rank than 3 or 4.

    >>> import tape_compat as tf
    >>> float(tf.image.total_variation([[[0.0], [2.0]], [[0.0], [3.0]]]))
    6.0
    """
    x = convert(images)
    rank = len(x._aval.shape)
    if rank not in (3, 4):
        raise ValueError("'images' must be either 3 or 4-dimensional.")
    axes = None if rank == 3 else [1, 2, 3]
    down, along = (_change(x, rank - back, False) for back in (3, 2))
    return add(reduce_sum(abs(down), axes), reduce_sum(abs(along), axes))


def _comparable(a: Any, b: Any, max_val: Any) -> tuple[Tensor, Tensor, Tensor]:
    """Two images, and their range, as float32."""
    a, b = convert(a), convert(b)
    for x in (a, b):
        if len(x._aval.shape) < 3:
            raise ValueError(f"Shape {x.shape} must have rank at least 3")
    first, second = a._aval.shape, b._aval.shape
    if any(map(differ, first[-3:], second[-3:])):
        raise ValueError(f"Shapes {a.shape[-3:]} and {b.shape[-3:]} are incompatible")
    if broadcast([first, second]) is None:
        raise ValueError(f"Two images are not compatible: {a.shape} and {b.shape}")
    whole = convert_image_dtype(cast(max_val, a.dtype), "float32")
    return convert_image_dtype(a, "float32"), convert_image_dtype(b, "float32"), whole


def psnr(a: Any, b: Any, max_val: Any, name: str | None = None) -> Tensor:
    """The ratio of `max_val` to the noise between images [..., h, w, c], in decibels, [...].

    >>> import tape_compat as tf
    >>> float(tf.image.psnr(tf.zeros([2, 2, 1]), tf.ones([2, 2, 1]), 10.0))
    20.0
    """
    a, b, whole = _comparable(a, b, max_val)
    noise = reduce_mean(squared_difference(a, b), [-3, -2, -1])
    loudest = multiply(log(whole), convert(20 / math.log(10), "float32"))
    return subtract(loudest, multiply(log(noise), convert(10 / math.log(10), "float32")))


def _window(size: int, sigma: float) -> np.ndarray:
    """A Gaussian of sum 1, [size]. Along two axes the window is its product with itself."""
    at = np.arange(size, dtype=np.float32) - np.float32((size - 1) / 2)
    bell = np.exp(-(at.astype(np.float64) ** 2) / (2 * sigma**2))
    return bell / bell.sum()


def _blurred(x: Any, window: np.ndarray) -> Any:
    """Means over windows of each channel of [..., h, w, c], along one axis after the other."""
    return _along(_along(x, window, x.ndim - 3), window, x.ndim - 2)


#: Means that one product of matrices gives: of longer axes parts are taken, side by side.
_MEANS = 256


def _along(x: Any, window: np.ndarray, axis: int) -> Any:
    """Means over windows along an axis, as a product with a matrix that has the window in each row.

    SSIM of 2 images 256 x 256 x 3: 154 ms by a convolution, 11 so; its derivative 288 and 27.
    """
    n, size = x.shape[axis], len(window)
    means = n - size + 1
    if not isinstance(n, int):  # traced for any size
        line = window.astype(np.float32)
        return sum([line[i] * lax.slice_in_dim(x, i, i + means, axis=axis) for i in range(size)])
    step = min(means, _MEANS)
    rows = np.zeros((step, step + size - 1), np.float32)
    for i in range(step):
        rows[i, i : i + size] = window
    starts = [*range(0, means - step, step), means - step]
    parts = [lax.slice_in_dim(x, at, at + step + size - 1, axis=axis) for at in starts]
    found = jnp.tensordot(
        rows, jnp.stack(parts), ((1,), (axis + 1,)), precision=lax.Precision.HIGHEST
    )
    found = jnp.moveaxis(found, 0, axis + 1)  # [part, ..., step, ...]
    ends = [*found[:-1], lax.slice_in_dim(found[-1], step * len(starts) - means, step, axis=axis)]
    return jnp.concatenate(ends, axis)


def _structure(
    a: Any, b: Any, whole: Any, size: int, sigma: float, k1: float, k2: float
) -> tuple[Any, Any]:
    """Luminance times contrast, and contrast, of each window and channel."""
    window = _window(size, sigma)
    c1, c2 = (k1 * whole) ** 2, (k2 * whole) ** 2
    mean_a, mean_b = _blurred(a, window), _blurred(b, window)
    both = mean_a * mean_b * 2
    squares = lax.square(mean_a) + lax.square(mean_b)
    luminance = (both + c1) / (squares + c1)
    cross = _blurred(a * b, window) * 2
    power = _blurred(lax.square(a) + lax.square(b), window)
    contrast = (cross - both + c2) / (power - squares + c2)
    return luminance * contrast, contrast


def _check_structure(avals: tuple[Aval, ...], size: int, **_: Any) -> None:
    for aval in avals[:2]:
        if any(less(n, size) for n in aval.shape[-3:-1]):
            raise invalid(
                "Expected 'tf.Tensor(False, shape=(), dtype=bool)' to be true. Summarized data: "
                f"shape {list(aval.shape)} >= filter_size {size}",
                "Assert",
            )


_STRUCTURE = Op(_structure, "SSIM", check=_check_structure)


def ssim(
    img1: Any,
    img2: Any,
    max_val: Any,
    filter_size: int = 11,
    filter_sigma: float = 1.5,
    k1: float = 0.01,
    k2: float = 0.03,
    return_index_map: bool = False,
) -> Tensor:
    """Structural similarity, at most 1, of images [..., h, w, c] in a range of `max_val`.

    Args:
      filter_size, filter_sigma: of the Gaussian window; h and w are at least `filter_size`.
      return_index_map: whether to return it for each window, [..., h', w'], not the mean [...].
    Raises: ValueError if the images do not fit; InvalidArgumentError if they are too small.

    >>> import tape_compat as tf
    >>> float(tf.image.ssim(tf.ones([12, 12, 1]), tf.ones([12, 12, 1]), 1.0))
    1.0
    """
    inputs = _comparable(img1, img2, max_val)
    closure = _STRUCTURE.bind(size=int(filter_size), sigma=float(filter_sigma), k1=k1, k2=k2)
    found = apply(closure, inputs)[0]
    return reduce_mean(found if return_index_map else reduce_mean(found, [-3, -2]), [-1])


def _halved(x: Tensor) -> Tensor:
    """Images of half the size; of an odd one the last row and column are repeated."""
    shape = x._aval.shape
    flat = reshape(x, (-1, *shape[-3:]))
    odd = [[0, 0], *([0, n % 2] for n in shape[-3:-1]), [0, 0]]
    if odd != [[0, 0]] * 4:
        flat = pad(flat, odd, "SYMMETRIC")
    half = avg_pool(flat, [1, 2, 2, 1], [1, 2, 2, 1], "VALID")
    return reshape(half, (*shape[:-3], *half._aval.shape[1:]))


def ssim_multiscale(
    img1: Any,
    img2: Any,
    max_val: Any,
    power_factors: Sequence[float] = _SCALES,
    filter_size: int = 11,
    filter_sigma: float = 1.5,
    k1: float = 0.01,
    k2: float = 0.03,
) -> Tensor:
    """Structural similarity over scales, each of half the size of the one before; [...].

    Args:
      power_factors: a weight of each scale.
    Raises: as `ssim`, also if the images of the last scale are too small.

    >>> import tape_compat as tf
    >>> x = tf.ones([24, 24, 1])
    >>> float(tf.image.ssim_multiscale(x, x, 1.0, power_factors=(0.5, 0.5)))
    1.0
    """
    a, b, whole = _comparable(img1, img2, max_val)
    closure = _STRUCTURE.bind(size=int(filter_size), sigma=float(filter_sigma), k1=k1, k2=k2)
    parts = []
    for scale in range(len(power_factors)):
        if scale:
            a, b = _halved(a), _halved(b)
        both = apply(closure, (a, b, whole))
        last = scale == len(power_factors) - 1
        parts.append(relu(reduce_mean(both[0 if last else 1], [-3, -2])))
    together = pow(stack(parts, -1), convert(list(power_factors), "float32"))
    return reduce_mean(reduce_prod(together, [-1]), [-1])
