"""Datasets of comma-separated values in files."""

from __future__ import annotations

import collections
import csv
import io
import weakref
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from ...core import dtypes
from ...core.dtypes import DType
from ...values.convert import convert
from ...values.spec import TensorSpec
from ..dataset import Dataset
from ..pipeline import (
    AUTOTUNE,
    UNKNOWN,
    Draws,
    Pipeline,
    Rows,
    Stream,
    StreamOf,
    refused,
)
from ..structure import Element, flatten, pack
from .contents import compression_kind, matching, texts
from .csv_text import TYPES, Field, Malformed, as_error, column_of, fields_of, split, value_in
from .records import data_loss, opened


class _Layout:
    """How records are written, and which of their columns are wanted."""

    def __init__(
        self, fields: list[Field], delimiter: str, quotes: bool, na_value: str, selected: Any
    ):
        self.fields, self.quotes = fields, quotes
        self.delimiter = delimiter.encode()
        if len(self.delimiter) != 1:
            raise refused("field_delim should be only 1 char")
        self.missing = (b"", na_value.encode())
        self.selected, self.excluded = selected

    def values(self, found: list[bytes]) -> list[Any]:
        """The values of the wanted fields of a record."""
        count, wanted = len(self.fields), found
        if self.selected:
            wanted = [found[i] for i in self.selected if i < len(found)]
        elif self.excluded:
            wanted = [text for i, text in enumerate(found) if i not in self.excluded]
        if len(wanted) != count:
            have = str(len(wanted)) if len(wanted) < count else "more"
            raise Malformed(f"Expect {count} fields but have {have} in record")
        pairs = enumerate(zip(wanted, self.fields, strict=True))
        return [value_in(text, field, self.missing, i, "record") for i, (text, field) in pairs]


class _Lines:
    """The lines of a file with their ends."""

    def __init__(self, path: str, kind: str):
        self._path = path
        self._file: Any = opened(path, kind)
        weakref.finalize(self, self._file.close)
        self._held: list[bytes] = []
        self._rest = b""

    def next(self) -> bytes | None:
        """The next line, None at the end."""
        while not self._held:
            block = b""
            if self._file is not None:
                with data_loss(self._path):
                    block = self._file.read(1 << 18)
            if not block:
                if self._file is not None:
                    self._file.close()
                self._file = None
                found, self._rest = self._rest, b""
                return found or None
            lines = (self._rest + block).split(b"\n")
            self._rest = lines.pop()
            self._held = [line + b"\n" for line in reversed(lines)]
        return self._held.pop()


class _Records(Stream):
    """A run over records. values: gives those of the next one."""

    __slots__ = ("_fields", "_values")

    def __init__(self, values: Callable[[], list[Any]], fields: Sequence[Field]):
        self._values, self._fields = values, fields

    def _columns(self, rows: Sequence[list[Any]]) -> list[np.ndarray]:
        pairs = zip(zip(*rows), self._fields, strict=True)
        return [column_of(list(column), field) for column, field in pairs]

    def step(self) -> Element:
        return tuple([column.reshape(()) for column in self._columns([self._values()])])

    def rows(self, count: int) -> Rows | None:
        rows: list[list[Any]] = []
        try:
            while len(rows) < count:
                rows.append(self._values())
        except StopIteration:
            pass
        except Exception:
            self.lost = len(rows) + 1
            raise
        return (len(rows), tuple(self._columns(rows))) if rows else None


class CsvRecords(Pipeline):
    """The records of files of comma-separated values."""

    name, shown = "CsvDatasetV2", ""

    def __init__(self, paths: list[str], layout: _Layout, kind: str, header: bool):
        super().__init__()
        self._paths, self._layout, self._kind, self._header = paths, layout, kind, header

    def _spec(self) -> Any:
        return tuple([TensorSpec((), field.dtype) for field in self._layout.fields])

    def size(self) -> int:
        return UNKNOWN

    def _open(self, draws: Draws) -> Stream:
        paths, fields = iter(self._paths), self._layout.fields
        lines: _Lines | None = None

        def values() -> list[Any]:
            nonlocal lines
            while True:
                if lines is None:
                    lines = _Lines(next(paths), self._kind)
                    if self._header and lines.next() is None:
                        lines = None
                        raise as_error(Malformed("Can't read header of file"))
                try:
                    found = self._record(lines)
                    if found is not None:
                        return self._layout.values(found)
                except Malformed as error:
                    raise as_error(error) from None
                lines = None

        return _Records(values, fields)

    def _record(self, lines: _Lines) -> list[bytes] | None:
        """The fields of the next record, None at the end of the file."""
        line = lines.next()
        while line is not None:
            record = line.rstrip(b"\n")
            record = record[:-1] if record.endswith(b"\r") else record
            found, still_open = split(record, self._layout.delimiter, self._layout.quotes, "quotes")
            if not still_open:
                return found
            more = lines.next()
            if more is None:
                raise Malformed("Reached end of file without closing quoted field in record")
            line += more
        return None


