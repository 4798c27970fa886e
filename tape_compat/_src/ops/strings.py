"""Strings, element by element: the host computes them."""

from __future__ import annotations

import base64
import math
import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..composites.ragged import RaggedTensor
from ..core import dtypes
from ..core.avals import Aval
from ..core.dtypes import as_dtype
from ..core.errors import OutOfRangeError, user_location
from ..core.refuse import invalid, not_allowed_text, wrong_dtype
from ..values.convert import convert
from ..values.dispatch import maps_composites, maps_first
from ..values.host_steps import SAME, by_host
from ..values.tensor import Tensor, concrete
from ..values.variable import Variable
from . import regex
from .arguments import as_int, known_value, packed, sketched, sketches_as
from .hashing import fingerprint64, murmur64, siphash
from .printing import tensor_text
from .ragged_maps import broadcast, reduction


def text_values(value: Any, kernel: str = "", place: int = 0) -> np.ndarray:
    """The bytes of a string tensor, an array of objects. Raises TypeError for a number; for a
    tensor of another dtype the error of the kernel that takes it, or ValueError."""
    tensor = convert(value, hint=dtypes.string)
    if tensor.dtype is not dtypes.string:
        if not isinstance(value, (Tensor, Variable)):
            raise TypeError(f"Cannot convert {value!r} to EagerTensor of dtype string")
        if kernel:
            raise wrong_dtype(tensor.dtype, place, dtypes.string, kernel)
        raise ValueError(
            f"Tensor conversion requested dtype string for Tensor with dtype {tensor.dtype.name}"
        )
    return np.asarray(tensor._value(), object)


def as_strings(array: Any) -> Tensor:
    """A string tensor of an array of bytes."""
    array = np.asarray(array, object)
    return concrete(array, Aval.of(array.shape, dtypes.string))


def each(function: Callable[..., Any], array: np.ndarray, *others: np.ndarray) -> np.ndarray:
    """A function of each element, and of those of other arrays of this shape."""
    out = np.empty(array.shape, object)
    for index in np.ndindex(*array.shape):
        out[index] = function(array[index], *(other[index] for other in others))
    return out


def _numbers(function: Callable[[bytes], Any], array: np.ndarray, dtype: Any) -> Tensor:
    with np.errstate(over="ignore"):  # infinity, of what the dtype cannot hold
        return concrete(np.array(each(function, array), object).astype(dtype.np_dtype))


def _check_encoding(encoding: str, kernel: str) -> None:
    if encoding not in ("", "utf-8"):
        raise invalid(f"only utf-8 or '' (no encoding) is supported, received {encoding}", kernel)


@maps_composites
@sketches_as(dtypes.string)
def lower(input: Any, encoding: str = "", name: str | None = None) -> Tensor:
    """Upper-case letters as lower-case ones: of ASCII, with encoding 'utf-8' of Unicode.

    >>> import tape_compat as tf
    >>> tf.strings.lower(["AbC"]).numpy().tolist()
    [b'abc']
    """
    array = text_values(input, "StringLower")
    _check_encoding(encoding, "StringLower")
    if encoding:
        return as_strings(each(lambda s: regex.as_bytes(regex.as_text(s).lower()), array))
    return as_strings(each(bytes.lower, array))


@maps_composites
@sketches_as(dtypes.string)
def upper(input: Any, encoding: str = "", name: str | None = None) -> Tensor:
    """Lower-case letters as upper-case ones: of ASCII, with encoding 'utf-8' of Unicode.

    >>> import tape_compat as tf
    >>> tf.strings.upper(["AbC"]).numpy().tolist()
    [b'ABC']
    """
    array = text_values(input, "StringUpper")
    _check_encoding(encoding, "StringUpper")
    if encoding:
        return as_strings(each(lambda s: regex.as_bytes(regex.as_text(s).upper()), array))
    return as_strings(each(bytes.upper, array))


@maps_composites
@sketches_as(dtypes.string)
def strip(input: Any, name: str | None = None) -> Tensor:
    """Without white space at both ends.

    >>> import tape_compat as tf
    >>> tf.strings.strip([" a b "]).numpy().tolist()
    [b'a b']
    """
    return as_strings(each(lambda s: s.strip(b" \t\n\v\f\r"), text_values(input, "StringStrip")))


