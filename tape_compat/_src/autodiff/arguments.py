"""What the methods of a tape are given: flattened, and refused where it is of no use."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import Any

from ..core.dimensions import broadcast, fit
from ..core.dtypes import as_dtype
from ..core.errors import refusal, user_location
from ..core.refuse import check_dtype_of
from ..ops.repeating import broadcast_to
from ..values import nest
from ..values.composite import CompositeTensor, TensorType
from ..values.convert import convert
from ..values.indexed_slices import IndexedSlices
from ..values.tensor import Tensor
from ..values.variable import Variable, current, own_variable


class UnconnectedGradients(Enum):
    """What a gradient is where target and source are not connected."""

    NONE = "none"
    ZERO = "zero"


def gives_zeros(unconnected: UnconnectedGradients | str) -> bool:
    """Whether unconnected gradients are to be zeros."""
    if unconnected is UnconnectedGradients.NONE:
        return False
    try:
        return UnconnectedGradients(unconnected) is UnconnectedGradients.ZERO
    except ValueError:
        raise ValueError(f"Unknown value for unconnected_gradients: {unconnected!r}") from None


_LEAVES = (Tensor, Variable)


def flat_leaves(structure: Any) -> list[Any]:
    """`nest.flatten`, quickly for one tensor and for a plain list of them."""
    if structure.__class__ in _LEAVES:
        return [structure]
    if structure.__class__ is list:
        for x in structure:
            if x.__class__ is not Variable and x.__class__ is not Tensor:
                break
        else:
            return structure
    return [x if x.__class__ in _LEAVES else own_variable(x) for x in nest.flatten(structure)]


def target_tensors(structure: Any) -> list[Tensor]:
    """The tensors of a nest of targets, and those of the composites in it."""
    return [target_tensor(part) for value in flat_leaves(structure) for part in parts_of(value)]


def parts_of(value: Any) -> list[Any]:
    """What a composite is differentiated by, as its `_gradient_parts` says; else the value."""
    if not hasattr(value, "_gradient_parts"):
        return [value]
    return list(map(own_variable, value._gradient_parts()))


def target_tensor(value: Any) -> Tensor:
    if value.__class__ is Tensor:
        return value
    if isinstance(value, Variable):
        return current(value._handle)
    if isinstance(value, IndexedSlices):  # its rows are what was computed
        return convert(value.values)
    if isinstance(value, TensorType):
        return convert(value)
    raise _not_a_tensor("target", value)


def one_target(value: Any) -> Tensor:
    """The target of a Jacobian. Raises: AttributeError, TensorFlow's error for what is none."""
    if not isinstance(value, CompositeTensor) and not hasattr(value, "shape"):
        raise AttributeError(
            f"{type(value).__name__!r} object has no attribute 'shape': the target {value!r} is "
            f"not one Tensor or Variable. At {user_location()}."
        )
    return target_tensor(value)


def source_identity(value: Any) -> int:
    if isinstance(value, (Tensor, Variable)):
        return value._id
    raise _not_a_tensor("source", value)


def in_parts(sources: list[Any]) -> tuple[list[Any], Callable[[list[Any]], list[Any]]]:
    """Sources with the tensors of those that are composites instead, and what makes the gradients
    of these composites again."""
    parts = list(map(parts_of, sources))
    flat = [part for several in parts for part in several]
    for part in flat:
        source_identity(part)

    def rebuild(answers: list[Any]) -> list[Any]:
        each = iter(answers)
        found = [[next(each) for _ in several] for several in parts]
        return [
            x._of_gradients(gradients) if hasattr(x, "_of_gradients") else gradients[0]
            for x, gradients in zip(sources, found)
        ]

    return flat, rebuild


def _not_a_tensor(role: str, value: Any) -> Exception:
    if isinstance(value, CompositeTensor):
        return ValueError(
            f"Type {type(value).__name__} is not supported as a gradient source or gradient "
            f"target. Take the {role}'s tensors. At {user_location()}."
        )
    try:
        as_dtype(value)  # TensorFlow's first question; a number of a dtype comes further
    except TypeError as error:
        place = f"{role} at {user_location()}, where a Tensor or Variable is needed"
        return TypeError(f"{error} (It is a {place}.)")
    return AttributeError(
        f"{type(value).__name__!r} object has no attribute '_id': the {role} {value!r} is not a "
        f"Tensor or Variable. At {user_location()}."
    )


def cotangents(output_gradients: Any, targets: list[Tensor]) -> list[Any]:
    """Cotangents of the targets; None stands for ones. Too few are filled up with ones."""
    given = [part for g in nest.flatten(output_gradients) for part in parts_of(g)]
    seeds: list[Any] = list(map(convert, given[: len(targets)]))
    for seed, target in zip(seeds, targets):
        if target._aval.trainable:
            check_dtype_of(target._aval, 1, seed.dtype, "Mul")
    seeds += [None] * (len(targets) - len(seeds))
    return [
        seed if seed is None or seed._aval.shape == target._aval.shape else _broadcast(seed, target)
        for seed, target in zip(seeds, targets, strict=True)
    ]


def _broadcast(seed: Tensor, target: Tensor) -> Tensor:
    shape = target._aval.shape
    together = broadcast((seed._aval.shape, shape))
    if together is None or not fit(together, shape):
        raise refusal(
            f"Incompatible shapes: {seed.shape.as_list()} vs. {target.shape.as_list()} [Op:Mul] "
            f"(`output_gradients` must have the shapes of the targets; at {user_location()})",
        )
    return broadcast_to(seed, shape)
