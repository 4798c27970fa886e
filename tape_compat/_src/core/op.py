"""Ops as pure JAX functions, and closures: an op with its attributes fixed.

A `Closure` is the unit that everything above records, differentiates and runs. It is interned, so
its identity stands for "this function with these attributes" in every cache key. Its pullback and
its JVP are closures too, which is what makes derivatives of any order ordinary recorded work.
"""

from __future__ import annotations

import re
import threading
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import KW_ONLY, dataclass, field
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from . import errors, limits
from .avals import Aval
from .caches import keep, register
from .counters import COUNTERS
from .dimensions import Sizes, variables
from .dtypes import string
from .inference import infer_unknown
from .kernels import PROGRAMS, tracing
from .refuse import not_allowed
from .reverse_only import FORWARD, with_pullback
from .rows import rows_of
from .traces import Family, Trace, Traces
from .x64 import as_jax_comes

Arrays = tuple[Any, ...]
Check = Callable[..., None]
_LOCK = threading.RLock()
#: Every op, for its closures can be dropped.
_OPS: weakref.WeakKeyDictionary[Op, None] = weakref.WeakKeyDictionary()


@dataclass(slots=True, weakref_slot=True, eq=False, repr=False)
class Op:
    """A pure JAX function of arrays and of hashable attributes.

    Args:
      fn: takes arrays, then attributes by keyword; gives an array or a tuple of arrays.
      name: TensorFlow's kernel name, which error messages end in (`[Op:AddV2]`).
      differentiable: False where TF has no gradient (its gradient is None, not zero); None where
        tapes track what it gives all the same, as something to differentiate by.
      check: called as `check(avals, **attributes)` before the shapes are worked out; raises
        TensorFlow's error for input that TensorFlow refuses.
      sparse: gives the pullback as IndexedSlices where it can; see `autodiff/reverse.py`.
      dynamic_form: takes the attributes; gives others with which the op does the same if it is
        given further inputs, these inputs, integers, and whether it runs as fast with them. None if
        there are none. A loop whose iterations differ in such attributes only (`x[t]`) is one loop,
        and steps that differ in them only (`x[64 * i : 64 * (i + 1)]`) share their programs.
      rows: takes the shape of the one input and the attributes; if the outputs are rows of the
        input along an axis, gives the axis and which rows, counted from 0; else None.
      host_foldable: False if it must not run at once on the host when its inputs are small integer
        constants: its input is a key, not a size.
      broadcasts: whether it is elementwise, and its inputs broadcast.
      shapes: called as `shapes(avals, **attributes)` where a size is unknown; gives the avals of
        the outputs, where JAX cannot infer them.
      of_sizes: what it computes, on NumPy arrays of integers and of unknown sizes (of objects).
      masks: whether TensorFlow's gradient of it is an op that in turn has a gradient, zeros, by its
        features: where they are compared counts as depending on them.
      through: the inputs that derivatives flow to; None for all.
      pull: its pullback, where one is quicker than what JAX makes of `fn`: called as
        `pull(arrays, cotangents, wrt, **attributes)`, gives the cotangents of the inputs at `wrt`.
      host: what NumPy does instead of `fn` where ops are interpreted: takes and gives NumPy arrays.
        Such an op has `shapes`, and is traced by JAX where it is compiled only.
      effect: whether it does something beside what it gives: it is never left out, done twice, or
        merged with another.
      kernels: whether it may call kernels of this library's own; see `core/kernels.py`.
      affine: whether its pullback is the user's, who may make something of zeros.
    """

    fn: Callable[..., Any]
    name: str
    _: KW_ONLY
    differentiable: bool | None = True
    check: Check | None = None
    sparse: Callable[..., Any] | None = None
    dynamic_form: Callable[..., tuple[dict[str, Any], tuple[int, ...], bool] | None] | None = None
    rows: Callable[..., tuple[int, Sequence[int]] | None] | None = None
    host_foldable: bool = True
    broadcasts: bool = False
    shapes: Callable[..., Any] | None = None
    of_sizes: Callable[..., Any] | None = None
    masks: bool = False
    effect: bool = False
    through: tuple[int, ...] | None = None
    pull: Callable[..., Arrays] | None = None
    host: Callable[..., Any] | None = None
    kernels: bool = False
    affine: bool = False
    _closures: dict[tuple, Closure] = field(init=False, default_factory=dict)
    #: What was traced of its closures together: by their attributes but for sizes.
    _kinds: dict[tuple, dict[tuple, Any]] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        _OPS[self] = None

    def bind(self, **attributes: Any) -> Closure:
        """The one closure of this op with these attributes, which must be hashable."""
        # 1, 1.0 and True are equal keys but not equal attributes: their types tell them apart.
        key = (*attributes.items(), *map(type, attributes.values()))
        found = self._closures.get(key)
        if found is None:
            # Nor are (1,) and (1.0,): what holds other numbers than ints has a key of its own.
            key = (*key, *_kinds_within(attributes.values()))
            found = self._closures.get(key)
        if found is None:
            closure = Closure(self, attributes)
            with _LOCK:
                if len(self._closures) >= limits.MAX_CLOSURES_PER_OP:
                    self._closures.clear()
                found = self._closures.setdefault(key, closure)
        return found

    def dynamic_form_of(self, attributes: dict[str, Any]) -> DynamicForm | None:
        """The dynamic form of this op with these attributes, which need not be bound for it."""
        found = self.dynamic_form and self.dynamic_form(**attributes)
        if not found or max(found[1]) >= 2**31:
            return None
        attributes, numbers, costs_nothing = found
        return DynamicForm(self.bind(**attributes), numbers, -1, costs_nothing)

    def __repr__(self) -> str:
        return f"Op({self.name})"