def _defaults(record_defaults: Sequence[Any]) -> list[Any]:
    """Defaults with an empty tensor for each dtype, whose fields must be there."""
    return [
        convert(np.empty(0, x.np_dtype), x) if isinstance(x, DType) and x in TYPES else x
        for x in record_defaults
    ]


class CsvDataset(Dataset):
    """The records of files of comma-separated values: tuples of scalars.

    Args:
      filenames: string tensor.
      record_defaults: for each column a dtype, float32, float64, int32, int64 or string, if it must
        be there; or the value of an empty field.
      compression_type: "", "GZIP" or "ZLIB".
      buffer_size: changes nothing.
      header: whether the first line of each file is left out.
      field_delim: one character. use_quote_delim: whether quotes stand around fields.
      na_value: a further text that stands for an empty field.
      select_cols, exclude_cols: ascending numbers of the columns that are wanted, or not.
    Raises: InvalidArgumentError for columns that do not fit, and going through it, for records that
      do not; NotFoundError.

    >>> import tempfile
    >>> import tape_compat as tf
    >>> with tempfile.NamedTemporaryFile() as file:
    ...     tf.io.write_file(file.name, "n,text\\n1,a\\n,b\\n")
    ...     dataset = tf.data.experimental.CsvDataset(file.name, [7, tf.string], header=True)
    ...     list(dataset.as_numpy_iterator())
    [(np.int32(1), b'a'), (np.int32(7), b'b')]
    """

    def __init__(
        self,
        filenames: Any,
        record_defaults: Sequence[Any],
        compression_type: Any = None,
        buffer_size: Any = None,
        header: Any = False,
        field_delim: str = ",",
        use_quote_delim: bool = True,
        na_value: str = "",
        select_cols: Any = None,
        exclude_cols: Any = None,
    ):
        paths = [path.decode() for path in np.ravel(texts(filenames, "filenames")).tolist()]
        fields = fields_of(_defaults(record_defaults))
        chosen = _chosen(select_cols, "select_cols"), _chosen(exclude_cols, "exclude_cols")
        if chosen[0] and chosen[1]:
            raise refused("Only one of `select_cols` and `exclude_cols` can be given")
        if chosen[0] and len(chosen[0]) != len(fields):
            raise refused("select_cols should match output size")
        layout = _Layout(fields, field_delim, bool(use_quote_delim), na_value, chosen)
        kind = compression_kind(compression_type)
        super().__init__(CsvRecords(paths, layout, kind, bool(header)))


def _chosen(columns: Any, what: str) -> list[int]:
    found = [] if columns is None else np.ravel(np.asarray(columns, np.int64)).tolist()
    if any(b <= a for a, b in zip(found, found[1:])):
        raise refused(f"{what} should be strictly increasing indices")
    if found and found[0] < 0:
        raise refused(f"{what} should be non-negative indices")
    return found


# ---------------------------------------------------------------------------------------------
# make_csv_dataset.


class _Named(Pipeline):
    """The same leaves in another structure. structure: of the numbers of the leaves."""

    name = "MapDataset"

    def __init__(self, source: Pipeline, structure: Any):
        super().__init__(source)
        self._structure, self._order = structure, flatten(structure)

    def _spec(self) -> Any:
        specs = self.inputs[0].layout.specs
        return pack(self._structure, [specs[i] for i in self._order])

    def _open(self, draws: Draws) -> Stream:
        source, order = self.inputs[0].open(draws.of(0)), self._order

        def step() -> Element:
            element = source.step()
            return tuple([element[i] for i in order])

        return StreamOf(step, source.skip)


