"""Strings taken apart: into words, bytes, characters, n-grams."""

from __future__ import annotations

import functools
import itertools
import math
import re
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np

from ..composites.ragged import RaggedTensor
from ..composites.row_partition import RowPartition, host, splits_of_lengths
from ..core import dtypes
from ..core.dimensions import is_symbolic
from ..core.dtypes import DType
from ..core.refuse import invalid, not_allowed_text
from ..values.convert import convert
from ..values.dispatch import maps_first
from ..values.host_steps import by_host
from ..values.tensor import Tensor, concrete
from .arguments import known_value, packed, sketched, sketches_as
from .ragged_rows import rows_of
from .strings import as_strings, each, text_values

_Function = TypeVar("_Function", bound=Callable[..., Any])


def _of_flat_values(function: _Function) -> _Function:
    """Decorate an op that gives rows for each string: of ragged ones it takes the flat values."""

    @functools.wraps(function)
    def call(input: Any, *args: Any, **kwargs: Any) -> Any:
        if isinstance(input, RaggedTensor):
            return input.with_flat_values(function(input.flat_values, *args, **kwargs))
        return function(input, *args, **kwargs)

    return call  # type: ignore[return-value]


def _taken_apart(
    input: Any, parts: Callable[[bytes], Sequence[Any]], dtype: Any, counted: bool = True
) -> Any:
    """The parts of each string along a new ragged axis; a vector for a scalar. counted: whether
    TensorFlow knows beforehand how many rows that makes."""
    if isinstance(input, RaggedTensor):
        return input.with_flat_values(_taken_apart(input.flat_values, parts, dtype))
    input = packed(input)
    sketch = sketched(input)
    if sketch is not None and len(input._aval.shape) < 2:
        sizes, values = input._aval.shape, sketch.tensor([None], dtype)
        if not sizes:
            return values
        splits = sketch.tensor([sizes[0] + 1 if counted else None], dtypes.int64)
        return RaggedTensor(values, RowPartition(splits), internal=True)
    array = text_values(input)
    found = [parts(s) for s in array.ravel().tolist()]
    flat = [part for row in found for part in row]
    if dtype is dtypes.string:
        items = np.empty(len(flat), object)
        items[:] = flat
        values = as_strings(items)
    else:
        values = concrete(np.array(flat, dtype.np_dtype))
    if not array.ndim:
        return values
    splits = splits_of_lengths([len(row) for row in found])
    out: Any = RaggedTensor(values, RowPartition(concrete(splits)), internal=True)
    for n in reversed(array.shape[1:]):
        rows = out.shape[0] // n if n else int(np.prod(array.shape[:-1]))
        out = RaggedTensor.from_uniform_row_length(out, n, rows)
    return out


_SPACE = b" \t\n\v\f\r"


@_of_flat_values
@by_host()
def split(input: Any, sep: Any = None, maxsplit: int | None = -1, name: str | None = None) -> Any:
    """Strings cut at `sep`, or at white space, of which several count as one.

    Args:
      maxsplit: at most so many cuts if not below 0, nor None.
    Returns: a RaggedTensor with the pieces along a new last axis; a vector for a scalar.

    >>> import tape_compat as tf
    >>> tf.strings.split(["a b", "c"])
    <tf.RaggedTensor [[b'a', b'b'], [b'c']]>
    """
    between: Any = b"" if sep is None else text_values(sep)[()]
    most = -1 if maxsplit is None else int(maxsplit)
    if between:
        return _taken_apart(input, lambda s: s.split(between, most), dtypes.string, False)
    return _taken_apart(input, lambda s: _words(s, most), dtypes.string, False)


def _words(text: bytes, most: int) -> list[bytes]:
    """A text cut at white space, at most so often if not below 0. With as many words as cuts there
    is an empty rest, as in TensorFlow."""
    if not most:
        return [text]
    if most < 0:
        return text.strip(_SPACE).split()
    words = text.lstrip(_SPACE).split(None, most)
    return [*words, b""] if len(words) == most else words


@_of_flat_values
@by_host()
def split_at_any(input: Any, characters: str, skip_empty: bool = True) -> Any:
    """Strings cut at each of some characters, into single bytes if there are none.

    >>> from tape_compat._src.ops.string_splits import split_at_any
    >>> split_at_any(["a b-c"], " -")
    <tf.RaggedTensor [[b'a', b'b', b'c']]>
    """
    apart = bytes(text_values(characters)[()]) if characters else b""
    at = re.compile(b"[" + re.escape(apart) + b"]") if characters else None

    def parts(text: bytes) -> list[bytes]:
        found = at.split(text) if at else [text[i : i + 1] for i in range(len(text))]
        return [part for part in found if part or not skip_empty]

    return _taken_apart(input, parts, dtypes.string, False)