_UNITS = '"BYTE", "UTF8_CHAR"'


def _check_unit(unit: str, kernel: str) -> None:
    if unit not in ("BYTE", "UTF8_CHAR"):
        raise invalid(not_allowed_text(f'"{unit}"', _UNITS, kernel, "unit"), kernel)


def _characters(s: bytes) -> list[bytes]:
    """The characters of UTF-8: a byte that begins one, with those that follow it."""
    starts = [i for i, byte in enumerate(s) if byte & 0xC0 != 0x80 or not i]
    return [s[a:b] for a, b in zip(starts, [*starts[1:], len(s)])]


@maps_composites
@sketches_as(dtypes.int32)
def length(input: Any, unit: str = "BYTE", name: str | None = None) -> Tensor:
    """The number of bytes, or with unit 'UTF8_CHAR' of characters, int32.

    >>> import tape_compat as tf
    >>> tf.strings.length(["abc", ""]).numpy().tolist()
    [3, 0]
    """
    array = text_values(input, "StringLength")
    _check_unit(unit, "StringLength")
    count = len if unit == "BYTE" else lambda s: sum(byte & 0xC0 != 0x80 for byte in s)
    return _numbers(count, array, dtypes.int32)


@maps_composites
@sketches_as(dtypes.string)
def substr(input: Any, pos: Any, len: Any, unit: str = "BYTE", name: str | None = None) -> Tensor:
    """From `pos`, counted from the end if below 0, at most `len` bytes or characters.

    Raises: InvalidArgumentError for a `pos` outside, or shapes that do not broadcast.

    >>> import tape_compat as tf
    >>> tf.strings.substr(["hello", "abc"], [1, -2], [3, 1]).numpy().tolist()
    [b'ell', b'b']
    """
    array = text_values(input, "Substr")
    _check_unit(unit, "Substr")
    begin, count = known_value(pos), known_value(len)
    if begin.shape != count.shape:
        shapes = [list(begin.shape), list(count.shape)]
        raise invalid(
            f"pos and len should have the same shape, got: {shapes[0]} vs. {shapes[1]}", "Substr"
        )
    try:
        array, begin, count = np.broadcast_arrays(array, begin, count)
    except ValueError:
        raise invalid(
            f"Incompatible shapes: {list(array.shape)} vs. {list(begin.shape)}", "Substr"
        ) from None
    out = np.empty(array.shape, object)
    for i, index in enumerate(np.ndindex(*array.shape)):
        whole: Any = array[index]
        parts = whole if unit == "BYTE" else _characters(whole)
        out[index] = _part(parts, int(begin[index]), int(count[index]), whole, i)
    return as_strings(out)


def _part(parts: Any, begin: int, count: int, whole: bytes, place: int) -> bytes:
    size = len(parts)
    if not -size <= begin <= size:
        raise invalid(f"pos {begin} out of range for string {whole!r} at index {place}", "Substr")
    at = begin + size if begin < 0 else begin
    end = size if count < 0 else at + count
    found = parts[at:end]
    return found if isinstance(found, bytes) else b"".join(found)


@by_host(SAME)
def join(inputs: Any, separator: str = "", name: str | None = None) -> Any:
    """The strings of several tensors of one shape, or scalars, end to end.

    Raises: InvalidArgumentError if shapes differ.

    >>> import tape_compat as tf
    >>> tf.strings.join([["a", "b"], "c"], separator="-").numpy().tolist()
    [b'a-c', b'b-c']
    """
    given = list(inputs)
    if any(isinstance(x, RaggedTensor) for x in given):
        matched = broadcast([x if isinstance(x, RaggedTensor) else _strings(x) for x in given])
        flat = [x.flat_values if isinstance(x, RaggedTensor) else x for x in matched]
        first = next(x for x in matched if isinstance(x, RaggedTensor))
        return first.with_flat_values(join(flat, separator))
    sketch = sketched(*given)
    if sketch is not None:
        shapes = [np.shape(x) if not isinstance(x, Tensor) else x._aval.shape for x in given]
        return sketch.tensor(max(shapes, key=len), dtypes.string)
    arrays = [text_values(x, "StringJoin", i) for i, x in enumerate(given)]
    shape: tuple[int, ...] = ()
    for array in arrays:
        if array.shape and shape and array.shape != shape:
            texts = [str(list(s)).replace(" ", "") for s in (shape, array.shape)]
            raise invalid(f"Input shapes do not match: {texts[0]} vs. {texts[1]}", "StringJoin")
        shape = shape or array.shape
    between = _one_bytes(separator)
    full = [np.broadcast_to(a, shape) for a in arrays]
    if not full:
        return as_strings(np.array(b"", object))
    return as_strings(each(lambda *parts: between.join(parts), full[0], *full[1:]))


