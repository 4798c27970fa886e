"""Images changed at random: each function, and its twin by a seed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from jax import lax

from ...core.avals import Aval
from ...core.dimensions import Shape, is_unknown, less
from ...core.op import Op
from ...core.refuse import invalid
from ...values.convert import convert
from ...values.record import apply
from ...values.tensor import Tensor
from ..arguments import dims
from ..arithmetic import add, floormod, multiply, subtract
from ..casting import cast
from ..comparison import less as is_less
from ..elementwise import round as rounded
from ..ordering import reverse
from ..random_stateful import uniform
from ..random_stateless import stateless_uniform
from ..selection import where
from ..shapes import identity, reshape
from ..slicing import slice as cut
from .adjustments import adjust_brightness, adjust_contrast, adjust_hue, adjust_saturation
from .geometry import checked, rank_of

_Draw = Callable[..., Tensor]


def _drawn(seed: Any) -> _Draw:
    """Draws of a stateful op."""
    return lambda shape, *bounds, **more: uniform(shape, *bounds, seed=seed, **more)


def _seeded(seed: Any) -> _Draw:
    """Draws that are the same for the same seed [2]."""
    return lambda shape, *bounds, **more: stateless_uniform(shape, seed, *bounds, **more)


def _flipped(image: Any, back: int, draw: _Draw) -> Tensor:
    """Each image flipped, or not, along the axis that stands `back` from the end."""
    x = checked(image)
    rank = rank_of(x)
    flipped = reverse(x, [rank - back])
    if rank == 3:
        return where(is_less(draw([], 0, 1.0), 0.5), flipped, x)
    count = x._aval.shape[0]
    flips = cast(rounded(reshape(draw([count], 0, 1.0), [count, 1, 1, 1])), x.dtype)
    return add(multiply(flips, flipped), multiply(subtract(convert(1, x.dtype), flips), x))


def random_flip_left_right(image: Any, seed: Any = None) -> Tensor:
    """Images [n, h, w, c] or [h, w, c], each with left and right exchanged with probability 1/2.

    >>> import tape_compat as tf
    >>> sorted(tf.image.random_flip_left_right([[[1], [2]]]).numpy().ravel().tolist())
    [1, 2]
    """
    return _flipped(image, 2, _drawn(seed))


def stateless_random_flip_left_right(image: Any, seed: Any) -> Tensor:
    """`random_flip_left_right`, the same for the same `seed` [2]."""
    return _flipped(image, 2, _seeded(seed))


def random_flip_up_down(image: Any, seed: Any = None) -> Tensor:
    """Images, each with top and bottom exchanged with probability 1/2."""
    return _flipped(image, 3, _drawn(seed))


def stateless_random_flip_up_down(image: Any, seed: Any) -> Tensor:
    """`random_flip_up_down`, the same for the same `seed` [2]."""
    return _flipped(image, 3, _seeded(seed))


def _within(max_delta: Any, draw: _Draw, most: float | None = None) -> Tensor:
    """A number in [-max_delta, max_delta)."""
    if most is not None and max_delta > most:
        raise ValueError(f"max_delta must be <= {most}.")
    if max_delta < 0:
        raise ValueError("max_delta must be non-negative.")
    return draw([], -max_delta, max_delta)


def _between(lower: Any, upper: Any, draw: _Draw) -> Tensor:
    if upper <= lower:
        raise ValueError("upper must be > lower.")
    if lower < 0:
        raise ValueError("lower must be non-negative.")
    return draw([], lower, upper)


def random_brightness(image: Any, max_delta: Any, seed: Any = None) -> Tensor:
    """`adjust_brightness` by a number of [-max_delta, max_delta).

    Raises: ValueError if `max_delta` is negative.
    """
    return adjust_brightness(image, _within(max_delta, _drawn(seed)))


def stateless_random_brightness(image: Any, max_delta: Any, seed: Any) -> Tensor:
    """`random_brightness`, the same for the same `seed` [2]."""
    return adjust_brightness(image, _within(max_delta, _seeded(seed)))


def random_hue(image: Any, max_delta: Any, seed: Any = None) -> Tensor:
    """`adjust_hue` by a number of [-max_delta, max_delta).

    Raises: ValueError if `max_delta` is not in [0, 0.5].
    """
    return adjust_hue(image, _within(max_delta, _drawn(seed), 0.5))


def stateless_random_hue(image: Any, max_delta: Any, seed: Any) -> Tensor:
    """`random_hue`, the same for the same `seed` [2]."""
    return adjust_hue(image, _within(max_delta, _seeded(seed), 0.5))


def random_contrast(image: Any, lower: Any, upper: Any, seed: Any = None) -> Tensor:
    """`adjust_contrast` by a number of [lower, upper).

    Raises: ValueError unless 0 <= lower < upper.
    """
    return adjust_contrast(image, _between(lower, upper, _drawn(seed)))


def stateless_random_contrast(image: Any, lower: Any, upper: Any, seed: Any) -> Tensor:
    """`random_contrast`, the same for the same `seed` [2]."""
    return adjust_contrast(image, _between(lower, upper, _seeded(seed)))


def random_saturation(image: Any, lower: Any, upper: Any, seed: Any = None) -> Tensor:
    """`adjust_saturation` by a number of [lower, upper).

    Raises: ValueError unless 0 <= lower < upper.
    """
    return adjust_saturation(image, _between(lower, upper, _drawn(seed)))


def stateless_random_saturation(image: Any, lower: Any, upper: Any, seed: Any = None) -> Tensor:
    """`random_saturation`, the same for the same `seed` [2]."""
    return adjust_saturation(image, _between(lower, upper, _seeded(seed)))


def _part(value: Any, size: Any, draw: _Draw) -> Tensor:
    x, sizes = convert(value), dims(size)
    have = x._aval.shape
    _check_part(have, sizes)
    drawn = draw([len(have)], 0, np.iinfo(np.int32).max, dtype="int32")
    if have == sizes:
        return identity(x)
    if is_unknown((*have, *sizes)):
        return apply(_PART.bind(size=sizes), (x, drawn))
    limits = convert(np.subtract(have, sizes).astype(np.int32) + 1)
    return cut(x, floormod(drawn, limits), list(sizes))


def _check_part(have: Shape, sizes: Shape) -> None:
    if len(sizes) != len(have) or any(map(less, have, sizes)):
        raise invalid(
            "Expected 'tf.Tensor(False, shape=(), dtype=bool)' to be true. Summarized data: "
            f"Need value.shape >= size, got {list(have)}, {list(sizes)}",
            "Assert",
        )


def _cut_out(x: Any, drawn: Any, size: tuple[int, ...]) -> Any:
    limits = np.subtract(x.shape, size) + 1
    return lax.dynamic_slice(x, list(drawn % limits.astype(np.int32)), size)


def _cut_out_on_host(x: np.ndarray, drawn: np.ndarray, size: tuple[int, ...]) -> np.ndarray:
    starts = drawn % (np.subtract(x.shape, size) + 1)
    return x[tuple([slice(start, start + n) for start, n in zip(starts.tolist(), size)])]


#: A part of a tensor of unknown sizes, which are checked when they are known.
_PART = Op(
    _cut_out,
    "Slice",
    check=lambda avals, size: _check_part(avals[0].shape, size),
    shapes=lambda avals, size: Aval.of(size, avals[0].dtype),
    through=(0,),
    host=_cut_out_on_host,
)


def random_crop(value: Any, size: Any, seed: Any = None, name: str | None = None) -> Tensor:
    """A part of `value` of `size`, at a place drawn at random.

    Raises: InvalidArgumentError if `value` is smaller.

    >>> import tape_compat as tf
    >>> tf.image.random_crop(tf.ones([4, 4, 3]), [2, 2, 3]).shape
    TensorShape([2, 2, 3])
    """
    return _part(value, size, _drawn(seed))


def stateless_random_crop(value: Any, size: Any, seed: Any, name: str | None = None) -> Tensor:
    """`random_crop`, the same for the same `seed` [2]."""
    return _part(value, size, _seeded(seed))
