"""The parts of a record as nodes: programs, steps of the host, conditionals and loops."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, cast

from ...core.avals import Aval
from ...core.call import Call
from ...core.control import Structured
from ...core.dimensions import Sizes
from ...core.dtypes import int32, string
from ...core.errors import user_location
from ...core.op import Closure
from ...core.shapes import TensorShape
from ...core.steps import Step, Steps
from ...function.host_control import Branches, ControlStep, FunctionCall, Loop
from ...function.program_parts import ProgramPart, parts_between, parts_of
from ...function.python_steps import TapedStep
from ...values.effects import Effect
from ...values.host_steps import HostStep, PythonStep
from . import (
    example_nodes,
    file_nodes,
    ragged_nodes,
    set_nodes,
    size_nodes,
    table_nodes,
    text_nodes,
)
from .body import Body, behind
from .effect_control import ZEROS, by_parts, is_control, is_effect
from .kernel_nodes import is_kernel, write_kernel
from .make_nodes import CALL, RESOURCE_TYPE, function_named
from .program import at, gives_sizes, sizes_met, that_may_be_none
from .step_nodes import write_step

_WRITERS = {
    **text_nodes.WRITERS,
    **file_nodes.WRITERS,
    **set_nodes.WRITERS,
    **size_nodes.WRITERS,
    **ragged_nodes.WRITERS,
    **example_nodes.WRITERS,
    **table_nodes.WRITERS,
}


def is_apart(closure: Closure) -> bool:
    """Whether it is no part of a program: it prints, checks or the like, maybe inside of it."""
    return is_effect(closure) or is_control(closure)


def _for_empty(call: Call, kinds: Sequence[Aval]) -> Iterator[tuple[Call, Sequence[Aval]]]:
    """A closure for arrays that may be empty, with its avals: of any sizes, then of those that ops
    can do with."""
    if not that_may_be_none(kinds):
        return
    yield at(that_may_be_none(kinds), call, kinds)
    found = sizes_met(call, kinds)
    for met in found:
        call, kinds = at(met, call, kinds)
    if found:
        yield at(that_may_be_none(kinds), call, kinds)


class PartWriter:
    """Writes the parts of a record to the body of a function.

    values, avals: of what has a number in the record, references and avals. rulers: values that
    have unknown sizes. empty: avals whose unknown sizes may be 0, as steps of the body tell them.
    outside: other such avals, of what is around the body. arguments: those of what the function
    takes.
    """

    def __init__(self, body: Body, values: dict[int, str], avals: dict[int, Aval]):
        self._body, self.values, self.avals = body, values, avals
        self.rulers = [(values[i], aval) for i, aval in avals.items() if aval.unknown]
        self.empty: list[Aval] = []
        self.outside: list[Aval] = []
        self.arguments: list[Aval] = []
        #: Sizes that something is written for only, as those of two batches that are added.
        self._assumed: list[Sizes] = []

    def write_one(self, call: Call) -> None:
        """Write a record that is one program, for empty arrays too if it can be."""
        inputs, outputs = call.flat.inputs, call.flat.outputs
        places = dict.fromkeys(outputs)  # a value may be given twice
        kept = Call(call.flat._replace(outputs=tuple(places)), call.name, call.due)
        kinds, given = self._given(range(inputs))
        self._put(tuple(places), self._one(kept, kinds, given), kept, kinds)

    def _one(self, call: Call, kinds: list[Aval], given: list[str]) -> list[str]:
        for closure, avals in _for_empty(call, kinds):
            found = self._if_written(closure, avals, given, whole=True)
            if found is not None:
                return found
        return self._with_kernels(
            call, kinds, given, lambda whole: self._body.program(call, kinds, given, True, whole)
        )

    def _with_kernels(
        self,
        call: Call,
        kinds: list[Aval],
        given: list[str],
        program: Callable[[bool], list[str]],
    ) -> list[str]:
        """Write a program; where it, or its derivative, cannot be written for such sizes, with
        kernels for those of its ops that there are some for.

        program: writes it as one, and whole if that is asked for.
        """
        if not any(is_kernel(step.closure) for step in call.flat.steps):
            return program(False)
        try:
            return program(True)
        except NotImplementedError:
            inner = PartWriter(self._body, dict(enumerate(given)), dict(enumerate(kinds)))
        inner.rulers += self.rulers
        inner.empty, inner.outside = list(self.empty), list(self.outside)
        inner.arguments = list(self.arguments)
        try:
            inner.write(parts_between(call, is_kernel))
        except NotImplementedError:
            return program(False)
        for sizes in inner._assumed:
            self._assume(sizes)
        return [inner.values[i] for i in call.flat.outputs]

    def _if_written(
        self, closure: Call, avals: Sequence[Aval], given: list[str], whole: bool
    ) -> list[str] | None:
        """Write a program for arrays that may be empty; None if it cannot be."""
        if not gives_sizes(closure, avals):
            return None
        try:
            return self._body.program(closure, avals, given, whole=whole)
        except NotImplementedError:
            return None

    def write(self, parts: Sequence[ProgramPart]) -> None:
        """Write parts, in their order.

        Raises: NotImplementedError for what cannot be written.
        """
        for part in parts:
            kinds, given = self._given(part.inputs)
            closure = part.closure
            if not isinstance(closure, HostStep):  # whose sizes are told as it is done
                closure = self._at(closure)
            if isinstance(closure, HostStep):
                found = write_step(self._body, _WRITERS, closure, given, kinds)
            elif isinstance(closure, ControlStep):
                found = [*self._control(closure, kinds, given), ""]
            elif is_control(closure):
                found = self._by_parts(cast(Structured, closure), kinds, given)
            elif closure.name == "ParseTensor":
                found = [self._parsed(cast(TapedStep, closure), given), ""]
            elif is_effect(closure):
                self._effect(cast(Effect, closure.op), given, kinds)
                continue
            elif isinstance(closure, PythonStep):
                raise NotImplementedError(
                    f"{self._body.title} calls Python ({closure.name}), and cannot be written to a "
                    f"SavedModel. At {user_location()}."
                )
            elif isinstance(closure, Call):
                closure, kinds, found = self._assuming(closure, part.inputs)
            else:
                found = write_kernel(self._body, closure, kinds, given)
            self._put(part.outputs, found, closure, kinds)
            if isinstance(closure, PythonStep):
                known = [(self.values[i], self.avals[i]) for i in part.outputs]
                self.rulers += [(value, aval) for value, aval in known if aval.unknown]
                self.empty += map(self._at, closure.avals)

    def _parsed(self, step: TapedStep, given: Sequence[str]) -> str:
        """Write the tensor of a message. A known message is a constant."""
        known = [self._body.constant(x._value(), string) for x in step.texts.values()]
        attr = {"out_type": step.avals[0].dtype}
        return self._body.value("ParseTensor", "output", [*known, *given], attr)

    def _effect(self, effect: Effect, given: Sequence[str], kinds: Sequence[Aval]) -> None:
        """Write what prints or checks."""
        written = effect.written
        if written is None:
            raise NotImplementedError(
                f"{effect.name} of {self._body.title} cannot be written to a SavedModel. At "
                f"{user_location()}."
            )
        values, dtypes = list(given), [aval.dtype for aval in kinds]
        for place, text in sorted(effect.texts.items()):
            values.insert(place, self._body.constant(text, string))
            dtypes.insert(place, string)
        if effect.name == "Assert":
            holds = self._body.holds(values[0], len(kinds[0].shape))
            data = [self._body.constant(written.text, string), *values[1:]]
            attr = {"T": [string, *dtypes[1:]], "summarize": written.summarize}
            self._body.effect("Assert", [holds, *data], attr)
            return
        attr = {"T": dtypes, "template": written.text, "placeholder": written.placeholder}
        attr["summarize"] = written.summarize
        text = self._body.value("StringFormat", "output", values, attr)
        self._body.effect(effect.name, [text], written.attributes)

    def _given(self, places: Sequence[int]) -> tuple[list[Aval], list[str]]:
        return [self.avals[i] for i in places], [self.values[i] for i in places]

    def _put(
        self, places: Sequence[int], found: Sequence[str], closure: Any, kinds: Sequence[Aval]
    ) -> None:
        self.values.update(zip(places, found, strict=True))
        avals = map(self._at, closure.infer(tuple(kinds))[0])
        self.avals.update(zip(places, avals, strict=True))

    # -- programs -------------------------------------------------------------------------------

    def _assuming(self, closure: Call, inputs: Sequence[int]) -> tuple[Call, list[Aval], list[str]]:
        """Write a program; where it cannot be for all sizes, for those that its ops can do with.
        Gives the closure and the avals that it is for, too."""
        kinds, given = self._given(inputs)
        try:
            found = self._with_kernels(
                closure, kinds, given, lambda whole: self._program(closure, kinds, given, whole)
            )
            return closure, kinds, found
        except NotImplementedError as error:
            first = error
        met = sizes_met(closure, kinds)
        if not met:
            raise first
        for sizes in met:
            self._assume(sizes)
        closure = self._at(closure)
        kinds, given = self._given(inputs)
        try:
            return closure, kinds, self._program(closure, kinds, given)
        except NotImplementedError:
            raise first from None

    def _at(self, x: Any) -> Any:
        """A closure or an aval for the sizes that are assumed."""
        for sizes in self._assumed:
            x = x.at(sizes)
        return x

    def _assume(self, sizes: Sizes) -> None:
        """Write what follows for these sizes only."""
        self._assumed.append(sizes)
        self.avals = {i: aval.at(sizes) for i, aval in self.avals.items()}
        self.rulers = [(value, aval.at(sizes)) for value, aval in self.rulers]
        self.empty = [aval.at(sizes) for aval in self.empty]
        self.outside = [aval.at(sizes) for aval in self.outside]
        self.arguments = [aval.at(sizes) for aval in self.arguments]

    def _program(
        self, closure: Call, kinds: list[Aval], given: list[str], whole: bool = False
    ) -> list[str]:
        """Write a program, with its derivative if it is to be whole. If it needs sizes that none of
        its inputs has, it gets the values that have been met which have them, of texts their
        lengths."""
        if closure.effect:
            raise NotImplementedError(
                f"{self._body.title} prints or checks in a function of rows, and cannot be "
                f"written to a SavedModel. At {user_location()}."
            )
        try:
            return self._sized(closure, kinds, given, whole)
        except NotImplementedError:
            if not self.rulers:
                raise
        first = len(kinds)
        for value, aval in self.rulers:
            if aval.dtype is string:
                value = self._body.value("StringLength", "output", [value])
                aval = Aval.of(aval.shape, int32)
            given, kinds = [*given, value], [*kinds, aval]
        outputs, count = len(closure.flat.outputs), len(kinds)
        step = Step(closure, tuple(range(first)), count, count + outputs)
        steps = Steps(count, (step,), tuple(range(count, count + outputs)))
        return self._sized(Call(steps, closure.name), kinds, given, whole)

    def _sized(self, closure: Call, kinds: list[Aval], given: list[str], whole: bool) -> list[str]:
        """Write a program for any sizes of arguments and that steps of the host tell; for any but 0
        where it must be, or where its derivative can only be written so: of arguments first, then
        of those around the body, as a loop over rows has some."""
        told = [*self.empty, *self.outside]
        every, around, own = map(that_may_be_none, ([*told, *self.arguments], told, self.empty))
        attempts = (every, True), (around, True), (every, False), (around, False), (own, False)
        for sizes, whole_for in dict.fromkeys(attempts):
            if not sizes or whole > whole_for:
                continue
            found = self._if_written(*at(sizes, closure, kinds), given, whole_for)
            if found is not None:
                return found
        return self._body.program(closure, kinds, given, whole=whole)

    # -- conditionals and loops -----------------------------------------------------------------

    def _control(self, step: ControlStep, kinds: list[Aval], given: list[str]) -> list[str]:
        """Write a conditional, a loop or a call. What tells unknown sizes goes into the functions
        of the first two, too."""
        if isinstance(step, FunctionCall):
            return self._call(step, kinds, given)
        further = [(value, aval) for value, aval in self.rulers if value not in given]
        if isinstance(step, Loop):
            return self._loop(step, kinds, given, further)
        assert isinstance(step, Branches)
        return self._branches(step, kinds, given, further)

    def _by_parts(self, closure: Structured, kinds: list[Aval], given: list[str]) -> Sequence[str]:
        """Write a conditional or a loop of XLA that prints or checks."""
        step, sources, first = by_parts(closure, kinds)
        inputs = [given[x] if isinstance(x, int) else self._zeros(x) for x in sources]
        avals = [kinds[x] if isinstance(x, int) else x for x in sources]
        return self._control(step, avals, inputs)[first:]

    def _zeros(self, aval: Aval) -> str:
        """An array of zeros."""
        closure = ZEROS.bind(shape=aval.shape, dtype=aval.np_dtype)
        call = Call(Steps(0, (Step(closure, (), 0, 1),), (0,)), "zeros")
        return self._program(call, [], [])[0]

    def _node(
        self, op: str, step: ControlStep, inputs: list[str], attr: dict[str, Any], resources: Any
    ) -> str:
        """Add the node of a conditional or a loop, in the order of what prints and checks."""
        body, effects = self._body, self._body.effects
        if step.silent:
            return body.node(op.lower(), of_state(op, resources), inputs, attr).name
        effects.append(body.node(op.lower(), op, [*inputs, *behind(effects[-1:])], attr).name)
        return effects[-1]

    def _inner(
        self,
        what: str,
        call: Call,
        kinds: Sequence[Aval],
        further: Sequence[Aval],
        empty: Sequence[Aval] = (),
    ) -> tuple[Body, list[str], list[str]]:
        """The body of a function of a conditional or a loop: with its arguments, and what the
        record gives."""
        body = self._body.inner(what)
        arguments = [body.argument(f"x_{i}", x.dtype) for i, x in enumerate([*kinds, *further])]
        values, avals = dict(enumerate(arguments[: len(kinds)])), dict(enumerate(kinds))
        writer = PartWriter(body, values, avals)
        writer.rulers += zip(arguments[len(kinds) :], further, strict=True)
        writer.outside += [*self.empty, *self.outside, *empty]
        writer._assumed += self._assumed
        return body, arguments, writer._write_all(call)

    def _write_all(self, call: Call) -> list[str]:
        """Write all of a function: what it gives."""
        self.write(parts_between(call, is_apart) if call.effect else parts_of(call))
        self._body.finish_effects(self._body.effects)
        return [self.values[i] for i in call.flat.outputs]

    def _call(self, step: FunctionCall, kinds: list[Aval], given: list[str]) -> list[str]:
        """Write a function that has sizes of its own, and its call."""
        body, (call,), results = self._body.inner("call"), step.parts, step.avals[:-1]
        arguments = [body.argument(f"x_{i}", x.dtype) for i, x in enumerate(step.takes)]
        writer = PartWriter(body, dict(enumerate(arguments)), dict(enumerate(step.takes)))
        writer.arguments = list(step.takes)
        for k, (value, aval) in enumerate(zip(writer._write_all(call), results, strict=True)):
            body.result(f"output_{k}", value, aval.dtype, body.effects)
        resources = shared_resources(self._body, [body])
        attr = {
            "Tin": [*[aval.dtype for aval in kinds], *_types(resources)],
            "Tout": [aval.dtype for aval in results],
            "_output_shapes": [aval.tensor_shape for aval in results],
            "f": function_named(body.name),
        }
        inputs = [*given, *resources.values()]
        node = self._node(CALL, step, inputs, attr, resources)
        return [f"{node}:output:{i}" for i in range(len(results))]

    def _branches(
        self,
        step: Branches,
        kinds: list[Aval],
        given: list[str],
        further: list[tuple[str, Aval]],
    ) -> list[str]:
        index, *operands = given
        avals = [aval for _, aval in further]
        results = step.avals[:-1]
        bodies = []
        for i, call in enumerate(step.parts):
            body, _, found = self._inner(f"branch{i}", call, kinds[1:], avals)
            for k, (value, aval) in enumerate(zip(found, results, strict=True)):
                body.result(f"output_{k}", value, aval.dtype, body.effects)
            bodies.append(body)
        resources = shared_resources(self._body, bodies)
        attr: dict[str, Any] = {
            "Tin": [*[aval.dtype for aval in (*kinds[1:], *avals)], *_types(resources)],
            "Tout": [aval.dtype for aval in results],
            "output_shapes": [aval.tensor_shape for aval in results],
        }
        names = [function_named(body.name) for body in bodies]
        if kinds[0].dtype.is_bool:
            op = "If"
            attr |= {"Tcond": kinds[0].dtype, "then_branch": names[1], "else_branch": names[0]}
        else:
            op = "Case"
            attr["branches"] = names
            index = self._body.cast(index, kinds[0].dtype, int32)
        inputs = [index, *operands, *[value for value, _ in further], *resources.values()]
        node = self._node(op, step, inputs, attr, resources)
        return [f"{node}:output:{i}" for i in range(len(results))]

    def _loop(
        self, step: Loop, kinds: list[Aval], given: list[str], further: list[tuple[str, Aval]]
    ) -> list[str]:
        count = len(step.carried)
        formal = [*step.carried, *kinds[count:]]
        avals = [aval for _, aval in further]
        bodies = []
        for what, call in zip(("cond", "body"), step.parts, strict=True):
            body, arguments, found = self._inner(what, call, formal, avals, step.carried)
            given_back = [*found, *arguments[count:]] if what == "body" else found
            bodies.append((body, given_back))
        resources = shared_resources(self._body, [body for body, _ in bodies])
        (predicate, (goes_on,)), (body, after) = bodies
        (boolean,) = step.parts[0].infer(tuple(formal))[0]
        predicate.result("goes_on", goes_on, boolean.dtype, predicate.effects)
        for k, (value, aval) in enumerate(zip(after, (*formal, *avals), strict=True)):
            body.result(f"output_{k}", value, aval.dtype, body.effects)
        for name in body.resources.values():
            body.resource_result(name)
        results = step.avals[:-1]
        shapes = [aval.tensor_shape for aval in (*results, *kinds[count:], *avals)]
        attr = {
            "T": [*[aval.dtype for aval in (*formal, *avals)], *_types(resources)],
            "cond": function_named(predicate.name),
            "body": function_named(body.name),
            "output_shapes": [*shapes, *[TensorShape([]) for _ in resources]],
            "parallel_iterations": 10,
        }
        inputs = [*given, *[value for value, _ in further], *resources.values()]
        node = self._node("While", step, inputs, attr, resources)
        return [f"{node}:output:{i}" for i in range(count)]


def _types(resources: dict[Any, str]) -> list[Any]:
    return [RESOURCE_TYPE] * len(resources)


def shared_resources(outer: Body, bodies: Sequence[Body]) -> dict[Any, str]:
    """The resources that some functions use, as arguments of all of them, and of the function whose
    nodes name them."""
    used = dict.fromkeys(x for body in bodies for x in body.resources)
    for body in bodies:
        names = [body.resource(x) for x in used]
        body.resources = dict(zip(used, names, strict=True))
        body.finish_arguments()
    return {x: outer.resource(x) for x in used}


def of_state(op: str, resources: dict[Any, str]) -> str:
    """The kernel of a conditional, a loop or a call, with state or without."""
    if op == CALL:
        return op if resources else "PartitionedCall"
    return op if resources else f"Stateless{op}"