def _strings(value: Any) -> Tensor:
    return as_strings(text_values(value))


def _one_bytes(value: Any) -> bytes:
    if isinstance(value, Tensor):
        value = value.numpy()
    return value.encode() if isinstance(value, str) else bytes(value)


@by_host()
def reduce_join(
    inputs: Any, axis: Any = None, keepdims: bool = False, separator: str = "", name: Any = None
) -> Any:
    """The strings along axes end to end, in the order of `axis`; all of them by default.

    Raises: OutOfRangeError for an axis that is not there.

    >>> import tape_compat as tf
    >>> tf.strings.reduce_join([["a", "b"], ["c", "d"]], axis=1).numpy().tolist()
    [b'ab', b'cd']
    """
    between, inputs = _one_bytes(separator), packed(inputs)
    sketch = sketched(inputs)
    if sketch is not None and not isinstance(axis, Tensor):
        sizes = _without_axes(inputs._aval.shape, axis, keepdims)
        return sketch.tensor(sizes, dtypes.string)
    if isinstance(inputs, RaggedTensor):
        sketch = sketched(inputs.flat_values, *inputs.nested_row_splits)
        if sketch is not None and inputs.ragged_rank == 1 and axis in (1, -1) and not keepdims:
            return sketch.tensor([inputs.row_splits._aval.shape[0] - 1], dtypes.string)
        return _join_ragged(inputs, axis, keepdims, between)
    array = text_values(inputs, "ReduceJoin")
    rank = array.ndim
    axes = list(range(rank))[::-1] if axis is None else np.atleast_1d(known_value(axis)).tolist()
    for i in axes:
        if not -rank <= i < rank:
            raise OutOfRangeError(
                None,
                None,
                f"Invalid reduction dimension {i} for input with {rank} dimension(s) "
                f"[Op:ReduceJoin] (at {user_location()})",
            )
    axes = [i % rank for i in axes]
    if len(set(axes)) < len(axes):
        raise invalid(f"Duplicate reduction dimension {axes}", "ReduceJoin")
    rest = [i for i in range(rank) if i not in axes]
    out = np.empty([array.shape[i] for i in rest], object)
    joined = math.prod([array.shape[i] for i in axes])
    moved = array.transpose([*rest, *axes[::-1]]).reshape([*out.shape, joined])
    for index in np.ndindex(*out.shape):
        out[index] = between.join(moved[index])
    if keepdims:
        out = out.reshape([1 if i in axes else n for i, n in enumerate(array.shape)])
    return as_strings(out)


def _without_axes(sizes: Sequence[Any], axis: Any, keepdims: bool) -> list[Any]:
    """The sizes of what is left of a tensor, if these axes are there."""
    rank = len(sizes)
    axes = range(rank) if axis is None else [i % max(rank, 1) for i in np.atleast_1d(axis).tolist()]
    return [1 if i in axes else n for i, n in enumerate(sizes) if keepdims or i not in axes]


def _join_ragged(x: RaggedTensor, axis: Any, keepdims: bool, between: bytes) -> Any:
    """The strings of a ragged tensor end to end, along the innermost axis first."""

    def segment(values: Tensor, ids: Tensor, count: int) -> Tensor:
        return unsorted_segment_join(values, ids, count, between)  # type: ignore[arg-type]

    def dense(values: Tensor, axis: Any = None) -> Tensor:
        return reduce_join(values, axis, False, between)  # type: ignore[arg-type]

    return reduction(segment, dense)(x, axis, keepdims)


def _compiled(pattern: Any, kernel: str) -> Any:
    text = regex.as_text(_one_bytes(pattern))
    try:
        return regex.compiled(text)
    except ValueError as error:
        raise invalid(f"Invalid pattern: {text}, error: {error}", kernel) from None