class _Table:
    """Files of one table, as Python reads them to see what is in them."""

    def __init__(
        self, paths: list[str], kind: str, encoding: str, delimiter: str, quotes: bool
    ) -> None:
        self.paths, self._kind, self._encoding = paths, kind, encoding
        quoting = csv.QUOTE_MINIMAL if quotes else csv.QUOTE_NONE
        self._form: dict[str, Any] = {"delimiter": delimiter, "quoting": quoting}

    def rows(self, path: str) -> Iterator[list[str]]:
        """The rows of a file."""
        with io.TextIOWrapper(opened(path, self._kind), self._encoding, newline="") as file:  # type: ignore[arg-type]
            yield from csv.reader(file, **self._form)

    def header(self) -> list[str]:
        """The names of the columns, which all files must have in their first row."""
        found: list[str] | None = None
        for path in self.paths:
            names = next(self.rows(path), None)
            if names is None:
                raise ValueError(
                    f"Failed when reading the header line of {path}. Is it an empty file?"
                )
            if found is not None and names != found:
                raise ValueError(
                    "All input CSV files should have the same column names in the header row. "
                    f"File {path} has different column names."
                )
            found = names
        return found or []

    def types(
        self, columns: list[int], width: int, header: bool, na_value: str, most: int | None
    ) -> list[DType]:
        """The narrowest dtypes that hold the first `most` rows of columns."""
        found: list[DType | None] = [None] * len(columns)
        seen = 0
        for path in self.paths:
            rows = self.rows(path)
            if header:
                next(rows, None)
            for number, row in enumerate(rows, 1 + header):
                if most is not None and seen >= most:
                    break
                seen += 1
                if len(row) != width:
                    raise ValueError(
                        f"Problem inferring types: CSV row {number} has {len(row)} number of "
                        f"fields. Expected: {width}."
                    )
                for i, column in enumerate(columns):
                    if row[column] not in ("", na_value):
                        found[i] = _wider(found[i], row[column])
        return [dtypes.string if kind is None else kind for kind in found]


_WIDER = (dtypes.int32, dtypes.int64, dtypes.float32, dtypes.float64, dtypes.string)


def _wider(known: DType | None, text: str) -> DType:
    """The narrowest dtype from the known one on that holds a text."""
    first = 0 if known is None else _WIDER.index(known)
    return next(kind for kind in _WIDER[first:] if _holds(kind, text))


def _holds(kind: DType, text: str) -> bool:
    if kind is dtypes.string:
        return True
    try:
        if kind.is_integer:
            limits = np.iinfo(kind.np_dtype)
            return bool(limits.min <= int(text) <= limits.max)
        value = float(text)
        with np.errstate(over="ignore"):
            return bool(np.array(value).astype(kind.np_dtype) < np.inf)
    except ValueError:
        return False


