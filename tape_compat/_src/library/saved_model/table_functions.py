"""The functions of a graph that make a table and fill it."""

from __future__ import annotations

from ...core.dtypes import as_dtype
from ...core.shapes import TensorShape
from ...values.spec import TensorSpec
from .body import Body
from .definitions import Definition, saved_specs
from .make_nodes import RESOURCE
from .table_nodes import AnyTable, filler, maker


def table_functions(table: AnyTable, number: int) -> tuple[Definition, Definition]:
    """The function that makes a table, and the one that fills it. number: tells it from others."""
    kind = as_dtype(RESOURCE)
    creator = Body(f"__inference__creator_{number}", "creator", False)
    kernel, attr, given = maker(table)
    inputs = [creator.constant(x._value(), x.dtype) for x in given]
    attr["shared_name"] = f"t{number}"
    made = creator.value(kernel, "table_handle", inputs, attr)
    creator.result("table", made, kind, ())
    creator.function.signature.is_stateful = True
    body = Body(f"__inference__initializer_{number}", "initializer", False)
    keys, values = table.export()
    inputs = [body.resource(table)]
    inputs += [body.constant(keys._value(), keys.dtype)]
    inputs += [body.constant(values._value(), values.dtype)]
    attr = {"Tin": table.key_dtype, "Tout": table.value_dtype}
    node = body.node("filled", filler(table), inputs, attr)
    body.finish_arguments()
    body.function.signature.is_stateful = True
    body.function.signature.control_output.append(node.name)
    body.function.control_ret.add(key=node.name, value=node.name)
    handle = TensorSpec(TensorShape([]), kind)
    return _definition(creator, handle), _definition(body, None)


def _definition(body: Body, output: TensorSpec | None) -> Definition:
    saved = saved_specs(((), {}), output)
    return Definition(body.function, (), tuple(body.resources), saved, (), (), output)
