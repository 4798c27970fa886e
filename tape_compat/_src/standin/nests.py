"""`tensorflow.python.util.nest`: what libraries use of it beside the names of `tf.nest`.

A shallow structure is the upper part of another one: where it has a leaf, the other has anything.
"""

from __future__ import annotations

from collections import abc
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ..values.nest import (
    children_of,
    flatten,
    flatten_with_tuple_paths as flatten_with_tuple_paths,
    is_nested,
    keys_of,
    pack_sequence_as,
    plain_class,
    rebuilt,
    same_class,
)


def is_nested_or_composite(structure: Any) -> bool:
    """Whether a value is a structure or made of several tensors."""
    return children_of(structure) is not None


def is_mapping(structure: Any) -> bool:
    """Whether a value is a mapping."""
    return isinstance(structure, abc.Mapping)


def is_attrs(structure: Any) -> bool:
    """Whether a value is of a class made with attrs."""
    return hasattr(type(structure), "__attrs_attrs__")


def is_namedtuple(structure: Any, strict: bool = False) -> bool:
    """Whether a value is a named tuple; `strict`: of no subclass of one."""
    named = isinstance(structure, tuple) and isinstance(getattr(structure, "_fields", None), tuple)
    return named and (not strict or type(structure).__bases__ == (tuple,))


def _yield_value(structure: Any) -> Iterator[Any]:
    yield from children_of(structure) or ()


def _yield_sorted_items(structure: Any) -> Iterator[tuple[Any, Any]]:
    yield from zip(keys_of(structure), children_of(structure) or ())


def _sequence_like(structure: Any, children: Sequence[Any]) -> Any:
    return rebuilt(structure, list(children))


sequence_like = _sequence_like
_is_attrs, _is_mapping, _is_namedtuple = is_attrs, is_mapping, is_namedtuple
_is_nested_or_composite = is_sequence_or_composite = is_nested_or_composite


def yield_flat_paths(structure: Any, expand_composites: bool = False) -> Iterator[tuple[Any, ...]]:
    """The keys that lead to each leaf.

    >>> list(yield_flat_paths({"b": 1, "a": [2, 3]}))
    [('a', 0), ('a', 1), ('b',)]
    """
    for path, _ in flatten_with_tuple_paths(structure, expand_composites):
        yield path


def flatten_with_joined_string_paths(
    structure: Any, separator: str = "/", expand_composites: bool = False
) -> list[tuple[str, Any]]:
    """Pairs (path, leaf), the keys of a path joined.

    >>> flatten_with_joined_string_paths({"a": [2, 3]})
    [('a/0', 2), ('a/1', 3)]
    """
    pairs = flatten_with_tuple_paths(structure, expand_composites)
    return [(separator.join(map(str, path)), leaf) for path, leaf in pairs]


def _fitting(shallow: Any, other: Any, check_types: bool, expand_composites: bool) -> list[Any]:
    """The children of `other` that stand where the children of `shallow`, a structure, do.

    Raises: TypeError if `other` is a leaf or of another class; ValueError if it has other children.
    """
    children = children_of(other, expand_composites)
    if children is None:
        raise TypeError(
            "If shallow structure is a sequence, input must also be a sequence. Input has type: "
            f"{type(other)}."
        )
    alike = isinstance(other, plain_class(shallow)) or same_class(shallow, other)
    if check_types and not alike:
        raise TypeError(
            "The two structures don't have the same sequence type. Input structure has type "
            f"{type(other)}, while shallow structure has type {type(shallow)}."
        )
    keys = keys_of(shallow, expand_composites)
    if len(keys) != len(children):
        raise ValueError(
            "The two structures don't have the same sequence length. Input structure has length "
            f"{len(children)}, while shallow structure has length {len(keys)}."
        )
    mappings = is_mapping(shallow) and is_mapping(other)
    missing = [key for key in keys if key not in other] if mappings else []
    if missing:
        raise ValueError(
            "The shallow_tree's keys are not a subset of the input_tree's keys. The shallow_tree "
            f"has the following keys that are not in the input_tree: {missing}."
        )
    return children


def _up_to(
    shallow: Any, other: Any, check_types: bool, expand_composites: bool, path: tuple[Any, ...] = ()
) -> Iterator[tuple[tuple[Any, ...], Any]]:
    parts = children_of(shallow, expand_composites)
    if parts is None:
        yield path, other
        return
    children = _fitting(shallow, other, check_types, expand_composites)
    for key, part, child in zip(keys_of(shallow, expand_composites), parts, children):
        yield from _up_to(part, child, check_types, expand_composites, (*path, key))


def assert_shallow_structure(
    shallow_tree: Any, input_tree: Any, check_types: bool = True, expand_composites: bool = False
) -> None:
    """Check that a structure begins as a shallow one does.

    Raises: TypeError or ValueError if not.

    >>> assert_shallow_structure([None, None], [1, {"a": 2}])
    """
    for _ in _up_to(shallow_tree, input_tree, check_types, expand_composites):
        pass


def flatten_up_to(
    shallow_tree: Any, input_tree: Any, check_types: bool = True, expand_composites: bool = False
) -> list[Any]:
    """What stands in `input_tree` where a shallow structure has its leaves.

    Raises: TypeError or ValueError if the structures do not fit.

    >>> flatten_up_to([None, None], [1, {"a": 2}])
    [1, {'a': 2}]
    """
    return [part for _, part in _up_to(shallow_tree, input_tree, check_types, expand_composites)]