@_of_flat_values
@by_host()
def bytes_split(input: Any, name: str | None = None) -> Any:
    """The single bytes of strings along a new ragged axis; a vector for a scalar.

    >>> import tape_compat as tf
    >>> tf.strings.bytes_split(["ab", "c"])
    <tf.RaggedTensor [[b'a', b'b'], [b'c']]>
    """
    return _taken_apart(
        input, lambda s: [s[i : i + 1] for i in range(len(s))], dtypes.string, False
    )


# ---------------------------------------------------------------------------------------------
# Unicode.

_CODECS = {
    "UTF-8": "utf-8",
    "UTF8": "utf-8",
    "UTF-16-BE": "utf-16-be",
    "UTF-32-BE": "utf-32-be",
}
_REPLACED = 65533


def _codec(encoding: str, kernel: str) -> str:
    found = _CODECS.get(encoding.upper())
    if found is not None:
        return found
    try:
        "".encode(encoding)
    except LookupError:
        raise invalid(
            f"Could not create converter for input encoding: {encoding}", kernel
        ) from None
    return encoding


def _check_errors(errors: str, kernel: str) -> None:
    allowed = '"strict", "replace", "ignore"'
    if errors not in ("strict", "replace", "ignore"):
        raise invalid(not_allowed_text(f'"{errors}"', allowed, kernel, "errors"), kernel)


def _decoded(
    s: bytes, codec: str, errors: str, replacement: int, control: bool, kernel: str
) -> list[tuple[int, int]]:
    """The characters of a string, each code with where it begins."""
    found: list[tuple[int, int]] = []
    at = 0
    while at < len(s):
        try:
            text, size, bad = s[at:].decode(codec), len(s) - at, 0
        except UnicodeDecodeError as error:
            text, size = s[at : at + error.start].decode(codec), error.start
            bad = error.end - error.start
        place = at
        for character in text:
            code = ord(character)
            replaced = control and (code < 32 or code == 127) and code not in (9, 10, 13)
            if not replaced or errors == "replace":
                found.append((replacement if replaced else code, place))
            place += len(character.encode(codec))
        at += size
        if bad:
            if errors == "strict":
                raise invalid("Invalid formatting on input string", kernel)
            if errors == "replace":
                found.append((replacement, at))
            at += bad
    return found


class _Reading(NamedTuple):
    """What of characters is wanted: of one, by its code and where it begins, and of a text all of
    whose bytes are characters; both with the codec."""

    one: Callable[[tuple[int, int], str], Any]
    text: Callable[[str, str], list[Any]]
    dtype: DType


def _places(text: str, codec: str) -> list[int]:
    sizes = [len(character.encode(codec)) for character in text]
    return list(itertools.accumulate(sizes, initial=0))[:-1]


_CODES = _Reading(lambda found, codec: found[0], lambda text, _: [*map(ord, text)], dtypes.int32)
_PLACES = _Reading(lambda found, codec: found[1], _places, dtypes.int64)
_PIECES = _Reading(
    lambda found, codec: _encoded(found[0], codec),
    lambda text, codec: [character.encode(codec) for character in text],
    dtypes.string,
)


def _characters(
    reading: _Reading,
    input: Any,
    input_encoding: str,
    errors: str,
    replacement_char: int,
    replace_control_characters: bool = False,
) -> Any:
    codec = _codec(input_encoding, "UnicodeDecode")
    _check_errors(errors, "UnicodeDecode")
    settings = (codec, errors, replacement_char, replace_control_characters, "UnicodeDecode")

    def parts(s: bytes) -> list[Any]:
        if not replace_control_characters:
            try:
                return reading.text(s.decode(codec), codec)
            except UnicodeError:
                pass
        return [reading.one(found, codec) for found in _decoded(s, *settings)]

    return _taken_apart(input, parts, reading.dtype)


@by_host()
def unicode_decode(
    input: Any,
    input_encoding: str,
    errors: str = "replace",
    replacement_char: int = _REPLACED,
    replace_control_characters: bool = False,
    name: str | None = None,
) -> Any:
    """The code points of strings, int32, along a new ragged axis; a vector for a scalar.

    Args:
      errors: for bytes that are no character: 'strict', 'replace' by `replacement_char`, or
        'ignore'.
    Raises: InvalidArgumentError for them if 'strict', or for an encoding that is not known.

    >>> import tape_compat as tf
    >>> tf.strings.unicode_decode("ab", "UTF-8").numpy().tolist()
    [97, 98]
    """
    settings = (input_encoding, errors, replacement_char, replace_control_characters)
    return _characters(_CODES, input, *settings)


