"""How steps of the host are written as TensorFlow's kernels: a function for each name of a step."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from ...core.avals import Aval
from ...core.call import Call
from ...core.dimensions import INCONCLUSIVE, parsed, variables
from ...core.dtypes import DType, string
from ...core.errors import user_location
from ...core.op import Closure, Op
from ...core.steps import Step, Steps
from ...values.convert import convert
from ...values.host_steps import HostStep
from ..raw.attributes import attribute_or_default
from ..raw.definitions import MISSING, definition
from .body import Body
from .program import that_may_be_none


class Given(NamedTuple):
    """What a step of the host is given: its arguments, with the references and avals of those that
    are known at the call only in their places, and these in order."""

    body: Body
    args: list[Any]
    kwargs: dict[str, Any]
    values: list[Reference]
    outputs: tuple[Aval, ...]

    def option(self, place: int, name: str, default: Any) -> Any:
        """An argument by position or by name."""
        if len(self.args) > place:
            return self.args[place]
        return self.kwargs.get(name, default)

    def reference(self, value: Any, dtype: DType = string) -> str:
        """An argument that may be known."""
        if isinstance(value, Reference):
            return value.name
        return self.body.known(convert(value, dtype))


class Reference(NamedTuple):
    """A value of the function that is written, and its aval."""

    name: str
    aval: Aval


Writer = Callable[[Given], Sequence[str]]


class Table(dict[str, Writer]):
    """What writes steps, by their names."""

    def row(self, *names: str) -> Callable[[Writer], Writer]:
        """A decorator: the function writes the steps of these names."""

        def noted(function: Writer) -> Writer:
            self.update(dict.fromkeys(names, function))
            return function

        return noted


def one_to_one(op: str, output: str = "output", **places: int) -> Writer:
    """Writes a kernel of the first argument, whose attributes are further arguments of the step.

    places: where these are among the arguments, by their names.
    """
    known = definition(op)
    assert known is not None

    def write(given: Given) -> list[str]:
        attr = {
            name: attribute_or_default(known, name, given.option(place, name, MISSING), name)
            for name, place in places.items()
        }
        return [given.body.value(op, output, [given.reference(given.args[0])], attr)]

    return write


def write_step(
    body: Body,
    writers: Mapping[str, Writer],
    step: HostStep,
    references: Sequence[str],
    avals: Sequence[Aval],
) -> list[str]:
    """Write a step of the host. Gives what it gives.

    Raises: NotImplementedError for one that there are no kernels for.
    """
    writer = writers.get(step.name)
    if writer is None or step.form is None:
        raise NotImplementedError(
            f"{step.name.lstrip('_')}, which is a step of the host, cannot be written to a "
            f"SavedModel (at {user_location()})"
        )
    values = [Reference(name, aval) for name, aval in zip(references, avals, strict=True)]
    args, kwargs = step.form.outlined(values)
    return list(writer(Given(body, args, kwargs, values, step.avals)))


def as_reference(body: Body, x: Any) -> Reference:
    """A value of the function, or a constant that is made one."""
    if isinstance(x, Reference):
        return x
    tensor = convert(x)
    return Reference(body.known(tensor), tensor._aval)


def unsupported(what: str) -> NotImplementedError:
    return NotImplementedError(f"{what} cannot be written to a SavedModel (at {user_location()})")


def computed(
    body: Body, function: Callable[..., Any], avals: Sequence[Aval], references: Sequence[str]
) -> list[str]:
    """A program of a function of arrays, which may be empty if it can do with such."""
    avals = solvable(avals)
    sizes = that_may_be_none(avals)
    closure = Op(function, function.__name__, differentiable=False).bind()
    try:
        return _computed(body, closure, [aval.at(sizes) for aval in avals], references)
    except (NotImplementedError, TypeError, INCONCLUSIVE):
        if not sizes:
            raise
    return _computed(body, closure, avals, references)


def solvable(avals: Sequence[Aval]) -> list[Aval]:
    """Avals with unknown sizes of their own for those that are computed of several unknown ones,
    which JAX does not find again in arrays."""
    sizes = dict.fromkeys(n for aval in avals for n in aval.shape if len(variables(n)) > 1)
    own = {size: parsed(f"computed{i}") for i, size in enumerate(sizes)}
    return [Aval.of(tuple([own.get(n, n) for n in aval.shape]), aval.dtype) for aval in avals]


def _computed(
    body: Body, closure: Closure, avals: Sequence[Aval], references: Sequence[str]
) -> list[str]:
    count = len(avals)
    outputs = len(closure.infer(tuple(avals))[0])
    step = Step(closure, tuple(range(count)), count, count + outputs)
    steps = Steps(count, (step,), tuple(range(count, count + outputs)))
    return body.program(Call(steps, closure.name), avals, references)
