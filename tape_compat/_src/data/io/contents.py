"""Contents of files, and tensors as bytes."""

from __future__ import annotations

import glob
import os
import re
import zlib
from typing import Any

import numpy as np

from ...core import dtypes, errors
from ...core.dtypes import DType, as_dtype
from ...core.errors import user_location
from ...core.paths import local_path, scheme_of
from ...core.state import LOCAL
from ...function.elements import runs_as_python
from ...function.python_steps import learn, record_call
from ...ops.arguments import sketched
from ...values.convert import convert
from ...values.dispatch import maps_first
from ...values.host_steps import SAME, by_host, same_text, takes_steps
from ...values.tensor import Tensor
from ...values.variable import Variable
from ..structure import array_of, value_of
from . import wire
from .records import TFRecordOptions, file_error


def invalid(message: str, kernel: str) -> errors.InvalidArgumentError:
    """The error of an op that cannot take its inputs."""
    return errors.InvalidArgumentError(
        None, None, f"{message} [Op:{kernel}] (at {user_location()})"
    )


def texts(value: Any, what: str) -> np.ndarray:
    """The texts of a string tensor. Raises TypeError for another dtype."""
    tensor = convert(value, hint=dtypes.string)
    if tensor.dtype is not dtypes.string:
        raise TypeError(f"`{what}` must be of tf.string, not {tensor.dtype!r}: {value!r}")
    return array_of(tensor)


def text(value: Any, what: str, kernel: str) -> bytes:
    """The text of a string scalar."""
    array = texts(value, what)
    if array.ndim:
        raise invalid(
            f"Input {what} tensor must be scalar, but had shape: {list(array.shape)}", kernel
        )
    found: bytes = array.item()
    return found


def compression_kind(compression_type: Any) -> str:
    """The compression of files that the user named. Raises ValueError for another."""
    if isinstance(compression_type, (Tensor, bytes)):
        compression_type = text(compression_type, "compression_type", "ReaderDataset").decode()
    return TFRecordOptions.get_compression_type_string(compression_type)


def _refuse_recording(what: str) -> None:
    """Files are looked at when the function runs, not when it is recorded."""
    if LOCAL.state.capture is not None:
        raise errors.NeedsValue(f"{what} looks at files when Python runs (at {user_location()})")


def read_file(filename: Any, name: str | None = None) -> Tensor:
    """What a file holds, as a string scalar. Raises NotFoundError if there is none.

    >>> import tempfile
    >>> import tape_compat as tf
    >>> with tempfile.NamedTemporaryFile() as file:
    ...     tf.io.write_file(file.name, b"abc")
    ...     tf.io.read_file(file.name).numpy()
    b'abc'
    """
    path = convert(filename, hint=dtypes.string)
    if takes_steps() and not path._is_symbolic():  # what it holds may change from call to call
        path = same_text(path)
    return _contents_of(path)


@by_host()
def _contents_of(path: Tensor) -> Tensor:
    sketch = sketched(path)
    if sketch is not None:
        return sketch.tensor((), dtypes.string)
    _refuse_recording("tf.io.read_file()")
    place = local_path(text(path, "filename", "ReadFile").decode())
    try:
        with open(place, "rb") as file:
            return convert(file.read())
    except OSError as error:
        raise file_error(error, place) from None


def write_file(filename: Any, contents: Any, name: str | None = None) -> None:
    """Make a file that holds `contents`, a string scalar, and its folders.

    >>> import tempfile
    >>> import tape_compat as tf
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     tf.io.write_file(folder + "/a/b", b"abc")
    ...     tf.io.gfile.listdir(folder)
    ['a']
    """
    _refuse_recording("tf.io.write_file()")
    path = local_path(text(filename, "filename", "WriteFile").decode())
    try:
        make_folder_of(path)
        with open(path, "wb") as file:
            file.write(text(contents, "contents", "WriteFile"))
    except OSError as error:
        raise file_error(error, path) from None


