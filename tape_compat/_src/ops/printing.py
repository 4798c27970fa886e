"""tf.print."""

from __future__ import annotations

import logging
import math
import operator
import os
import pprint
import re
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..composites.ragged import RaggedTensor
from ..composites.sparse import SparseTensor
from ..core.errors import NotFoundError
from ..core.state import LOCAL
from ..values import nest
from ..values.convert import convert
from ..values.effects import Written, once, record_effect
from ..values.indexed_slices import IndexedSlices
from ..values.operation import Operation, done
from ..values.tensor import Tensor, concrete
from ..values.variable import Variable

#: What is written by its elements.
_SHOWN = (Tensor, Variable, IndexedSlices, RaggedTensor, SparseTensor)
LEVELS = (logging.INFO, logging.WARNING, logging.ERROR)
_LOGGER = logging.getLogger("tape_compat")
_STDERR = object()  # the standard error at the time of the call


def print(
    *inputs: Any,
    output_stream: Any = _STDERR,
    summarize: int | None = 3,
    sep: str = " ",
    end: str | None = "\n",
    name: str | None = None,
    **unknown: Any,
) -> Operation | None:
    """Write tensors and other values to standard error, as text.

    Tensors are written without commas, and long ones shortened; they may stand in lists, dicts
    and other structures of `tf.nest`. Strings are written as they are, other values as `repr`.

    Args:
      *inputs: what to write.
      output_stream: `sys.stdout`, `sys.stderr` (default), 'file://PATH' to append to a file, or
        `logging.INFO`, `WARNING` or `ERROR` to log to the logger 'tape_compat'.
      summarize: elements written at each end of each axis; None for 3, all if negative.
      sep: what stands between the inputs.
      end: what stands at the end; None for a new line.
    Returns: None, in a `tf.function` an operation.
    Raises: ValueError for other streams and keywords, NotFoundError if the file's folder does not
      exist.

    >>> import sys
    >>> import tape_compat as tf
    >>> tf.print("x:", tf.range(10), {"a": tf.constant(0.5)}, output_stream=sys.stdout)
    x: [0 1 2 ... 7 8 9] {'a': 0.5}
    """
    if unknown:
        raise ValueError(f"Unrecognized keyword arguments for tf.print: {unknown}")
    try:
        summarize = 3 if summarize is None else operator.index(summarize)
    except TypeError:
        raise TypeError(f"Expected int for argument 'summarize' not {summarize!r}.") from None
    write = _writer(output_stream)
    count, last = summarize, "\n" if end is None else end
    symbolic = [x for x in nest.flatten(inputs, expand_composites=True) if _has_no_value(x)]

    def write_now(*values: Any) -> None:
        known = {id(x): concrete(v) for x, v in zip(symbolic, values, strict=True)}
        given = nest.map_structure(lambda x: known.get(id(x), x), inputs, expand_composites=True)
        write(sep.join([_text(value, count, len(given) > 1) for value in given]), last)

    if symbolic or LOCAL.state.capture is not None:
        written = _written(inputs, symbolic, output_stream, summarize, sep, last)
        record_effect(write_now, [convert(x) for x in symbolic], "PrintV2", written=written)
    else:
        once(write_now)
    return done("PrintV2")


class _Place:
    """Stands for a tensor in what is printed."""

    def __init__(self, mark: str):
        self._mark = mark

    def __repr__(self) -> str:
        return self._mark


def _written(
    inputs: Sequence[Any], symbolic: Sequence[Any], stream: Any, summarize: int, sep: str, end: str
) -> Written | None:
    """How TensorFlow's kernels print it; None if they cannot."""
    if sum(map(_has_no_value, nest.flatten(inputs))) < len(symbolic):
        return None  # of composites only parts have no value

    def template(mark: str) -> str:
        given = nest.map_structure(lambda x: _Place(mark) if _has_no_value(x) else x, inputs)
        several = len(inputs) > 1
        texts = [repr(x) if isinstance(x, _Place) else _text(x, summarize, several) for x in given]
        return sep.join(texts)

    marks = ("{}", *[f"{{{i}}}" for i in range(9)])
    for mark in marks:
        if (text := template(mark)).count(mark) == len(symbolic):
            attributes = {"output_stream": _name_of(stream), "end": end}
            return Written(text, attributes, mark, summarize)
    return None


def _name_of(stream: Any) -> str:
    """What TensorFlow's kernel calls a stream."""
    if isinstance(stream, str):
        return stream
    if stream.__class__ is int:
        return f"log({logging.getLevelName(stream).lower()})"
    return "stdout" if stream in (sys.stdout, sys.__stdout__) else "stderr"


def _has_no_value(x: Any) -> bool:
    """Whether something is not to be printed before the function that is recorded is called."""
    if isinstance(x, Variable):
        return LOCAL.state.capture is not None
    return isinstance(x, Tensor) and x._is_symbolic()


def _writer(output_stream: Any) -> Any:
    """A function of (text, end) that writes there."""
    if output_stream is _STDERR:
        output_stream = sys.stderr
    for name in ("stdout", "stderr", "__stdout__", "__stderr__"):
        if output_stream is getattr(sys, name) and output_stream is not None:
            return lambda text, end: _write(name, text + end)
    if output_stream.__class__ is int and output_stream in LEVELS:
        return lambda text, end: _LOGGER.log(output_stream, "%s", text)
    if isinstance(output_stream, str) and output_stream.startswith("file://"):
        return lambda text, end: _append(output_stream.removeprefix("file://"), text + end)
    raise ValueError(
        f"Unsupported output stream, logging level, or file.{output_stream}. Supported streams "
        "are sys.stdout, sys.stderr, logging.INFO, logging.WARNING, logging.ERROR. File needs to "
        "be in the form of 'file://<filepath>'."
    )


