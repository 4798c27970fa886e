"""A jaxpr as a short list of NumPy calls, which need not be compiled."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, Literal, NamedTuple

import jax
import numpy as np

from ...core.avals import Aval
from ...core.caches import Cache
from ...core.dimensions import Sizes
from ...core.dtypes import from_numpy
from ...core.host import on_host
from ...core.native import native
from ...core.op import Closure, primitives
from ...core.steps import last_uses
from ...core.traces import with_sizes
from . import (
    convolutions,
    cost,
    decompositions,
    elementwise,
    indexing,
    movement,
    products,
    randomness,
    reductions,
    sorting,
    windows,
)
from .control import CALLS, CONTROL, called
from .randomness import as_words, is_key, of_keys, words_of
from .rule import Function, Rule, known, narrow, same, size, widened

#: How each primitive of JAX is done by NumPy.
RULES: dict[str, Rule] = {
    **elementwise.TABLE,
    **movement.TABLE,
    **reductions.TABLE,
    **sorting.TABLE,
    **windows.TABLE,
    **products.TABLE,
    **products.FOURIER,
    **convolutions.TABLE,
    **indexing.TABLE,
    **decompositions.TABLE,
    **decompositions.BY_LAPACK,
    **randomness.TABLE,
}

#: Equations of constants are done once, when the plan is made, if they give no more than so many
#: elements, which the plan then keeps; a constant that is broadcast is kept as one element.
FOLDED_ELEMENTS = 4096


class Step(NamedTuple):
    """A call: what it reads, where it puts its outputs (one number if it gives no sequence), and
    what nobody reads after it."""

    function: Function
    inputs: tuple[int, ...]
    output: int | None
    outputs: tuple[int, ...]
    done: tuple[int, ...]


class Interpreted:
    """A jaxpr that NumPy runs.

    Attributes:
      seconds: what one call costs, an estimate from shapes.
      compiled_alone: how many primitives have no rule, as calls out of a program: what has any is
        compiled by JAX, and is not to be run here.
      arithmetic: of the seconds, those of what does not just move elements.
      products: of the seconds, those of products of matrices, and of convolutions that no kernel
        of this library does.
      kernels: of the seconds, those of convolutions that one does, and of sorting.
      kernel_calls: how many convolutions one does.
      operations: about how many additions, multiplications and the like it is.
      steps: how many calls of NumPy, or of others, it is.
      equations: how many a compiler has to do something about: the steps, and those of the parts
        of conditions and loops once.
      scattered: the input whose elements the last step changes, where that is all that is done
        with it, and gives the one output; None if there is no such.

    >>> import jax.numpy as jnp
    >>> plan = Interpreted(jax.make_jaxpr(lambda x: jnp.tanh(x) * 2)(np.float32(0)))
    >>> plan([np.float32(0)]), plan.compiled_alone
    ([array(0., dtype=float32)], 0)
    """

    def __init__(self, jaxpr: Any, sizes: Sizes | None = None):
        building = _Building(sizes or Sizes())
        inner = jaxpr.jaxpr
        inputs = [building.slot() for _ in inner.invars]
        outputs = building.inline(inner, jaxpr.consts, inputs)
        self._count = len(inputs)
        self._start = building.values
        self._outputs = tuple(outputs)
        drafts = building.needed(outputs)
        self._steps = _steps(drafts, {*outputs, *building.constant})
        self.steps = len(drafts)
        self.equations = len(drafts) + sum([draft.inside for draft in drafts])
        self.seconds = cost.CALL_SECONDS + sum([draft.seconds for draft in drafts])
        self.compiled_alone = sum([draft.compiled_alone for draft in drafts])
        self.arithmetic = sum([draft.seconds for draft in drafts if not draft.moves])
        self.products = sum([draft.seconds for draft in drafts if draft.product])
        self.kernels = sum([draft.seconds for draft in drafts if draft.stays])
        self.kernel_calls = building.convolutions
        self.operations = sum([draft.operations for draft in drafts])
        self.scattered = self._scattered()

    def _scattered(self) -> int | None:
        if not self._steps or not isinstance(self._steps[-1].function, indexing.Scatter):
            return None
        *before, last = self._steps
        array, *rest = last.inputs
        alone = array < self._count and array not in rest and (last.output,) == self._outputs
        return array if alone and not any(array in step.inputs for step in before) else None

    def __call__(self, arrays: Sequence[np.ndarray]) -> list[np.ndarray]:
        """The outputs; some may be views of inputs."""
        found = on_host(self.run, [np.asarray(x) for x in arrays])
        return [np.asarray(x) for x in found]

    def run(self, arrays: Sequence[Any]) -> list[Any]:
        """The same inside another plan: by `on_host`, and NumPy scalars come and go as well."""
        values = self._start.copy()
        values[: self._count] = arrays
        take_steps(values, self._steps)
        return [values[i] for i in self._outputs]

    def changes(self, arrays: Sequence[Any]) -> tuple[Function, Any, Any]:
        """Of a plan with `scattered`: what changes the elements of that input in its flat array,
        which elements, and by what."""
        *before, last = self._steps
        values = [*arrays, *self._start[self._count :]]
        take_steps(values, before)
        scatter: Any = last.function
        return scatter.put, *scatter.places(*[values[i] for i in last.inputs[1:]])


@native
def take_steps(values: list[Any], steps: list[Step]) -> list[Any]:
    """What the slots hold after the steps of a plan: `values`, changed."""
    for function, inputs, output, outputs, done in steps:
        found = function(*[values[i] for i in inputs])
        if output is not None:
            values[output] = found
        else:
            for i, value in zip(outputs, found):
                values[i] = value
        for i in done:
            values[i] = None
    return values


class ByHand:
    """A plan that somebody wrote: a function of NumPy arrays, which no compile makes faster. Has
    the attributes of `Interpreted`."""

    __slots__ = ("_function", "_single", "seconds")
    compiled_alone, arithmetic, products, kernels, kernel_calls = 0, 0.0, 0.0, 0.0, 0
    operations = 0
    scattered = None
    steps = equations = 1

    def __init__(self, function: Callable[..., Any], single: bool, elements: int):
        self._function, self._single = function, single
        self.seconds = cost.by_hand_seconds(elements)

    def run(self, arrays: Sequence[Any]) -> Sequence[Any]:
        found = self._function(*arrays)
        return [found] if self._single else found


class _Draft(NamedTuple):
    """A step before it is known what is needed: with what it costs, how many primitives it has
    without a rule, whether it does more than compute, just moves elements, is a product of arrays,
    or is as slow in a compiled program, how many equations are in its parts, and how many
    operations it is."""

    function: Function
    inputs: tuple[int, ...]
    output: int | None
    outputs: tuple[int, ...]
    seconds: float
    compiled_alone: int
    effects: bool
    moves: bool
    product: bool
    stays: bool
    inside: int
    operations: int


class _Building:
    """A plan that is being made. values: what is known of each slot before a run: constants.
    convolutions: how many a kernel of this library does."""

    def __init__(self, sizes: Sizes) -> None:
        self.sizes = sizes
        self.values: list[Any] = []
        self.constant: set[int] = set()
        self.drafts: list[_Draft] = []
        self.convolutions = 0

    def slot(self) -> int:
        self.values.append(None)
        return len(self.values) - 1

    def hold(self, value: Any) -> int:
        """The slot of a constant."""
        self.values.append(value)
        self.constant.add(len(self.values) - 1)
        return len(self.values) - 1

    def inline(self, jaxpr: Any, consts: Sequence[Any], inputs: Sequence[int]) -> list[int]:
        """The slots of its outputs, when its equations have become steps."""
        slots = dict(zip(jaxpr.invars, inputs, strict=True))
        for var, value in zip(jaxpr.constvars, consts, strict=True):
            slots[var] = self.hold(_held(value))

        def slot(atom: Any) -> int:
            if hasattr(atom, "val"):
                return self.hold(_held(atom.val, getattr(atom.aval, "dtype", None)))
            return slots[atom]

        known: dict[int, Any] = {}
        for eqn in jaxpr.eqns:
            at = with_sizes(eqn, self.sizes, known)
            found = self.equation(at, tuple([slot(x) for x in eqn.invars]))
            slots.update(zip(eqn.outvars, found, strict=True))
        return [slot(x) for x in jaxpr.outvars]

    def equation(self, eqn: Any, inputs: tuple[int, ...]) -> Sequence[int]:
        name, params = eqn.primitive.name, eqn.params
        if name in CALLS:
            return self.call(called(params), inputs)
        if name == "dim_as_value":
            return [self.hold(np.asarray(params["dim"], eqn.outvars[0].aval.dtype))]
        if name == "cond" and inputs[0] in self.constant:
            index = min(max(int(self.values[inputs[0]]), 0), len(params["branches"]) - 1)
            return self.call(params["branches"][index], inputs[1:])
        keys = [x.aval for x in (*eqn.invars, *eqn.outvars) if is_key(x.aval)]
        if name in CONTROL and all(map(as_words, keys)):
            return self.nested(eqn, inputs)
        if _void(eqn):
            return [self.hold(np.zeros(x.aval.shape, jax.dtypes.float0)) for x in eqn.outvars]
        function = of_keys(name, params, *_avals(eqn)) if keys else _function_of(eqn)
        if function is None:
            return self.step(eqn, _left_to_jax, inputs, cost.ALONE_SECONDS, 1)
        if function is same:
            return inputs[:1]
        if self.constant.issuperset(inputs) and _folds(eqn):
            return self.fold(eqn, function, inputs)
        return self.step(eqn, function, inputs, cost.seconds(name, params, *_avals(eqn)))

    def call(self, jaxpr: Any, inputs: tuple[int, ...]) -> Sequence[int]:
        return self.inline(getattr(jaxpr, "jaxpr", jaxpr), getattr(jaxpr, "consts", ()), inputs)

    def step(
        self,
        eqn: Any,
        function: Function,
        inputs: tuple[int, ...],
        seconds: float,
        alone: int = 0,
        inside: int = 0,
        operations: int | None = None,
    ) -> Sequence[int]:
        outputs = tuple([self.slot() for _ in eqn.outvars])
        single = None if eqn.primitive.multiple_results else outputs[0]
        name = eqn.primitive.name
        stays = getattr(function, "stays", False)
        convolves = name in convolutions.TABLE
        product = name in products.TABLE or (convolves and not stays)
        self.convolutions += convolves and stays
        if operations is None:
            operations = cost.operations(name, eqn.params, *_avals(eqn))
        more = bool(eqn.effects), name in cost.MOVES, product, stays, inside, operations
        self.drafts.append(_Draft(function, inputs, single, outputs, seconds, alone, *more))
        return outputs

    def fold(self, eqn: Any, function: Function, inputs: tuple[int, ...]) -> Sequence[int]:
        """Done now."""
        found = on_host(function, *[self.values[i] for i in inputs])
        found = found if eqn.primitive.multiple_results else [found]
        return [self.hold(value) for value in found]

    def nested(self, eqn: Any, inputs: tuple[int, ...]) -> Sequence[int]:
        """A condition or a loop."""
        plans: list[Interpreted] = []

        def nested(jaxpr: Any) -> Callable[[Sequence[Any]], list[Any]]:
            plans.append(Interpreted(jaxpr, self.sizes))
            return plans[-1].run

        name, params = eqn.primitive.name, eqn.params
        function = CONTROL[name](params, [x.aval for x in eqn.outvars], nested)
        alone = sum([plan.compiled_alone for plan in plans])
        seconds = cost.nested_seconds(
            name, params, [plan.seconds - cost.CALL_SECONDS for plan in plans]
        )
        inside = sum([plan.equations for plan in plans])
        operations = sum([plan.operations for plan in plans])
        return self.step(eqn, function, inputs, seconds, alone, inside, operations)

    def needed(self, outputs: Sequence[int]) -> list[_Draft]:
        """The steps that outputs or effects need."""
        read, found = set(outputs), []
        for draft in reversed(self.drafts):
            if draft.effects or not read.isdisjoint(draft.outputs):
                read.update(draft.inputs)
                found.append(draft)
        return found[::-1]


def _steps(drafts: Sequence[_Draft], kept: set[int]) -> list[Step]:
    """Each with what nobody reads after it; `kept` stays to the end."""
    used = [(*draft.inputs, *draft.outputs) for draft in drafts]
    done = last_uses(used, kept)
    return [Step(*draft[:4], values) for draft, values in zip(drafts, done, strict=True)]


def _held(value: Any, dtype: Any = None) -> Any:
    """A constant as NumPy has it, one number as a scalar; a key by its words, or as it is."""
    if dtype is None:
        dtype = getattr(value, "dtype", None)
    if as_words(value):
        return words_of(value)
    if dtype is not None and not isinstance(dtype, np.dtype):
        return value
    array = np.asarray(value, dtype)
    return array if array.ndim else array[()]


def _avals(eqn: Any) -> tuple[list[Any], list[Any]]:
    return [x.aval for x in eqn.invars], [x.aval for x in eqn.outvars]


def _void(eqn: Any) -> bool:
    """Whether what it gives has no values: derivatives of integers."""
    dtypes = [getattr(x.aval, "dtype", None) for x in eqn.outvars]
    return bool(dtypes) and not eqn.effects and all(d == jax.dtypes.float0 for d in dtypes)


def _folds(eqn: Any) -> bool:
    if eqn.primitive.name == "broadcast_in_dim":
        return True
    return sum([size(x.aval) for x in eqn.outvars]) <= FOLDED_ELEMENTS


def _function_of(eqn: Any) -> Function | None:
    """What does an equation, or None."""
    rule = RULES.get(eqn.primitive.name)
    ins, outs = _avals(eqn)
    if rule is None or eqn.effects or not all(map(known, ins)) or not all(map(known, outs)):
        return None
    if not rule.widen or not any(narrow(aval.dtype) for aval in (*ins, *outs)):
        return rule.build(eqn.params, ins, outs)
    return _rounded(rule, eqn, ins, outs)


def _rounded(rule: Rule, eqn: Any, ins: list[Any], outs: list[Any]) -> Function | None:
    """Computed in float32, where the dtypes are narrower, and rounded to them."""
    function = rule.build(eqn.params, [*map(widened, ins)], [*map(widened, outs)])
    if function is None or function is same:
        return function
    narrows = [narrow(aval.dtype) for aval in ins]
    dtypes = [aval.dtype for aval in outs]
    single = not eqn.primitive.multiple_results

    def rounded(*arrays: Any) -> Any:
        wide = [x.astype(np.float32) if n else x for x, n in zip(arrays, narrows, strict=True)]
        found = function(*wide)
        if single:
            return found.astype(dtypes[0])
        return [x.astype(dtype) for x, dtype in zip(found, dtypes, strict=True)]

    return rounded


def _left_to_jax(*_: Any) -> Any:
    raise AssertionError("a plan with primitives that have no rule is run")


# ---------------------------------------------------------------------------------------------
# Plans of elementwise ops that serve arrays of all shapes.

#: Arrays of so many elements tell what each of them costs.
_FEW, _MANY = 2, 4096

#: Primitives whose rules for scalars serve arrays; that of powers looks at shapes.
_SERVING = (frozenset(elementwise.TABLE) | {"pjit", "jit", "custom_jvp_call"}) - {"pow"}


class AnySizes:
    """What does an elementwise op on arrays of all shapes: NumPy's calls for scalars broadcast.

    plan: with estimates for scalars.
    """

    def __init__(self, closure: Closure, dtypes: tuple[Any, ...], plan: Interpreted):
        self._closure, self._dtypes, self.plan = closure, dtypes, plan

    def at(self, elements: int) -> Interpreted:
        """The plan with estimates for arrays of so many elements, that are not large."""
        few, many = self._estimates
        share = (elements - _FEW) / (_MANY - _FEW)
        plan = copy.copy(self.plan)
        plan.seconds = few.seconds + share * (many.seconds - few.seconds)
        plan.arithmetic = few.arithmetic + share * (many.arithmetic - few.arithmetic)
        plan.operations = round(few.operations + share * (many.operations - few.operations))
        return plan

    @cached_property
    def _estimates(self) -> list[Interpreted]:
        return [
            _plan_of(self._closure, self._dtypes, (elements,)) or self.plan
            for elements in (_FEW, _MANY)
        ]


#: By a closure and the dtypes of its inputs; False where there is none.
_PLANS: Cache[tuple[Closure, tuple[Any, ...]], AnySizes | Literal[False]]
_PLANS = Cache("plans of any sizes", 4096)


def any_sizes(closure: Closure, dtypes: tuple[Any, ...]) -> AnySizes | None:
    """What serves all arrays of these dtypes, if there is such a plan."""

    def make() -> AnySizes | Literal[False]:
        plan = _plan_of(closure, dtypes, ())
        return plan is not None and _broadcasts(plan, dtypes) and AnySizes(closure, dtypes, plan)

    return _PLANS.find((closure, dtypes), make) or None


def _plan_of(
    closure: Closure, dtypes: tuple[Any, ...], shape: tuple[int, ...]
) -> Interpreted | None:
    jaxpr, sizes, *_ = closure.trace([Aval.of(shape, from_numpy(dtype)) for dtype in dtypes])
    if jaxpr.effects or not _SERVING.issuperset(primitives(jaxpr.jaxpr)):
        return None
    plan = Interpreted(jaxpr, sizes)
    return None if plan.compiled_alone else plan


def _broadcasts(plan: Interpreted, dtypes: tuple[Any, ...]) -> bool:
    """Whether what it gives has the shape of any of its inputs: zeros alone have none."""
    for place in range(len(dtypes)):
        arrays = [np.zeros((2,) if i == place else (), kind) for i, kind in enumerate(dtypes)]
        if any(np.shape(found) != (2,) for found in on_host(plan.run, arrays)):
            return False
    return True