def make_folder_of(path: str) -> None:
    """Make the folder of a file."""
    folder = os.path.dirname(path)
    if folder:
        os.makedirs(folder, exist_ok=True)


def matching(patterns: Any) -> list[str]:
    """The files that match one of some patterns, in order, once for each."""
    found = [path for each in texts(patterns, "pattern").ravel() for path in globbed(each.decode())]
    return sorted(found)


def globbed(pattern: str) -> list[str]:
    """The files that match a pattern, in order. Those found in the current folder by a pattern that
    names none begin with `./`."""
    scheme, pattern = scheme_of(pattern), local_path(pattern)
    literal = re.split(r"[*?\[]", pattern, maxsplit=1)[0]
    if literal != pattern and "/" not in literal:
        pattern = f"./{pattern}"
    return [scheme + path for path in sorted(glob.glob(pattern, include_hidden=True))]


def matching_files(pattern: Any, name: str | None = None) -> Tensor:
    """The files that match one of `pattern`, a string scalar or vector, in order.

    >>> import tape_compat as tf
    >>> tf.io.matching_files("/there/is/no/*").numpy().tolist()
    []
    """
    _refuse_recording("tf.io.matching_files()")
    return strings([path.encode() for path in matching(pattern)])


def match_filenames_once(pattern: Any, name: str | None = None) -> Variable:
    """A variable, not trainable, that holds the files that match now; see `matching_files`.

    >>> import tape_compat as tf
    >>> tf.io.match_filenames_once("/there/is/no/*").shape
    TensorShape([0])
    """
    return Variable(matching_files(pattern), trainable=False, name=name)


def strings(values: list[bytes]) -> Tensor:
    """A vector of texts."""
    array = np.empty(len(values), object)
    array[:] = values
    return value_of(array)


# ---------------------------------------------------------------------------------------------
# Tensors as bytes.


@by_host()
def decode_raw(
    input_bytes: Any,
    out_type: Any,
    little_endian: bool = True,
    fixed_length: Any = None,
    name: str | None = None,
) -> Tensor:
    """The numbers that texts hold as bytes.

    Args:
      input_bytes: string tensor [...], of texts of one length unless `fixed_length` is given.
      out_type: the dtype of the numbers; bool or a number.
      little_endian: whether the lowest byte comes first.
      fixed_length: to how many bytes texts are cut or filled up with zeros.
    Returns: tensor [..., n].
    Raises: InvalidArgumentError where lengths differ or are no multiple of the dtype's.

    >>> import tape_compat as tf
    >>> tf.io.decode_raw(b"\\x01\\x00\\x02\\x00", tf.int16).numpy().tolist()
    [1, 2]
    """
    kernel = "DecodeRaw" if fixed_length is None else "DecodePaddedRaw"
    dtype, sketch = as_dtype(out_type), sketched(input_bytes)
    if sketch is not None:
        known = None if fixed_length is None else int(convert(fixed_length))
        count = None if known is None else known // dtype.np_dtype.itemsize
        return sketch.tensor((*input_bytes._aval.shape, count), dtype)
    array = texts(input_bytes, "input_bytes")
    each = array.ravel().tolist()
    length = len(each[0]) if each else 0
    if fixed_length is not None:
        length = int(convert(fixed_length))
        each = [item[:length].ljust(length, b"\0") for item in each]
    for i, item in enumerate(each):
        if len(item) != length:
            raise invalid(
                "DecodeRaw requires input strings to all be the same size, but element "
                f"{i} has size {length} != {len(item)}",
                kernel,
            )
    if length % dtype.np_dtype.itemsize:
        raise invalid(
            f"Input to DecodeRaw has length {length} that is not a multiple of "
            f"{dtype.np_dtype.itemsize}, the size of {dtype.name}",
            kernel,
        )
    found = np.frombuffer(b"".join(each), dtype.np_dtype)
    if not little_endian:
        found = found.byteswap()
    size = length // dtype.np_dtype.itemsize
    return value_of(found.reshape(*array.shape, size).copy())