@maps_composites
@sketches_as(dtypes.string)
def regex_replace(
    input: Any, pattern: Any, rewrite: Any, replace_global: bool = True, name: str | None = None
) -> Tensor:
    """Matches of a pattern in RE2's syntax replaced, all or the first of each string.

    Args:
      rewrite: may have \\1 to \\9 in it for the groups, \\0 for the match.
    Raises: InvalidArgumentError for a pattern that is none.

    >>> import tape_compat as tf
    >>> tf.strings.regex_replace("abab", "a(.)", "\\\\1-").numpy()
    b'b-b-'
    """
    array = text_values(input, "RegexReplace")
    found = _compiled(pattern, "StaticRegexReplace")
    new = regex.as_text(_one_bytes(rewrite))

    def replaced(s: bytes) -> bytes:
        return regex.as_bytes(regex.replaced(found, regex.as_text(s), new, replace_global))

    return as_strings(each(replaced, array))


@maps_composites
@sketches_as(dtypes.bool)
def regex_full_match(input: Any, pattern: Any, name: str | None = None) -> Tensor:
    """Whether a pattern in RE2's syntax matches the whole string.

    Raises: InvalidArgumentError for a pattern that is none.

    >>> import tape_compat as tf
    >>> tf.strings.regex_full_match(["ab", "abc"], "a.").numpy().tolist()
    [True, False]
    """
    array = text_values(input, "RegexFullMatch")
    found = _compiled(pattern, "StaticRegexFullMatch")

    def matches(s: bytes) -> bool:
        return found.fullmatch(regex.as_text(s)) is not None

    return _numbers(matches, array, dtypes.bool)


# ---------------------------------------------------------------------------------------------
# Numbers.


@maps_first
@sketches_as(lambda out_type=dtypes.float32, name=None: as_dtype(out_type))
def to_number(input: Any, out_type: Any = dtypes.float32, name: str | None = None) -> Tensor:
    """Numbers that strings name: float32, float64, int32, int64, uint32 or uint64.

    Raises: InvalidArgumentError for a string that is no number.

    >>> import tape_compat as tf
    >>> tf.strings.to_number(["1", "2.5"]).numpy().tolist()
    [1.0, 2.5]
    """
    array = text_values(input, "StringToNumber")
    dtype = as_dtype(out_type)
    if dtype.name not in ("float32", "float64", "int32", "int64", "uint32", "uint64"):
        raise invalid(
            not_allowed_text(
                dtype, "float, double, int32, int64, uint32, uint64", "StringToNumber", "out_type"
            ),
            "StringToNumber",
        )

    def number(s: bytes) -> Any:
        try:
            return _number(s.decode("ascii").strip(), dtype)
        except (ValueError, UnicodeDecodeError, OverflowError):
            raise invalid(
                f"StringToNumberOp could not correctly convert string: {regex.as_text(s)}",
                "StringToNumber",
            ) from None

    return _numbers(number, array, dtype)


def _number(text: str, dtype: Any) -> Any:
    if "_" in text:
        raise ValueError(text)
    if dtype.is_floating:
        hexadecimal = text.lower().lstrip("+-").startswith("0x")
        return float.fromhex(text) if hexadecimal else float(text)
    value = int(text)
    if not dtype.min <= value <= dtype.max:
        raise ValueError(text)
    return value


@maps_composites
@sketches_as(dtypes.string)
def as_string(
    input: Any,
    precision: int = -1,
    scientific: bool = False,
    shortest: bool = False,
    width: int = -1,
    fill: str = "",
    name: str | None = None,
) -> Tensor:
    """Numbers, bools and strings as text.

    Args:
      precision: digits after the point of floats, by default 6.
      scientific, shortest: as 1.5e+00, or the shorter of the two.
      width: least number of characters.
      fill: what fills them up: '0', ' ', or '-' for spaces on the right.
    Raises: InvalidArgumentError for options that do not go together or with the dtype.

    >>> import tape_compat as tf
    >>> tf.as_string([1.5, 2.0], precision=2).numpy().tolist()
    [b'1.50', b'2.00']
    """
    tensor = convert(input)
    dtype = tensor.dtype
    floats = dtype.is_floating or dtype.is_complex
    if dtype is dtypes.string:
        return tensor
    _check_format(dtype, floats, precision, scientific, shortest, fill)
    flags = ("" if dtype.is_unsigned and fill in "+ " else fill) + (
        str(width) if width > -1 else ""
    )
    if floats:
        letter = "g" if shortest else "e" if scientific else "f"
        flags += f".{precision}" if precision > -1 else ""
    else:
        letter = "s" if dtype.is_bool else "d"
    shown = f"%{flags}{letter}"

    def text(value: Any) -> bytes:
        if dtype.is_complex:
            real, imag = _printed(shown, value.real), _printed(shown, value.imag)
            return f"({real},{imag})".encode()
        if dtype.is_bool:
            return (shown % ("true" if value else "false")).encode()
        return _printed(shown, value).encode()

    array = np.asarray(known_value(tensor))
    return as_strings(each(text, array.astype(object) if not floats else array))


