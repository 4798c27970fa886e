"""Elements kept in files: cache(filename), save, load, snapshot."""

from __future__ import annotations

import gc
import json
import os
import time
import uuid
import weakref
from collections.abc import Callable, Sequence
from typing import Any

from ...core import errors
from ...core.paths import local_path
from ..fingerprints import fingerprint
from ..functions import ElementFunction
from ..interleaving import Interleave
from ..pipeline import AUTOTUNE, Draws, Pipeline, Stream, StreamOf
from ..specs import DatasetSpec
from ..structure import Element, array_of
from ..windows import Elements, dataset_of
from .contents import text
from .elements import ElementWriter, described, read_elements, spec_of_json
from .records import file_error

_INDEX = "dataset.json"
_COMPRESSIONS = {None: "", "": "", "NONE": "", "AUTO": "", "GZIP": "GZIP", "ZLIB": "ZLIB"}


def compression_of(compression: Any) -> str:
    """The name of a compression as files are opened with. Raises ValueError for another."""
    if compression == "SNAPPY":
        raise NotImplementedError('Files of elements with compression "SNAPPY".')
    if compression not in _COMPRESSIONS:
        raise ValueError(f"No compression of elements: {compression!r}")
    return _COMPRESSIONS[compression]


def folder_of(path: Any) -> str:
    """The name of a folder that the user gave: text, a path or a string scalar."""
    name = os.fspath(path) if hasattr(path, "__fspath__") else path
    return local_path(text(name, "path", "Save").decode())


class SavedElements(Pipeline):
    """The elements in a file."""

    name = "SnapshotDatasetReader"

    def __init__(self, path: str, spec: Any, count: int, kind: str):
        super().__init__()
        self._path, self._known, self._count, self._kind = path, spec, count, kind

    def _spec(self) -> Any:
        return self._known

    def size(self) -> int:
        return self._count

    def _open(self, draws: Draws) -> Stream:
        return StreamOf(read_elements(self._path, self._known, self._kind).__next__)


# ---------------------------------------------------------------------------------------------
# Shards.


class Shards:
    """A folder with elements that are written to several files. shard: gives the number of the one
    for an element; there is one file without it."""

    def __init__(self, folder: str, spec: Any, kind: str, shard: Callable[..., Any] | None):
        self._folder, self._spec, self._kind, self._shard = folder, spec, kind, shard
        self._run = uuid.uuid4().hex
        self._writers: dict[int, ElementWriter] = {}
        self._finished = False
        described(spec)  # which refuses what files cannot hold
        try:
            os.makedirs(os.path.join(folder, self._run), exist_ok=True)
        except OSError as error:
            raise file_error(error, folder) from None

    def write(self, element: Element) -> None:
        """Add an element."""
        number = 0
        if self._shard is not None:
            found = self._shard(element)
            if (
                len(found) != 1
                or array_of(found[0]).dtype != "int64"
                or array_of(found[0]).size != 1
            ):
                raise errors.InvalidArgumentError(
                    None, None, "`shard_func` must return a scalar int64. [Op:SaveDataset]"
                )
            number = int(array_of(found[0]).item())
        writer = self._writers.get(number)
        if writer is None:
            path = os.path.join(self._folder, self._file(number))
            writer = self._writers[number] = ElementWriter(path, self._spec, self._kind)
        writer.write(element)

    def _file(self, number: int) -> str:
        return os.path.join(self._run, f"{number:08d}.elements")

    def close(self) -> None:
        """Close the files, of which none is whole unless `finish` was called."""
        for writer in self._writers.values():
            writer.close(whole=False)

    def finish(self) -> None:
        """Let others find the elements."""
        if self._finished:
            return
        self._finished = True
        for writer in self._writers.values():
            writer.close()
        index = {
            "spec": described(self._spec),
            "shards": [[self._file(i), self._writers[i].count] for i in sorted(self._writers)],
        }
        path = os.path.join(self._folder, _INDEX)
        with open(path + self._run, "w") as file:
            json.dump(index, file)
        os.replace(path + self._run, path)