@maps_first
@by_host(SAME)
def decode_compressed(bytes: Any, compression_type: str = "", name: str | None = None) -> Tensor:
    """Texts that were compressed, as they were before.

    Args:
      bytes: string tensor of any shape.
      compression_type: "", "GZIP" or "ZLIB".
    Raises: InvalidArgumentError for another type; DataLossError for what was not compressed so.

    >>> import tape_compat as tf, zlib
    >>> tf.io.decode_compressed(zlib.compress(b"abc"), "ZLIB").numpy()
    b'abc'
    """
    kernel = "DecodeCompressed"
    if compression_type not in ("", "GZIP", "ZLIB"):
        said = "Only ZLIB, GZIP or NONE are supported compressions"
        raise invalid(said, kernel)
    sketch = sketched(bytes)
    if sketch is not None:
        return sketch.tensor(bytes._aval.shape, dtypes.string)
    array = texts(bytes, "bytes")
    window = {"GZIP": 16 + zlib.MAX_WBITS, "ZLIB": zlib.MAX_WBITS}.get(compression_type)
    found = array.copy()
    for place in np.ndindex(array.shape) if window is not None else ():
        each: Any = array[place]
        try:
            found[place] = zlib.decompressobj(window or 0).decompress(each)
        except zlib.error as error:
            raise errors.DataLossError(
                None, None, f"inflate() failed: {error} [Op:{kernel}] (at {user_location()})"
            ) from None
    return convert(found)


@by_host()
def serialize_tensor(tensor: Any, name: str | None = None) -> Tensor:
    """A tensor as TensorFlow's message of bytes, a string scalar.

    >>> import tape_compat as tf
    >>> tf.io.serialize_tensor(tf.constant([True])).numpy()
    b'\\x08\\n\\x12\\x04\\x12\\x02\\x08\\x01"\\x01\\x01'
    """
    array = convert(tensor)
    sketch = sketched(array)
    if sketch is not None:
        return sketch.tensor((), dtypes.string)
    return convert(serialized(array_of(array), array.dtype))


def serialized(array: np.ndarray, dtype: DType, packed: bool = False) -> bytes:
    """An array as a message. packed: whether texts stand together, as within other messages."""
    sizes = b"".join([wire.field(2, _size(size)) for size in array.shape])
    head = wire.number_field(1, dtype.as_datatype_enum) + wire.field(2, sizes)
    if dtype is dtypes.string and packed and array.size:
        items = array.ravel().tolist()
        return head + wire.field(4, wire.varints(map(len, items)) + b"".join(items))
    if dtype is dtypes.string:
        return head + b"".join([wire.field(8, item) for item in array.ravel()])
    return head + wire.field(4, array.tobytes()) if array.size else head


def _size(size: int) -> bytes:
    return wire.number_field(1, size) if size else b""


def parse_tensor(serialized: Any, out_type: Any, name: str | None = None) -> Tensor:
    """The tensor of a message: the inverse of `serialize_tensor`.

    Raises: InvalidArgumentError if it is none, or of another dtype.

    In a `tf.function` it is recorded once the function has run as Python, which shows its rank.

    >>> import tape_compat as tf
    >>> message = tf.io.serialize_tensor(tf.constant([1.0, 2.0]))
    >>> tf.io.parse_tensor(message, tf.float32).numpy().tolist()
    [1.0, 2.0]
    """
    wanted = as_dtype(out_type)
    given = convert(serialized)

    def call(message: Tensor) -> list[Tensor]:
        return [_parsed_tensor(message, wanted)]

    if given._is_symbolic():
        api = "io.parse_tensor"
        return record_call(api, "ParseTensor", wanted.name, call, [given], pure=True)[0][0]
    result = _parsed_tensor(given, wanted)
    if runs_as_python():
        learn("io.parse_tensor", wanted.name, [given], [result], True)
    return result