def _printed(form: str, value: Any) -> str:
    if form.endswith("d"):
        return form % int(value)
    value = float(value)
    if not math.isfinite(value):  # C fills these with spaces, Python with zeros
        form = _ZERO_FLAG.sub(r"%\1", form)
    return form % value


#: The flag of a format that fills with zeros, with the other flags before it.
_ZERO_FLAG = re.compile(r"%([-+ ]*)0+")


def _check_format(
    dtype: Any, floats: bool, precision: int, scientific: bool, shortest: bool, fill: str
) -> None:
    kernel = "AsString"
    if not floats:
        for what, given in (
            ("scientific and shortest", scientific or shortest),
            ("precision", precision >= 0),
        ):
            if given:
                raise invalid(f"{what} not supported for datatype {dtype.name}", kernel)
    if scientific and shortest:
        raise invalid("Cannot select both scientific and shortest notation", kernel)
    if len(fill) > 1:
        raise invalid("Fill string must be one or fewer characters", kernel)
    if fill not in ("", "0", " ", "-", "+"):
        raise invalid(f'Fill argument not supported: "{fill}"', kernel)


@by_host()
def format(
    template: str, inputs: Any, placeholder: str = "{}", summarize: int = 3, name: Any = None
) -> Tensor:
    """A text with tensors, as `tf.print` writes them, in the place of each placeholder.

    Raises: ValueError if there are not as many placeholders as inputs.

    >>> import tape_compat as tf
    >>> tf.strings.format("x: {}", tf.constant([1, 2])).numpy()
    b'x: [1 2]'
    """
    given = list(inputs) if isinstance(inputs, (list, tuple)) else [inputs]
    parts = template.split(placeholder)
    if len(parts) - 1 != len(given):
        raise ValueError(
            f"The template expects {len(parts) - 1} tensors, but the inputs only has "
            f"{len(given)}. Please ensure the number of placeholders in template "
            "matches inputs length."
        )
    sketch = sketched(*given)
    if sketch is not None:
        return sketch.tensor((), dtypes.string)
    out = [parts[0]]
    for value, after in zip(given, parts[1:]):
        if not isinstance(value, RaggedTensor):
            value = convert(value)
            known_value(value)  # says so if there is none yet
        out += [tensor_text(value, summarize, True), after]
    return as_strings(np.array(regex.as_bytes("".join(out)), object))


# ---------------------------------------------------------------------------------------------
# Hashes.


def _buckets(input: Any, num_buckets: Any, hashed: Callable[[bytes], int], kernel: str) -> Tensor:
    array = text_values(input, kernel)
    count = as_int(num_buckets)
    if count < 1:
        raise invalid(
            f"Value for attr 'num_buckets' of {count} must be at least minimum 1\n\t; NodeDef: "
            f"{{{{node {kernel}}}}}",
            kernel,
        )
    return _numbers(lambda s: hashed(s) % count, array, dtypes.int64)


@maps_composites
@sketches_as(dtypes.int64)
def to_hash_bucket(input: Any, num_buckets: Any, name: str | None = None) -> Tensor:
    """Numbers in [0, num_buckets) by a hash, int64.

    >>> import tape_compat as tf
    >>> tf.strings.to_hash_bucket(["a", "b"], 100).numpy().tolist()
    [68, 70]
    """
    return _buckets(input, num_buckets, murmur64, "StringToHashBucket")