def _kinds_within(values: Iterable[Any]) -> list[type]:
    """The types of what tuples hold, at any depth; none if those are ints or equal nothing else."""
    within = [x for value in values if isinstance(value, tuple) for x in _leaves(value)]
    return [type(x) for x in within] if any(type(x) in (float, bool) for x in within) else []


#: Attributes that are sizes. Other numbers may be compared (`axis != channels`), and JAX takes it
#: that one which it does not know is not the same as any other.
_SIZES = frozenset(("count", "rows", "segments", "shape", "size", "sizes"))


class _Number:
    """Stands for a number in attributes."""

    def __repr__(self) -> str:
        return "_"


_NUMBER = _Number()


def _without_numbers(value: Any, numbers: list[int]) -> Any:
    """The same with a mark for each number from 2 on, which are added to `numbers`."""
    if type(value) is int and value > 1:
        numbers.append(value)
        return _NUMBER
    return tuple([_without_numbers(x, numbers) for x in value]) if type(value) is tuple else value


def _with_numbers(value: Any, numbers: Iterator[Any]) -> Any:
    if value is _NUMBER:
        return next(numbers)
    return tuple([_with_numbers(x, numbers) for x in value]) if type(value) is tuple else value


def _leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, tuple):
        for item in value:
            yield from _leaves(item)
    else:
        yield value


def _as_tuple(out: Any) -> Arrays:
    return tuple(out) if isinstance(out, (tuple, list)) else (out,)


class DynamicForm(NamedTuple):
    """A closure that does the same as another one if it is given `numbers` as well, as the inputs
    from `place` on; -1: as the last ones. costs_nothing: whether XLA makes equally fast code of
    it."""

    closure: Closure
    numbers: tuple[int, ...]
    place: int
    costs_nothing: bool


#: How JAX names two shapes that cannot be broadcast.
_TWO_SHAPES = re.compile(r"shapes for broadcasting: (?:shapes=\[)?\(([\d, ]*)\), \(([\d, ]*)\)")


def _in_words(error: Exception) -> str:
    """What JAX refuses, in TensorFlow's words for shapes that cannot be broadcast."""
    found = _TWO_SHAPES.search(str(error))
    if found is None:
        return str(error)
    a, b = [sizes.replace(" ", "").rstrip(",") for sizes in found.groups()]
    return f"Incompatible shapes: [{a}] vs. [{b}]"


