"""`tf.nest`: nested structures of lists, tuples, dicts, dataclasses, and their leaves.

A structure is a list, tuple, named tuple, mapping, view of a dict, other `Sequence` that is no
string, class made with attrs, or class with `__tf_flatten__` and `__tf_unflatten__`. Everything
else is a leaf: numbers, strings, None, arrays, Tensors, sets. Mappings are read in the order of
their sorted keys and keep their own order when they are rebuilt.
"""

from __future__ import annotations

import collections
import collections.abc as abc
import functools
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from ..core.caches import register
from .composite import CompositeTensor, TypeSpec
from .indexed_slices import IndexedSlices

__all__ = [
    "assert_same_structure",
    "flatten",
    "is_nested",
    "map_structure",
    "pack_sequence_as",
]


class _Kind(NamedTuple):
    """How structures of one class are taken apart and put together again."""

    children: Callable[[Any], Sequence[Any]]
    rebuild: Callable[[Any, list[Any]], Any]
    keys: Callable[[Any], Sequence[Any]] = lambda structure: range(len(structure))


def _rebuild_fields(like: Any, children: list[Any]) -> Any:
    return type(like)(*children)


def _rebuild_mapping(like: Any, children: list[Any]) -> Any:
    by_key = dict(zip(sorted(like), children))
    pairs = [(key, by_key[key]) for key in like]
    if isinstance(like, collections.defaultdict):
        return type(like)(like.default_factory, pairs)
    try:
        return type(like)(pairs)  # type: ignore[call-arg]
    except Exception as error:
        raise TypeError(
            f"Error creating an object of type {type(like)} like {_outline(like)}. Note that it "
            "must accept a single positional argument representing an iterable of key-value "
            f"pairs, in addition to self. Cause: {error}"
        ) from error


def _field_names(structure: Any) -> list[str]:
    return [field.name for field in type(structure).__attrs_attrs__]


def _slices_children(slices: IndexedSlices) -> list[Any]:
    parts = [slices.values, slices.indices]
    return parts if slices.dense_shape is None else [*parts, slices.dense_shape]


_PLAIN = _Kind(lambda structure: structure, lambda like, children: type(like)(children))
_NAMED = _Kind(lambda structure: structure, _rebuild_fields, lambda structure: structure._fields)
_MAPPING = _Kind(
    lambda mapping: [mapping[key] for key in sorted(mapping)], _rebuild_mapping, sorted
)
_LIST = _Kind(list, lambda like, children: children)  # views and ranges
_ATTRS = _Kind(
    lambda structure: [getattr(structure, name) for name in _field_names(structure)],
    _rebuild_fields,
    _field_names,
)
_CUSTOM = _Kind(
    lambda structure: list(structure.__tf_flatten__()[1]),
    lambda like, children: type(like).__tf_unflatten__(like.__tf_flatten__()[0], tuple(children)),
    lambda structure: range(len(structure.__tf_flatten__()[1])),
)
_SLICES = _Kind(
    _slices_children,
    _rebuild_fields,
    lambda structure: ("values", "indices", "dense_shape"),
)
_COMPOSITE = _Kind(
    lambda composite: [composite._type_spec._to_components(composite)],
    lambda like, children: like._type_spec._from_components(children[0]),
    lambda composite: (0,),
)
_SPEC = _Kind(
    lambda spec: [spec._component_specs],
    lambda like, children: like._from_components(children[0]),
    lambda spec: (0,),
)
#: Kinds of what has specs.
_TYPED = (_SLICES, _COMPOSITE, _SPEC)


@functools.lru_cache(maxsize=4096)
def _kind(cls: type) -> _Kind | None:
    """How objects of this class nest; None if they are leaves."""
    if hasattr(cls, "__tf_flatten__") and hasattr(cls, "__tf_unflatten__"):
        return _CUSTOM
    if isinstance(getattr(cls, "__attrs_attrs__", None), abc.Sequence):
        return _ATTRS
    if issubclass(cls, abc.Mapping):
        return _MAPPING
    names = getattr(cls, "_fields", None)
    if issubclass(cls, tuple) and isinstance(names, tuple):
        if all(isinstance(name, str) for name in names):
            return _NAMED
    if issubclass(cls, (abc.MappingView, range)):
        return _LIST
    if issubclass(cls, abc.Sequence) and not issubclass(cls, (str, bytes)):
        return _PLAIN
    return None


register("kinds of nests", _kind.cache_clear, lambda: _kind.cache_info().currsize)