@by_host()
def unicode_decode_with_offsets(
    input: Any,
    input_encoding: str,
    errors: str = "replace",
    replacement_char: int = _REPLACED,
    replace_control_characters: bool = False,
    name: str | None = None,
) -> tuple[Any, Any]:
    """`unicode_decode`, and where in the string each character begins, int64.

    >>> import tape_compat as tf
    >>> tf.strings.unicode_decode_with_offsets(["ab"], "UTF-8")[1]
    <tf.RaggedTensor [[0, 1]]>
    """
    settings = (input_encoding, errors, replacement_char, replace_control_characters)
    return _characters(_CODES, input, *settings), _characters(_PLACES, input, *settings)


@by_host()
def unicode_split(
    input: Any,
    input_encoding: str,
    errors: str = "replace",
    replacement_char: int = _REPLACED,
    name: str | None = None,
) -> Any:
    """The characters of strings along a new ragged axis; a vector for a scalar.

    >>> import tape_compat as tf
    >>> tf.strings.unicode_split("ab", "UTF-8").numpy().tolist()
    [b'a', b'b']
    """
    return _characters(_PIECES, input, input_encoding, errors, replacement_char)


@by_host()
def unicode_split_with_offsets(
    input: Any,
    input_encoding: str,
    errors: str = "replace",
    replacement_char: int = _REPLACED,
    name: str | None = None,
) -> tuple[Any, Any]:
    """`unicode_split`, and where in the string each character begins, int64.

    >>> import tape_compat as tf
    >>> tf.strings.unicode_split_with_offsets(["ab"], "UTF-8")[1]
    <tf.RaggedTensor [[0, 1]]>
    """
    settings = (input_encoding, errors, replacement_char)
    return _characters(_PIECES, input, *settings), _characters(_PLACES, input, *settings)


def _encoded(code: int, codec: str) -> bytes:
    return chr(code).encode(codec)


def unicode_encode(
    input: Any,
    output_encoding: str,
    errors: str = "replace",
    replacement_char: int = _REPLACED,
    name: str | None = None,
) -> Any:
    """Strings of the code points along the last axis.

    Args: `output_encoding`: 'UTF-8', 'UTF-16-BE' or 'UTF-32-BE'; `errors`: as in `unicode_decode`.
    Raises: InvalidArgumentError for a number that is no character if 'strict'.

    >>> import tape_compat as tf
    >>> tf.strings.unicode_encode([97, 98], "UTF-8").numpy()
    b'ab'
    """
    kernel = "UnicodeEncode"
    _check_errors(errors, kernel)
    codec = _CODECS.get(output_encoding.upper())
    if codec is None:
        allowed = '"UTF-8", "UTF-16-BE", "UTF-32-BE"'
        text = not_allowed_text(f'"{output_encoding}"', allowed, kernel, "output_encoding")
        raise invalid(text, kernel)
    if isinstance(input, RaggedTensor):
        if isinstance(input.values, RaggedTensor):
            settings = (output_encoding, errors, replacement_char)
            return input.with_values(unicode_encode(input.values, *settings))
        codes, splits = known_value(input.values).tolist(), host(input.row_splits)
        rows = [codes[a:b] for a, b in zip(splits, splits[1:])]
        return as_strings([_joined(r, codec, errors, replacement_char) for r in rows])
    array = known_value(convert(input))
    out = np.empty(array.shape[:-1], object)
    for index in np.ndindex(*out.shape):
        out[index] = _joined(array[index].tolist(), codec, errors, replacement_char)
    return as_strings(out)


def _joined(codes: Sequence[int], codec: str, errors: str, replacement: int) -> bytes:
    out = []
    for code in codes:
        if not 0 <= code < 0x110000 or 0xD800 <= code < 0xE000:
            if errors == "strict":
                raise invalid(
                    "Code point is out of range for Unicode, or a noncharacter.", "UnicodeEncode"
                )
            if errors == "ignore":
                continue
            code = replacement
        out.append(_encoded(code, codec))
    return b"".join(out)


@maps_first
@sketches_as(dtypes.string)
def unicode_transcode(
    input: Any,
    input_encoding: str,
    output_encoding: str,
    errors: str = "replace",
    replacement_char: int = _REPLACED,
    replace_control_characters: bool = False,
    name: str | None = None,
) -> Tensor:
    """Strings in another encoding.

    Args: as in `unicode_decode` and `unicode_encode`.

    >>> import tape_compat as tf
    >>> tf.strings.unicode_transcode("a", "UTF-8", "UTF-16-BE").numpy()
    b'\\x00a'
    """
    kernel = "UnicodeTranscode"
    array = text_values(input, kernel)
    codec, target = _codec(input_encoding, kernel), _codec(output_encoding, kernel)
    _check_errors(errors, kernel)
    settings = (codec, errors, replacement_char, replace_control_characters, kernel)

    def transcoded(s: bytes) -> bytes:
        codes = [code for code, _ in _decoded(s, *settings)]
        return _joined(codes, target, "replace", replacement_char)

    return as_strings(each(transcoded, array))