def _index_of(folder: str, missing: str) -> dict[str, Any]:
    """What the index of a folder says. Raises NotFoundError with a message if there is none."""
    if os.path.exists(os.path.join(folder, "dataset_spec.pb")):
        raise NotImplementedError(f"{folder} was saved by TensorFlow, whose format is not read.")
    try:
        with open(os.path.join(folder, _INDEX)) as file:
            return json.load(file)
    except OSError:
        raise errors.NotFoundError(None, None, missing) from None
    except ValueError:
        raise errors.DataLossError(None, None, f"{folder}/{_INDEX} is damaged") from None


def save(
    source: Pipeline, path: str, compression: Any, shard_func: Callable[..., Any] | None
) -> None:
    """Write the elements of a pipeline to a folder."""
    shard = None
    if shard_func is not None:
        shard = ElementFunction(shard_func, source, "Dataset.save()")
    shards = Shards(path, source.spec, compression_of(compression), shard)
    try:
        for element in source.open(Draws()):
            shards.write(element)
        shards.finish()
    finally:
        shards.close()


def _same(dataset: Any) -> Any:
    return dataset


class Load(Pipeline):
    """The elements that were saved in a folder, shards by turns or as `reader_func` says."""

    name = "LoadDataset"

    def __init__(
        self, path: str, spec: Any, compression: Any, reader_func: Callable[..., Any] | None
    ):
        missing = f"tf.data snapshot element_spec file not found: {path}/{_INDEX}."
        if spec is not None:
            missing = f"Could not find metadata file [{path}] [Op:LoadDataset]"
        index = _index_of(path, missing)
        self._known = spec_of_json(index["spec"]) if spec is None else spec
        kind = compression_of(compression)
        shards: list[Pipeline] = [
            SavedElements(os.path.join(path, name), self._known, count, kind)
            for name, count in index["shards"]
        ]
        self._count = sum(count for _, count in index["shards"])
        super().__init__(_read_by(shards, self._known, reader_func))

    def _spec(self) -> Any:
        return self._known

    def size(self) -> int:
        return self._count

    def _open(self, draws: Draws) -> Stream:
        return self.inputs[0].open(draws.of(0))


def _read_by(
    shards: Sequence[Pipeline], spec: Any, reader_func: Callable[..., Any] | None
) -> Pipeline:
    """The pipeline that a function makes of a dataset of datasets, one for each shard."""
    make = type(dataset_of([], spec))
    elements = Elements([(make(shard),) for shard in shards], DatasetSpec(spec))
    if reader_func is None:
        if len(shards) == 1:
            return shards[0]
        return Interleave(elements, _same, AUTOTUNE, 1, "Dataset.load()")
    found = reader_func(make(elements))
    if not isinstance(found, make):
        raise TypeError(f"`reader_func` must return a `Dataset` object. Got {found!r}.")
    return found._pipeline


class Snapshot(Pipeline):
    """The elements, written to a folder in the first run and read from it in those after it."""

    name = "MapDataset"

    def __init__(
        self,
        source: Pipeline,
        path: str,
        compression: Any,
        reader_func: Callable[..., Any] | None,
        shard_func: Callable[..., Any] | None,
    ):
        super().__init__(source)
        self._kind, self._reader = compression_of(compression), reader_func
        self._shard = None
        if shard_func is not None:
            self._shard = ElementFunction(shard_func, source, "Dataset.snapshot()")
        self._folder = os.path.join(path, f"{fingerprint(source):016x}")

    def _open(self, draws: Draws) -> Stream:
        if os.path.exists(os.path.join(self._folder, _INDEX)):
            return Load(self._folder, self.spec, self._kind, self._reader).open(draws)
        source, shards = (
            self.inputs[0].open(draws.of(0)),
            Shards(self._folder, self.spec, self._kind, self._shard),
        )

        def step() -> Element:
            try:
                element = source.step()
            except StopIteration:
                shards.finish()
                raise
            shards.write(element)
            return element

        stream = StreamOf(step)
        weakref.finalize(stream, shards.close)
        return stream