class Closure:
    """An op with its attributes fixed: a pure function from arrays to a tuple of arrays."""

    #: Whether it is a derivative, which need not depend on all its inputs.
    derivative = False

    #: Whether all its outputs count as depending on what one of them depends on.
    as_one = False

    #: Whether Python does it, between two parts of a record.
    by_python = False

    __slots__ = (
        "__weakref__",
        "_derived",
        "_dynamic_form",
        "_fixed",
        "_jit",
        "_pulled",
        "_shapes",
        "_shared",
        "_traces",
        "_unknown",
        "_with_kernels",
        "attributes",
        "differentiable",
        "effect",
        "inner",
        "kernels",
        "name",
        "op",
        "runners",
    )

    def __init__(self, op: Op, attributes: dict[str, Any]):
        self.op = op
        self.attributes = attributes
        self.name = op.name
        self.differentiable = op.differentiable
        self.effect = op.effect
        self.kernels = op.kernels
        self.inner = as_jax_comes(partial(op.fn, **attributes) if attributes else op.fn)
        self._shapes: dict[tuple[Aval, ...], tuple[tuple[Aval, ...], bool]] = {}
        self._dynamic_form: DynamicForm | bool | None = None
        #: Of a dynamic form: the numbers that are recorded as attributes all the same, under the
        #: count of programs that had run when they came.
        self._fixed: dict[int, set[tuple[int, ...]]] = {}
        self._jit: Callable[..., Arrays] | None = None
        self._traces = Traces(self.inner, self._family if attributes else None)
        self._with_kernels: Callable[..., Any] | None = None
        self._pulled: Callable[..., Arrays] | None = None
        self._unknown: bool | None = None
        self._shared: dict[tuple, bool] = {}
        self._derived: dict[tuple, Closure] = {}
        #: What runs it alone, by the avals of its inputs; see `run/op_by_op.py`.
        self.runners: dict[tuple[Aval, ...], Any] = {}

    def fn(self, *arrays: Any) -> Arrays:
        return _as_tuple(self.inner(*arrays))

    def pure(self, *arrays: Any) -> Arrays:
        """`fn` as its derivatives see it: without what it does beside what it gives."""
        return self.fn(*arrays)

    def without_effect(self) -> Closure:
        """The same as its derivatives see it; itself if it does nothing beside what it gives."""
        if not self.effect:
            return self
        return self.derived(("pure",), self._without_effect)

    def _without_effect(self) -> Closure:
        return Closure(Op(self.pure, self.name), {})

    def prepare_pullback(self) -> None:
        """Bring up what is wrong with the pullback."""

    def answered(self, want: tuple[int, ...]) -> tuple[int, ...]:
        """Of the inputs `want`, those that the pullback gives a cotangent of, once prepared."""
        return want

    @property
    def dynamic_form(self) -> DynamicForm | None:
        """The same with what may differ from one iteration to the next of a loop as an input, if
        there is such a thing."""
        if self._dynamic_form is None:
            self._dynamic_form = self._dynamic_form_of() or False
        return self._dynamic_form or None  # type: ignore[return-value]

    def prefer_dynamic(self, numbers: tuple[int, ...], program: int) -> bool:
        """Whether to record this dynamic form for the one with `numbers` in the program of this
        number: for new ones once STATIC_FORMS programs each brought new ones. A step that takes
        another slice each time is then the same each time; the gates of an LSTM and the iterations
        of a loop stay fixed."""
        fixed = self._fixed
        if any(numbers in brought for brought in fixed.values()):
            return False
        if program not in fixed and len(fixed) == limits.STATIC_FORMS:
            return True
        fixed.setdefault(program, set()).add(numbers)
        return False

    def _dynamic_form_of(self) -> DynamicForm | None:
        return self.op.dynamic_form_of(self.attributes)

    def infer(self, avals: tuple[Aval, ...]) -> tuple[tuple[Aval, ...], bool]:
        """Output avals, and whether the op gives one array rather than a tuple of them."""
        found = self._shapes.get(avals)
        if found is None:
            bound = limits.MAX_SHAPES_PER_CLOSURE
            found = keep(self._shapes, avals, self._infer(avals), bound)
        return found

    @property
    def unknown(self) -> bool:
        """Whether there are unknown sizes in it: in its attributes, or in what it is made of."""
        if self._unknown is None:
            self._unknown = self._has_unknown()
        return self._unknown

    def at(self, sizes: Sizes) -> Closure:
        """The closure with sizes for the unknown ones in it."""
        if not self.unknown:
            return self
        return self.derived(("at", sizes), lambda: self._at(sizes))

    def primal(self, avals: tuple[Aval, ...]) -> tuple[Closure, tuple[Aval, ...]]:
        """The closure that this is a derivative of, of any order, and its inputs among these."""
        return self, avals

    @property
    def by_hand(self) -> Callable[..., Any] | None:
        """What NumPy does in its place, if there is such a function."""
        return None if self.op.host is None else partial(self.op.host, **self.attributes)

    def _has_unknown(self) -> bool:
        return bool(variables(tuple(self.attributes.values())))

    def _at(self, sizes: Sizes) -> Closure:
        given = {name: sizes.fill(value) for name, value in self.attributes.items()}
        return self.op.bind(**given)

    def _infer(self, avals: tuple[Aval, ...]) -> tuple[tuple[Aval, ...], bool]:
        unknown = any(aval.unknown for aval in avals) or self.unknown
        if unknown or (self.op.host is not None and self.op.shapes is not None):
            return infer_unknown(self, avals)
        if self.op.check is not None:
            self.op.check(avals, **self.attributes)
        try:
            trace = self.trace(avals)
        except (TypeError, ValueError, IndexError, ZeroDivisionError) as error:
            raise errors.refusal(
                f"{_in_words(error)} Inputs: {', '.join(map(repr, avals)) or 'none'}; "
                f"at {errors.user_location()} [Op:{self.name}]"
            ) from error
        return trace.outputs, trace.single

    def _family(self) -> Family | None:
        """The closures whose attributes differ by sizes."""
        numbers: list[int] = []
        rest = {
            name: _without_numbers(value, numbers) if name in _SIZES else value
            for name, value in self.attributes.items()
        }
        if not numbers:
            return None

        def function(others: Sequence[Any]) -> Callable[..., Any]:
            given = iter(others)
            filled = {name: _with_numbers(value, given) for name, value in rest.items()}
            return as_jax_comes(partial(self.op.fn, **filled))

        key = (*rest.items(), *map(type, rest.values()), *_kinds_within(rest.values()))
        kinds = self.op._kinds.get(key)
        if kinds is None:
            kinds = keep(self.op._kinds, key, {}, limits.MAX_CLOSURES_PER_OP)
        return Family(tuple(numbers), function, kinds)

    def trace(self, avals: Sequence[Aval]) -> Trace:
        """What JAX has traced of it for these shapes, whatever it is wanted for."""
        return self._traces.alone(avals) if self.unknown else self._traces.of(avals)

    def run(self, *arrays: Any) -> Arrays:
        """Run this op alone, through its own compiled program or that of its dynamic form, which
        then serves all of its kind. Call it by `in_x64`."""
        if self._jit is None:
            self._jit = self._alone()
        COUNTERS.dispatches += 1
        try:
            return self._jit(*arrays)
        except BaseException as error:
            if not isinstance(error, jax.errors.JaxRuntimeError):
                self._forget_alone()
            if isinstance(error, TypeError) and any(
                Aval.of_array(x).dtype is string for x in arrays
            ):
                raise not_allowed(string, "those of numbers", self.name) from None
            raise

    def _forget_alone(self) -> None:
        """Compile it anew: JAX may have been interrupted while it traced or lowered it, and would
        take that for recursive from then on."""
        self._jit = None
        if self.dynamic_form is not None:
            self.dynamic_form[0]._jit = None

    def _alone(self) -> Callable[..., Arrays]:
        if self.dynamic_form is None:
            call = jax.jit(tracing(True, self._counted))
            return call if self.op.rows is None else partial(self._rows_or, call)
        closure, numbers, place, _ = self.dynamic_form
        if closure._jit is None:
            closure._jit = closure._alone()
        call, more = closure._jit, tuple(map(np.int32, numbers))
        if place < 0:
            return lambda *arrays: call(*arrays, *more)
        return lambda *arrays: call(*arrays[:place], *more, *arrays[place:])

    def _rows_or(self, call: Callable[..., Arrays], *arrays: Any) -> Arrays:
        """The rows that this op gives, if they are many; else what `call` does."""
        found = self.op.rows(arrays[0].shape, **self.attributes)  # type: ignore[misc]
        if found is None or len(found[1]) <= limits.ROWS_AT_ONCE:
            return call(*arrays)
        return rows_of(arrays[0], *found)

    def traced(self, *arrays: Any) -> Arrays:
        """`fn` inside a program under trace: traced itself only once for each set of shapes, and
        once more where kernels may be called."""
        if not PROGRAMS.own:
            return _as_tuple(self._traces.jitted(*arrays))
        if self._with_kernels is None:
            jitted = self._traces.jitted
            self._with_kernels = (
                jax.jit(tracing(True, self.inner)) if self.kernels else tracing(False, jitted)
            )
        return _as_tuple(self._with_kernels(*arrays))

    def traced_pure(self, *arrays: Any) -> Arrays:
        """`pure` inside a program under trace; with the op's own pullback, if it has one."""
        if self.op.pull is None or FORWARD.mode:
            return self.traced(*arrays)
        if self._pulled is None:
            self._pulled = with_pullback(self.traced, self._pull)
        return self._pulled(*arrays)

    def _pull(self, arrays: Any, cotangents: Any, wrt: tuple[int, ...]) -> Any:
        return self.op.pull(arrays, cotangents, wrt, **self.attributes)  # type: ignore[misc]

    def shares(self, arrays: Sequence[Any]) -> bool:
        """Whether the forward pass must be shared with the pullback, for XLA would not see that the
        pullback computes it again: loops, decompositions, calls out of the program."""
        key = tuple([(a.shape, a.dtype) for a in arrays])
        found = self._shared.get(key)
        if found is None:
            jaxpr = self.trace(list(map(Aval.of_array, arrays))).jaxpr.jaxpr
            unmerged = [p for p in primitives(jaxpr) if p in _UNMERGED or "callback" in p]
            found = self._shared[key] = bool(unmerged)
        return found

    def _counted(self, *arrays: Any) -> Arrays:
        COUNTERS.op_compiles += 1
        return self.fn(*arrays)

    def derived(self, key: tuple, make: Callable[[], Closure]) -> Closure:
        """The closure derived from this one under `key`, made once."""
        found = self._derived.get(key)
        if found is None:
            with _LOCK:
                found = self._derived.get(key)
                if found is None:
                    found = keep(self._derived, key, make(), limits.MAX_SHAPES_PER_CLOSURE)
        return found

    def vjp(
        self, arrays: Sequence[Any], wrt: tuple[int, ...], of: tuple[int, ...] | None = None
    ) -> tuple[Arrays, Callable]:
        """`jax.vjp` with respect to the inputs at `wrt`, the others held; with the op's own
        pullback, if it has one. of: the outputs that count; by default all."""
        if self.op.pull is not None:
            return self.pure(*arrays), partial(self._pull, arrays, wrt=wrt)

        def function(*chosen: Any) -> Arrays:
            full = list(arrays)
            for i, array in zip(wrt, chosen, strict=True):
                full[i] = array
            outputs = self.pure(*full)
            return outputs if of is None else tuple([outputs[i] for i in of])

        return jax.vjp(function, *(jnp.asarray(arrays[i]) for i in wrt))

    def forget(self) -> None:
        """Drop what was worked out and compiled for this closure and its derivatives."""
        derived = list(self._derived.values())
        for cache in (self._derived, self._shapes, self._shared, self._fixed, self.runners):
            cache.clear()
        for closure in derived:  # it may be this one: that at sizes that are unknown themselves
            closure.forget()
        self._jit = self._dynamic_form = self._with_kernels = self._pulled = None
        self._traces = Traces(self.inner, self._family if self.attributes else None)

    def __repr__(self) -> str:
        inner = ", ".join(f"{k}={v!r}" for k, v in self.attributes.items())
        return f"{self.name}({inner})"


