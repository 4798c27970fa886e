"""Pooling."""

from __future__ import annotations

import functools
import itertools
import math as _math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from ..core.avals import Aval
from ..core.dimensions import Size, is_symbolic, less
from ..core.dtypes import as_dtype, int64
from ..core.errors import UnimplementedError, user_location
from ..core.op import Op
from ..core.refuse import invalid, not_allowed, shown
from ..values.convert import convert
from ..values.record import apply
from ..values.tensor import Tensor
from . import rules
from .blocks import batch_to_space, space_to_batch
from .checks import REAL, check_dtypes
from .declare import static
from .pooling_kernel import Pool, fits
from .shapes import transpose
from .windows import channels_last, check_size, explicit_padding, per_dimension, whole


def _whole(window: tuple[int, ...], last: bool) -> tuple[int, ...]:
    return (1, *window, 1) if last else (1, 1, *window)


def _pairs(x: Any, window: tuple[int, ...], strides: tuple[int, ...], padding: Any) -> Any:
    if isinstance(padding, str):
        return lax.padtype_to_pads(x.shape, window, strides, padding)
    return padding


def _are_tiles(window: tuple[int, ...], strides: tuple[int, ...], pairs: Any) -> bool:
    return window == strides and all(pair == (0, 0) for pair in pairs)


