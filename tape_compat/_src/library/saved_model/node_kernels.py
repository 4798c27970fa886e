"""Kernels that read and assign to variables, call other functions, or hold lists and tables."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Sequence
from itertools import compress
from typing import Any

from ...autodiff.custom import stop_gradient
from ...core.dtypes import int32
from ...core.op import Op
from ...core.shapes import TensorShape
from ...diagnostics.assertions import Assert
from ...function.control_flow import cond, switch_case, while_loop
from ...function.tensor_array import TensorArray
from ...ops import gather_scatter, shapes
from ...ops.arguments import known_value, value_if_known
from ...ops.printing import LEVELS, print as print_op
from ...values.convert import convert
from ...values.record import apply
from ...values.tensor import Tensor
from .nodes import GraphFunction, Node, node_kernel
from .program import Derivative, Program, aval_of, op_of
from .registry import kernel

# -- variables ------------------------------------------------------------------------------------


@node_kernel("ReadVariableOp")
def _read(node: Node) -> Any:
    return node.inputs[0].read_value()


@node_kernel("AssignVariableOp")
def _assign(node: Node) -> None:
    node.inputs[0].assign(node.inputs[1])


@node_kernel("VarIsInitializedOp")
def _is_initialized(node: Node) -> Any:
    return convert(True)


@node_kernel("VariableShape")
def _variable_shape(node: Node) -> Any:
    return shapes.shape(node.inputs[0], node.attribute("out_type", int32))


@node_kernel("ResourceGather")
def _resource_gather(node: Node) -> Any:
    variable, indices = node.inputs
    return gather_scatter.gather(variable, indices, batch_dims=node.attribute("batch_dims", 0))


@node_kernel("ResourceGatherNd")
def _resource_gather_nd(node: Node) -> Any:
    return gather_scatter.gather_nd(*node.inputs)


# -- calls and control flow -----------------------------------------------------------------------


@kernel("NoOp")
def _nothing() -> None:
    return None


@node_kernel("PartitionedCall", "StatefulPartitionedCall")
def _call(node: Node) -> list[Any]:
    return node.function("f")(*node.inputs)


@node_kernel("If", "StatelessIf")
def _if(node: Node) -> list[Any]:
    pred, *inputs = node.inputs
    yes, no = node.function("then_branch"), node.function("else_branch")
    kept: list[list[bool]] = []

    def taken(branch: GraphFunction) -> Callable[[], Any]:
        def run() -> Any:
            found = branch(*inputs)
            kept.append([not isinstance(x, Optional) for x in found])
            return list(compress(found, kept[-1])) or None

        return run

    found = iter(_branch(cond(_truth(pred), taken(yes), taken(no))))
    return [next(found) if keep else Optional() for keep in kept[0]]


@node_kernel("Case", "StatelessCase")
def _case(node: Node) -> list[Any]:
    index, *inputs = node.inputs
    branches = [node.library[name] for name in node.attribute("branches")]
    known = value_if_known(index)
    if known is not None:  # as of a rank, for which others need not be able to run
        last = len(branches) - 1
        return _branch(_branch_of(branches[int(known) if 0 <= known <= last else last], inputs)())
    return _branch(switch_case(index, [_branch_of(branch, inputs) for branch in branches]))


def _branch_of(function: GraphFunction, inputs: Sequence[Any]) -> Any:
    return lambda: function(*inputs) or None


def _branch(found: Any) -> list[Any]:
    if found is None:
        return []
    return list(found) if isinstance(found, (list, tuple)) else [found]


def _truth(pred: Any) -> Any:
    """A condition: a number is true if it is not 0, an array if it has elements."""
    if pred._aval.shape:
        return shapes.size(pred) > 0
    return pred if pred.dtype.is_bool else pred != 0


@node_kernel("While", "StatelessWhile")
def _while(node: Node) -> list[Any]:
    """A loop. Handles of variables stay what they are in all iterations, and are no loop
    variables."""
    test, body = node.function("cond"), node.function("body")
    turning = [i for i, x in enumerate(node.inputs) if isinstance(x, (Tensor, TensorArray))]

    def whole(values: Sequence[Any]) -> list[Any]:
        found = list(node.inputs)
        for i, value in zip(turning, values, strict=True):
            found[i] = value
        return found

    def iteration(*values: Any) -> list[Any]:
        after = body(*whole(values))
        return [after[i] for i in turning]

    first = [node.inputs[i] for i in turning]
    known = [x.shape if isinstance(x, Tensor) else TensorShape(None) for x in first]
    declared = node.attribute("output_shapes") or [TensorShape(None)] * len(node.inputs)
    invariants = [
        invariant(have, declared[i], x) for i, have, x in zip(turning, known, first, strict=True)
    ]
    last = while_loop(
        lambda *values: _truth(test(*whole(values))[0]),
        iteration,
        first,
        shape_invariants=invariants,
    )
    return whole(last)


def invariant(have: TensorShape, declared: TensorShape, x: Any) -> TensorShape:
    """The shape that a loop variable keeps: what it is at first, but where the graph says that it
    is not known."""
    if not isinstance(x, Tensor) or declared.rank is None:
        return have
    if declared.rank != have.rank:
        return have
    sizes = zip(have.as_list(), declared.as_list(), strict=True)
    return TensorShape([None if wanted is None else size for size, wanted in sizes])


@kernel("Assert")
def _assert(condition: Any, *data: Any, summarize: int) -> None:
    Assert(condition, list(data), summarize)


@kernel("PrintV2")
def _print(text: Any, *, output_stream: str, end: str) -> None:
    print_op(text, output_stream=_stream(output_stream), end=end)


def _stream(name: str) -> Any:
    """A standard stream or a level of logs by its name; else the name, which may be that of a
    file."""
    levels = {f"log({logging.getLevelName(n).lower()})": n for n in LEVELS}
    return {"stdout": sys.stdout, "stderr": sys.stderr, **levels}.get(name, name)


class Optional:
    """What a branch gives for a derivative in the graph, a value or none: it is not read here."""


@node_kernel("OptionalFromValue", "OptionalNone")
def _optional(node: Node) -> Optional:
    return Optional()


# -- lists of tensors -----------------------------------------------------------------------------


@node_kernel("TensorListReserve")
def _reserve(node: Node) -> Any:
    shape, count = node.inputs
    grows = node.library.lists_grow
    return _list(node.attribute("element_dtype"), count, _element_shape(shape), grows)


@node_kernel("EmptyTensorList")
def _empty_list(node: Node) -> Any:
    return _list(node.attribute("element_dtype"), 0, _element_shape(node.inputs[0]), True)


def _list(dtype: Any, count: Any, shape: TensorShape | None, grows: bool = False) -> TensorArray:
    return TensorArray(
        dtype, count, dynamic_size=grows, clear_after_read=False, element_shape=shape
    )


def _element_shape(shape: Any) -> TensorShape | None:
    """The shape of elements; None where it is not known."""
    sizes = known_value(shape).tolist()
    if not isinstance(sizes, list):
        return None if sizes < 0 else TensorShape([])
    return TensorShape([None if size < 0 else size for size in sizes])


@node_kernel("TensorListFromTensor")
def _list_of(node: Node) -> Any:
    tensor, shape = node.inputs
    count = shapes.shape(tensor)[0]
    return _list(tensor.dtype, count, _element_shape(shape)).unstack(tensor)


@node_kernel("TensorListSetItem")
def _set_item(node: Node) -> Any:
    array, index, item = node.inputs
    return array.write(index, item)


@node_kernel("TensorListPushBack")
def _push_back(node: Node) -> Any:
    array, item = node.inputs
    return array.write(array.size(), item)


@node_kernel("TensorListGetItem")
def _get_item(node: Node) -> Any:
    return node.inputs[0].read(node.inputs[1])


@node_kernel("TensorListStack")
def _stack(node: Node) -> Any:
    return node.inputs[0].stack()


@node_kernel("TensorListLength")
def _length(node: Node) -> Any:
    return node.inputs[0].size()


# -- arrays of tensors of TensorFlow 1, whose flow is the array here -------------------------------


@node_kernel("TensorArrayV3")
def _array(node: Node) -> list[TensorArray]:
    shape = node.attribute("element_shape", TensorShape(None))
    made = TensorArray(
        node.attribute("dtype"),
        node.inputs[0],
        dynamic_size=node.attribute("dynamic_size", False),
        clear_after_read=False,
        element_shape=None if shape.rank is None else shape,
    )
    return [made, made]


@node_kernel("TensorArrayWriteV3")
def _array_write(node: Node) -> Any:
    _, index, value, flow = node.inputs
    return flow.write(index, value)


@node_kernel("TensorArrayReadV3")
def _array_read(node: Node) -> Any:
    _, index, flow = node.inputs
    return flow.read(index)


@node_kernel("TensorArrayGatherV3")
def _array_gather(node: Node) -> Any:
    _, indices, flow = node.inputs
    return flow.gather(indices)


@node_kernel("TensorArrayScatterV3")
def _array_scatter(node: Node) -> Any:
    _, indices, value, flow = node.inputs
    return flow.scatter(indices, value)


@node_kernel("TensorArrayConcatV3")
def _array_concat(node: Node) -> Any:
    return node.inputs[1].concat()


@node_kernel("TensorArraySplitV3")
def _array_split(node: Node) -> Any:
    _, value, lengths, flow = node.inputs
    return flow.split(value, lengths)


@node_kernel("TensorArraySizeV3")
def _array_size(node: Node) -> Any:
    return node.inputs[1].size()


@node_kernel("TensorArrayCloseV3")
def _array_close(node: Node) -> None:
    return None


# -- programs -------------------------------------------------------------------------------------


@node_kernel("XlaCallModule")
def _program(node: Node) -> Any:
    """A program that `save` wrote."""
    if node.attribute("_inputs") is None:
        raise NotImplementedError(
            f"the program of {node.name!r} does not say what it takes: only those that this "
            "library has written are read"
        )
    inputs, wrt = list(map(convert, node.inputs)), node.attribute("_derivative_inputs")
    for i, x in enumerate(inputs):
        if wrt is not None and i not in wrt and x._aval.trainable:
            inputs[i] = stop_gradient(x)  # the results do not depend on it
    return apply(_op(node).bind(), tuple(inputs))


def _op(node: Node) -> Op:
    """The op of a program, made once."""
    found: Op | None = node.kept.get("op")
    if found is None:
        inputs = tuple(map(aval_of, node.attribute("_inputs")))
        outputs = tuple(map(aval_of, node.attribute("_outputs") or ()))
        platforms = tuple([name.lower() for name in node.attribute("platforms")])
        version = node.attribute("version")
        bounds = tuple(node.attribute("_bounds") or ())
        program = Program(node.data("module"), version, platforms, inputs, outputs, bounds)
        derivative = None
        if node.attribute("_derivative_inputs"):
            wrt, of = node.attribute("_derivative_inputs"), node.attribute("_derivative_outputs")
            given = (*inputs, *[outputs[i] for i in of])
            found_avals = tuple([inputs[i] for i in wrt])
            module = node.data("_derivative_module")
            pull = Program(module, version, platforms, given, found_avals, bounds)
            derivative = Derivative(pull, tuple(wrt), tuple(of))
        found = node.kept["op"] = op_of(program, derivative, node.function_name)
    return found
