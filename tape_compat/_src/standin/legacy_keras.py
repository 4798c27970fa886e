"""What libraries take of `tensorflow.python.keras`, a copy of Keras 2 that TensorFlow keeps."""

from __future__ import annotations

from typing import Any

from ..ops.casting import cast
from ..ops.shapes import expand_dims
from ..values.nest import map_structure
from ..values.tensor import Tensor


class TFOpLambda:
    """The class of op layers of that copy: no layer of Keras is one."""


_LAYOUTS = ("channels_last", "channels_first")
#: The axes of places, by the number of all.
_AXES = {3: "W", 4: "HW", 5: "DHW"}


def convert_data_format(data_format: str, ndim: int) -> str:
    """TensorFlow's word for an order of axes.

    Raises: ValueError for another order, or number of axes.

    >>> convert_data_format("channels_last", 4), convert_data_format("channels_first", 3)
    ('NHWC', 'NCW')
    """
    if data_format not in _LAYOUTS:
        raise ValueError("Invalid data_format:", data_format)
    if ndim not in _AXES:
        raise ValueError("Input rank not supported:", ndim)
    axes = _AXES[ndim]
    return f"N{axes}C" if data_format == "channels_last" else f"NC{axes}"


def normalize_tuple(value: Any, n: int, name: str) -> tuple[Any, ...]:
    """n integers: a tuple of them, or one for all. Raises: ValueError for anything else.

    >>> normalize_tuple(3, 2, "strides"), normalize_tuple([1, 2], 2, "strides")
    ((3, 3), (1, 2))
    """
    if isinstance(value, int):
        return (value,) * n
    text = f"The `{name}` argument must be a tuple of {n} integers. Received: {value}"
    try:
        found = tuple(value)
    except TypeError:
        raise ValueError(text) from None
    if len(found) != n:
        raise ValueError(text)
    for each in found:
        try:
            int(each)
        except (TypeError, ValueError):
            raise ValueError(f"{text} including element {each} of type {type(each)}") from None
    return found


def normalize_data_format(value: str | None) -> str:
    """'channels_first' or 'channels_last', which is the default. Raises: ValueError for others."""
    found = "channels_last" if value is None else value.lower()
    if found not in _LAYOUTS:
        raise ValueError(
            "The `data_format` argument must be one of "
            f'"channels_first", "channels_last". Received: {found}'
        )
    return found


def normalize_padding(value: object) -> object:
    """'valid', 'same' or 'causal'; a list or tuple as it is. Raises: ValueError for others."""
    if isinstance(value, (list, tuple)):
        return value
    found = str(value).lower()
    if found not in ("valid", "same", "causal"):
        raise ValueError(
            "The `padding` argument must be a list/tuple or one of "
            f'"valid", "same" (or "causal", only for `Conv1D). Received: {found}'
        )
    return found


def conv_output_length(
    input_length: int | None, filter_size: int, padding: str, stride: int, dilation: int = 1
) -> int | None:
    """How long a convolution's result is; None for an unknown length.

    >>> conv_output_length(10, 3, "valid", 2), conv_output_length(10, 3, "same", 2)
    (4, 5)
    """
    if input_length is None:
        return None
    covered = (filter_size - 1) * dilation
    left = {"valid": -covered, "full": covered}.get(padding, 0)
    return -(-(input_length + left) // stride)


def conv_input_length(
    output_length: int | None, filter_size: int, padding: str, stride: int
) -> int | None:
    """How long what a convolution takes is, by the length of its result."""
    if output_length is None:
        return None
    pad = {"same": filter_size // 2, "full": filter_size - 1}.get(padding, 0)
    return (output_length - 1) * stride - 2 * pad + filter_size


def deconv_output_length(
    input_length: int | None,
    filter_size: int,
    padding: str,
    output_padding: int | None = None,
    stride: int = 0,
    dilation: int = 1,
) -> int | None:
    """How long a transposed convolution's result is; None for an unknown length.

    >>> deconv_output_length(4, 3, "valid", stride=2), deconv_output_length(4, 3, "same", stride=2)
    (9, 8)
    """
    if input_length is None:
        return None
    size = filter_size + (filter_size - 1) * (dilation - 1)
    if output_padding is None:
        more = {"valid": max(size - stride, 0), "full": -(stride + size - 2)}
        return input_length * stride + more.get(padding, 0)
    pad = {"same": size // 2, "full": size - 1}.get(padding, 0)
    return (input_length - 1) * stride + size - 2 * pad + output_padding


def expand_1d(data: Any) -> Any:
    """A nest whose tensors of one axis get a second one, of size 1."""

    def expanded(x: Any) -> Any:
        return expand_dims(x, -1) if isinstance(x, Tensor) and x.shape.rank == 1 else x

    return map_structure(expanded, data)


def match_dtype_and_rank(y_t: Any, y_p: Any, sw: Any) -> tuple[Any, Any, Any]:
    """Labels, predictions and weights of examples, as losses take them.

    Where predictions are [batch, 1], labels and weights of [batch] get that shape. Labels of the
    same kind as predictions, floating or integers, and weights get their dtype.
    """
    if y_p.shape.rank == 2:
        y_t, sw = [x if x is None or x.shape.rank != 1 else expand_dims(x, -1) for x in (y_t, sw)]
    given, wanted = y_t.dtype, y_p.dtype
    if (given.is_floating and wanted.is_floating) or (given.is_integer and wanted.is_integer):
        y_t = cast(y_t, wanted)
    return y_t, y_p, sw if sw is None else cast(sw, wanted)