def _tiles(x: Any, window: tuple[int, ...], strides: tuple[int, ...], pairs: Any) -> Any:
    """`x` cut into windows that do not overlap: a view and the axes of the windows, or None."""
    if not _are_tiles(window, strides, pairs):
        return None
    counts = [n // w for n, w in zip(x.shape, window, strict=True)]
    cut = lax.slice(x, (0,) * x.ndim, [c * w for c, w in zip(counts, window, strict=True)])
    shape, axes = [], []
    for count, size in zip(counts, window, strict=True):
        shape.append(count)
        if size > 1:
            axes.append(len(shape))
            shape.append(size)
    return cut.reshape(shape), tuple(axes)


class _Windows(NamedTuple):
    """Those of a pool of some array, by all its axes. first: whether the first of equal elements
    takes the whole gradient, as in TF's MaxPoolGrad, or each of them, as in its MaxPool3DGrad."""

    sizes: tuple[int, ...]
    strides: tuple[int, ...]
    pairs: list[tuple[int, int]]
    first: bool

    @classmethod
    def of(
        cls, x: Any, window: tuple[int, ...], strides: tuple[int, ...], padding: Any, last: bool
    ) -> _Windows:
        window, strides = _whole(window, last), _whole(strides, last)
        if not isinstance(padding, str):
            padding = _whole_pairs(padding, last)
        pairs = [(_as_int(a), _as_int(b)) for a, b in _pairs(x, window, strides, padding)]
        return cls(window, strides, pairs, len(window) < 5)

    def places(self, x: Any) -> tuple[int, ...]:
        """The shape of what they give."""
        return lax.reduce_window_shape_tuple(x.shape, self.sizes, self.strides, self.pairs)

    def by_kernel(self, x: Any) -> Pool | None:
        """What the kernel takes, if it is to do them."""
        tiled = self.first and _are_tiles(self.sizes, self.strides, self.pairs)
        channels = self.sizes[-1], self.strides[-1], self.pairs[-1]
        if tiled or channels != (1, 1, (0, 0)) or not fits(x) or 0 in self.places(x):
            return None
        low = [pair[0] for pair in self.pairs[1:-1]]
        return Pool(self.sizes[1:-1], self.strides[1:-1], low, self.first)


def _max_pool(x: Any, *of: Any, **windows_of: Any) -> Any:
    windows = _Windows.of(x, *of, **windows_of)
    pool = windows.by_kernel(x)
    if pool is None or not pool.is_quick(x):
        return _max_by_xla(x, windows)
    return pool.largest(lambda x: _max_by_xla(x, windows), x, windows.places(x))


def _pull_max(
    arrays: Sequence[Any], cotangents: Sequence[Any], wrt: tuple[int, ...], **windows_of: Any
) -> tuple[Any, ...]:
    """The pullback of a pool."""
    (x,), (dy,) = arrays, cotangents
    windows = _Windows.of(x, **windows_of)
    pool = windows.by_kernel(x)

    def by_xla(x: Any, dy: Any) -> Any:
        return jax.vjp(lambda x: _max_by_xla(x, windows), x)[1](dy)[0]

    return (by_xla(x, dy) if pool is None else pool.back(by_xla, x, dy),)


def _max_by_xla(x: Any, windows: _Windows) -> Any:
    sizes, strides, pairs, first = windows
    tiles = _tiles(x, sizes, strides, pairs) if first else None
    if tiles is not None and tiles[1]:
        return rules.max_of_windows(*tiles)
    floating = jnp.issubdtype(x.dtype, jnp.floating)
    if floating and 0 not in windows.places(x):
        return _max_by_axes(x, sizes, strides, pairs, first)
    lowest = -np.inf if floating else np.iinfo(x.dtype).min
    return lax.reduce_window(x, np.asarray(lowest, x.dtype), lax.max, sizes, strides, pairs)


def _max_by_axes(
    x: Any, window: tuple[int, ...], strides: tuple[int, ...], pairs: Any, first: bool
) -> Any:
    """The last axis first: the first of equal ones is then the first in the order of memory."""
    for axis in reversed(range(x.ndim)):
        if (window[axis], strides[axis], pairs[axis]) != (1, 1, (0, 0)):
            x = rules.max_along(x, axis, window[axis], strides[axis], pairs[axis], first)
    return x


def _whole_pairs(pairs: Any, last: bool) -> Any:
    none = (0, 0)
    return (none, *pairs, none) if last else (none, none, *pairs)


def _as_int(size: Size) -> Size:
    return size if is_symbolic(size) else int(size)


def _avg_pool(
    x: Any, window: tuple[int, ...], strides: tuple[int, ...], padding: Any, last: bool
) -> Any:
    window, strides = _whole(window, last), _whole(strides, last)
    if not isinstance(padding, str):
        padding = _whole_pairs(padding, last)
    pairs = [(_as_int(a), _as_int(b)) for a, b in _pairs(x, window, strides, padding)]
    tiles = _tiles(x, window, strides, pairs)
    if tiles is not None:
        return jnp.mean(tiles[0], axis=tiles[1])

    along = [i for i in range(x.ndim) if (window[i], strides[i], pairs[i]) != (1, 1, (0, 0))]
    wide = jnp.promote_types(x.dtype, jnp.float32)  # sums are not rounded between the axes
    total = _sum_by_axes(x.astype(wide), along, window, strides, pairs)
    if all(pair == (0, 0) for pair in pairs):
        return (total / _math.prod(window)).astype(x.dtype)
    ones = jnp.ones([n if i in along else 1 for i, n in enumerate(x.shape)], wide)
    return (total / _sum_by_axes(ones, along, window, strides, pairs)).astype(x.dtype)


def _sum_by_axes(
    x: Any, axes: Sequence[int], window: Sequence[int], strides: Sequence[int], pairs: Any
) -> Any:
    """The sums of windows, along one axis after the other: of 16 images 32 x 32 x 64 and windows of
    3 x 3 at all places 4.4 ms at once, 0.6 by axes, and the derivative 4.3 and 0.5."""
    rank = x.ndim
    for axis in axes:
        sizes, steps, ends = [1] * rank, [1] * rank, [(0, 0)] * rank
        sizes[axis], steps[axis], ends[axis] = window[axis], strides[axis], pairs[axis]
        x = lax.reduce_window(x, np.zeros((), x.dtype), lax.add, sizes, steps, ends)
    return x


def _argmax(
    x: Any, window: tuple[int, ...], strides: tuple[int, ...], padding: str, dtype: str, batch: bool
) -> Any:
    """Where the largest of each window stands, the first of equal ones, in the flattened image, or
    in the flattened batch."""
    window, strides = _whole(window, True), _whole(strides, True)
    size = _math.prod(x.shape[1:])
    index = jnp.arange(size, dtype=dtype).reshape(1, *x.shape[1:])
    if batch:
        index = index + size * jnp.arange(x.shape[0], dtype=dtype)[:, None, None, None]
    index = jnp.broadcast_to(index, x.shape)
    floating = jnp.issubdtype(x.dtype, jnp.floating)
    lowest = np.asarray(-np.inf if floating else np.iinfo(x.dtype).min, x.dtype)
    none = np.asarray(np.iinfo(dtype).max, dtype)

    def larger(one: Any, other: Any) -> Any:
        (x, i), (y, j) = one, other
        first = (x > y) | ((x == y) & (i < j))
        return jnp.where(first, x, y), jnp.where(first, i, j)

    if any(map(is_symbolic, x.shape)):  # JAX crashes as it lowers a window of two such arrays
        return _by_offsets((x, index), (lowest, none), larger, window, strides, padding)[1]
    return lax.reduce_window((x, index), (lowest, none), larger, window, strides, padding)[1]


def _by_offsets(
    arrays: Sequence[Any],
    initial: Sequence[Any],
    of_two: Callable[..., Any],
    window: tuple[int, ...],
    strides: tuple[int, ...],
    padding: Any,
) -> Any:
    """`reduce_window` by a strided slice for each place in the window."""
    pads = [(low, high, 0) for low, high in _pairs(arrays[0], window, strides, padding)]
    padded = [lax.pad(x, none, pads) for x, none in zip(arrays, initial, strict=True)]
    starts = [size - wide + 1 for size, wide in zip(padded[0].shape, window, strict=True)]

    def at(place: tuple[int, ...]) -> list[Any]:
        ends = [offset + start for offset, start in zip(place, starts, strict=True)]
        return [lax.slice(x, place, ends, strides) for x in padded]

    return functools.reduce(of_two, map(at, itertools.product(*map(range, window))))


def _check_pool(kernel: str, kinds: str) -> Callable[..., None]:
    def check(avals: tuple[Aval, ...], window: tuple[int, ...], **_: Any) -> None:
        check_dtypes(kernel, kinds)(avals)
        rank = len(window)
        if len(avals[0].shape) != rank + 2:
            raise invalid(
                f"tensor_in_shape must have {rank} spatial dimensions. "
                f"Got shape {shown(avals[0].shape)}",
                kernel,
            )

    return check


def _pooled(
    avals: tuple[Aval, ...],
    window: tuple[int, ...],
    strides: tuple[int, ...],
    padding: Any,
    last: bool = True,
    dtype: str | None = None,
    **_: Any,
) -> Aval:
    """What a pool gives, also of sizes that are not known."""
    shape = avals[0].shape
    sizes = []
    for axis, (n, w, step) in enumerate(
        zip(shape[1:-1] if last else shape[2:], window, strides, strict=True)
    ):
        if padding == "SAME":
            sizes.append((n + step - 1) // step)
        else:
            whole = n if padding == "VALID" else n + sum(padding[axis])
            sizes.append((whole - w) // step + 1)
    found = (shape[0], *sizes, shape[-1]) if last else (*shape[:2], *sizes)
    return Aval.of(found, avals[0].dtype if dtype is None else as_dtype(dtype))


def _declared(pool: Any, kernel: str, kinds: str, **more: Any) -> Op:
    return Op(pool, kernel, check=_check_pool(kernel, kinds), shapes=_pooled, **more)


_OF_MAX: dict[str, Any] = {"masks": True, "pull": _pull_max, "kernels": True}
_POOLS = {
    ("max", 1): _declared(_max_pool, "MaxPool", REAL, **_OF_MAX),
    ("max", 2): _declared(_max_pool, "MaxPool", REAL, **_OF_MAX),
    ("max", 3): _declared(_max_pool, "MaxPool3D", "float", **_OF_MAX),
    ("avg", 1): _declared(_avg_pool, "AvgPool", "float"),
    ("avg", 2): _declared(_avg_pool, "AvgPool", "float"),
    ("avg", 3): _declared(_avg_pool, "AvgPool3D", "float"),
}


def _largest_of_channels(x: Any, count: int) -> Any:
    return jnp.max(jnp.reshape(x, (*x.shape[:-1], x.shape[-1] // count, count)), -1)


def _check_channels(avals: tuple[Aval, ...], count: int) -> None:
    check_dtypes("MaxPool", REAL)(avals)
    channels = avals[0].shape[-1]
    if not is_symbolic(channels) and channels % count:
        raise _unsupported(
            "Depthwise max pooling requires the depth window to evenly divide the input depth"
        )


def _unsupported(text: str) -> UnimplementedError:
    return UnimplementedError(None, None, f"{text} [Op:MaxPool] (at {user_location()})")


def _shape_of_channels(avals: tuple[Aval, ...], count: int) -> Aval:
    shape = avals[0].shape
    return Aval.of((*shape[:-1], shape[-1] // count), avals[0].dtype)


_OF_CHANNELS = Op(_largest_of_channels, "MaxPool", check=_check_channels, shapes=_shape_of_channels)


def _channels_at_once(ksize: Any, strides: Any) -> int:
    """How many channels a window of four sizes is of."""
    window = whole(static(ksize), "ksize") if np.ndim(ksize) == 1 else ()
    if len(window) != 4 or window[0] != 1 or window[3] == 1:
        return 1
    steps = whole(static(strides), "strides") if np.ndim(strides) == 1 else ()
    if window[1:3] != (1, 1):
        raise _unsupported(
            "MaxPooling supports exactly one of pooling across depth or pooling "
            "across width/height."
        )
    if len(steps) != 4 or steps[3] != window[3]:
        raise _unsupported(
            "Depthwise max pooling requires the depth window to equal the depth stride"
        )
    return window[3]


def _pool(
    kind: str, rank: int, x: Any, ksize: Any, strides: Any, padding: Any, data_format: Any
) -> Tensor:
    declared = _POOLS[kind, rank]
    if not isinstance(padding, str) and (kind == "avg" or rank == 3):
        raise TypeError(f"Expected string for argument 'padding' not {padding!r}.")
    last = channels_last(data_format, rank, declared.name)
    if (kind, rank, last) == ("max", 2, True) and (count := _channels_at_once(ksize, strides)) > 1:
        return apply(_OF_CHANNELS.bind(count=count), (convert(x),))
    closure = declared.bind(
        window=per_dimension(ksize, rank, "ksize", last, declared.name),
        strides=per_dimension(strides, rank, "strides", last, declared.name),
        padding=explicit_padding(padding, rank, last, declared.name),
        last=last,
    )
    x = convert(x)
    given = closure.attributes
    if not isinstance(padding, str):
        _check_explicit(given["window"], given["padding"], declared.name)
    found = apply(closure, (x,))
    sizes = x._aval.shape[1:-1] if last else x._aval.shape[2:]
    check_size(sizes, given["window"], given["strides"], given["padding"], declared.name)
    return found


def _check_explicit(window: tuple[int, ...], pairs: Any, kernel: str) -> None:
    """Refuse padding in which whole windows lie."""
    names = [("Top", "Bottom"), ("Left", "Right")][-len(window) :]
    for size, pair, sides in zip(window, pairs, names, strict=True):
        for side, pad in zip(sides, pair, strict=True):
            if not less(pad, size):
                raise invalid(
                    f"{side} padding {pad} needs to be smaller than the window size {size}", kernel
                )


def _spatial_rank(x: Any, data_format: str | None) -> int:
    rank = len(data_format) if data_format is not None else len(x.shape)
    if rank not in (3, 4, 5):
        raise ValueError(
            f"`input.shape.rank` must be 3, 4 or 5. Received: input.shape={x._aval.shape} of rank "
            f"{rank}."
        )
    return rank - 2


def max_pool(
    input: Any,
    ksize: Any,
    strides: Any,
    padding: Any,
    data_format: str | None = None,
    name: str | None = None,
) -> Tensor:
    """Largest of each window; 1, 2 or 3 spatial dimensions by the rank of `input`. A window of two
    spatial dimensions may be of channels in their place: `ksize` and `strides` [1, 1, 1, k].

    >>> import tape_compat as tf
    >>> tf.nn.max_pool(tf.reshape(tf.range(4.0), [1, 2, 2, 1]), 2, 2, "VALID").numpy().item()
    3.0
    """
    x = convert(input)
    return _pool("max", _spatial_rank(x, data_format), x, ksize, strides, padding, data_format)


class MaxPoolWithArgmax(NamedTuple):
    """What `max_pool_with_argmax` gives."""

    output: Tensor
    argmax: Tensor


def _check_argmax(avals: tuple[Aval, ...], **_: Any) -> None:
    check_dtypes("MaxPoolWithArgmax", REAL)(avals)
    if len(avals[0].shape) != 4:
        raise invalid("tensor_in must be 4-dimensional (2)", "MaxPoolWithArgmax")


_ARGMAX = Op(
    _argmax, "MaxPoolWithArgmax", differentiable=False, check=_check_argmax, shapes=_pooled
)


def max_pool_with_argmax(
    input: Any,
    ksize: Any,
    strides: Any,
    padding: str,
    data_format: str = "NHWC",
    output_dtype: Any = int64,
    include_batch_in_index: bool = False,
    name: str | None = None,
) -> MaxPoolWithArgmax:
    """Largest of each window of images [b, h, w, c], and where it stands.

    Args:
      padding: "SAME" or "VALID".
      output_dtype: int64 or int32, of the places.
      include_batch_in_index: whether places are those in the flattened batch, ((b h + y) w + x) c
        + channel, or in the image, without the batch's.
    Raises: ValueError for another `data_format`, InvalidArgumentError for another rank.

    >>> import tape_compat as tf
    >>> images = tf.reshape([1.0, 5.0, 2.0, 3.0], [1, 2, 2, 1])
    >>> found = tf.nn.max_pool_with_argmax(images, 2, 2, "VALID")
    >>> found.output.numpy().item(), found.argmax.numpy().item()
    (5.0, 1)
    """
    if data_format != "NHWC":
        raise ValueError(
            "`data_format` values other  than 'NHWC' are not supported. Received: "
            f"data_format={data_format}"
        )
    if not isinstance(padding, str):
        raise TypeError(f"Expected string for argument 'padding' not {padding!r}.")
    kernel = "MaxPoolWithArgmax"
    dtype = as_dtype(output_dtype)
    if dtype.name not in ("int32", "int64"):
        raise not_allowed(dtype, ("int32", "int64"), kernel, "Targmax")
    x = convert(input)
    places = _ARGMAX.bind(
        window=per_dimension(ksize, 2, "ksize", True, kernel),
        strides=per_dimension(strides, 2, "strides", True, kernel),
        padding=explicit_padding(padding, 2, True, kernel),
        dtype=dtype.name,
        batch=bool(include_batch_in_index),
    )
    argmax = apply(places, (x,))
    given = places.attributes
    check_size(x._aval.shape[1:-1], given["window"], given["strides"], padding, kernel)
    return MaxPoolWithArgmax(_pool("max", 2, x, ksize, strides, padding, data_format), argmax)


def avg_pool(
    input: Any,
    ksize: Any,
    strides: Any,
    padding: Any,
    data_format: str | None = None,
    name: str | None = None,
) -> Tensor:
    """Mean of each window, padding not counted; 1 to 3 spatial dimensions by the rank of `input`.

    >>> import tape_compat as tf
    >>> tf.nn.avg_pool(tf.reshape(tf.range(4.0), [1, 2, 2, 1]), 2, 2, "VALID").numpy().item()
    1.5
    """
    x = convert(input)
    return _pool("avg", _spatial_rank(x, data_format), x, ksize, strides, padding, data_format)


def _pooling(kind: str, rank: int, default: str) -> Callable[..., Tensor]:
    def pool(
        input: Any,
        ksize: Any,
        strides: Any,
        padding: Any,
        data_format: str = default,
        name: str | None = None,
    ) -> Tensor:
        return _pool(kind, rank, input, ksize, strides, padding, data_format)

    what = "Largest" if kind == "max" else "Mean"
    pool.__name__ = pool.__qualname__ = f"{kind}_pool{rank}d"
    pool.__doc__ = f"{what} of each window over {rank} spatial dimensions; see `{kind}_pool`."
    return pool


max_pool1d = _pooling("max", 1, "NWC")
max_pool2d = _pooling("max", 2, "NHWC")
max_pool3d = _pooling("max", 3, "NDHWC")
avg_pool1d = _pooling("avg", 1, "NWC")
avg_pool2d = _pooling("avg", 2, "NHWC")
avg_pool3d = _pooling("avg", 3, "NDHWC")


def pool(
    input: Any,
    window_shape: Any,
    pooling_type: str,
    strides: Any = None,
    padding: Any = "VALID",
    data_format: str | None = None,
    dilations: Any = None,
    name: str | None = None,
) -> Tensor:
    """Largest ("MAX") or mean ("AVG") of each window, over as many dimensions as `window_shape`.

    Args:
      strides, dilations: one for each dimension, or one for all; not both above 1.
      data_format: of the form `N...C` (default) or `NC...`.
    Raises: ValueError if the arguments do not fit each other, for strides longer than windows, or
      with "SAME" and dilations.

    >>> import tape_compat as tf
    >>> x = tf.reshape(tf.range(5.0), [1, 5, 1])
    >>> tf.nn.pool(x, [2], "MAX", dilations=[2]).numpy().ravel().tolist()
    [2.0, 3.0, 4.0]
    """
    x, rank = convert(input), len(window_shape)
    if pooling_type not in ("MAX", "AVG"):
        raise ValueError(f"{rank}-D {pooling_type} pooling is not supported.")
    if not 1 <= rank <= 3:
        raise ValueError(f"`window_shape` must be of length 1, 2 or 3. Received: {window_shape}")
    if len(x._aval.shape) != rank + 2:
        raise ValueError(f"Shape {x.shape} must have rank {rank + 2}")
    last = channels_last(data_format)
    kind = pooling_type.lower()
    for values, what in ((strides, "strides"), (dilations, "dilation_rate")):
        if values is not None and any(less(n, 1) for n in whole(static(values), what)):
            raise ValueError(f"all values of `{what}` must be positive. Received: {what}={values}")
    steps, holes = (per_dimension(v, rank, "strides", last, kind) for v in (strides, dilations))
    if set(holes) == {1}:
        window = whole(static(window_shape), "window_shape")
        if any(less(n, step) for n, step in zip(window, steps, strict=True)):
            raise ValueError(
                "`strides` > `window_shape` not supported due to inconsistency between CPU and GPU "
                f"implementations. Received: strides={list(steps)} and window_shape={window_shape}"
            )
        return _pool(kind, rank, x, window_shape, steps, padding, data_format)
    if set(steps) != {1}:
        raise ValueError(
            "`strides > 1` not supported in conjunction with `dilation_rate > 1`. "
            f"Received: strides={list(steps)} and dilation_rate={list(holes)}"
        )
    if padding != "VALID":
        raise ValueError(
            f"pooling with {padding!r} padding is not implemented for `dilation_rate` > 1. "
            f"Received: padding={padding} and dilation_rate={list(holes)}"
        )
    return _pool_dilated(kind, x, window_shape, holes, last)


def _pool_dilated(kind: str, x: Tensor, window: Any, holes: tuple[int, ...], last: bool) -> Tensor:
    """Every `holes`-th pixel is an image of its own, which is pooled without holes."""
    rank = len(holes)
    if not last:
        x = transpose(x, (0, *range(2, rank + 2), 1))
    pairs = tuple([(0, -n % hole) for n, hole in zip(x._aval.shape[1:-1], holes, strict=True)])
    split = space_to_batch(x, holes, pairs)
    found = batch_to_space(_pool(kind, rank, split, window, None, "VALID", None), holes, pairs)
    return found if last else transpose(found, (0, rank + 1, *range(1, rank + 1)))