def metadata_of(structure: Any) -> Any:
    """What a structure with `__tf_flatten__` is beside its components; None for others."""
    return structure.__tf_flatten__()[0] if _kind(structure.__class__) is _CUSTOM else None


def _kind_of_value(cls: type) -> _Kind | None:
    """As `_kind`, but composites are no leaves."""
    if issubclass(cls, CompositeTensor):
        return _SLICES if issubclass(cls, IndexedSlices) else _COMPOSITE
    return _kind(cls)


def _kind_or_composite(cls: type) -> _Kind | None:
    """As `_kind`, but composites and their specs are no leaves."""
    if issubclass(cls, TypeSpec) and not cls._is_leaf:
        return None if cls._component_specs is TypeSpec._component_specs else _SPEC
    return _kind_of_value(cls)


def _finder(expand_composites: bool) -> Callable[[type], _Kind | None]:
    return _kind_or_composite if expand_composites else _kind


def _finder_of_values(expand_composites: bool) -> Callable[[type], _Kind | None]:
    return _kind_of_value if expand_composites else _kind


def is_nested(seq: Any) -> bool:
    """Whether `seq` is a structure rather than a leaf.

    >>> import tape_compat as tf
    >>> [tf.nest.is_nested(x) for x in ([], {"a": 1}, "abc", None, {1, 2})]
    [True, True, False, False, False]
    """
    return _kind(seq.__class__) is not None


def flatten(structure: Any, expand_composites: bool = False) -> list[Any]:
    """The leaves of `structure` in order; `[structure]` if it is a leaf.

    Args:
      structure: anything; mappings must have keys that can be sorted.
      expand_composites: whether composites, as IndexedSlices, count as structures of their tensors.
    Raises: TypeError if the keys of a mapping cannot be sorted.

    >>> import tape_compat as tf
    >>> tf.nest.flatten([1, (2, {"b": 4, "a": 3}), None])
    [1, 2, 3, 4, None]
    """
    leaves: list[Any] = []
    _collect(structure, _finder(expand_composites), leaves)
    return leaves


def _collect(structure: Any, find: Callable[[type], _Kind | None], leaves: list[Any]) -> None:
    kind = find(structure.__class__)
    if kind is None:
        leaves.append(structure)
        return
    for child in kind.children(structure):
        _collect(child, find, leaves)


def children_of(structure: Any, expand_composites: bool = True) -> list[Any] | None:
    """What a structure or composite consists of, one level deep; None for a leaf, as specs are."""
    kind = _finder_of_values(expand_composites)(structure.__class__)
    return None if kind is None else list(kind.children(structure))


def flatten_up_to(structure: Any, value: Any) -> list[Any]:
    """Of a value the parts in the places of the leaves of a structure. Composites are leaves.

    Raises: ValueError or TypeError if it is structured otherwise.

    >>> flatten_up_to([0, {"a": 0}], (1, {"a": [2, 3]}))
    [1, [2, 3]]
    """
    children = children_of(structure, expand_composites=False)
    if children is None:
        return [value]
    parts = children_of(value, expand_composites=False)
    if parts is None or isinstance(structure, dict) is not isinstance(value, dict):
        raise TypeError(f"{value!r} is not structured as {structure!r}")
    if isinstance(structure, dict) and structure.keys() != value.keys():
        raise ValueError(f"{value!r} has other keys than {structure!r}")
    pairs = zip(children, parts, strict=True)
    return [leaf for child, part in pairs for leaf in flatten_up_to(child, part)]


def keys_of(structure: Any, expand_composites: bool = True) -> list[Any]:
    """What the children of a structure or composite are called in it."""
    kind = _finder_of_values(expand_composites)(structure.__class__)
    assert kind is not None
    return list(kind.keys(structure))


def rebuilt(structure: Any, children: list[Any], expand_composites: bool = True) -> Any:
    """A structure or composite of the same kind that consists of these children."""
    kind = _finder_of_values(expand_composites)(structure.__class__)
    assert kind is not None
    return kind.rebuild(structure, children)


def flatten_with_tuple_paths(
    structure: Any, expand_composites: bool = False
) -> list[tuple[tuple[Any, ...], Any]]:
    """Pairs (path, leaf), in the order of `flatten`; a path is the keys that lead to the leaf.

    Not a name of `tf.nest`: for messages, and for Modules.

    >>> from tape_compat._src.values import nest
    >>> nest.flatten_with_tuple_paths({"b": 1, "a": [2]})
    [(('a', 0), 2), (('b',), 1)]
    """
    return list(_paths(structure, _finder(expand_composites), ()))


