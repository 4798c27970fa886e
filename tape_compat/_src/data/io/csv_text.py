"""Comma-separated values: records taken apart into fields, and fields as numbers and texts."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...core import dtypes, errors, limits
from ...core.caches import Cache
from ...core.dtypes import DType
from ...ops.arguments import sketched
from ...values.convert import convert
from ...values.host_steps import SAME, by_host
from ...values.tensor import Tensor
from ..structure import array_of, value_of
from .contents import invalid, texts

#: The dtypes of fields.
TYPES = (dtypes.float32, dtypes.float64, dtypes.int32, dtypes.int64, dtypes.string)
_INTEGER = re.compile(rb"\s*[+-]?[0-9]+\s*")
_QUOTE = 34


class Malformed(Exception):
    """A record that cannot be taken apart; the message says why."""


class Field:
    """What is known of a column: its dtype, and the value that stands for a missing one, if any."""

    def __init__(self, default: Any, number: int):
        self.dtype: DType = default.dtype
        array = array_of(default)
        if array.ndim > 1:
            raise invalid("Each record default should be at most rank 1", "DecodeCSV")
        if array.size > 1:
            raise invalid(
                f"There should only be 1 default per field but field {number} has {array.size}",
                "DecodeCSV",
            )
        self.required = array.size == 0
        self.default = None if self.required else array.reshape(-1)[0]
        self._read = _READERS[self.dtype]

    def read(self, text: bytes) -> Any:
        """The value of a text. Raises ValueError if it has none."""
        return self._read(text)


def fields_of(record_defaults: Sequence[Any]) -> list[Field]:
    """The columns that defaults describe. Raises InvalidArgumentError for another dtype."""
    form = _written_down(record_defaults)
    if form is None:
        return _fields_of(record_defaults)
    known = _FIELDS.get(form)
    return _FIELDS.put(form, _fields_of(record_defaults)) if known is None else known


#: Columns by the text of their defaults: a function of a dataset gives them for each record.
_FIELDS: Cache[tuple, list[Field]] = Cache("columns of CSV", limits.MAX_COLUMNS)
_PLAIN = frozenset((bool, int, float, str, bytes))


def _written_down(defaults: Sequence[Any]) -> tuple | None:
    """The text of defaults, None if they are not numbers and texts, or lists of one of them."""
    found = []
    for default in defaults:
        listed = default.__class__ is list and len(default) < 2
        if not all(part.__class__ in _PLAIN for part in (default if listed else (default,))):
            return None
        found.append(repr(default))
    return tuple(found)


def _fields_of(record_defaults: Sequence[Any]) -> list[Field]:
    found = []
    for i, default in enumerate(record_defaults):
        tensor = convert(default)
        if tensor.dtype not in TYPES:
            names = ", ".join(kind.name for kind in TYPES)
            message = f"Field {i} has dtype {tensor.dtype.name}, which is none of: {names}"
            raise invalid(message, "DecodeCSV")
        found.append(Field(tensor, i))
    return found


def _read_integer(limits: np.iinfo) -> Callable[[bytes], int]:
    low, high = int(limits.min), int(limits.max)

    def read(text: bytes) -> int:
        if _INTEGER.fullmatch(text) is None or not low <= (found := int(text)) <= high:
            raise ValueError("no integer of this dtype")
        return found

    return read


def _read_float(text: bytes) -> float:
    if b"_" in text:
        raise ValueError("no float")
    return float(text)


_READERS: dict[DType, Callable[[bytes], Any]] = {
    dtypes.int32: _read_integer(np.iinfo(np.int32)),
    dtypes.int64: _read_integer(np.iinfo(np.int64)),
    dtypes.float32: _read_float,
    dtypes.float64: _read_float,
    dtypes.string: lambda text: text,
}
NAMES = {dtypes.float32: "float", dtypes.float64: "double"}


def type_name(dtype: DType) -> str:
    """What messages call the dtype of a field."""
    return NAMES.get(dtype, dtype.name)


# ---------------------------------------------------------------------------------------------
# Records.


def split(record: bytes, delimiter: bytes, quotes: bool, inside: str) -> tuple[list[bytes], bool]:
    """The fields of a record, and whether it ends within quotes. `inside` names what fields without
    quotes cannot have inside.

    >>> split(b'a,"b,c""d",', b",", True, "quotes")
    ([b'a', b'b,c"d', b''], False)
    """
    if not quotes or b'"' not in record:
        return record.split(delimiter), False
    found, at, end = [], 0, len(record)
    while True:
        if at < end and record[at] == _QUOTE:
            text, at = _quoted(record, at + 1, delimiter)
            if at < 0:
                return found, True
            found.append(text)
        else:
            stop = record.find(delimiter, at)
            stop = end if stop < 0 else stop
            text = record[at:stop]
            if b'"' in text:
                raise Malformed(f"Unquoted fields cannot have {inside} inside")
            found.append(text)
            at = stop
        if at >= end:
            return found, False
        at += 1


def _quoted(record: bytes, at: int, delimiter: bytes) -> tuple[bytes, int]:
    """A field after its opening quote, and the place after the closing one; -1 if there is none."""
    parts = []
    while True:
        stop = record.find(b'"', at)
        if stop < 0:
            return b"", -1
        parts.append(record[at:stop])
        after = record[stop + 1 : stop + 2]
        if after in (b"", delimiter):
            return b"".join(parts), stop + 1
        if after != b'"':
            raise Malformed("Quote inside a string has to be escaped by another quote")
        parts.append(b'"')
        at = stop + 2


def _record_fields(record: bytes, delimiter: bytes, quotes: bool) -> list[bytes]:
    """The fields of a text that is one record."""
    inside = "quotes/CRLFs"
    if not record:
        return []
    found, still_open = split(record, delimiter, quotes, inside)
    if still_open:
        raise Malformed("Quoted field has to end with quote followed by delim or end")
    if quotes and (b"\n" in record or b"\r" in record):
        _refuse_line_ends(record, delimiter, inside)
    return found


def _refuse_line_ends(record: bytes, delimiter: bytes, inside: str) -> None:
    """Line ends stand within quotes only."""
    outside = b"".join(record.split(b'"')[::2])
    if b"\n" in outside or b"\r" in outside:
        raise Malformed(f"Unquoted fields cannot have {inside} inside")


@by_host(SAME)
def decode_csv(
    records: Any,
    record_defaults: Sequence[Any],
    field_delim: str = ",",
    use_quote_delim: bool = True,
    na_value: str = "",
    select_cols: Sequence[int] | None = None,
    name: str | None = None,
) -> list[Tensor]:
    """The columns of records of comma-separated values, each a tensor of the shape of `records`.

    Args:
      records: string tensor of any shape, each a record.
      record_defaults: for each column a tensor of float32, float64, int32, int64 or string: the
        value of an empty field as a scalar or in a vector [1]; none, shape [0], where a field must
        be there.
      field_delim: one character. use_quote_delim: whether quotes stand around fields.
      na_value: a further text that stands for an empty field.
      select_cols: ascending numbers of the columns wanted, by default all.
    Raises: InvalidArgumentError for records that do not fit; ValueError for `select_cols`.

    >>> import tape_compat as tf
    >>> numbers, texts = tf.io.decode_csv(["1,a", ',"b,c"'], [[7], [""]])
    >>> numbers.numpy().tolist(), texts.numpy().tolist()
    ([1, 7], [b'a', b'b,c'])
    """
    fields = fields_of(record_defaults)
    if not fields:
        raise invalid("There must be a default for at least 1 column", "DecodeCSV")
    if select_cols is not None:
        _check_selected(list(select_cols), len(fields))
    delimiter = field_delim.encode()
    if len(delimiter) != 1:
        raise invalid("field_delim should be only 1 char", "DecodeCSV")
    sketch = sketched(records)
    if sketch is not None:
        return [sketch.tensor(records._aval.shape, field.dtype) for field in fields]
    array = texts(records, "records")
    columns: list[list[Any]] = [[] for _ in fields]
    missing = (b"", na_value.encode())
    for i, record in enumerate(array.ravel().tolist()):
        try:
            found = _record_fields(record, delimiter, use_quote_delim)
            if select_cols is not None:
                found = [found[c] for c in select_cols if c < len(found)]
            if len(found) != len(fields):
                raise Malformed(f"Expect {len(fields)} fields but have {len(found)} in record {i}")
            for k, (text, field, column) in enumerate(zip(found, fields, columns, strict=True)):
                column.append(value_in(text, field, missing, k, f"record {i}"))
        except Malformed as error:
            raise invalid(str(error), "DecodeCSV") from None
    return [
        value_of(column_of(values, field).reshape(array.shape))
        for values, field in zip(columns, fields, strict=True)
    ]


def _check_selected(selected: list[int], count: int) -> None:
    if any(b <= a for a, b in zip(selected, selected[1:])):
        raise ValueError("select_cols is not strictly increasing.")
    if selected and selected[0] < 0:
        raise ValueError("select_cols contains negative values.")
    if len(selected) != count:
        raise ValueError("Length of select_cols and record_defaults do not match.")


def value_in(text: bytes, field: Field, missing: tuple[bytes, ...], number: int, where: str) -> Any:
    """The value of a field. Raises Malformed if it has none."""
    if text in missing:
        if field.required:
            raise Malformed(f"Field {number} is required but missing in {where}!")
        return field.default
    try:
        return field.read(text)
    except ValueError:
        shown = text.decode(errors="replace")
        kind = type_name(field.dtype)
        raise Malformed(f"Field {number} in {where} is not a valid {kind}: {shown}") from None


def column_of(values: list[Any], field: Field) -> np.ndarray:
    """The array of the values of a field."""
    if field.dtype is dtypes.string:
        array = np.empty(len(values), object)
        array[:] = values
        return array
    return np.array(values, field.dtype.np_dtype)


def as_error(malformed: Malformed) -> errors.InvalidArgumentError:
    """The error for a record in a file."""
    return errors.InvalidArgumentError(None, None, f"{malformed} [Op:IteratorGetNext]")
