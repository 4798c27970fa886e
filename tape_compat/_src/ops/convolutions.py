"""Convolutions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from ..core.avals import Aval
from ..core.dimensions import differ, divides, is_symbolic
from ..core.op import Closure, Op
from ..core.refuse import invalid, shown
from ..values.convert import convert
from ..values.record import apply
from ..values.tensor import Tensor
from .arguments import dims
from .checks import check_dtypes
from .convolution_kernels import Windows, convolution as by_kernels, fit
from .declare import check_same_dtype, matching
from .kernel_gradient import kernel_gradient, transposed
from .shapes import reshape
from .windows import (
    channels_last,
    check_size,
    explicit_padding,
    extents,
    padding_pairs,
    per_dimension,
)


def _dimension_numbers(rank: int, last: bool) -> tuple[str, str, str]:
    spatial = "DHW"[3 - rank :]
    data = f"N{spatial}C" if last else f"NC{spatial}"
    return data, f"{spatial}IO", data


def xla_convolution(
    x: Any,
    filters: Any,
    strides: tuple[int, ...],
    padding: Any,
    dilations: tuple[int, ...],
    last: bool,
) -> Any:
    rank = len(strides)
    channels = x.shape[-1 if last else 1]
    if last and _is_matmul(channels, filters.shape, padding):
        pixels = lax.slice(x, (0,) * x.ndim, x.shape, (1, *strides, 1))
        return jnp.matmul(pixels, filters.reshape(filters.shape[-2:]))
    groups = channels // filters.shape[-2] if channels else 1
    x, padding = _padded_further(x, filters.shape[:-2], padding, dilations, last)
    return lax.conv_general_dilated(
        x,
        filters,
        strides,
        padding,
        rhs_dilation=dilations,
        dimension_numbers=_dimension_numbers(rank, last),
        feature_group_count=groups,
    )


def _padded_further(
    x: Any, window: tuple[int, ...], padding: Any, dilations: tuple[int, ...], last: bool
) -> tuple[Any, Any]:
    """The images with that padding which lies under no window, and what is left of the padding: of
    such padding the derivative by the images that XLA takes on CPUs is wrong (JAX 0.8 to 0.10)."""
    if isinstance(padding, str):
        return x, padding
    reach = [n - 1 for n in extents(window, dilations)]
    left = tuple([tuple([min(n, most) for n in pair]) for pair, most in zip(padding, reach)])
    if left == tuple(padding):
        return x, padding
    more = [(a - c, b - d, 0) for (a, b), (c, d) in zip(padding, left)]
    none = [(0, 0, 0)]
    config = [*none, *more, *none] if last else [*none, *none, *more]
    return lax.pad(x, np.zeros((), x.dtype), config), left


def convolve(
    x: Any,
    filters: Any,
    strides: tuple[int, ...],
    padding: Any,
    dilations: tuple[int, ...],
    last: bool,
) -> Any:
    given: dict[str, Any] = {"strides": strides, "padding": padding, "dilations": dilations}
    by_xla = partial(xla_convolution, **given, last=last)
    if not last or not fit(x, filters):
        return by_xla(x, filters)
    windows = Windows.of(x.shape[1:-1], filters.shape[:-2], strides, padding, dilations)
    return by_kernels(by_xla, x, filters, windows, filters.shape[-1])


def _is_matmul(channels: int, filters: tuple[int, ...], padding: Any) -> bool:
    """Whether each pixel is multiplied by one matrix: on CPUs XLA is quicker when told so.

    TF does the same. Source: TF conv_ops_impl.h, LaunchConv2DOp.
    """
    *window, inputs, _ = filters
    padded = not isinstance(padding, str) and any(pair != (0, 0) for pair in padding)
    return set(window) == {1} and inputs == channels and not padded


def check_convolution(kernel: str) -> Callable[..., None]:
    def check(
        avals: tuple[Aval, ...],
        strides: tuple[int, ...],
        last: bool,
        depthwise: bool = False,
        **_: Any,
    ) -> None:
        x, filters = avals
        check_same_dtype(avals, kernel)
        check_dtypes(kernel, "float integer")(avals)
        rank = len(strides) + 2
        for operand, what in ((x, "input"), (filters, "filter")):
            if len(operand.shape) != rank:
                raise invalid(
                    f"convolution {what} must be {rank}-dimensional: {shown(operand.shape)}", kernel
                )
        channels, depth = x.shape[-1 if last else 1], filters.shape[-2]
        if depthwise and differ(channels, depth):
            raise invalid(
                f"input and filter must have the same depth: {channels} vs {depth}", kernel
            )
        if depth == 0 or not divides(depth, channels):
            raise invalid(
                f"input depth must be evenly divisible by filter depth: {channels} vs {depth}",
                kernel,
            )
        if not depthwise and 0 in filters.shape[:-2]:
            raise invalid(
                "filter must not have zero elements (i.e. all dimensions must be non-zero)", kernel
            )

    return check


def _pull(
    arrays: Sequence[Any],
    cotangents: Sequence[Any],
    wrt: tuple[int, ...],
    **attributes: Any,
) -> tuple[Any, ...]:
    """The pullback of a convolution."""
    (x, filters), (dy,) = arrays, cotangents
    by_xla = partial(xla_convolution, **attributes)
    by = (
        lambda: convolve_back(dy, filters, x.shape, **attributes),
        lambda: kernel_gradient(by_xla, x, dy, filters.shape, **attributes),
    )
    return tuple([by[i]() for i in wrt])


_CONVOLUTIONS = {
    rank: Op(convolve, kernel, check=check_convolution(kernel), pull=_pull, kernels=True)
    for rank, kernel in {1: "Conv2D", 2: "Conv2D", 3: "Conv3D"}.items()
}


def check_images(closure: Closure, sizes: Sequence[Any], filters: Tensor) -> None:
    """Refuse images of sizes that are too small for the filters of a convolution."""
    given = closure.attributes
    reaches = extents(filters._aval.shape[: len(sizes)], given["dilations"])
    check_size(sizes, reaches, given["strides"], given["padding"], closure.name)


def _convolution(
    rank: int,
    input: Any,
    filters: Any,
    strides: Any,
    padding: Any,
    data_format: Any,
    dilations: Any,
) -> Tensor:
    declared = _CONVOLUTIONS[rank]
    last = channels_last(data_format, rank, declared.name)
    closure = declared.bind(
        strides=per_dimension(strides, rank, "strides", last, declared.name),
        padding=explicit_padding(padding, rank, last, declared.name),
        dilations=per_dimension(dilations, rank, "dilations", last, declared.name),
        last=last,
    )
    x, filters = matching((input, filters))
    shape = x._aval.shape
    extra = len(shape) - rank - 2
    flat = x if extra <= 0 else reshape(x, (-1, *shape[extra + 1 :]))
    found = apply(closure, (flat, filters))
    check_images(closure, shape[-rank - 1 : -1] if last else shape[-rank:], filters)
    return found if extra <= 0 else reshape(found, (*shape[: extra + 1], *found._aval.shape[1:]))


def conv1d(
    input: Any,
    filters: Any,
    stride: Any,
    padding: Any,
    data_format: str = "NWC",
    dilations: Any = None,
    name: str | None = None,
) -> Tensor:
    """Convolution of `input` [..., width, in] with `filters` [window, in / groups, out].

    >>> import tape_compat as tf
    >>> x = tf.reshape(tf.range(4.0), [1, 4, 1])
    >>> tf.nn.conv1d(x, tf.ones([2, 1, 1]), 1, "VALID").numpy().ravel().tolist()
    [1.0, 3.0, 5.0]
    """
    return _convolution(1, input, filters, stride, padding, data_format, dilations)


def conv2d(
    input: Any,
    filters: Any,
    strides: Any,
    padding: Any,
    data_format: str = "NHWC",
    dilations: Any = None,
    name: str | None = None,
) -> Tensor:
    """Convolution of `input` [..., height, width, in] with `filters` [h, w, in / groups, out].

    Args:
      strides, dilations: an int, two, or four with ones for batch and channels.
      padding: "SAME", "VALID", or four pairs, those of batch and channels (0, 0).
      data_format: "NHWC" or "NCHW".
    Raises: InvalidArgumentError if ranks, channels or dtypes do not fit.

    >>> import tape_compat as tf
    >>> tf.nn.conv2d(tf.ones([1, 4, 4, 3]), tf.ones([3, 3, 3, 8]), 2, "SAME").shape
    TensorShape([1, 2, 2, 8])
    """
    return _convolution(2, input, filters, strides, padding, data_format, dilations)


def conv3d(
    input: Any,
    filters: Any,
    strides: Any,
    padding: Any,
    data_format: str = "NDHWC",
    dilations: Any = None,
    name: str | None = None,
) -> Tensor:
    """Convolution of `input` [..., depth, height, width, in] with `filters` [d, h, w, in, out].

    >>> import tape_compat as tf
    >>> tf.nn.conv3d(tf.ones([1, 4, 4, 4, 1]), tf.ones([2, 2, 2, 1, 3]), 1, "VALID").shape
    TensorShape([1, 3, 3, 3, 3])
    """
    return _convolution(3, input, filters, strides, padding, data_format, dilations)


def convolution(
    input: Any,
    filters: Any,
    strides: Any = None,
    padding: Any = "VALID",
    data_format: str | None = None,
    dilations: Any = None,
    name: str | None = None,
) -> Tensor:
    """conv1d, conv2d or conv3d, by the rank of `filters`.

    >>> import tape_compat as tf
    >>> tf.nn.convolution(tf.ones([1, 4, 2]), tf.ones([2, 2, 5])).shape
    TensorShape([1, 3, 5])
    """
    rank = len(convert(filters).shape) - 2
    if rank not in (1, 2, 3):
        raise ValueError(f"`filters` must have rank 3, 4 or 5. Received: rank {rank + 2}")
    last = channels_last(data_format)
    steps, holes = (
        per_dimension(value, rank, what, last, "Convolution")
        for value, what in ((strides, "strides"), (dilations, "dilations"))
    )
    if max(steps) > 1 and max(holes) > 1:
        raise ValueError(
            "`strides > 1` not supported in conjunction with `dilation_rate > 1`. "
            f"Received: strides={list(steps)} and dilation_rate={list(holes)}"
        )
    return _convolution(rank, input, filters, strides, padding, data_format, dilations)


def convolve_back(
    y: Any,
    filters: Any,
    shape: tuple[int, ...],
    strides: tuple[int, ...],
    padding: Any,
    dilations: tuple[int, ...],
    last: bool,
) -> Any:
    """The transpose of a convolution whose input has `shape`."""
    given: dict[str, Any] = {"strides": strides, "padding": padding, "dilations": dilations}
    forward = partial(xla_convolution, **given, last=last)

    if 0 in filters.shape:
        return jnp.zeros(shape, y.dtype)
    if jnp.issubdtype(y.dtype, jnp.integer) or any(
        map(is_symbolic, shape[1:-1] if last else shape[2:])
    ):
        return _turned_back(y, filters, shape, strides, padding, dilations, last)

    def by_xla(y: Any, filters: Any) -> Any:
        return transposed(lambda x: forward(x, filters), shape, y)

    if not last or not fit(y, filters):
        return by_xla(y, filters)
    sizes, window = shape[1:-1], filters.shape[:-2]
    windows = Windows.of(sizes, window, strides, padding, dilations).transposed(sizes, window)
    return by_kernels(by_xla, y, filters, windows, shape[-1])


def _turned_back(
    y: Any,
    filters: Any,
    shape: tuple[int, ...],
    strides: tuple[int, ...],
    padding: Any,
    dilations: tuple[int, ...],
    last: bool,
) -> Any:
    """The same of integers, whose convolutions JAX does not transpose, and of sizes that a program
    leaves open: that of `y`, spread by the strides, with the window turned around. Source: Dumoulin
    and Visin, A guide to convolution arithmetic for deep learning, relationship 14."""
    rank, window = len(strides), filters.shape[:-2]
    sizes, given = (shape[1:-1], y.shape[1:-1]) if last else (shape[2:], y.shape[2:])
    pads = padding_pairs(sizes, window, strides, padding, dilations)
    ends: list[tuple[Any, Any]] = []
    for axis in range(rank):
        reach = (window[axis] - 1) * dilations[axis]
        before = reach - pads[axis][0]
        spread = (given[axis] - 1) * strides[axis] + 1
        ends.append((before, sizes[axis] + reach - spread - before))
    moved = any(is_symbolic(end) for pair in ends for end in pair)
    if moved:  # all of it, and further zeros of the largest stride; the result is a part of that
        ends = [((w - 1) * d, (w - 1) * d + s) for w, d, s in zip(window, dilations, strides)]
    depth, channels = filters.shape[-2], shape[-1 if last else 1]
    groups = channels // depth
    turned = jnp.flip(filters, range(rank)).reshape(*window, depth, groups, -1)
    turned = jnp.moveaxis(turned, -1, -3)
    turned = jnp.swapaxes(turned, -1, -2).reshape(*window, -1, channels)
    found = lax.conv_general_dilated(
        y,
        turned,
        (1,) * rank,
        ends,
        lhs_dilation=strides,
        rhs_dilation=dilations,
        dimension_numbers=_dimension_numbers(rank, last),
        feature_group_count=groups,
    )
    if not moved:
        return found
    begins = [jnp.asarray(pair[0], jnp.int32) for pair in pads]
    zero = jnp.zeros((), jnp.int32)
    begins = [zero, *begins, zero] if last else [zero, zero, *begins]
    return lax.dynamic_slice(found, begins, shape)


def _pull_back(
    arrays: Sequence[Any],
    cotangents: Sequence[Any],
    wrt: tuple[int, ...],
    shape: tuple[int, ...],
    **attributes: Any,
) -> tuple[Any, ...]:
    """The pullback of the transpose of a convolution."""
    (y, filters), (dx,) = arrays, cotangents
    by_xla = partial(xla_convolution, **attributes)
    by = (
        lambda: convolve(dx, filters, **attributes),
        lambda: kernel_gradient(by_xla, dx, y, filters.shape, **attributes),
    )
    return tuple([by[i]() for i in wrt])


def _check_ranks(y: Aval, filters: Aval, rank: int, where: str, kernel: str) -> None:
    """As TensorFlow's kernels have it, which take images of one axis for such of two."""
    have = len(y.shape)
    if have != rank:
        axes = f"input_sizes must be 4-dimensional, got: {have + 4 - rank}"
        raise invalid(axes if rank < 5 else "out_backprop tensor must have 5 dimensions", kernel)
    if len(filters.shape) != rank:
        axes = f"{where}: filter must be 4-dimensional"
        raise invalid(axes if rank < 5 else "filter_sizes tensor must have 5 dimensions", kernel)


