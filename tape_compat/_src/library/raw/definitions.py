"""TensorFlow's definitions of the ops that there are kernels for, from `definitions.tsv`.

`python -m tests.op_definitions` writes the table.
"""

from __future__ import annotations

import functools
import json
import pkgutil
import re
from dataclasses import dataclass
from typing import Any

_ATTRIBUTE = re.compile(r"(\w+):([\w()]+)(?:\{(.*?)\})?(?:>=(-?\d+))?(?:=(.*))?")
#: Of an attribute that must be given.
MISSING: Any = object()


@dataclass(frozen=True)
class Argument:
    """An input or an output of an op.

    kind: the name of an attribute with the dtype, a dtype, or '[T]' for a list of any dtypes.
    count: the attribute that says how many tensors there are; '' for one.
    """

    name: str
    kind: str
    count: str

    @property
    def several(self) -> bool:
        return bool(self.count) or self.kind.startswith("[")


@dataclass(frozen=True)
class Attribute:
    """kind: 'bool', 'list(int)', ... allowed: the values that it may have, if these are listed.
    minimum: of a number, or of how many there are."""

    name: str
    kind: str
    allowed: tuple[str, ...]
    minimum: int | None
    default: Any


@dataclass(frozen=True)
class Definition:
    """An op.

    function: TensorFlow's name of it in Python. parameters: in its order, by the names that
    inputs and attributes have in the definition.
    """

    name: str
    function: str
    parameters: dict[str, str]
    inputs: tuple[Argument, ...]
    attributes: dict[str, Attribute]
    outputs: tuple[Argument, ...]


@functools.cache
def _rows() -> dict[str, str]:
    data = pkgutil.get_data(__name__, "definitions.tsv")
    assert data is not None
    _, *lines = data.decode().splitlines()
    return {line.partition("\t")[0]: line for line in lines}


def names() -> list[str]:
    """The ops that are defined."""
    return list(_rows())


@functools.cache
def definition(name: str) -> Definition | None:
    """The definition of an op; None if there is none.

    >>> from tape_compat._src.library.raw.definitions import definition
    >>> definition("Sum").parameters
    {'input': 'input', 'axis': 'reduction_indices', 'keep_dims': 'keep_dims'}
    """
    row = _rows().get(name)
    if row is None:
        return None
    _, function, parameters, inputs, attributes, outputs = row.split("\t")
    pairs = [parameter.partition("=") for parameter in parameters.split()]
    found = [_attribute(text) for text in attributes.split()]
    return Definition(
        name,
        function,
        {known: own or known for known, _, own in pairs},
        tuple(map(_argument, inputs.split())),
        {attribute.name: attribute for attribute in found},
        tuple(map(_argument, outputs.split())),
    )


def _argument(text: str) -> Argument:
    name, _, kind = text.partition(":")
    count, _, kind = kind.rpartition("*")
    return Argument(name, kind, count)


def _attribute(text: str) -> Attribute:
    match = _ATTRIBUTE.fullmatch(text)
    assert match is not None, text
    name, kind, allowed, minimum, default = match.groups()
    return Attribute(
        name,
        kind,
        tuple(allowed.split(",")) if allowed is not None else (),
        int(minimum) if minimum else None,
        MISSING if default is None else json.loads(default),
    )
