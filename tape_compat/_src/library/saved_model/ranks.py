"""Concrete functions of unknown rank as functions of a graph: a Case of those of each rank."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...core.dtypes import int32
from ...core.errors import user_location
from ...core.shapes import TensorShape
from ...function.any_rank import ConcreteFunctionOfAnyRank
from ...function.concrete import ConcreteFunction
from ...values import nest
from ...values.spec import TensorSpec
from .body import Body
from .definitions import Definition, as_written, result_specs, saved_function, write
from .make_nodes import RESOURCE_TYPE, function_named
from .part_nodes import of_state, shared_resources


def defined_of_any_rank(
    concrete: ConcreteFunctionOfAnyRank, name: str, differentiable: bool
) -> Definition:
    """A function of unknown rank as a function of a graph, with this name.

    Raises: NotImplementedError for what cannot be written.
    """
    title = concrete._function_name
    first, ranks = concrete.of_each_rank()
    body = Body(name, title, differentiable)
    given = list(concrete._input_specs)
    inputs = [body.argument(x.name or "x", x.dtype, x.shape) for x in given]
    bodies = [body.inner(f"rank{i}") for i in range(first, first + len(ranks))]
    found = [write(inner, each) for inner, each in zip(bodies, ranks, strict=True)]
    resources = shared_resources(body, bodies)
    results = _results(title, ranks)
    (place,) = [i for i, spec in enumerate(given) if spec.shape.rank is None]
    index = body.value("Rank", "output", [inputs[place]], {"T": given[place].dtype})
    if first:
        index = body.value("Sub", "z", [index, body.constant(first, int32)], {"T": int32})
    attr = {
        "Tin": [*[spec.dtype for spec in given], *[RESOURCE_TYPE] * len(resources)],
        "Tout": [spec.dtype for spec in found[0]],
        "output_shapes": [TensorShape(None)] * len(found[0]),
        "branches": [function_named(inner.name) for inner in bodies],
    }
    stateful = any(inner.function.signature.is_stateful for inner in bodies)
    kernel = "Case" if stateful else of_state("Case", resources)
    node = body.node("case", kernel, [index, *inputs, *resources.values()], attr)
    specs = []
    for i, spec in enumerate(nest.flatten(results)):
        specs.append(TensorSpec(spec.shape, spec.dtype, f"output_{i}"))
        body.result(f"output_{i}", f"{node.name}:output:{i}", spec.dtype, ())
    body.finish_arguments()
    signature = body.function.signature
    signature.is_stateful = stateful
    if stateful:
        signature.control_output.append(node.name)
        body.function.control_ret.add(key=node.name, value=node.name)
    named = as_written(given)
    saved = saved_function(concrete, results)
    functions, used = tuple(body.functions), tuple(body.resources)
    return Definition(body.function, functions, used, saved, named, tuple(specs), results)


def _results(title: str, ranks: Sequence[ConcreteFunction]) -> Any:
    """Specs of what functions give that differ in ranks alone."""
    kinds = [result_specs(each.recorded_outputs) for each in ranks]
    leaves = [nest.flatten(kind) for kind in kinds]
    if not all(type(spec) is TensorSpec for several in leaves for spec in several) or not all(
        [spec.dtype for spec in several] == [spec.dtype for spec in leaves[0]] for several in leaves
    ):
        raise NotImplementedError(
            f"{title} of unknown rank gives what are no tensors, or of other dtypes by rank, and "
            f"cannot be written to a SavedModel. At {user_location()}."
        )
    common = [
        TensorSpec(_common([spec.shape for spec in specs]), specs[0].dtype, specs[0].name)
        for specs in zip(*leaves, strict=True)
    ]
    return nest.pack_sequence_as(kinds[0], common)


def _common(shapes: Sequence[TensorShape]) -> TensorShape:
    found = shapes[0]
    for shape in shapes[1:]:
        found = found.most_specific_compatible_shape(shape)
    return found