# ---------------------------------------------------------------------------------------------
# cache(filename).


class FileCache(Pipeline):
    """The elements, kept in a file from the first run that comes to the end."""

    name, shown = "CacheDataset", ""

    def __init__(self, source: Pipeline, filename: str):
        super().__init__(source)
        self._path = local_path(filename)

    @property
    def _whole(self) -> str:
        return self._path + ".elements"

    def _open(self, draws: Draws) -> Stream:
        if os.path.exists(self._whole):
            return StreamOf(read_elements(self._whole, self.spec).__next__)
        run = _Keeping(self._path, self.spec)
        source, whole = self.inputs[0].open(draws.of(0)), self._whole

        def step() -> Element:
            run.begin()
            try:
                element = source.step()
            except StopIteration:
                run.finish(whole)
                raise
            run.write(element)
            return element

        stream = StreamOf(step)
        weakref.finalize(stream, run.abandon)
        return stream


#: How long to wait for the threads of a run of this process that nobody goes on with.
LEFT_SECONDS = 0.5
#: The locks that this process made.
_LOCKS: set[str] = set()


class _Keeping:
    """A run whose elements are being kept, which no other may do meanwhile."""

    def __init__(self, path: str, spec: Any):
        self._path, self._spec = path, spec
        self._lock = f"{path}_0.lockfile"
        self.writer: ElementWriter | None = None
        self._begun = False

    def begin(self) -> None:
        """Begin, if that was not done. Raises AlreadyExistsError while another run writes."""
        if self._begun:
            return
        try:
            if not self._locked() and not self._locked_when_left():
                raise self._concurrent()
        except OSError as error:
            raise file_error(error, self._lock) from None
        self._begun = True
        self.writer = ElementWriter(self._path + ".part", self._spec)

    def _locked(self) -> bool:
        """Whether the file that keeps others off could be made."""
        try:
            with open(self._lock, "x") as file:
                file.write(f"Created at: {int(time.time())}")
        except FileExistsError:
            return False
        _LOCKS.add(self._lock)
        return True

    def _locked_when_left(self) -> bool:
        """The same, once a run of this process that nobody goes on with has ended."""
        end = time.monotonic() + LEFT_SECONDS
        gc.collect()
        while not self._locked():
            if self._lock not in _LOCKS or time.monotonic() > end:
                return self._locked()  # it may have ended just now
            time.sleep(0.02)
            gc.collect()
        return True

    def _concurrent(self) -> errors.AlreadyExistsError:
        with open(self._lock) as file:
            contents = file.read()
        return errors.AlreadyExistsError(
            None,
            None,
            "There appears to be a concurrent caching iterator running - cache lockfile already "
            f"exists ('{self._lock}'). If you are sure no other running TF computations are using "
            "this cache prefix, delete the lockfile and re-initialize the iterator. Lockfile "
            f"contents: {contents} [Op:IteratorGetNext]",
        )

    def write(self, element: Element) -> None:
        assert self.writer is not None
        self.writer.write(element)

    def finish(self, path: str) -> None:
        """Let others find the elements."""
        if self.writer is not None:
            self.writer.close()
            os.replace(self._path + ".part", path)
            os.remove(self._lock)
            _LOCKS.discard(self._lock)
            self.writer = None

    def abandon(self) -> None:
        """Leave nothing of a run that did not come to the end."""
        if self.writer is not None:
            self.writer.close(whole=False)
            for path in (self._path + ".part", self._lock):
                if os.path.exists(path):
                    os.remove(path)
            _LOCKS.discard(self._lock)
            self.writer = None