#: Primitives that XLA does not merge when they stand twice in a program, or that are too costly to
#: rely on it.
_UNMERGED = frozenset(
    "while scan cond checkpoint remat remat2 sort top_k fft cholesky lu qr geqrf eig eigh svd "
    "schur householder_product hessenberg tridiagonal tridiagonal_solve triangular_solve "
    "linear_solve custom_linear_solve conv_general_dilated cumlogsumexp threefry2x32 random_bits "
    "ffi_call pallas_call "
    "custom_call".split()
)


def equations(jaxpr: Any) -> Iterator[Any]:
    """Those of a jaxpr and of those inside it."""
    for eqn in jaxpr.eqns:
        yield eqn
        for value in eqn.params.values():
            for inner in value if isinstance(value, (tuple, list)) else (value,):
                inner = getattr(inner, "jaxpr", inner)
                if hasattr(inner, "eqns"):
                    yield from equations(inner)


def primitives(jaxpr: Any) -> Iterator[str]:
    """The names of the primitives in a jaxpr and in those inside it."""
    return (eqn.primitive.name for eqn in equations(jaxpr))


def _ops() -> list[Op]:
    """All that there are; others may be made meanwhile."""
    return [op for reference in _OPS.keyrefs() if (op := reference()) is not None]


def _forget_closures() -> None:
    with _LOCK:
        for op in _ops():
            op._kinds.clear()
            for key, closure in list(op._closures.items()):
                closure.forget()
                if key:  # one without attributes is the op itself
                    del op._closures[key]


register("closures", _forget_closures, lambda: sum(len(op._closures) for op in _ops()))
