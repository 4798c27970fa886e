"""Convolutions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from ..core.avals import Aval
from ..core.op import Op
from ..core.refuse import invalid, shown
from ..values.convert import convert
from ..values.record import apply
from ..values.tensor import Tensor
from .checks import check_dtypes
from .declare import check_same_dtype, matching, static
from .shapes import reshape
from .windows import channels_last, explicit_padding, per_dimension


def _dimension_numbers(rank: int, last: bool) -> tuple[str, str, str]:
    spatial = "DHW"[3 - rank :]
    data = f"N{spatial}C" if last else f"NC{spatial}"
    return data, f"{spatial}IO", data


def _convolve(
    x: Any,
    filters: Any,
    strides: tuple[int, ...],
    padding: Any,
    dilations: tuple[int, ...],
    last: bool,
    depthwise: bool = False,
) -> Any:
    rank = len(strides)
    channels = x.shape[-1 if last else 1]
    if depthwise:
        *window, inputs, multiplier = filters.shape
        filters = filters.reshape(*window, 1, inputs * multiplier)
    if last and _is_matmul(channels, filters.shape, padding):
        pixels = lax.slice(x, (0,) * x.ndim, x.shape, (1, *strides, 1))
        return jnp.matmul(pixels, filters.reshape(filters.shape[-2:]))
    groups = channels // filters.shape[-2] if channels else 1
    return lax.conv_general_dilated(
        x,
        filters,
        strides,
        padding,
        rhs_dilation=dilations,
        dimension_numbers=_dimension_numbers(rank, last),
        feature_group_count=groups,
    )


def _is_matmul(channels: int, filters: tuple[int, ...], padding: Any) -> bool:
    """Whether each pixel is multiplied by one matrix: on CPUs XLA is quicker when told so.

    TF does the same. Source: TF conv_ops_impl.h, LaunchConv2DOp.
    """
    *window, inputs, _ = filters
    padded = not isinstance(padding, str) and any(pair != (0, 0) for pair in padding)
    return set(window) == {1} and inputs == channels and not padded


def _check_convolution(kernel: str, batch_rank: int = 1) -> Callable[..., None]:
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
        if depth == 0 or channels % depth or (depthwise and channels != depth):
            raise invalid(
                f"input depth must be evenly divisible by filter depth: {channels} vs {depth}",
                kernel,
            )

    return check


_CONVOLUTIONS = {
    rank: Op(_convolve, kernel, check=_check_convolution(kernel))
    for rank, kernel in {1: "Conv2D", 2: "Conv2D", 3: "Conv3D"}.items()
}
_DEPTHWISE = Op(
    _convolve, "DepthwiseConv2dNative", check=_check_convolution("DepthwiseConv2dNative")
)


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
    last = channels_last(data_format)
    closure = declared.bind(
        strides=per_dimension(strides, rank, "strides", last, declared.name),
        padding=explicit_padding(padding, rank, last, declared.name),
        dilations=per_dimension(dilations, rank, "dilations", last, declared.name),
        last=last,
    )
    x, filters = matching((input, filters))
    extra = len(x._aval.shape) - rank - 2
    if extra <= 0:
        return apply(closure, (x, filters))
    shape = x._aval.shape
    flat = apply(closure, (reshape(x, (-1, *shape[extra + 1 :])), filters))
    return reshape(flat, (*shape[: extra + 1], *flat._aval.shape[1:]))


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
    return _convolution(rank, input, filters, strides, padding, data_format, dilations)


def _convolve_back(
    y: Any,
    filters: Any,
    shape: tuple[int, ...],
    strides: tuple[int, ...],
    padding: Any,
    dilations: tuple[int, ...],
    last: bool,
) -> Any:
    """The transpose of a convolution whose input has `shape`."""

    def forward(x: Any) -> Any:
        return _convolve(x, filters, strides, padding, dilations, last)

    (out,) = jax.linear_transpose(forward, jax.ShapeDtypeStruct(shape, y.dtype))(y)
    return out


_CONV2D_TRANSPOSE = Op(
    _convolve_back,
    "Conv2DBackpropInput",
    shapes=lambda avals, shape, **_: Aval.of(shape, avals[0].dtype),
)


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

    >>> import tape_compat as tf
    >>> y = tf.nn.conv2d_transpose(tf.ones([1, 2, 2, 3]), tf.ones([3, 3, 1, 3]), [1, 4, 4, 1], 2)
    >>> y.shape
    TensorShape([1, 4, 4, 1])
    """
    last = channels_last(data_format)
    kernel = _CONV2D_TRANSPOSE.name
    closure = _CONV2D_TRANSPOSE.bind(
        shape=static(output_shape),
        strides=per_dimension(strides, 2, "strides", last, kernel),
        padding=explicit_padding(padding, 2, last, kernel),
        dilations=per_dimension(dilations, 2, "dilations", last, kernel),
        last=last,
    )
    return apply(closure, tuple(matching((input, filters))))


def depthwise_conv2d(
    input: Any,
    filter: Any,
    strides: Any,
    padding: Any,
    data_format: str | None = None,
    dilations: Any = None,
    name: str | None = None,
) -> Tensor:
    """Each channel of `input` convolved by itself with `filter` [h, w, in, multiplier].

    >>> import tape_compat as tf
    >>> x = tf.ones([1, 4, 4, 3])
    >>> tf.nn.depthwise_conv2d(x, tf.ones([3, 3, 3, 2]), [1, 1, 1, 1], "SAME").shape
    TensorShape([1, 4, 4, 6])
    """
    last = channels_last(data_format)
    closure = _DEPTHWISE.bind(
        strides=per_dimension(strides, 2, "strides", last, _DEPTHWISE.name),
        padding=explicit_padding(padding, 2, last, _DEPTHWISE.name),
        dilations=per_dimension(dilations, 2, "dilations", last, _DEPTHWISE.name),
        last=last,
        depthwise=True,
    )
    return apply(closure, tuple(matching((input, filter))))


def separable_conv2d(
    input: Any,
    depthwise_filter: Any,
    pointwise_filter: Any,
    strides: Any,
    padding: Any,
    data_format: str | None = None,
    dilations: Any = None,
    name: str | None = None,
) -> Tensor:
    """`depthwise_conv2d`, then a convolution with `pointwise_filter` [1, 1, channels, out].

    >>> import tape_compat as tf
    >>> x, d, p = tf.ones([1, 4, 4, 3]), tf.ones([3, 3, 3, 2]), tf.ones([1, 1, 6, 5])
    >>> tf.nn.separable_conv2d(x, d, p, [1, 1, 1, 1], "VALID").shape
    TensorShape([1, 2, 2, 5])
    """
    deep = depthwise_conv2d(input, depthwise_filter, strides, padding, data_format, dilations)
    return conv2d(deep, pointwise_filter, 1, "VALID", data_format or "NHWC")