def _check_depth(have: Any, wanted: Any, where: str, kernel: str) -> None:
    if differ(have, wanted):
        raise invalid(
            f"{where}: filter and out_backprop must have the same out_depth"
            if "2D" in where
            else "out_backprop and filter_sizes must have the same number of channels. Got "
            f"{have} for out_backprop and {wanted} for filter_sizes",
            kernel,
        )


def _check_transpose(kernel: str) -> Callable[..., None]:
    def check(
        avals: tuple[Aval, ...],
        shape: tuple[int, ...],
        strides: tuple[int, ...],
        padding: Any,
        dilations: tuple[int, ...],
        last: bool,
    ) -> None:
        y, filters = avals
        check_same_dtype(avals, kernel)
        where = "Conv3DBackpropInputOp" if len(strides) == 3 else "Conv2DCustomBackpropInput"
        _check_ranks(y, filters, len(strides) + 2, where, kernel)
        channels, depth = shape[-1 if last else 1], filters.shape[-2]
        if differ(shape[0], y.shape[0]):
            raise invalid(
                f"{where}: input and out_backprop must have the same batch size. Input batch: "
                f"{shape[0]}, outbackprop batch: {y.shape[0]}, batch_dim: 0",
                kernel,
            )
        if not divides(depth, channels):
            raise invalid(f"{where}: input depth must be evenly divisible by filter depth", kernel)
        _check_depth(y.shape[-1 if last else 1], filters.shape[-1], where, kernel)
        given = y.shape[1:-1] if last else y.shape[2:]
        sizes = shape[1:-1] if last else shape[2:]
        for i, (size, n) in enumerate(zip(sizes, given, strict=True)):
            reach = (filters.shape[i] - 1) * dilations[i] + 1
            if padding == "SAME":
                found = -(-size // strides[i])
            else:
                pads = (0, 0) if padding == "VALID" else padding[i]
                found = (size + pads[0] + pads[1] - reach) // strides[i] + 1
            if differ(found, n):
                raise invalid(
                    f"{where}: Size of out_backprop doesn't match computed: actual = {n}, "
                    f"computed = {found}, spatial_dim: {i}, input: {size}, "
                    f"filter: {filters.shape[i]}, output: {n}, stride: {strides[i]}, "
                    f"dilation: {dilations[i]}",
                    kernel,
                )

    return check


_TRANSPOSES = {
    rank: Op(
        convolve_back,
        kernel,
        check=_check_transpose(kernel),
        shapes=lambda avals, shape, **_: Aval.of(shape, avals[0].dtype),
        pull=_pull_back,
        kernels=True,
    )
    for rank, kernel in {
        1: "Conv2DBackpropInput",
        2: "Conv2DBackpropInput",
        3: "Conv3DBackpropInputV2",
    }.items()
}


def _transposed(
    rank: int,
    input: Any,
    filters: Any,
    output_shape: Any,
    strides: Any,
    padding: Any,
    data_format: Any,
    dilations: Any,
) -> Tensor:
    declared = _TRANSPOSES[rank]
    last = channels_last(data_format, rank, declared.name)
    closure = declared.bind(
        shape=dims(output_shape),
        strides=per_dimension(strides, rank, "strides", last, declared.name),
        padding=explicit_padding(padding, rank, last, declared.name),
        dilations=per_dimension(dilations, rank, "dilations", last, declared.name),
        last=last,
    )
    return apply(closure, tuple(matching((input, filters))))


def conv1d_transpose(
    input: Any,
    filters: Any,
    output_shape: Any,
    strides: Any,
    padding: Any = "SAME",
    data_format: str = "NWC",
    dilations: Any = None,
    name: str | None = None,
) -> Tensor:
    """The transpose of `conv1d`: from its output to its input, of `output_shape` [n, w, out].

    >>> import tape_compat as tf
    >>> y = tf.nn.conv1d_transpose([[[1.0], [2.0]]], tf.ones([2, 1, 1]), [1, 4, 1], 2)
    >>> y.numpy().ravel().tolist()
    [1.0, 1.0, 2.0, 2.0]
    """
    return _transposed(1, input, filters, output_shape, strides, padding, data_format, dilations)


def conv2d_transpose(
    input: Any,
    filters: Any,
    output_shape: Any,
    strides: Any,
    padding: Any = "SAME",
    data_format: str = "NHWC",
    dilations: Any = None,
    name: str | None = None,
) -> Tensor:
    """The transpose of `conv2d`: from its output to its input, of `output_shape`.

    `filters` [h, w, out, in] as of the convolution that it transposes.
    Raises: InvalidArgumentError if no input of `output_shape` gives an output as large as `input`.

    >>> import tape_compat as tf
    >>> y = tf.nn.conv2d_transpose(tf.ones([1, 2, 2, 3]), tf.ones([3, 3, 1, 3]), [1, 4, 4, 1], 2)
    >>> y.shape
    TensorShape([1, 4, 4, 1])
    """
    return _transposed(2, input, filters, output_shape, strides, padding, data_format, dilations)


def conv3d_transpose(
    input: Any,
    filters: Any,
    output_shape: Any,
    strides: Any,
    padding: Any = "SAME",
    data_format: str = "NDHWC",
    dilations: Any = None,
    name: str | None = None,
) -> Tensor:
    """The transpose of `conv3d`: from its output to its input, of `output_shape`.

    >>> import tape_compat as tf
    >>> x, f = tf.ones([1, 2, 2, 2, 3]), tf.ones([2, 2, 2, 1, 3])
    >>> tf.nn.conv3d_transpose(x, f, [1, 4, 4, 4, 1], 2).shape
    TensorShape([1, 4, 4, 4, 1])
    """
    return _transposed(3, input, filters, output_shape, strides, padding, data_format, dilations)


def conv_transpose(
    input: Any,
    filters: Any,
    output_shape: Any,
    strides: Any,
    padding: Any = "SAME",
    data_format: str | None = None,
    dilations: Any = None,
    name: str | None = None,
) -> Tensor:
    """conv1d_transpose, conv2d_transpose or conv3d_transpose, by the length of `output_shape`.

    >>> import tape_compat as tf
    >>> x, f = tf.ones([1, 2, 2, 3]), tf.ones([3, 3, 1, 3])
    >>> tf.nn.conv_transpose(x, f, [1, 4, 4, 1], 2).shape
    TensorShape([1, 4, 4, 1])
    """
    length = len(dims(output_shape))
    if length not in (3, 4, 5):
        raise ValueError(
            "`output_shape` must be of length 3, 4 or 5. "
            f"Received: output_shape={output_shape} of length {length}."
        )
    return _transposed(
        length - 2, input, filters, output_shape, strides, padding, data_format, dilations
    )


def _atrous(rate: Any, padding: Any, value: Tensor, filters: Tensor, kernel_axis: int) -> None:
    channels, depth = value._aval.shape[-1], filters._aval.shape[kernel_axis]
    if differ(channels, depth):
        raise ValueError(
            "`value` channel count must be compatible with `filters` input channel count. "
            f"Received: value.shape={value._aval.shape} with channel count {channels} and "
            f"filters.shape={filters._aval.shape} with input channel count {depth}."
        )
    if rate < 1:
        raise ValueError(f"`rate` cannot be less than one. Received: rate={rate}")
    if padding not in ("SAME", "VALID"):
        raise ValueError(f"`padding` must be either 'VALID' or 'SAME'. Received: padding={padding}")


def atrous_conv2d(
    value: Any, filters: Any, rate: int, padding: str, name: str | None = None
) -> Tensor:
    """`conv2d` of stride 1 with holes: `filters` dilated by `rate`.

    Raises: ValueError for other ranks, or channels that do not fit.

    >>> import tape_compat as tf
    >>> tf.nn.atrous_conv2d(tf.ones([1, 5, 5, 1]), tf.ones([2, 2, 1, 3]), 2, "VALID").shape
    TensorShape([1, 3, 3, 3])
    """
    value, filters = matching((value, filters))
    images, windows = value._aval, filters._aval
    if len(images.shape) < 4:
        raise ValueError(
            "`input.shape.rank` must be >= than `num_spatial_dims + 2`. Received: "
            f"input.shape={value.shape} of rank {len(images.shape)} and num_spatial_dims=2"
        )
    if len(windows.shape) != 4:
        raise ValueError(f"`filters` must be of rank 4. Received: filters.shape={filters.shape}")
    if not divides(windows.shape[-2], images.shape[-1]):
        raise ValueError(
            "The number of input channels is not divisible by the corresponding number of output "
            f"filters. Received: input.shape={value.shape} with {images.shape[-1]} channels and "
            f"filters.shape={filters.shape} with {windows.shape[-2]} output filters."
        )
    return _convolution(2, value, filters, 1, padding, "NHWC", rate)


def atrous_conv2d_transpose(
    value: Any, filters: Any, output_shape: Any, rate: Any, padding: str, name: str | None = None
) -> Tensor:
    """The transpose of `atrous_conv2d`: from its output to its input, of `output_shape`.

    Raises: ValueError for a `rate` below 1, another padding, or channels that do not fit.

    >>> import tape_compat as tf
    >>> x, f = tf.ones([1, 3, 3, 2]), tf.ones([2, 2, 1, 2])
    >>> tf.nn.atrous_conv2d_transpose(x, f, [1, 5, 5, 1], 2, "VALID").shape
    TensorShape([1, 5, 5, 1])
    """
    value, filters = matching((value, filters))
    _atrous(rate, padding, value, filters, 3)
    return _transposed(2, value, filters, output_shape, 1, padding, "NHWC", rate)
