"""Steps of the host that compare values, as nodes of a graph."""

from __future__ import annotations

from .step_nodes import Given, Table, as_reference

WRITERS = Table()


@WRITERS.row("_left")
def _left(given: Given) -> list[str]:
    x, y = [as_reference(given.body, each) for each in given.args]
    kind = given.kwargs["out_idx"]
    attr = {"T": x.aval.dtype, "out_idx": kind}
    name = given.body.node("list_diff", "ListDiff", [x.name, y.name], attr).name
    return [f"{name}:out:0", f"{name}:idx:0"]


@WRITERS.row("_set_operation")
def _set_operation(given: Given) -> list[str]:
    one, other, operation = given.args
    if len(one) > len(other):  # no kernel takes a sparse and a dense tensor in this order
        one, other, operation = other, one, operation.replace("a-b", "b-a")
    inputs = [as_reference(given.body, x) for x in (*one, *other)]
    kinds = ["Sparse" if len(parts) > 1 else "Dense" for parts in (one, other)]
    op = f"{kinds[0]}To{kinds[1]}SetOperation"
    attr = {"set_operation": operation, "T": given.outputs[1].dtype}
    name = given.body.node("sets", op, [x.name for x in inputs], attr).name
    return [f"{name}:result_{part}:0" for part in ("indices", "values", "shape")]


@WRITERS.row("_set_size")
def _set_size(given: Given) -> list[str]:
    indices, values, shape = [as_reference(given.body, x) for x in given.args]
    attr = {"T": values.aval.dtype}
    return [given.body.value("SetSize", "size", [indices.name, values.name, shape.name], attr)]
