"""The functions of a graph that make a table and fill it."""

from __future__ import annotations

from ...core.dtypes import as_dtype
from ...core.shapes import TensorShape
from ...values.spec import TensorSpec
from ..lookup.static import StaticHashTable
from .body import Body
from .definitions import Definition
from .make_nodes import RESOURCE
from .messages import SavedConcreteFunction
from .structured import encoded


def table_functions(table: StaticHashTable, number: int) -> tuple[Definition, Definition]:
    """The function that makes a table, and the one that fills it. number: tells it from others."""
    kind = as_dtype(RESOURCE)
    creator = Body(f"__inference__creator_{number}", "creator", False)
    attr = {"key_dtype": table.key_dtype, "value_dtype": table.value_dtype}
    made = creator.value("HashTableV2", "table_handle", (), {**attr, "shared_name": f"t{number}"})
    creator.result("table", made, kind, ())
    creator.function.signature.is_stateful = True
    filler = Body(f"__inference__initializer_{number}", "initializer", False)
    keys, values = table.export()
    inputs = [filler.resource(table)]
    inputs += [filler.constant(keys._value(), keys.dtype)]
    inputs += [filler.constant(values._value(), values.dtype)]
    attr = {"Tin": table.key_dtype, "Tout": table.value_dtype}
    node = filler.node("filled", "LookupTableImportV2", inputs, attr)
    filler.finish_arguments()
    filler.function.signature.is_stateful = True
    filler.function.signature.control_output.append(node.name)
    filler.function.control_ret.add(key=node.name, value=node.name)
    handle = TensorSpec(TensorShape([]), kind)
    return _definition(creator, handle), _definition(filler, None)


def _definition(body: Body, output: TensorSpec | None) -> Definition:
    saved = SavedConcreteFunction()
    saved.canonicalized_input_signature.CopyFrom(encoded(((), {})))
    saved.output_signature.CopyFrom(encoded(output))
    return Definition(body.function, (), tuple(body.resources), saved, (), ())