def make_csv_dataset(
    file_pattern: Any,
    batch_size: Any,
    column_names: Sequence[str] | None = None,
    column_defaults: Sequence[Any] | None = None,
    label_name: str | None = None,
    select_columns: Sequence[Any] | None = None,
    field_delim: str = ",",
    use_quote_delim: bool = True,
    na_value: str = "",
    header: bool = True,
    num_epochs: int | None = None,
    shuffle: bool = True,
    shuffle_buffer_size: int = 10000,
    shuffle_seed: int | None = None,
    prefetch_buffer_size: int | None = None,
    num_parallel_reads: int | None = None,
    sloppy: bool = False,
    num_rows_for_inference: int | None = 100,
    compression_type: Any = None,
    ignore_errors: bool = False,
    encoding: str = "utf-8",
) -> Dataset:
    """Batches of records of files of comma-separated values: dicts of columns [batch].

    Args:
      file_pattern: names of files or patterns of them.
      column_names: by default the first line has them.
      column_defaults: as the `record_defaults` of `CsvDataset`; by default dtypes are taken from
        the first `num_rows_for_inference` rows (None: all), and empty fields are 0 or "".
      label_name: the column that is given apart: elements are pairs then.
      select_columns: names or numbers of the columns wanted.
      field_delim, use_quote_delim, na_value, header, compression_type: as of `CsvDataset`.
      num_epochs: how often the records come; without end by default, in batches of full size.
      shuffle, shuffle_buffer_size, shuffle_seed: of `Dataset.shuffle`, and of the files.
      prefetch_buffer_size: of `Dataset.prefetch`. num_parallel_reads: from how many files records
        come by turns. sloppy: changes nothing.
      ignore_errors: whether records that do not fit are left out.
      encoding: of the first line, and of the rows that dtypes are taken from.
    Raises: ValueError if there is no file, and for columns that are not there or do not fit.

    >>> import tempfile
    >>> import tape_compat as tf
    >>> with tempfile.NamedTemporaryFile() as file:
    ...     tf.io.write_file(file.name, "n,text\\n1,a\\n2,b\\n")
    ...     dataset = tf.data.experimental.make_csv_dataset(
    ...         file.name, 2, label_name="n", num_epochs=1, shuffle=False
    ...     )
    ...     for features, labels in dataset:
    ...         print(features["text"].numpy().tolist(), labels.numpy().tolist())
    [b'a', b'b'] [1, 2]
    """
    paths = sorted(matching(file_pattern))
    if not paths:
        raise ValueError(f"No files match `file_pattern` {file_pattern}.")
    kind = compression_kind(compression_type)
    table = _Table(paths, kind, encoding, field_delim, use_quote_delim)
    names = _names_of(column_names, table, header)
    columns = _selected(select_columns, names)
    if column_defaults is None:
        kinds = table.types(columns, len(names), header, na_value, num_rows_for_inference)
        column_defaults = [b"" if x is dtypes.string else np.zeros((), x.np_dtype) for x in kinds]
    if select_columns is not None:
        _check_defaults(column_defaults, columns)
        names = [names[i] for i in columns]
    if label_name is not None and label_name not in names:
        raise ValueError(
            f"`label_name` provided must be one of the columns: {names}. Received: {label_name}."
        )

    def records(path: Any) -> Dataset:
        dataset = CsvDataset(
            path,
            column_defaults,
            compression_type,
            header=header,
            field_delim=field_delim,
            use_quote_delim=use_quote_delim,
            na_value=na_value,
            select_cols=columns if select_columns is not None else None,
        )
        return dataset.ignore_errors() if ignore_errors else dataset

    files = Dataset.from_tensor_slices(paths)
    if shuffle:
        files = files.shuffle(len(paths), shuffle_seed)
    reads = 1 if num_parallel_reads is None else num_parallel_reads
    dataset = files.interleave(records, reads, 1)
    if shuffle:
        dataset = dataset.shuffle(shuffle_buffer_size, shuffle_seed)
    if num_epochs != 1:
        dataset = dataset.repeat(num_epochs)
    dataset = dataset.batch(batch_size, drop_remainder=num_epochs is None)
    dataset = dataset._made(_Named(dataset._pipeline, _structure(names, label_name)))
    return dataset.prefetch(AUTOTUNE if prefetch_buffer_size is None else prefetch_buffer_size)


def _names_of(given: Sequence[str] | None, table: _Table, header: bool) -> list[str]:
    """The names of the columns: those given, or those in the first row of the files."""
    if given is None and not header:
        raise ValueError("Expected `column_names` or `header` arguments. Neither is provided.")
    names = table.header() if given is None else list(given)
    if len(set(names)) != len(names):
        twice = {name for name in names if names.count(name) > 1}
        raise ValueError(
            "Either `column_names` argument or CSV header row contains duplicate column names: "
            f"{twice}."
        )
    return names


def _check_defaults(column_defaults: Sequence[Any], columns: list[int]) -> None:
    if len(column_defaults) != len(columns):
        raise ValueError(
            "If specified, `column_defaults` and `select_columns` must have the same length: "
            f"`column_defaults` has length {len(column_defaults)}, `select_columns` has length "
            f"{len(columns)}."
        )


def _structure(names: list[str], label: str | None) -> Any:
    """The numbers of columns in the structure of the elements."""
    features = collections.OrderedDict((name, i) for i, name in enumerate(names))
    return features if label is None else (features, features.pop(label))


def _selected(select_columns: Sequence[Any] | None, names: list[str]) -> list[int]:
    """The numbers of the wanted columns, in order."""
    if select_columns is None:
        return list(range(len(names)))
    found = []
    for column in select_columns:
        if isinstance(column, int):
            if not 0 <= column < len(names):
                raise ValueError(
                    f"Column index {column} specified in `select_columns` should be > 0  and <= "
                    f"{len(names)}, which is the number of columns."
                )
            found.append(column)
        elif column in names:
            found.append(names.index(column))
        else:
            raise ValueError(
                f"Column {column} specified in `select_columns` must be of one of the columns: "
                f"{dict.fromkeys(names).keys()}."
            )
    if len(set(found)) != len(found):
        twice = {names[i] for i in found if found.count(i) > 1}
        raise ValueError(f"The `select_columns` argument contains duplicate columns: {twice}.")
    return sorted(found)