@maps_composites
@sketches_as(dtypes.int64)
def to_hash_bucket_fast(input: Any, num_buckets: Any, name: str | None = None) -> Tensor:
    """Numbers in [0, num_buckets) by FarmHash's Fingerprint64, int64.

    >>> import tape_compat as tf
    >>> tf.strings.to_hash_bucket_fast(["a", "b"], 1000).numpy().tolist()
    [939, 822]
    """
    return _buckets(input, num_buckets, fingerprint64, "StringToHashBucketFast")


@maps_first
@sketches_as(dtypes.int64)
def to_hash_bucket_strong(
    input: Any, num_buckets: Any, key: Sequence[int], name: str | None = None
) -> Tensor:
    """Numbers in [0, num_buckets) by SipHash under a key of two numbers, int64.

    Raises: InvalidArgumentError if the key has not two numbers.

    >>> import tape_compat as tf
    >>> tf.strings.to_hash_bucket_strong(["a", "b"], 1000, [1, 2]).numpy().tolist()
    [646, 184]
    """
    numbers = [int(k) % 2**64 for k in key]
    if len(numbers) != 2:
        raise invalid("Key must have 2 elements", "StringToHashBucketStrong")
    pair = (numbers[0], numbers[1])
    return _buckets(input, num_buckets, lambda s: siphash(s, pair), "StringToHashBucketStrong")


def unsorted_segment_join(
    inputs: Any, segment_ids: Any, num_segments: Any, separator: str = "", name: Any = None
) -> Tensor:
    """The strings of each segment end to end.

    Raises: InvalidArgumentError for segments outside [0, num_segments), or not one for each string.

    >>> import tape_compat as tf
    >>> tf.strings.unsorted_segment_join(["a", "b", "c"], [0, 1, 0], 2).numpy().tolist()
    [b'ac', b'b']
    """
    array, ids, count = text_values(inputs), known_value(segment_ids), as_int(num_segments)
    kernel = "UnsortedSegmentJoin"
    if ids.ndim > array.ndim:
        message = f"Invalid segment_id rank {ids.ndim} for input with {array.ndim} dimension(s)"
        raise OutOfRangeError(None, None, f"{message} [Op:{kernel}]")
    for i, (n, size) in enumerate(zip(ids.shape, array.shape)):
        if n != size:
            raise invalid(
                f"Segment dimension is {n} while input dimension is {size} in rank {i}", kernel
            )
    if ids.size and (ids.min() < 0 or ids.max() >= count):
        message = "segment_ids are not allowed to exceed num_segments or to have negative values."
        raise invalid(message, kernel)
    rest = array.shape[ids.ndim :]
    flat = array.reshape([ids.size, *rest])
    between = _one_bytes(separator)
    out = np.empty([count, *rest], object)
    for index in np.ndindex(*out.shape):
        rows = np.flatnonzero(ids.ravel() == index[0])
        out[index] = between.join(flat[(row, *index[1:])] for row in rows)
    return as_strings(out)


@maps_first
@sketches_as(dtypes.string)
def encode_base64(input: Any, pad: bool = False, name: str | None = None) -> Tensor:
    """Strings in web-safe base64, with `=` at the end if `pad`.

    >>> import tape_compat as tf
    >>> tf.io.encode_base64(["hi?", "a"]).numpy().tolist()
    [b'aGk_', b'YQ']
    """

    def encoded(text: bytes) -> bytes:
        found = base64.urlsafe_b64encode(text)
        return found if pad else found.rstrip(b"=")

    return as_strings(each(encoded, text_values(input, "EncodeBase64")))


@maps_first
@sketches_as(dtypes.string)
def decode_base64(input: Any, name: str | None = None) -> Tensor:
    """The strings that web-safe base64 stands for, with or without `=` at the end.

    Raises: InvalidArgumentError for text that is none.

    >>> import tape_compat as tf
    >>> tf.io.decode_base64("aGk_").numpy()
    b'hi?'
    """

    def decoded(text: bytes) -> bytes:
        if len(text) % 4 == 1:
            raise invalid("Base64 string length cannot be 1 modulo 4.", "DecodeBase64")
        bare = re.sub(rb"={1,2}$", b"", text) if len(text) % 4 == 0 else text
        if re.search(rb"[^A-Za-z0-9_-]", bare):
            raise invalid("Invalid character found in base64.", "DecodeBase64")
        return base64.urlsafe_b64decode(bare + b"=" * (-len(bare) % 4))

    return as_strings(each(decoded, text_values(input, "DecodeBase64")))