def flatten_with_tuple_paths_up_to(
    shallow_tree: Any, input_tree: Any, check_types: bool = True, expand_composites: bool = False
) -> list[tuple[tuple[Any, ...], Any]]:
    """Pairs (path, part) of `flatten_up_to`."""
    return list(_up_to(shallow_tree, input_tree, check_types, expand_composites))


def map_structure_up_to(
    shallow_tree: Any, func: Callable[..., Any], *inputs: Any, **options: Any
) -> Any:
    """The shallow structure of what `func` gives of the parts of all inputs at each of its leaves.

    Args:
      options: check_types, expand_composites.
    Raises: TypeError or ValueError if the structures do not fit.

    >>> map_structure_up_to([None, None], len, [[1, 2], [3]])
    [2, 1]
    """
    return map_structure_with_tuple_paths_up_to(
        shallow_tree, lambda _, *parts: func(*parts), *inputs, **options
    )


def map_structure_with_tuple_paths_up_to(
    shallow_tree: Any, func: Callable[..., Any], *inputs: Any, **options: Any
) -> Any:
    """`map_structure_up_to`, where `func` takes the path before the parts."""
    if not inputs:
        raise ValueError("Cannot map over no sequences")
    check_types = options.pop("check_types", True)
    expand_composites = options.pop("expand_composites", False)
    if options:
        raise TypeError(f"Unexpected arguments: {sorted(options)}")
    each = [list(_up_to(shallow_tree, tree, check_types, expand_composites)) for tree in inputs]
    results = [func(pairs[0][0], *[part for _, part in pairs]) for pairs in zip(*each)]
    return pack_sequence_as(shallow_tree, results, expand_composites)


def map_structure_with_tuple_paths(
    func: Callable[..., Any], *structure: Any, **options: Any
) -> Any:
    """`tf.nest.map_structure`, where `func` takes the keys that lead to the leaves before them."""
    return map_structure_with_tuple_paths_up_to(structure[0], func, *structure, **options)


def map_structure_with_paths(func: Callable[..., Any], *structure: Any, **options: Any) -> Any:
    """`tf.nest.map_structure`, where `func` takes the joined path before the leaves.

    >>> map_structure_with_paths(lambda path, x: f"{path}={x}", {"a": [1]})
    {'a': ['a/0=1']}
    """

    def joined(path: tuple[Any, ...], *leaves: Any) -> Any:
        return func("/".join(map(str, path)), *leaves)

    return map_structure_with_tuple_paths(joined, *structure, **options)


def get_traverse_shallow_structure(
    traverse_fn: Callable[[Any], Any], structure: Any, expand_composites: bool = False
) -> Any:
    """The shallow structure that is left where `traverse_fn` tells what to go into.

    Args:
      traverse_fn: gives True or False for a structure, or a structure of its kind of bools.
    Raises: TypeError if it gives anything else, or a structure for a leaf.

    >>> get_traverse_shallow_structure(lambda s: not isinstance(s, list), (1, [2, 3]))
    (True, False)
    """
    go = traverse_fn(structure)
    children = children_of(structure, expand_composites)
    if children is None:
        if not isinstance(go, bool):
            raise TypeError(f"traverse_fn returned structure: {go} for non-structure: {structure}")
        return go
    if isinstance(go, bool):
        if not go:
            return False
        found = [
            get_traverse_shallow_structure(traverse_fn, child, expand_composites)
            for child in children
        ]
        return rebuilt(structure, found, expand_composites)
    if not is_nested(go):
        raise TypeError(f"traverse_fn returned a non-bool scalar: {go} for input: {structure}")
    into = flatten_up_to(go, structure, expand_composites=expand_composites)
    found = []
    for answer, child in zip(flatten(go), into):
        if not isinstance(answer, bool):
            raise TypeError(
                f"traverse_fn didn't return a depth=1 structure of bools.  saw: {go}  for "
                f"structure: {structure}"
            )
        nested = answer and is_nested(child)
        found.append(
            get_traverse_shallow_structure(traverse_fn, child, expand_composites)
            if nested
            else answer
        )
    return pack_sequence_as(go, found)


def list_to_tuple(structure: Any) -> Any:
    """The structure with tuples in the place of its lists.

    >>> list_to_tuple([1, {"a": [2]}])
    (1, {'a': (2,)})
    """
    children = children_of(structure, False)
    if children is None:
        return structure
    made = [list_to_tuple(child) for child in children]
    return tuple(made) if isinstance(structure, list) else rebuilt(structure, made, False)


def flatten_dict_items(dictionary: Any) -> dict[Any, Any]:
    """A dict of the leaves of the keys and of the values beside them.

    Raises: ValueError if a key and its value are of different structure, or a leaf comes twice.

    >>> flatten_dict_items({("a", "b"): (1, 2), "c": 3})
    {'a': 1, 'b': 2, 'c': 3}
    """
    found: dict[Any, Any] = {}
    for key, value in dictionary.items():
        keys, values = flatten(key), flatten(value)
        if len(keys) != len(values):
            raise ValueError(
                f"Could not flatten dictionary. Key had {len(keys)} elements, but "
                f"value had {len(values)} elements. Key: {key}, value: {value}."
            )
        for each, part in zip(keys, values):
            if each in found:
                raise ValueError(f"Could not flatten dictionary: key {each} is not unique.")
            found[each] = part
    return found
