"""Brings the table of TensorFlow's ops up to date: `python -m tests.op_definitions`.

Run it after a kernel was added to `library/saved_model`: the table has the ops that there are
kernels for, with their arguments, defaults and results as TensorFlow defines them.
"""

import importlib
import inspect
import json
from pathlib import Path
from typing import Any

import tape_compat
from tape_compat._src.library.raw.kernels import SERVED
from tests.oracle import tensorflow

FILE = Path(tape_compat.__file__).parent / "_src" / "library" / "raw" / "definitions.tsv"
COLUMNS = ("name", "function", "parameters", "inputs", "attributes", "outputs")


def dtype_name(number: int) -> str:
    name: str = tensorflow().as_dtype(number).name
    return name


def argument(definition: Any, name: str) -> str:
    """'x:T', 'shape:int32', 'values:N*T' or 'input:[T]'."""
    kind = definition.type_attr or (dtype_name(definition.type) if definition.type else "")
    if definition.type_list_attr:
        kind = f"[{definition.type_list_attr}]"
    count = f"{definition.number_attr}*" if definition.number_attr else ""
    return f"{name}:{count}{kind}"


def value(held: Any, kind: str) -> Any:
    """An attribute's default or list of values, as JSON has it."""
    if kind.startswith("list("):
        return [item for _, items in held.list.ListFields() for item in _items(items, kind)]
    found = getattr(held, {"string": "s", "int": "i", "float": "f", "bool": "b"}.get(kind, kind))
    if kind == "type":
        return dtype_name(found)
    if kind == "shape":
        return None if found.unknown_rank else [dim.size for dim in found.dim]
    return found.decode() if kind == "string" else found


def _items(items: Any, kind: str) -> list[Any]:
    if kind == "list(type)":
        return [dtype_name(item) for item in items]
    return [item.decode() if isinstance(item, bytes) else item for item in items]


def attribute(definition: Any) -> str:
    """'transpose_a:bool=false', 'T:type{float32,float64}', 'N:int>=2'."""
    text = f"{definition.name}:{definition.type}"
    if definition.HasField("allowed_values"):
        base = definition.type.removeprefix("list(").rstrip(")")
        allowed = value(definition.allowed_values, f"list({base})")
        text += f"{{{','.join(allowed)}}}"
    if definition.has_minimum:
        text += f">={definition.minimum}"
    if definition.HasField("default_value"):
        default = json.dumps(
            value(definition.default_value, definition.type), separators=(",", ":")
        )
        text += "=" + default.replace(" ", "\\u0020")
    return text


def parameters(raw: Any, definition: Any) -> list[str]:
    """The parameters in TensorFlow's order, by the names that the definition has for them where
    these are others: 'axis=reduction_indices'."""
    inputs = [given.name for given in definition.input_arg]
    kinds = ("type_attr", "number_attr", "type_list_attr")
    derived = {getattr(given, kind) for given in definition.input_arg for kind in kinds}
    own = inputs + [a.name for a in definition.attr if a.name not in derived]
    names = [name for name in inspect.signature(raw).parameters if name != "name"]
    renamed = iter([name for name in own if name not in names])
    return [name if name in own else f"{name}={next(renamed)}" for name in names]


def row(name: str) -> tuple[str, ...]:
    registry = importlib.import_module("tensorflow.python.framework.op_def_registry")
    definition, raw = registry.get(name), getattr(tensorflow().raw_ops, name)
    return (
        name,
        raw.__name__,
        " ".join(parameters(raw, definition)),
        " ".join(argument(given, given.name) for given in definition.input_arg),
        " ".join(map(attribute, definition.attr)),
        " ".join(argument(found, found.name) for found in definition.output_arg),
    )


def main() -> None:
    rows = [COLUMNS, *map(row, sorted(SERVED))]
    FILE.write_text("".join("\t".join(cells) + "\n" for cells in rows))
    print(f"{len(rows) - 1} ops")


if __name__ == "__main__":
    main()
