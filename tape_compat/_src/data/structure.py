"""Elements of datasets: nests of arrays, taken apart into leaves and put together again.

Tuples, dicts and the like are structures; a list is a leaf, which becomes a tensor. Within the
pipelines an element is the tuple of its leaves: NumPy arrays, JAX arrays, Tensors, None, or objects
with a spec of their own, such as datasets.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np

from ..core import dtypes
from ..core.avals import Aval
from ..values import nest
from ..values.composite import CompositeTensor, TypeSpec
from ..values.convert import convert
from ..values.spec import NoneTensorSpec, TensorSpec
from ..values.tensor import Tensor, concrete
from ..values.variable import Variable
from .specs import Datasets, DatasetSpec

Element = tuple[Any, ...]


def children_of(structure: Any) -> list[Any] | None:
    """What a structure consists of, one level deep; None for a leaf."""
    if structure.__class__ in (np.ndarray, Tensor, TensorSpec):
        return None
    if isinstance(structure, CompositeTensor) or not nest.is_nested(structure):
        return None
    if isinstance(structure, Sequence) and not isinstance(structure, tuple):
        return None
    return nest.children_of(structure)


def flatten(structure: Any) -> list[Any]:
    """The leaves of a structure, in order.

    >>> flatten(([1, 2], {"b": 3, "a": (4,)}))
    [[1, 2], 4, 3]
    """
    children = children_of(structure)
    if children is None:
        return [structure]
    return [leaf for child in children for leaf in flatten(child)]


def map_leaves(function: Callable[[Any], Any], structure: Any) -> Any:
    """A structure of what `function` makes of each leaf."""
    kind = structure.__class__
    if kind is Tensor:
        return function(structure)
    if kind is tuple:
        return tuple([map_leaves(function, child) for child in structure])
    if kind is dict:
        found = {key: map_leaves(function, structure[key]) for key in sorted(structure)}
        return {key: found[key] for key in structure}
    children = children_of(structure)
    if children is None:
        return function(structure)
    return nest.rebuilt(structure, [map_leaves(function, child) for child in children])


def pack(structure: Any, leaves: Sequence[Any]) -> Any:
    """The structure with these leaves: the inverse of `flatten`."""
    remaining = iter(leaves)
    return map_leaves(lambda _: next(remaining), structure)


def flatten_up_to(structure: Any, value: Any) -> list[Any]:
    """Of a value the parts that correspond to the leaves of a structure.

    Raises: ValueError or TypeError if the value is not structured so.
    """
    children = children_of(structure)
    if children is None:
        return [value]
    if isinstance(value, list):
        value = tuple(value)
    parts = children_of(value)
    if parts is None or len(parts) != len(children):
        raise ValueError(f"{value!r} is not structured as {structure!r}")
    if isinstance(structure, dict) and sorted(structure) != sorted(value):
        raise ValueError(f"{value!r} has other keys than {structure!r}")
    pairs = zip(children, parts, strict=True)
    return [leaf for child, part in pairs for leaf in flatten_up_to(child, part)]


def leaf_of(value: Any) -> Any:
    """A value of the user's as a leaf."""
    if value is None or value.__class__ is Tensor or isinstance(value, CompositeTensor):
        return value
    if isinstance(value, Variable):
        return value.read_value()
    if hasattr(value, "_type_spec"):
        return value
    if isinstance(value, list) and value and all(map(_is_dataset, value)):
        return Datasets.stacked(value)
    if isinstance(value, list) and len({getattr(x, "dtype", None) for x in value}) == 1:
        if all(isinstance(x, np.ndarray) for x in value):  # they keep their dtype
            return convert(np.asarray(value))
    return convert(value)


def _is_dataset(value: Any) -> bool:
    return isinstance(getattr(value, "_type_spec", None), DatasetSpec)


def spec_of(leaf: Any) -> TypeSpec:
    """The spec of a leaf."""
    if leaf is None:
        return NoneTensorSpec()
    if isinstance(leaf, Tensor):
        return TensorSpec(leaf.shape, leaf.dtype)
    if isinstance(leaf, (np.ndarray, jax.Array)):
        return TensorSpec(leaf.shape, dtype_of(leaf))
    return leaf._type_spec


def dtype_of(array: Any) -> dtypes.DType:
    """The dtype of an array; one of objects holds strings."""
    if isinstance(array, Tensor):
        return array.dtype
    return dtypes.string if array.dtype == object else dtypes.from_numpy(array.dtype)


def taken_apart(value: Any) -> tuple[Any, list[Any]]:
    """The specs, in the structure of a value, and its leaves."""
    leaves = list(map(leaf_of, flatten(value)))
    return pack(value, list(map(spec_of, leaves))), leaves


def array_of(leaf: Any) -> np.ndarray:
    """The NumPy array of a leaf, which nobody may change."""
    if isinstance(leaf, np.ndarray):
        return leaf
    if isinstance(leaf, Tensor):
        leaf = leaf._value()
    return np.asarray(leaf)


def shape_of(leaf: Any) -> tuple[int, ...]:
    """The shape of an array or Tensor with a value."""
    return leaf._aval.shape if isinstance(leaf, Tensor) else leaf.shape


def nbytes_of(specs: Sequence[TypeSpec]) -> int | None:
    """How many bytes the tensors of an element take; None where a size is not known."""
    total = 0
    for spec in specs:
        if isinstance(spec, TensorSpec):
            count = spec.shape.num_elements()
            if count is None:
                return None
            total += count * spec.dtype.size
    return total


def value_of(leaf: Any, aval: Aval | None = None) -> Any:
    """What the user gets for a leaf: a Tensor for an array, of this aval if it has the shape."""
    if leaf.__class__ is np.ndarray and aval is not None and aval.shape == leaf.shape:
        return concrete(leaf, aval)
    if isinstance(leaf, np.ndarray):
        if leaf.dtype == object:
            return concrete(leaf, Aval.of(leaf.shape, dtypes.string))
        return concrete(leaf)
    return concrete(leaf) if isinstance(leaf, jax.Array) else leaf


def _aval_of(spec: TypeSpec) -> Aval | None:
    """The aval of all arrays of a spec, if they have one."""
    if not isinstance(spec, TensorSpec) or not spec.shape.is_fully_defined():
        return None
    return Aval.of(tuple(spec.shape.as_list()), spec.dtype)


def _packer(spec: Any) -> Callable[[Sequence[Any]], Any]:
    """What arranges leaves as a structure, quickly for tuples and for dicts of leaves."""
    children = children_of(spec)
    if children is None:
        return lambda leaves: leaves[0]
    flat = all(children_of(child) is None for child in children)
    if type(spec) is tuple and flat:
        return tuple
    if type(spec) is tuple:
        ends = list(itertools.accumulate([len(flatten(child)) for child in children]))
        parts = list(zip(map(_packer, children), [0, *ends], ends))
        return lambda leaves: tuple([pack(leaves[start:end]) for pack, start, end in parts])
    if type(spec) is dict and flat:
        places = [(key, sorted(spec).index(key)) for key in spec]
        return lambda leaves: {key: leaves[i] for key, i in places}
    return lambda leaves: pack(spec, leaves)


class Layout:
    """How elements of one spec are put together.

    specs: of the leaves. pack: a structure of leaves.
    """

    def __init__(self, spec: Any):
        self.spec = spec
        self.specs = flatten(spec)
        self._avals = list(map(_aval_of, self.specs))
        self.pack: Callable[[Sequence[Any]], Any] = _packer(spec)

    def value(self, element: Element) -> Any:
        """What the user gets for an element."""
        return self.pack(list(map(value_of, element, self._avals)))