def _parsed_tensor(serialized: Tensor, wanted: DType) -> Tensor:
    try:
        array, dtype = parsed(text(serialized, "serialized", "ParseTensor"))
    except (TypeError, ValueError) as error:
        raise invalid(f"Cannot parse tensor from proto: {error}", "ParseTensor") from None
    if dtype is not wanted:
        raise invalid(
            f"Type mismatch between parsed tensor ({short(dtype)}) and dtype ({short(wanted)})",
            "ParseTensor",
        )
    return value_of(array)


def short(dtype: DType) -> str:
    return {"float32": "float", "float64": "double", "float16": "half"}.get(dtype.name, dtype.name)


#: Fields of a message that hold numbers one by one: the dtype of the numbers there, None for ints.
_SINGLE = {5: "<f4", 6: "<f8", 7: None, 9: "<f4", 10: None, 11: None, 12: "<f8", 13: None}
_SINGLE |= {16: None, 17: None}


def parsed(message: bytes) -> tuple[np.ndarray, DType]:
    """The array of a message, and its dtype. Raises ValueError for what is none."""
    dtype: DType | None = None
    shape: list[int] = []
    content: Any = None
    values: list[Any] = []
    for number, kind, part in wire.fields(message):
        if number == 1:
            dtype = DType(part)  # type: ignore[arg-type]
        elif number == 2:
            shape = [_parsed_size(size) for key, _, size in wire.fields(part) if key == 2]  # type: ignore[arg-type]
        elif number == 4:
            content = part
        elif number == 8:
            values.append(bytes(part))  # type: ignore[arg-type]
        elif number in _SINGLE:
            values += _numbers(kind, part, _SINGLE[number])
    if dtype is None:
        raise ValueError("it has no dtype")
    return _array(dtype, shape, content, values), dtype


def _parsed_size(part: Any) -> int:
    return next((wire.signed(value) for key, _, value in wire.fields(part) if key == 1), 0)  # type: ignore[arg-type]


def _numbers(kind: int, part: Any, form: str | None) -> list[Any]:
    if form is not None:
        return np.frombuffer(part, form).tolist()
    return [wire.signed(part)] if kind == wire.VARINT else wire.read_varints(part)


def _packed_texts(content: Any, count: int) -> np.ndarray:
    """Texts of which the lengths come first, all together, then the texts."""
    lengths, at = [], 0
    for _ in range(count):
        length, at = wire.read_varint(content, at)
        lengths.append(length)
    array = np.empty(count, object)
    for place, length in enumerate(lengths):
        array[place] = bytes(content[at : at + length])
        at += length
    return array


def _array(dtype: DType, shape: list[int], content: Any, values: list[Any]) -> np.ndarray:
    count = int(np.prod(shape, dtype=np.int64))
    if content is not None and dtype is dtypes.string:
        return _packed_texts(content, count).reshape(shape)
    if content is not None:
        return np.frombuffer(content, dtype.np_dtype).reshape(shape).copy()
    if dtype is dtypes.string:
        array = np.empty(count, object)
        array[:] = (values + [values[-1] if values else b""] * count)[:count]
        return array.reshape(shape)
    if dtype.is_complex:
        values = [complex(*pair) for pair in zip(values[::2], values[1::2])]
    if dtype.name in ("float16", "bfloat16"):
        found = np.array(values, np.uint16).view(dtype.np_dtype)
    else:
        found = np.array(values, dtype.np_dtype)
    if len(found) < count:  # the last value stands for those that are left out
        last = found[-1:] if len(found) else np.zeros(1, dtype.np_dtype)
        found = np.concatenate([found, np.repeat(last, count - len(found))])
    return found[:count].reshape(shape)