def _write(name: str, text: str) -> None:
    """Write to the stream that has this name now: it may be another than when it was recorded."""
    stream = getattr(sys, name)
    stream.write(text)
    stream.flush()


def _append(path: str, text: str) -> None:
    try:
        with open(path, "a", encoding="utf-8", newline="") as file:
            file.write(text)
    except FileNotFoundError as error:
        message = f"{path}; {os.strerror(error.errno or 0)} [Op:PrintV2]"
        raise NotFoundError(None, None, message) from error


def _text(value: Any, summarize: int, quoted: bool) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, _SHOWN):
        return tensor_text(value, summarize, quoted)
    if not nest.is_nested(value):
        return pprint.pformat(value)
    texts: list[str] = []

    def stand_in(leaf: Any) -> Any:
        if not isinstance(leaf, _SHOWN):
            return leaf
        texts.append(tensor_text(leaf, summarize, quoted=True))
        return _StandIn(len(texts) - 1)

    layout = pprint.pformat(nest.map_structure(stand_in, value))
    return _STAND_IN.sub(lambda found: texts[_number(found[0])], layout)


# While a structure is laid out, two characters of private use stand for each tensor; `repr`
# escapes such characters in the user's strings.
_PRIVATE, _BASE = 0xE000, 6400
_STAND_IN = re.compile("[\ue000-\uf8ff]{2}")


class _StandIn:
    def __init__(self, number: int) -> None:
        self.number = number

    def __repr__(self) -> str:
        high, low = divmod(self.number, _BASE)
        return chr(_PRIVATE + high) + chr(_PRIVATE + low)


def _number(characters: str) -> int:
    return (ord(characters[0]) - _PRIVATE) * _BASE + ord(characters[1]) - _PRIVATE


def tensor_text(tensor: Any, summarize: int = 3, quoted: bool = False) -> str:
    """A tensor as `tf.print` writes it. Scalar strings stand in quotes if `quoted`.

    >>> import tape_compat as tf
    >>> from tape_compat._src.ops.printing import tensor_text
    >>> tensor_text(tf.constant([0.1, 1 / 3, 1e10]))
    '[0.1 0.333333343 1e+10]'
    """
    if isinstance(tensor, RaggedTensor):
        return _ragged_text(tensor.to_list(), summarize)
    if isinstance(tensor, SparseTensor):
        parts = (tensor.indices, tensor.values, tensor.dense_shape)
        indices, values, shape = [tensor_text(part, summarize) for part in parts]
        return f"'SparseTensor(indices={indices}, values={values}, shape={shape})'"
    values = np.asarray(convert(tensor).numpy())
    scalar = None if values.ndim else values.item()
    if not quoted and isinstance(scalar, bytes):
        return _decoded(scalar)
    ends = values.size if summarize < 0 else min(summarize, values.size)
    return _array_text(values, ends, values.ndim)


def _ragged_text(value: Any, summarize: int) -> str:
    """The rows of a ragged tensor, or one of its elements."""
    if not isinstance(value, list):
        if isinstance(value, bytes):
            return f"'{re.sub(_QUOTED, _BACKSLASHED, _decoded(value))}'"
        if isinstance(value, bool):
            return "true" if value else "false"
        return f"{value:f}" if isinstance(value, float) else str(value)
    texts = [_ragged_text(x, summarize) for x in value]
    if summarize >= 0 and len(texts) > 2 * summarize:
        texts[summarize : len(texts) - summarize] = ["..."]
    return f"[{', '.join(texts)}]"


_QUOTED, _BACKSLASHED = re.compile(r"(['\\])"), r"\\\1"


def _array_text(values: Any, ends: int, rank: int) -> str:
    """`values`, the innermost `values.ndim` axes of an array of rank `rank`."""
    if not values.ndim:
        return _element_text(values[()])
    count, inner = len(values), values.ndim - 1
    gap = "\n" * inner + " " * (rank - inner) if inner else " "

    def part(i: int) -> str:
        return _array_text(values[i], ends, rank) if inner else _element_text(values[i])

    head = [part(i) for i in range(min(ends, count))]
    dots = ["..."] if count > 2 * ends else []
    tail = [part(i) for i in range(max(ends, count - ends), count)]
    return f"[{'' if head or not dots else gap}{gap.join(head + dots + tail)}]"


def _element_text(value: Any) -> str:
    if isinstance(value, bytes):
        return f'"{_escaped(_decoded(value))}"'
    if isinstance(value, np.complexfloating):
        imaginary = _float_text(value.imag)
        return f"{_float_text(value.real)}{'' if imaginary[0] == '-' else '+'}{imaginary}j"
    if isinstance(value, (bool, int, np.bool_, np.integer)):
        return str(int(value))
    return _float_text(value)


def _float_text(value: Any) -> str:
    """The fewer digits if they read back as the same number, else all: as C++ prints them."""
    kind, few, all_digits = (
        (np.float64, 15, 17) if isinstance(value, np.float64) else (np.float32, 6, 9)
    )
    number = float(value)
    text = f"{number:.{few}g}"
    return text if kind(text) == number or math.isnan(number) else f"{number:.{all_digits}g}"


def _decoded(text: bytes) -> str:
    return text.decode("utf-8", "backslashreplace")


_ESCAPES = {"\n": "\\n", "\r": "\\r", "\t": "\\t", '"': '\\"', "'": "\\'", "\\": "\\\\"}


def _escaped(text: str) -> str:
    return "".join(
        _ESCAPES.get(c) or (f"\\{ord(c):03o}" if c < " " or c == "\x7f" else c) for c in text
    )