def _paths(
    structure: Any, find: Callable[[type], _Kind | None], path: tuple[Any, ...]
) -> Iterator[tuple[tuple[Any, ...], Any]]:
    kind = find(structure.__class__)
    if kind is None:
        yield path, structure
    else:
        for key, child in zip(kind.keys(structure), kind.children(structure)):
            yield from _paths(child, find, (*path, key))


def pack_sequence_as(
    structure: Any, flat_sequence: Sequence[Any], expand_composites: bool = False
) -> Any:
    """The items of `flat_sequence` arranged as `structure` is: the inverse of `flatten`.

    Args:
      structure: the structure to copy; its leaves do not matter.
      flat_sequence: list, tuple or other sequence with one item for each leaf.
      expand_composites: as in `flatten`.
    Raises: TypeError if `flat_sequence` is no sequence; ValueError if it has too many or too few
      items.

    >>> import tape_compat as tf
    >>> tf.nest.pack_sequence_as({"b": 0, "a": [0, 0]}, [1, 2, 3])
    {'b': 3, 'a': [1, 2]}
    """
    if _kind(flat_sequence.__class__) in (None, _MAPPING):
        raise TypeError(
            f"Attempted to pack value:\n  a {type(flat_sequence).__name__}\ninto a structure, but "
            f"found incompatible type `{type(flat_sequence)}` instead. Pass a list or a tuple."
        )
    find = _finder(expand_composites)
    items = list(flat_sequence)
    if find(structure.__class__) is None and len(items) != 1:
        raise ValueError(
            f"The target structure is of type `{type(structure)}`, a leaf, which takes a sequence "
            f"of one item. However the input is a sequence ({type(flat_sequence)}) of length "
            f"{len(items)}."
        )
    leaves: list[Any] = []
    _collect(structure, find, leaves)
    if len(leaves) != len(items):
        raise ValueError(
            f"Could not pack sequence. Structure had {len(leaves)} atoms, but flat_sequence had "
            f"{len(items)} items.  Structure: {_outline(structure)}"
        )
    return _pack(structure, find, iter(items))


def _pack(structure: Any, find: Callable[[type], _Kind | None], items: Iterator[Any]) -> Any:
    kind = find(structure.__class__)
    if kind is None:
        return next(items)
    return kind.rebuild(
        structure, [_pack(child, find, items) for child in kind.children(structure)]
    )


def map_structure(
    func: Callable[..., Any],
    *structure: Any,
    check_types: bool = True,
    expand_composites: bool = False,
    **kwargs: Any,
) -> Any:
    """`func` of the corresponding leaves, arranged as the first structure is.

    Args:
      func: callable of as many arguments as there are structures.
      *structure: one or more structures of the same form.
      check_types: whether lists, tuples and so on must be of the same class in all of them.
      expand_composites: as in `flatten`.
    Raises: TypeError if `func` is not callable or classes differ; ValueError if there is no
      structure, the forms differ, or another keyword is given.

    >>> import tape_compat as tf
    >>> tf.nest.map_structure(lambda x, y: x + y, {"a": 1, "b": [2]}, {"a": 10, "b": [20]})
    {'a': 11, 'b': [22]}
    """
    if not callable(func):
        raise TypeError(f"func must be callable, got: {func}")
    if not structure:
        raise ValueError("Must provide at least one structure")
    if kwargs:
        raise ValueError(
            "Only valid keyword arguments are `check_types` and `expand_composites`, not: "
            f"`{'`, `'.join(kwargs)}`"
        )
    first, *rest = structure
    for other in rest:
        assert_same_structure(first, other, check_types, expand_composites)
    leaves = [flatten(each, expand_composites) for each in structure]
    results = iter([func(*items) for items in zip(*leaves)])
    return _pack(first, _finder(expand_composites), results)


def assert_same_structure(
    nest1: Any, nest2: Any, check_types: bool = True, expand_composites: bool = False
) -> None:
    """Check that two structures have the same form; the leaves do not matter.

    Args:
      nest1, nest2: the structures.
      check_types: whether lists, tuples and so on must be of the same class, and mappings have
        the same keys. Mappings of any classes, and named tuples with the same name and
        fields, count as the same class.
      expand_composites: as in `flatten`.
    Raises: ValueError if the forms differ; TypeError if `check_types` and classes differ.

    >>> import tape_compat as tf
    >>> tf.nest.assert_same_structure([1, (2, 3)], ["a", ("b", None)])
    >>> tf.nest.assert_same_structure([1, 2], [1, [2]])
    Traceback (most recent call last):
    ValueError: The two structures don't have the same nested structure. ...
    """
    difference = _difference(nest1, nest2, check_types, _finder(expand_composites), "")
    if difference is None:
        return
    error, path, reason = difference
    place = f" At `structure{path}`:" if path else ""
    raise error(
        "The two structures don't have the same nested structure.\n\n"
        f"More specifically:{place} {reason}\n"
        f"Entire first structure:\n{_outline(nest1)}\n"
        f"Entire second structure:\n{_outline(nest2)}"
    )


