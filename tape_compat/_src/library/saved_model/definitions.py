"""Concrete functions as functions of a graph.

The body of each is one program, of the kernel XlaCallModule, between the nodes that read variables
and those that assign to them; several where the host does steps between them, which are kernels of
TensorFlow's then.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from ...composites.fields import spec_of
from ...core.errors import user_location
from ...function.concrete import ConcreteFunction, as_name
from ...function.program_parts import parts_between
from ...values import nest
from ...values.capture import Drawn
from ...values.spec import TensorSpec
from ...values.tensor import Tensor
from ...values.variable import Handle
from .body import Body, behind
from .messages import FunctionDef, SavedConcreteFunction
from .part_nodes import PartWriter, is_apart
from .structured import encoded


class Definition(NamedTuple):
    """A concrete function as a message, with those that its nodes name; the objects whose handles
    it takes beside its arguments; what a SavedModel says of its arguments and results; the specs of
    its tensors; and what it gives, with a spec for each tensor and composite."""

    function: FunctionDef
    functions: tuple[FunctionDef, ...]
    resources: tuple[Any, ...]
    saved: SavedConcreteFunction
    inputs: tuple[TensorSpec, ...]
    outputs: tuple[TensorSpec, ...]
    results: Any


def defined(concrete: ConcreteFunction, name: str, differentiable: bool) -> Definition:
    """A concrete function as a function of a graph, with this name.

    differentiable: whether its derivative is written too.
    Raises: NotImplementedError for what cannot be written.
    """
    trace = concrete._trace
    if trace.variables:
        raise NotImplementedError(
            f"{trace.graph.name} takes Variables as arguments, and cannot be written to a "
            f"SavedModel. At {user_location()}."
        )
    results = result_specs(concrete.recorded_outputs)
    saved = saved_function(concrete, results)
    body = Body(name, trace.graph.name, differentiable)
    specs = write(body, concrete)
    body.finish_arguments()
    functions, used = tuple(body.functions), tuple(body.resources)
    inputs = as_written(concrete._input_specs)
    return Definition(body.function, functions, used, saved, inputs, specs, results)


def as_written(specs: Iterable[TensorSpec]) -> tuple[TensorSpec, ...]:
    """The specs of what a function takes, with names that a graph may have."""
    return tuple([TensorSpec(x.shape, x.dtype, as_name(x.name or "x")) for x in specs])


def saved_function(concrete: ConcreteFunction, results: Any) -> SavedConcreteFunction:
    """What a SavedModel says of the arguments of a function, and of its results, by their specs.

    Raises: NotImplementedError for what cannot be written.
    """
    try:
        return saved_specs(concrete.structured_input_signature, results)
    except TypeError as error:
        raise NotImplementedError(
            f"{concrete._function_name} takes or gives what is no tensor: {error} (at "
            f"{user_location()})"
        ) from None


def saved_specs(inputs: Any, results: Any) -> SavedConcreteFunction:
    """The same of specs: of the arguments by position and by name, and of what it gives.

    Raises: TypeError for what cannot be written.
    """
    saved = SavedConcreteFunction()
    saved.canonicalized_input_signature.CopyFrom(encoded(inputs))
    saved.output_signature.CopyFrom(encoded(results))
    return saved


def write(body: Body, concrete: ConcreteFunction) -> tuple[TensorSpec, ...]:
    """Write a function: its arguments but for handles, what it reads, computes, assigns to and
    gives."""
    trace = concrete._trace
    captured, signature = trace.captured, body.function.signature
    inputs = [body.argument(x.name or "x", x.dtype, x.shape) for x in concrete._input_specs]
    sources = [_source(body, source) for source in captured.sources]
    values = dict(enumerate([*inputs, *sources]))
    writer = PartWriter(body, values, dict(enumerate(trace.takes())))
    writer.arguments = list(writer.avals.values())
    if trace.graph.in_parts or captured.closure.effect:
        writer.write(parts_between(captured.closure, is_apart))
    else:
        writer.write_one(captured.closure)
    outputs = [writer.values[i] for i in captured.closure.flat.outputs]
    results, held = outputs[: len(trace.results.outputs)], outputs[len(trace.results.outputs) :]
    after = list(body.effects)
    before = behind(body.effects)
    for handle, value in zip(captured.cells, held, strict=True):
        attr = {"dtype": handle.dtype}
        inputs = [body.resource(handle), value, *before]
        after.append(body.node("assign", "AssignVariableOp", inputs, attr).name)
    specs = _write_results(body, concrete, results, after)
    signature.is_stateful = bool(body.resources or body.effects) or any(
        isinstance(source, Drawn) for source in captured.sources
    )
    body.finish_effects(after)
    return specs


def _source(body: Body, source: Any) -> str:
    """What the record takes beside its arguments."""
    if isinstance(source, Handle):
        attr = {"dtype": source.dtype}
        return body.value("ReadVariableOp", "value", [body.resource(source)], attr)
    if isinstance(source, Drawn):
        return body.key()
    return body.known(source)


def _write_results(
    body: Body, concrete: ConcreteFunction, results: Sequence[str], after: Sequence[str]
) -> tuple[TensorSpec, ...]:
    places = {id(x): i for i, x in enumerate(concrete._trace.results.outputs)}
    specs: list[TensorSpec] = []
    for x in nest.flatten(concrete.recorded_outputs, expand_composites=True):
        if not isinstance(x, Tensor):
            continue
        place = places.get(id(x))
        given = body.known(x) if place is None else results[place]
        specs.append(TensorSpec(x.shape, x.dtype, f"output_{len(specs)}"))
        body.result(specs[-1].name or "", given, x.dtype, after)
    return tuple(specs)


def result_specs(outputs: Any) -> Any:
    """What a function gives, with a spec for each tensor and composite. Those of tensors have the
    names that TensorFlow gives them, by what leads to them: `scores_0` for `{"scores": (x,)}`."""
    specs = []
    for path, value in nest.flatten_with_tuple_paths(outputs):
        spec = spec_of(value)
        if type(spec) is TensorSpec:
            spec = TensorSpec(spec.shape, spec.dtype, _output_name(path))
        specs.append(spec)
    return nest.pack_sequence_as(outputs, specs)


def _output_name(path: Sequence[Any]) -> str:
    name = re.sub(r"\W", "_", "_".join(map(str, path)).lower())
    if not path:
        return "unknown"
    return name if name[:1].isalpha() else f"tensor_{name}"
