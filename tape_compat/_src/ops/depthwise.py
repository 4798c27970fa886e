"""Depthwise convolutions: each channel by itself."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from ..core.avals import Aval
from ..core.dimensions import differ
from ..core.op import Op
from ..core.refuse import invalid, shown
from ..values.convert import convert
from ..values.record import apply
from ..values.tensor import Tensor
from .arguments import dims
from .convolutions import (
    check_convolution,
    check_images,
    conv2d,
    convolve,
    convolve_back,
    xla_convolution,
)
from .declare import check_same_dtype, matching
from .kernel_gradient import kernel_gradient
from .windows import channels_last, explicit_padding, per_dimension


def _in_groups(shape: tuple[int, ...]) -> tuple[int, ...]:
    """The shape of filters [h, w, in, multiplier] as those of a convolution with groups of one
    channel, which this is."""
    *window, channels, multiplier = shape
    return (*window, 1, channels * multiplier)


def _convolve(x: Any, filters: Any, **attributes: Any) -> Any:
    return convolve(x, filters.reshape(_in_groups(filters.shape)), **attributes)


def _to_input(filters: Any, dy: Any, shape: tuple[int, ...], **attributes: Any) -> Any:
    """The cotangent of the input, of `shape`."""
    return convolve_back(dy, filters.reshape(_in_groups(filters.shape)), shape, **attributes)


def _to_filter(x: Any, dy: Any, shape: tuple[int, ...], **attributes: Any) -> Any:
    """The cotangent of the filter, of `shape`."""
    by_xla = partial(xla_convolution, **attributes)
    return kernel_gradient(by_xla, x, dy, _in_groups(shape), **attributes).reshape(shape)


def _pull(
    arrays: Sequence[Any], cotangents: Sequence[Any], wrt: tuple[int, ...], **attributes: Any
) -> tuple[Any, ...]:
    (x, filters), (dy,) = arrays, cotangents
    by = (
        lambda: _to_input(filters, dy, x.shape, **attributes),
        lambda: _to_filter(x, dy, filters.shape, **attributes),
    )
    return tuple([by[i]() for i in wrt])


_KERNEL = "DepthwiseConv2dNative"
_check = partial(check_convolution(_KERNEL), depthwise=True)
_DEPTHWISE = Op(_convolve, _KERNEL, check=_check, pull=_pull, kernels=True)


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
    last = channels_last(data_format, 2, _DEPTHWISE.name)
    closure = _DEPTHWISE.bind(
        strides=per_dimension(strides, 2, "strides", last, _DEPTHWISE.name),
        padding=explicit_padding(padding, 2, last, _DEPTHWISE.name),
        dilations=per_dimension(dilations, 2, "dilations", last, _DEPTHWISE.name),
        last=last,
    )
    x, filters = matching((input, filter))
    found = apply(closure, (x, filters))
    check_images(closure, x._aval.shape[1:-1] if last else x._aval.shape[2:], filters)
    return found


def _check_back(x: Aval, filters: Aval, dy: Aval, attributes: dict[str, Any], kernel: str) -> None:
    check_same_dtype((filters, dy), kernel)
    check_convolution(kernel)((x, filters), depthwise=True, **attributes)
    (found,), _ = _DEPTHWISE.bind(**attributes).infer((x, filters))
    if any(map(differ, found.shape, dy.shape)) or len(dy.shape) != 4:
        raise invalid(
            f"out_backprop has shape {shown(dy.shape)}, the convolution gives {shown(found.shape)}",
            kernel,
        )


def _check_to_input(avals: tuple[Aval, ...], shape: tuple[int, ...], **attributes: Any) -> None:
    filters, dy = avals
    x = Aval.of(shape, filters.dtype)
    _check_back(x, filters, dy, attributes, f"{_KERNEL}BackpropInput")


def _check_to_filter(avals: tuple[Aval, ...], shape: tuple[int, ...], **attributes: Any) -> None:
    x, dy = avals
    filters = Aval.of(shape, x.dtype)
    _check_back(x, filters, dy, attributes, f"{_KERNEL}BackpropFilter")


_TO_INPUT = Op(_to_input, f"{_KERNEL}BackpropInput", check=_check_to_input, kernels=True)
_TO_FILTER = Op(_to_filter, f"{_KERNEL}BackpropFilter", check=_check_to_filter, kernels=True)


def _back(
    op: Op, pair: Any, sizes: Any, strides: Any, padding: Any, data_format: Any, dilations: Any
) -> Tensor:
    last = channels_last(data_format)
    closure = op.bind(
        shape=dims(sizes),
        strides=per_dimension(strides, 2, "strides", last, op.name),
        padding=explicit_padding(padding, 2, last, op.name),
        dilations=per_dimension(dilations, 2, "dilations", last, op.name),
        last=last,
    )
    return apply(closure, tuple(matching(pair)))


def depthwise_conv2d_backprop_input(
    input_sizes: Any,
    filter: Any,
    out_backprop: Any,
    strides: Any,
    padding: Any,
    data_format: str = "NHWC",
    dilations: Any = (1, 1, 1, 1),
    name: str | None = None,
) -> Tensor:
    """The gradient of `depthwise_conv2d` by its input, of shape `input_sizes`.

    Args:
      out_backprop: the gradient by its output; the other arguments are those it was called with.
    Raises: InvalidArgumentError if the shapes do not fit.

    >>> import tape_compat as tf
    >>> f, dy = tf.ones([2, 2, 1, 1]), tf.ones([1, 2, 2, 1])
    >>> back = tf.nn.depthwise_conv2d_backprop_input
    >>> back([1, 3, 3, 1], f, dy, [1, 1, 1, 1], "VALID").numpy()[0, :, :, 0].tolist()
    [[1.0, 2.0, 1.0], [2.0, 4.0, 2.0], [1.0, 2.0, 1.0]]
    """
    pair = (filter, out_backprop)
    return _back(_TO_INPUT, pair, input_sizes, strides, padding, data_format, dilations)


def depthwise_conv2d_backprop_filter(
    input: Any,
    filter_sizes: Any,
    out_backprop: Any,
    strides: Any,
    padding: Any,
    data_format: str = "NHWC",
    dilations: Any = (1, 1, 1, 1),
    name: str | None = None,
) -> Tensor:
    """The gradient of `depthwise_conv2d` by its filter, of shape `filter_sizes`.

    Args:
      out_backprop: the gradient by its output; the other arguments are those it was called with.
    Raises: InvalidArgumentError if the shapes do not fit.

    >>> import tape_compat as tf
    >>> x, dy = tf.ones([1, 3, 3, 1]), tf.ones([1, 2, 2, 1])
    >>> back = tf.nn.depthwise_conv2d_backprop_filter
    >>> back(x, [2, 2, 1, 1], dy, [1, 1, 1, 1], "VALID").numpy().ravel().tolist()
    [4.0, 4.0, 4.0, 4.0]
    """
    pair = (input, out_backprop)
    return _back(_TO_FILTER, pair, filter_sizes, strides, padding, data_format, dilations)


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

    Raises: ValueError for another shape of `pointwise_filter`.

    >>> import tape_compat as tf
    >>> x, d, p = tf.ones([1, 4, 4, 3]), tf.ones([3, 3, 3, 2]), tf.ones([1, 1, 6, 5])
    >>> tf.nn.separable_conv2d(x, d, p, [1, 1, 1, 1], "VALID").shape
    TensorShape([1, 2, 2, 5])
    """
    deep = depthwise_conv2d(input, depthwise_filter, strides, padding, data_format, dilations)
    points = convert(pointwise_filter, hint=deep.dtype)
    points.shape.assert_has_rank(4)
    for size in points._aval.shape[:2]:
        if differ(size, 1):
            raise ValueError(f"Dimensions {size} and 1 are not compatible")
    return conv2d(deep, points, 1, "VALID", data_format or "NHWC")