def _difference(
    x: Any, y: Any, check_types: bool, find: Callable[[type], _Kind | None], path: str
) -> tuple[type[Exception], str, str] | None:
    """The first difference as (class of error, path, reason); None if there is none."""
    x_kind, y_kind = find(x.__class__), find(y.__class__)
    if x_kind is None and y_kind is None:
        return None
    if x_kind is None or y_kind is None:
        nested, leaf = (y, x) if x_kind is None else (x, y)
        reason = (
            f'Substructure "type={type(nested).__name__} {_outline(nested)}" is a sequence, '
            f'while substructure "type={type(leaf).__name__}" is not'
        )
        return ValueError, path, reason
    if check_types and x_kind in _TYPED and _class_of_specs(x) is not _class_of_specs(y):
        reason = (
            f"The first is of type {type(x).__name__}, while the second is of {type(y).__name__}, "
            "which has other specs"
        )
        return ValueError, path, reason
    if check_types and x_kind not in _TYPED and not same_class(x, y):
        reason = (
            "The two structures don't have the same sequence type. The first has type "
            f"{type(x).__name__}, while the second has type {type(y).__name__}"
        )
        return TypeError, path, reason
    x_keys = x_kind.keys(x)
    if check_types and x_kind is y_kind is _MAPPING and x_keys != (y_keys := y_kind.keys(y)):
        reason = (
            "The two dictionaries don't have the same set of keys. The first has keys "
            f"{x_keys}, while the second has keys {y_keys}"
        )
        return ValueError, path, reason
    x_children, y_children = x_kind.children(x), y_kind.children(y)
    if len(x_children) != len(y_children):
        reason = (
            "The two structures don't have the same number of elements. The first has "
            f"{len(x_children)}, the second has {len(y_children)}"
        )
        return ValueError, path, reason
    for key, x_child, y_child in zip(x_keys, x_children, y_children):
        found = _difference(x_child, y_child, check_types, find, f"{path}[{key!r}]")
        if found is not None:
            return found
    return None


def _class_of_specs(value: Any) -> type | None:
    """The class of the spec of a composite, or of a spec; None for another value."""
    spec = getattr(value, "_type_spec", None) if isinstance(value, CompositeTensor) else value
    return type(spec) if isinstance(spec, TypeSpec) else None


def same_class(x: Any, y: Any) -> bool:
    """Whether two structures count as of one class: so do all lists, all mappings, and named
    tuples with the same name and fields."""
    if type(x) is type(y):
        return True
    x_kind, y_kind = _kind_or_composite(x.__class__), _kind_or_composite(y.__class__)
    if x_kind is y_kind is _NAMED:
        return type(x).__name__ == type(y).__name__ and x._fields == y._fields
    lists = isinstance(x, list) and isinstance(y, list)
    return lists or x_kind is y_kind is _MAPPING or plain_class(x) is plain_class(y)


def plain_class(value: Any) -> type:
    """The class that the one of a value stands for, as tuples in attributes of Keras 2 do."""
    return getattr(value.__class__, "_plain_class", value.__class__)


def _outline(structure: Any) -> str:
    """`structure` with a dot for each leaf, for messages."""
    kind = _kind_or_composite(structure.__class__)
    if kind is None:
        return "."
    parts = [_outline(child) for child in kind.children(structure)]
    if kind is _MAPPING:
        return "{" + ", ".join(f"{k!r}: {part}" for k, part in zip(sorted(structure), parts)) + "}"
    if kind is _NAMED:
        fields = ", ".join(f"{name}={part}" for name, part in zip(structure._fields, parts))
        return f"{type(structure).__name__}({fields})"
    if isinstance(structure, tuple):
        return f"({', '.join(parts)}{',' if len(parts) == 1 else ''})"
    inside = f"[{', '.join(parts)}]"
    return inside if isinstance(structure, list) else f"{type(structure).__name__}({inside})"