# ---------------------------------------------------------------------------------------------
# N-grams.


@by_host()
def ngrams(
    data: Any,
    ngram_width: Any,
    separator: str = " ",
    pad_values: Any = None,
    padding_width: int | None = None,
    preserve_short_sequences: bool = False,
    name: str | None = None,
) -> Any:
    """Every `ngram_width` neighbours along the last axis, joined; of several widths one by one.

    Args:
      ngram_width: a number or a list of them.
      pad_values: a string, or one for each end, that rows are lengthened by, as often as there
        are neighbours, or `padding_width` times if that is less.
      preserve_short_sequences: whether a row that is too short gives all of itself.
    Returns: a RaggedTensor; a Tensor for one.
    Raises: TypeError or ValueError for other arguments.

    >>> import tape_compat as tf
    >>> tf.strings.ngrams(["a", "b", "c"], 2).numpy().tolist()
    [b'a b', b'b c']
    """
    widths = [ngram_width] if isinstance(ngram_width, int) else list(ngram_width)
    pads = _pads(pad_values)
    if padding_width is not None and pad_values is None:
        raise ValueError("pad_values must be provided if padding_width is set.")
    if padding_width is not None and padding_width < 1:
        raise ValueError(f"padding_width must be greater than 0. Received: {padding_width}")
    if any(w < 1 for w in widths):
        raise ValueError(f"All ngram_widths must be greater than 0. Received: {ngram_width}")

    def row(items: list[bytes]) -> list[bytes]:
        settings = (widths, separator.encode(), pads, padding_width, preserve_short_sequences)
        return _ngrams(items, *settings)

    if isinstance(data, RaggedTensor):
        return _ragged_ngrams(data, row)
    data = packed(data)
    sketch = sketched(data)
    if sketch is not None:
        *outer, size = data._aval.shape
        count = None if is_symbolic(size) else len(row([b""] * size))
        return sketch.tensor([*outer, count], dtypes.string)
    array = text_values(data)
    flat = array.reshape(math.prod(array.shape[:-1]), array.shape[-1])
    rows = [row(items) if array.size else [] for items in flat.tolist()]
    out = np.empty([len(rows), len(rows[0]) if rows else 0], object)
    for i, found in enumerate(rows):
        out[i] = found
    return as_strings(out.reshape([*array.shape[:-1], out.shape[1]]))


def _ragged_ngrams(data: RaggedTensor, row: Callable[[list[bytes]], list[bytes]]) -> RaggedTensor:
    if isinstance(data.values, RaggedTensor):
        return data.with_values(_ragged_ngrams(data.values, row))
    if len(data.values.shape) > 1:
        rows_of(data, len(data.shape) - 1)
        raise NotImplementedError("tf.strings.ngrams of ragged tensors with a dense last axis")
    sketch = sketched(data.values, data.row_splits)
    if sketch is not None:
        ends = sketch.tensor(data.row_splits._aval.shape, data.row_splits.dtype)
        words = sketch.tensor([None], dtypes.string)
        return RaggedTensor(words, RowPartition(ends), internal=True)
    items, splits = text_values(data.values).tolist(), host(data.row_splits)
    found = [row(items[a:b]) if items else [] for a, b in zip(splits, splits[1:])]
    flat = np.array([x for r in found for x in r] or [b""], object)[: sum(map(len, found))]
    lengths = splits_of_lengths([len(r) for r in found], splits.dtype)
    return RaggedTensor(as_strings(flat), RowPartition(concrete(lengths)), internal=True)


def _pads(pad_values: Any) -> tuple[bytes, bytes] | None:
    if pad_values is None:
        return None
    if isinstance(pad_values, (list, tuple)):
        if len(pad_values) != 2 or not all(isinstance(p, (str, bytes)) for p in pad_values):
            raise TypeError("pad_values must be a string, tuple of strings, or None.")
        left, right = pad_values
    elif isinstance(pad_values, (str, bytes)):
        left = right = pad_values
    else:
        raise TypeError("pad_values must be a string, tuple of strings, or None.")
    return _as_bytes(left), _as_bytes(right)


def _as_bytes(text: str | bytes) -> bytes:
    return text.encode() if isinstance(text, str) else text


def _ngrams(
    items: list[bytes],
    widths: list[int],
    separator: bytes,
    pads: tuple[bytes, bytes] | None,
    padding_width: int | None,
    preserve: bool,
) -> list[bytes]:
    out: list[bytes] = []
    for width in widths:
        count = 0
        if pads is not None:
            count = width - 1 if padding_width is None else min(padding_width, width - 1)
        left, right = pads or (b"", b"")
        full = [left] * count + items + [right] * count
        found = [separator.join(full[i : i + width]) for i in range(len(full) - width + 1)]
        if preserve and not found and items:
            found = [separator.join(full)]
        out += found
    return out
