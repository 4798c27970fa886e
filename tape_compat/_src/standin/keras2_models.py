"""SavedModels of Keras 2: what it asks of the functions that write and read them."""

from __future__ import annotations

import abc
import functools
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any, NamedTuple

from ..function.function import Function
from ..library.lookup.mutable import MutableHashTable
from ..library.lookup.static import StaticHashTable, StaticVocabularyTable
from ..library.saved_model.load import opened, parsed_model
from ..library.saved_model.messages import SavedModel
from ..library.saved_model.options import LoadOptions
from ..library.saved_model.save import saved
from ..values.spec import TensorSpec


class LookupInterface(abc.ABC):  # noqa: B024 - it is asked for by isinstance
    """What tables are."""


for _table in (StaticHashTable, StaticVocabularyTable, MutableHashTable):
    LookupInterface.register(_table)


class RestoredResource:
    """The class of resources that a SavedModel gave: tables are tables here, so none is one."""


class Reference(NamedTuple):
    """A step of a path: the name of a part, and the part."""

    name: str
    ref: Any


class ByIdentity(dict[int, Any]):
    """A dict whose keys are objects, by what they are and not by equality."""

    def __getitem__(self, key: Any) -> Any:
        return super().__getitem__(id(key))


def save_and_return_nodes(
    obj: Any, export_dir: Any, signatures: Any = None, options: Any = None
) -> tuple[list[Any], ByIdentity]:
    """Write a SavedModel: the objects in it by their numbers, and the paths that lead to them."""
    view = saved(obj, export_dir, signatures, options)
    numbers = {path: number for number, path in enumerate(view.paths)}
    paths = ByIdentity()
    for value, path in zip(view.objects, view.paths, strict=True):
        ways = [path[: i + 1] for i in range(len(path))]
        paths[id(value)] = tuple(
            Reference(name, view.objects[numbers[way]])
            for name, way in zip(path, ways, strict=True)
        )
    return list(view.objects), paths


def parse_saved_model(export_dir: Any) -> SavedModel:
    """The message of a SavedModel.

    Raises: OSError if there is none.
    """
    return parsed_model(str(export_dir))


def load_partial(
    export_dir: Any,
    filters: Mapping[str, tuple[Any, Callable[[Any, str, Any], None]] | None],
    tags: Any = None,
    options: LoadOptions | None = None,
) -> dict[str, Any]:
    """Give objects the values and parts that a SavedModel has for them.

    Args:
      filters: by their paths, 'root.layer', the objects with functions that give them their parts;
        None for one that is to be loaded.
    Returns: the objects by their paths.
    """
    known = {path: entry for path, entry in filters.items() if entry is not None}
    loading = opened(export_dir, tags, options, known)
    found = {path: loading.at(path) for path, entry in filters.items() if entry is None}
    return {**found, **loading.parts()}


def registered_identifiers() -> list[str]:
    """The classes of objects that SavedModels know how to make: none but those of our own."""
    return []


def of_known_rank(save_impl: ModuleType) -> None:
    """Keras' function that regularizes what a layer gives, of the rank of that: it says of none."""
    of_any_rank = save_impl._wrap_activity_regularizer

    @functools.wraps(of_any_rank)
    def wrap_activity_regularizer(layer: Any) -> Any:
        made = of_any_rank(layer)
        shape = getattr(layer, "output_shape", None)
        if made is layer._activity_regularizer or not isinstance(shape, tuple):
            return made
        spec = TensorSpec([None] * len(shape), made.input_signature[0].dtype)
        return Function(layer._activity_regularizer, made.name, input_signature=[spec])

    save_impl._wrap_activity_regularizer = wrap_activity_regularizer  # type: ignore[attr-defined]
