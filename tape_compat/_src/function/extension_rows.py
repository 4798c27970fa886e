"""Loops over the rows of extension types: over those of the tensors that they are encoded by."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..composites.extension_type import BatchableExtensionType, BatchableExtensionTypeSpec
from ..core.errors import user_location
from ..values import nest


def has_encodings(structure: Any) -> bool:
    """Whether an extension type that can be stacked, or a spec of one, is in a structure."""
    kinds = (BatchableExtensionType, BatchableExtensionTypeSpec)
    return any(isinstance(x, kinds) for x in nest.flatten(structure))


def _mapped(kind: type, function: Callable[[Any], Any], structure: Any) -> Any:
    """A structure with what `function` makes of the leaves of a class in their places."""
    return nest.map_structure(lambda x: function(x) if isinstance(x, kind) else x, structure)


def _encoded(structure: Any, minimum_rank: int = 0) -> Any:
    """A structure with the encodings of extension types, as tuples, in their places."""

    def encode(x: Any) -> Any:
        return tuple(type(x).__batch_encoder__.encode(x._type_spec, x, minimum_rank))

    return _mapped(BatchableExtensionType, encode, structure)


def _specs(structure: Any) -> Any:
    """A structure with the specs of extension types in their places."""
    return _mapped(BatchableExtensionType, lambda x: x._type_spec, structure)


def _signature(specs: Any) -> Any:
    """Specs of results, with those of their encodings for extension types."""

    def encode(spec: Any) -> Any:
        return tuple(spec.value_type.__batch_encoder__.encoding_specs(spec))

    return _mapped(BatchableExtensionTypeSpec, encode, specs)


def _decoded(specs: Any, structure: Any) -> Any:
    """The extension types of these specs, of a structure that has their encodings."""

    def decode(spec: Any, part: Any) -> Any:
        if not isinstance(spec, BatchableExtensionTypeSpec):
            return part
        return spec.value_type.__batch_encoder__.decode(spec, part)

    found = [
        decode(spec, part)
        for spec, part in zip(
            nest.flatten(specs), nest.flatten_up_to(specs, structure), strict=True
        )
    ]
    return nest.pack_sequence_as(specs, found)


def over_encodings(
    mapped: Callable[..., Any], fn: Callable[[Any], Any], elems: Any, signature: Any = None
) -> Any:
    """`mapped(fn, elems, signature)`, which takes no extension types, of structures that have some.

    mapped: goes over rows of tensors. signature: of what `fn` gives; None for that of `elems`, or
      of what it has given.
    Raises: ValueError if `fn` gives what is not of the signature.
    """
    rows = _mapped(BatchableExtensionTypeSpec, lambda spec: spec._unbatch(), _specs(elems))
    found: list[Any] = [signature]

    def of_encodings(row: Any) -> Any:
        result = fn(_decoded(rows, row))
        specs = _specs(result)
        if found[0] is None:
            found[0] = specs
        for wanted, spec in zip(nest.flatten(found[0]), nest.flatten(specs), strict=False):
            kinds = [isinstance(x, BatchableExtensionTypeSpec) for x in (wanted, spec)]
            if any(kinds) and not (all(kinds) and wanted.is_compatible_with(spec)):
                raise ValueError(
                    f"Error in map_fn:\n  Expected `fn` to return a:\n    {wanted}\n  But it "
                    f"returned a:\n    {spec}\n    (value={result!r}) (at {user_location()})"
                )
        return _encoded(result)

    given = None if signature is None else _signature(signature)
    encoded = _encoded(elems, 1)
    outcome = mapped(of_encodings, encoded, given)
    count = nest.flatten(encoded)[0].shape[0]
    batches = _mapped(BatchableExtensionTypeSpec, lambda spec: spec._batch(count), found[0])
    return _decoded(batches, outcome)
