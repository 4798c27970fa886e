"""Blocks of an image moved between space and channels, or between space and the batch."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp

from ..core import dtypes
from ..core.avals import Aval
from ..core.dimensions import divides, less
from ..core.op import Op
from ..core.refuse import invalid, not_allowed
from ..values.convert import convert
from ..values.record import apply
from ..values.tensor import Tensor
from .arguments import cast_as_default, dims, int_attribute, is_text, move_text
from .creation import zeros, zeros_like
from .declare import static
from .joining import stack

_FORMATS = ("NHWC", "NCHW")


def _check_block(avals: tuple[Aval, ...], block: int, last: bool, kernel: str) -> None:
    shape = avals[0].shape
    if block < 2:
        raise invalid(f"Value for attr 'block_size' of {block} must be at least minimum 2", kernel)
    if len(shape) != 4:
        raise invalid(f"Input rank should be: 4 instead of: {len(shape)}", kernel)


def _check_depth(avals: tuple[Aval, ...], block: int, last: bool) -> None:
    _check_block(avals, block, last, "DepthToSpace")
    depth = avals[0].shape[3 if last else 1]
    if not divides(block * block, depth):
        raise invalid(
            f"Input depth dimension {depth} should be divisible by: {block * block}", "DepthToSpace"
        )


def _check_space(avals: tuple[Aval, ...], block: int, last: bool) -> None:
    _check_block(avals, block, last, "SpaceToDepth")
    height, width = avals[0].shape[1:3] if last else avals[0].shape[2:]
    if not (divides(block, height) and divides(block, width)):
        raise invalid(
            f"Image width {width} and height {height} should be divisible by block_size: {block}",
            "SpaceToDepth",
        )


def _depth_to_space(x: Any, block: int, last: bool) -> Any:
    if last:
        n, h, w, c = x.shape
        cut = x.reshape(n, h, w, block, block, c // (block * block))
        moved = jnp.transpose(cut, (0, 1, 3, 2, 4, 5))
        return moved.reshape(n, h * block, w * block, c // (block * block))
    n, c, h, w = x.shape
    cut = x.reshape(n, block, block, c // (block * block), h, w)
    moved = jnp.transpose(cut, (0, 3, 4, 1, 5, 2))
    return moved.reshape(n, c // (block * block), h * block, w * block)


def _space_to_depth(x: Any, block: int, last: bool) -> Any:
    if last:
        n, h, w, c = x.shape
        cut = x.reshape(n, h // block, block, w // block, block, c)
        moved = jnp.transpose(cut, (0, 1, 3, 2, 4, 5))
        return moved.reshape(n, h // block, w // block, block * block * c)
    n, c, h, w = x.shape
    cut = x.reshape(n, c, h // block, block, w // block, block)
    moved = jnp.transpose(cut, (0, 3, 5, 1, 2, 4))
    return moved.reshape(n, block * block * c, h // block, w // block)


def _depth_shapes(avals: tuple[Aval, ...], block: int, last: bool) -> Aval:
    """Where the depth is unknown it is taken for a multiple."""
    if last:
        n, h, w, c = avals[0].shape
        shape = n, h * block, w * block, c // (block * block)
    else:
        n, c, h, w = avals[0].shape
        shape = n, c // (block * block), h * block, w * block
    return Aval.of(shape, avals[0].dtype)


def _space_shapes(avals: tuple[Aval, ...], block: int, last: bool) -> Aval:
    """Where sizes are unknown they are taken for multiples."""
    if last:
        n, h, w, c = avals[0].shape
        shape = n, h // block, w // block, block * block * c
    else:
        n, c, h, w = avals[0].shape
        shape = n, block * block * c, h // block, w // block
    return Aval.of(shape, avals[0].dtype)


_DEPTH_TO_SPACE = Op(_depth_to_space, "DepthToSpace", check=_check_depth, shapes=_depth_shapes)
_SPACE_TO_DEPTH = Op(_space_to_depth, "SpaceToDepth", check=_check_space, shapes=_space_shapes)


def _with_block(op: Op, input: Any, block_size: Any, data_format: str) -> Tensor:
    if data_format == "NCHW_VECT_C":
        raise NotImplementedError(f"{op.name}: data_format NCHW_VECT_C of quantized numbers")
    if data_format not in _FORMATS:
        listed = '"NHWC", "NCHW", "NCHW_VECT_C"'
        raise not_allowed(f'"{data_format}"', listed, op.name, "data_format")
    block = int_attribute(static(block_size), "block_size")
    closure = op.bind(block=block, last=data_format == "NHWC")
    x = convert(input)
    return move_text(lambda p: apply(closure, (p,)), x) if is_text(x) else apply(closure, (x,))


def depth_to_space(
    input: Any, block_size: Any, data_format: str = "NHWC", name: str | None = None
) -> Tensor:
    """Channels laid out as blocks of pixels: [n, h, w, b * b * c] becomes [n, h * b, w * b, c].

    Raises: InvalidArgumentError if the channels are no multiple of `block_size` squared.

    >>> import tape_compat as tf
    >>> tf.nn.depth_to_space([[[[1, 2, 3, 4]]]], 2).numpy()[0, :, :, 0].tolist()
    [[1, 2], [3, 4]]
    """
    return _with_block(_DEPTH_TO_SPACE, input, block_size, data_format)


def space_to_depth(
    input: Any, block_size: Any, data_format: str = "NHWC", name: str | None = None
) -> Tensor:
    """Blocks of pixels laid out as channels: [n, h * b, w * b, c] becomes [n, h, w, b * b * c].

    Raises: InvalidArgumentError if height or width is no multiple of `block_size`.

    >>> import tape_compat as tf
    >>> tf.nn.space_to_depth([[[[1], [2]], [[3], [4]]]], 2).numpy().tolist()
    [[[[1, 2, 3, 4]]]]
    """
    return _with_block(_SPACE_TO_DEPTH, input, block_size, data_format)


# -- between space and the batch -------------------------------------------------------------------


def _check_pairs(blocks: tuple, pairs: tuple, what: str, kernel: str) -> None:
    count = len(blocks)
    if len(pairs) != count or any(len(pair) != 2 for pair in pairs):
        width = len(pairs[0]) if pairs else 0
        raise invalid(
            f"{what} should have shape [{count}, 2] instead of [{len(pairs)},{width}]", kernel
        )
    for i, block in enumerate(blocks):
        if less(block, 1):
            raise invalid(
                f"All values in block_shape must be positive, got value, {block} at index {i}.",
                kernel,
            )
    if any(less(n, 0) for pair in pairs for n in pair):
        raise invalid(f"{what[0].upper()}{what[1:]} must be non-negative", kernel)


def _check_to_batch(avals: tuple[Aval, ...], blocks: tuple, pairs: tuple) -> None:
    kernel = "SpaceToBatchND"
    _check_pairs(blocks, pairs, "paddings", kernel)
    shape = avals[0].shape
    if len(shape) < 1 + len(blocks):
        raise invalid(f"input rank should be >= {1 + len(blocks)} instead of {len(shape)}", kernel)
    for i, (block, pair) in enumerate(zip(blocks, pairs, strict=True)):
        size = shape[1 + i] + pair[0] + pair[1]
        if not divides(block, size):
            raise invalid(
                f"padded_shape[{i}]={size} is not divisible by block_shape[{i}]={block}", kernel
            )


def _check_from_batch(avals: tuple[Aval, ...], blocks: tuple, pairs: tuple) -> None:
    kernel = "BatchToSpaceND"
    _check_pairs(blocks, pairs, "crops", kernel)
    shape = avals[0].shape
    if len(shape) < 1 + len(blocks):
        raise invalid(f"input rank should be >= {1 + len(blocks)} instead of {len(shape)}", kernel)
    total = 1
    for block in blocks:
        total *= block
    if not divides(total, shape[0]):
        raise invalid(
            f"Input batch dimension ({shape[0]}) is not divisible by product of block sizes "
            f"({total})",
            kernel,
        )
    for i, (block, pair) in enumerate(zip(blocks, pairs, strict=True)):
        size = shape[1 + i] * block - pair[0] - pair[1]
        if less(size, 0):
            raise invalid(f"cropped_shape[{i}]={size} must be non-negative", kernel)


def _space_to_batch(x: Any, blocks: tuple, pairs: tuple) -> Any:
    count = len(blocks)
    x = jnp.pad(x, [(0, 0), *pairs, *[(0, 0)] * (x.ndim - count - 1)])
    cut = [x.shape[0]]
    batch = x.shape[0]
    for i, block in enumerate(blocks):
        cut += [x.shape[1 + i] // block, block]
        batch = batch * block
    rest = x.shape[1 + count :]
    x = x.reshape(*cut, *rest)
    inner = [2 * i + 2 for i in range(count)]
    outer = [2 * i + 1 for i in range(count)]
    last = range(1 + 2 * count, x.ndim)
    x = jnp.transpose(x, (*inner, 0, *outer, *last))
    return x.reshape(batch, *x.shape[count + 1 :])


def _batch_to_space(x: Any, blocks: tuple, pairs: tuple) -> Any:
    count = len(blocks)
    batch = x.shape[0]
    for block in blocks:
        batch = batch // block
    x = x.reshape(*blocks, batch, *x.shape[1:])
    order = [count]
    for i in range(count):
        order += [count + 1 + i, i]
    x = jnp.transpose(x, (*order, *range(2 * count + 1, x.ndim)))
    sizes = [x.shape[1 + 2 * i] * blocks[i] for i in range(count)]
    x = x.reshape(batch, *sizes, *x.shape[1 + 2 * count :])
    kept = [slice(a, size - b) for size, (a, b) in zip(sizes, pairs, strict=True)]
    return x[(slice(None), *kept)]


def _to_batch_aval(avals: tuple[Aval, ...], blocks: tuple, pairs: tuple) -> Aval:
    batch, *sizes = avals[0].shape
    for i, (block, pair) in enumerate(zip(blocks, pairs, strict=True)):
        batch = batch * block
        sizes[i] = (sizes[i] + pair[0] + pair[1]) // block
    return Aval.of((batch, *sizes), avals[0].dtype)


def _from_batch_aval(avals: tuple[Aval, ...], blocks: tuple, pairs: tuple) -> Aval:
    batch, *sizes = avals[0].shape
    for i, (block, pair) in enumerate(zip(blocks, pairs, strict=True)):
        batch = batch // block
        sizes[i] = sizes[i] * block - pair[0] - pair[1]
    return Aval.of((batch, *sizes), avals[0].dtype)


_SPACE_TO_BATCH = Op(
    _space_to_batch, "SpaceToBatchND", check=_check_to_batch, shapes=_to_batch_aval
)
_BATCH_TO_SPACE = Op(
    _batch_to_space, "BatchToSpaceND", check=_check_from_batch, shapes=_from_batch_aval
)


def space_to_batch(input: Any, block_shape: Any, paddings: Any, name: str | None = None) -> Tensor:
    """Every pixel of a block as an image of its own: [n, h, w, ...] becomes [b1 * b2 * n, ...].

    Args:
      block_shape: sizes of the block, one for each spatial dimension after the first.
      paddings: pairs of zeros added before and after each of them.
    Raises: InvalidArgumentError if a padded size is no multiple of its block.

    >>> import tape_compat as tf
    >>> tf.space_to_batch([[1, 2, 3, 4]], [2], [[0, 0]]).numpy().tolist()
    [[1, 3], [2, 4]]
    """
    blocks = dims(block_shape, "Tblock_shape", "SpaceToBatchND")
    pairs = static(cast_as_default(paddings))
    return apply(_SPACE_TO_BATCH.bind(blocks=blocks, pairs=pairs), (convert(input),))


def batch_to_space(input: Any, block_shape: Any, crops: Any, name: str | None = None) -> Tensor:
    """The inverse of `space_to_batch`; `crops` are taken off where that padded.

    >>> import tape_compat as tf
    >>> tf.batch_to_space([[1, 3], [2, 4]], [2], [[0, 1]]).numpy().tolist()
    [[1, 2, 3]]
    """
    pairs = static(cast_as_default(crops))
    blocks = dims(block_shape, "Tblock_shape", "BatchToSpaceND")
    if _scalar(block_shape):
        blocks = blocks * 2
    return apply(_BATCH_TO_SPACE.bind(blocks=blocks, pairs=pairs), (convert(input),))


def _scalar(value: Any) -> bool:
    return not isinstance(value, (list, tuple)) and len(getattr(value, "shape", ())) == 0


def required_space_to_batch_paddings(
    input_shape: Any, block_shape: Any, base_paddings: Any = None, name: str | None = None
) -> tuple[Tensor, Tensor]:
    """The paddings that make sizes multiples of a block, and the crops that undo them.

    Args:
      input_shape: int32 Tensor [n]; sizes of the spatial dimensions.
      block_shape: int32 Tensor [n]; sizes of the block.
      base_paddings: int32 Tensor [n, 2]; the least paddings, zeros by default.
    Returns: `paddings` and `crops`, int32 Tensors [n, 2], for `space_to_batch` and
      `batch_to_space`. What is added to `base_paddings` stands at the end, and is cropped again.
    Raises: ValueError for shapes that do not fit each other.

    >>> import tape_compat as tf
    >>> paddings, crops = tf.required_space_to_batch_paddings([5, 7], [2, 7])
    >>> paddings.numpy().tolist(), crops.numpy().tolist()
    ([[0, 1], [0, 0]], [[0, 1], [0, 0]])
    """
    sizes, blocks = convert(input_shape, dtypes.int32), convert(block_shape, dtypes.int32)
    if len(blocks.shape) != 1:
        raise ValueError(f"Shape {blocks.shape} must have rank 1")
    _check_fit(sizes, (count := blocks.shape[0],))
    if base_paddings is None:
        base_paddings = zeros([count, 2], dtypes.int32)
    base = convert(base_paddings, dtypes.int32)
    _check_fit(base, (count, 2))
    before, after = base[:, 0], base[:, 1]
    extra = (blocks - (sizes + before + after) % blocks) % blocks
    return stack([before, after + extra], 1), stack([zeros_like(extra), extra], 1)


def _check_fit(value: Tensor, shape: tuple[Any, ...]) -> None:
    if not value.shape.is_compatible_with(shape):
        raise ValueError(f"Shapes {value.shape} and {list(shape)} are incompatible")
