"""Programs of StableHLO: made of closures to be written, and read as ops.

Unknown sizes stay unknown in them: they are dimension expressions of `jax.export`.
"""

from __future__ import annotations

import dataclasses
import itertools
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from math import prod
from typing import Any, NamedTuple, cast

import jax
import jax.export
import jax.numpy as jnp

from ...autodiff.dependence import used_by
from ...core.avals import Aval
from ...core.caches import Cache
from ...core.call import Call
from ...core.derivative import conj, pullback
from ...core.dimensions import (
    INCONCLUSIVE,
    Shape,
    Size,
    Sizes,
    bounded,
    bounds_in,
    is_symbolic,
    maximum,
    parsed,
    variables,
)
from ...core.dtypes import as_dtype, float32
from ...core.errors import NeedsValue, user_location
from ...core.op import Arrays, Closure, Op
from ...core.x64 import in_x64
from .plain import by_formulas, is_plain

#: A size that nothing else has.
_ANY_SIZE = 1_009
#: What programs are lowered for; if an op is not there on one of them, for this machine alone.
PLATFORMS = ("cpu", "cuda", "tpu")


class Program(NamedTuple):
    """A program as bytes, with the version of how it is called, the platforms that it is lowered
    for, the avals of what it takes and gives, and the bounds of its unknown sizes. traced: the
    shapes of what it gives as JAX writes them, which has other expressions of sizes than we for
    some ops; of a program that is being written."""

    module: bytes
    version: int
    platforms: tuple[str, ...]
    inputs: tuple[Aval, ...]
    outputs: tuple[Aval, ...]
    bounds: tuple[str, ...] = ()
    traced: tuple[Shape, ...] = ()


def one_batch(avals: Sequence[Aval]) -> Sizes:
    """Sizes with which all first axes of unknown size have the same one."""
    first = [aval.shape[0] for aval in avals if aval.shape and is_symbolic(aval.shape[0])]
    return Sizes(**{str(size): first[0] for size in first[1:] if size != first[0]})


def slices_inside(closure: Call, avals: Sequence[Aval]) -> tuple[str, ...]:
    """The bounds of sizes with which slices lie inside of their axes: those up to an unknown size,
    as of a table of positions, those of an unknown axis from a known place or of a known size, rows
    that are taken by number, and what is mirrored at the ends."""
    kinds = list(avals)
    arguments = [size for aval in avals for size in aval.shape]
    bounds = dict.fromkeys(bounds_in(arguments, range(2, sys.maxsize)))
    for step in closure.flat.steps:
        given = [kinds[i] for i in step.inputs]
        found = step.closure.infer(tuple(given))[0]
        lengths = {size for aval in given for size in aval.shape if not is_symbolic(size)}
        bounds.update(dict.fromkeys(bounds_in([n for x in found for n in x.shape], lengths)))
        bounds.update(dict.fromkeys(_bounds_of(step.closure, given)))
        kinds += found
    return tuple(bounds)


def _bounds_of(closure: Closure, avals: Sequence[Aval]) -> Iterator[str]:
    for size, least in zip(avals[0].shape if avals else (), _least(closure), strict=False):
        if is_symbolic(size) and least != 0:
            yield f"{size} >= {least}"


def _least(closure: Closure) -> list[Size]:
    """How long the first axes must be at least, of those that an op takes something of."""
    given = closure.attributes
    if closure.name == "Pad" and given["mode"] != "CONSTANT":
        edge = 1 if given["mode"] == "REFLECT" else 0
        return [maximum(*pair) + edge if any(pair) else 0 for pair in given["paddings"]]
    if closure.name == "Slice":
        begins = given.get("begin", (0,) * len(given["size"]))
        pairs = zip(begins, given["size"], strict=True)
        return [begin if size == -1 else begin + size for begin, size in pairs]
    if closure.name == "StridedSlice":
        entries = itertools.takewhile(lambda entry: entry is not Ellipsis, given["spec"])
        numbers = [x if isinstance(x, int) else None for x in entries if x is not None]
        return [0 if n is None else n + 1 if n >= 0 else -n for n in numbers]
    return []


def sizes_stated(closure: Call, avals: Sequence[Aval]) -> Sizes:
    """The unknown sizes that `tf.ensure_shape` tells: a program is for these only."""
    kinds = list(avals)
    found: dict[str, Size] = {}
    for step in closure.flat.steps:
        if step.closure.op.name == "EnsureShape":
            sizes = zip(kinds[step.inputs[0]].shape, step.closure.attributes["sizes"], strict=True)
            for size, stated in sizes:
                if is_symbolic(size) and stated is not None:
                    found.update([_solved(size, stated)])
        kinds += step.closure.infer(tuple([kinds[i] for i in step.inputs]))[0]
    return Sizes(**found)


def size_met(closure: Call, avals: Sequence[Aval]) -> Sizes:
    """An unknown size that an op can only do with as another one: that of rows which a matrix of
    known size is multiplied by, or of a vector that another one is added to, or 1 of an axis that
    is to go; several where three arrays or more are joined. None if ops can do with all of them, or
    one with none."""
    kinds = list(avals)
    own = set(_names(avals))
    for step in closure.flat.steps:
        given = [kinds[i] for i in step.inputs]
        if not _traced(step.closure, given):
            own.update(_names(given))
            if step.closure.name == "Squeeze":
                gone = [given[0].shape[axis] for axis in step.closure.attributes["axis"]]
                return Sizes(**{str(size): 1 for size in gone if size in own})
            met = [size for aval in given for size in aval.shape]
            sizes = list(dict.fromkeys([*met, *_names(given)]))
            others = sorted([x for x in sizes if x in own or not is_symbolic(x)], key=is_symbolic)
            for size, other in itertools.product([x for x in sizes if x in own], others):
                does = [
                    _traced_at(step.closure, given, Sizes(**{str(size): to}))
                    for to in (other, _ANY_SIZE)
                ]
                if other not in (size, 1) and does == [True, False]:
                    return Sizes(**{str(size): other})
            together = _sizes_met_together(step.closure, given, own)
            return together or _multiples_met(step.closure, given, own)
        kinds += step.closure.infer(tuple(given))[0]
    return Sizes()


def _sizes_met_together(closure: Closure, avals: Sequence[Aval], own: set[Size]) -> Sizes:
    """The unknown sizes along an axis that an op can only do with as one size; else along all; else
    all of them."""
    every: dict[str, Size] = {}
    names = set(map(str, own))
    for along in itertools.zip_longest(*[aval.shape for aval in avals]):
        sizes = dict.fromkeys(size for size in along if size is not None)
        known = [size for size in sizes if not is_symbolic(size)]
        (wanted, *_) = *known, *[size for size in sizes if size in own], None
        differ = [size for size in sizes if is_symbolic(size) and size != wanted]
        solved = [_solved(size, wanted) for size in differ if wanted is not None]
        to = {name: size for name, size in solved if name in names}
        if found := _needed(closure, avals, to):
            return found
        every |= to
    unknown = [size for size in _names(avals) if size in own]
    alike = {str(size): unknown[0] for size in unknown[1:]}
    return _needed(closure, avals, every) or _needed(closure, avals, alike)


def _multiples_met(closure: Closure, avals: Sequence[Aval], own: set[Size]) -> Sizes:
    """Multiples of unknown sizes, or those with one remainder, where an op can only do with such:
    that joins what was halved and doubled with what was not, or cuts into equal parts."""
    known = [*avals, *closure.infer(tuple(avals))[0]]
    sizes = dict.fromkeys(size for aval in known for size in aval.shape if is_symbolic(size))
    whole = max([prod(map(int, _DIVISOR.findall(str(size)))) for size in sizes], default=1)
    names = [size for size in _names(avals) if size in own]
    for factor in [n for n in range(2, whole + 1) if whole % n == 0]:
        for less in range(factor):
            to = {str(size): factor * size - less for size in names}
            if found := _needed(closure, avals, to):
                return found
    return Sizes()


#: What an unknown size is divided by.
_DIVISOR = re.compile(r", (\d+)\)")


def _needed(closure: Closure, avals: Sequence[Aval], to: dict[str, Size]) -> Sizes:
    """Those of the sizes that an op needs; none if it cannot do with them."""
    if not _traced_at(closure, avals, Sizes(**to)):
        return Sizes()
    for name in list(to):
        fewer = {other: size for other, size in to.items() if other != name}
        if _traced_at(closure, avals, Sizes(**fewer)):
            to = fewer
    return Sizes(**to)


def _traced_at(closure: Closure, avals: Sequence[Aval], sizes: Sizes) -> bool:
    return _traced(closure.at(sizes), [aval.at(sizes) for aval in avals])


def sizes_met(closure: Call, avals: Sequence[Aval]) -> list[Sizes]:
    """`size_met`, one after the other, until ops can do with all sizes or with none."""
    found: list[Sizes] = []
    while met := size_met(closure, avals):
        found.append(met)
        closure, avals = at(met, closure, avals)
    return found


def at(sizes: Sizes, closure: Call, avals: Sequence[Aval]) -> tuple[Call, Sequence[Aval]]:
    """A closure and its avals with these sizes."""
    return cast(Call, closure.at(sizes)), [aval.at(sizes) for aval in avals]


def _names(avals: Sequence[Aval]) -> list[Size]:
    """The unknown sizes that the sizes of arrays are made of."""
    return [parsed(name) for name in variables(tuple([aval.shape for aval in avals]))]


def _traced(closure: Closure, avals: Sequence[Aval]) -> bool:
    """Whether JAX does a closure of arrays of these avals."""
    try:
        in_x64(jax.eval_shape, closure.fn, *[aval.struct for aval in avals])
    except Exception:  # JAX's are of many classes
        return False
    return True


def within(bounds: Sequence[str], avals: Sequence[Aval]) -> Sizes:
    """The unknown sizes in avals, of which the bounds are certain."""
    return bounded(variables(tuple([aval.shape for aval in avals])), bounds)


def that_may_be_none(avals: Sequence[Aval]) -> Sizes:
    """Sizes that put `d - 1` for each unknown size d of these avals. JAX takes it that variables
    are not 0, so that programs refuse empty arrays; these take them.

    >>> that_may_be_none([Aval.of((parsed("d0"), 3), as_dtype("int32"))])
    Sizes(d0=d0 - 1)
    """
    names = variables(tuple([aval.shape for aval in avals]))
    return Sizes(**{name: parsed(f"{name} - 1") for name in names})


def gives_sizes(closure: Closure, avals: Sequence[Aval]) -> bool:
    """Whether no size of what a closure gives can be below 0, as that of an array of `2 * d - 1`
    rows if d may be 0: JAX reads no program that gives one."""
    try:
        outputs = closure.infer(tuple(avals))[0]
    except (NeedsValue, INCONCLUSIVE):
        return False
    return all(maximum(size, 0) is size for aval in outputs for size in aval.shape)


def program_of(closure: Closure, avals: Sequence[Aval], name: str) -> Program:
    """The program of a closure.

    Raises: NotImplementedError if it calls Python, or needs sizes that are not known.
    """

    structs = [aval.struct for aval in avals]
    try:
        outputs, _ = closure.infer(tuple(avals))
        exported, shapes = in_x64(_written, closure.fn, name, structs)
    except Exception as error:  # JAX's are of many classes
        raise NotImplementedError(
            f"{name} cannot be written as a program: {str(error).splitlines()[0]} (at "
            f"{user_location()})"
        ) from error
    return Program(
        bytes(exported.mlir_module_serialized),
        exported.calling_convention_version,
        tuple(exported.platforms),
        tuple(avals),
        outputs,
        traced=shapes,
    )


def _written(
    function: Callable[..., Arrays], name: str, structs: Sequence[Any]
) -> tuple[Any, tuple[Shape, ...]]:
    """A function as JAX writes it, for all platforms if it can be, and the shapes of what it gives.
    It is traced once, for JAX keeps what it traces."""
    jitted = _jitted(function, name)
    jaxpr = jitted.trace(*structs).jaxpr
    if not is_plain(jaxpr):
        jitted = _jitted(by_formulas(jaxpr), name)
    try:
        exported = jax.export.export(jitted, platforms=PLATFORMS)(*structs)
    except NotImplementedError:
        exported = jax.export.export(jitted, platforms=(jax.default_backend(),))(*structs)
    return exported, tuple([aval.shape for aval in jaxpr.out_avals])


def _jitted(function: Callable[..., Sequence[Any]], name: str) -> Any:
    def call(*arrays: Any) -> Arrays:
        return tuple(function(*arrays))

    call.__name__ = call.__qualname__ = name
    return jax.jit(call, keep_unused=True)


def lapack_of(program: Program) -> list[str]:
    """Which functions of LAPACK a program calls: TensorFlow's XLA has none of them."""
    return sorted({found.decode() for found in _LAPACK.findall(program.module)})


#: What JAX calls a function of LAPACK, after the letter of the dtype.
_LAPACK = re.compile(rb"lapack_[sdcz](\w+?)_ffi")


class Derivative(NamedTuple):
    """The program from all inputs of another one and the cotangents of its outputs at `outputs` to
    the cotangents of its inputs at `inputs`; none if there are no such inputs."""

    program: Program | None
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]


def derivative_of(closure: Call, program: Program, name: str) -> Derivative:
    """The derivative of a closure as a program, by the inputs that its results depend on.

    Raises: NotImplementedError if it cannot be written.
    """
    outputs, steps = _places(program.outputs), closure.steps
    # JAX makes no zeros for integers of unknown sizes
    inexact = Call(steps._replace(outputs=tuple([steps.outputs[i] for i in outputs])), name)
    used = frozenset().union(*used_by(inexact, program.inputs))
    inputs = tuple([i for i in _places(program.inputs) if i in used])
    if not inputs:
        return Derivative(None, inputs, outputs)
    count = len(program.inputs)
    pull = pullback(inexact.without_effect(), count, inputs, tuple(range(len(outputs))))
    given = [Aval.of(program.traced[i], program.outputs[i].dtype) for i in outputs]
    avals = [*program.inputs, *given]
    return Derivative(program_of(pull, avals, name), inputs, outputs)


def _places(avals: Sequence[Aval]) -> tuple[int, ...]:
    return tuple([i for i, aval in enumerate(avals) if aval.trainable])


# -- as text --------------------------------------------------------------------------------------


def aval_text(aval: Aval) -> str:
    """An aval as text.

    >>> aval_text(Aval.of((parsed("2*d0"), 3), as_dtype("float32")))
    'float32[2*d0;3]'
    """
    return f"{aval.dtype.name}[{';'.join(map(str, aval.shape))}]"


def aval_of(text: str) -> Aval:
    """The aval that a text tells of.

    >>> aval_of("float32[2*d0;3]")
    float32[2*d0, 3]
    """
    dtype, _, sizes = text.removesuffix("]").partition("[")
    return Aval.of(tuple(map(_size, filter(None, sizes.split(";")))), as_dtype(dtype))


def _size(text: str) -> Size:
    return int(text) if text.isdecimal() else parsed(text)


# -- read -----------------------------------------------------------------------------------------


def _callable(program: Program) -> Any:
    """A program as JAX calls it. All but the module is as in a program that JAX makes of the same
    inputs and outputs."""
    sizes = within(program.bounds, program.inputs) if program.bounds else Sizes()
    inputs, outputs = ([x.at(sizes) for x in avals] for avals in (program.inputs, program.outputs))
    traced = in_x64(_zeros(outputs).trace, *[aval.struct for aval in inputs]).jaxpr
    return dataclasses.replace(
        _frame(len(inputs), len(outputs), program.platforms),
        in_avals=tuple(traced.in_avals),
        out_avals=tuple(traced.out_avals),
        mlir_module_serialized=program.module,
        calling_convention_version=program.version,
        uses_global_constants=True,
    )


_FRAMES: Cache[tuple[int, int, tuple[str, ...]], Any] = Cache("frames of programs", 256)


def _frame(inputs: int, outputs: int, platforms: tuple[str, ...]) -> Any:
    """An exported program that takes and gives so many numbers. Of arrays of unknown sizes JAX
    writes checks, which takes long."""
    key = inputs, outputs, platforms
    found = _FRAMES.get(key)
    if found is None:
        number = Aval.of((), float32)
        export = jax.export.export(_zeros([number] * outputs), platforms=platforms)
        found = _FRAMES.put(key, in_x64(export, *[number.struct] * inputs))
    return found


def _zeros(outputs: Sequence[Aval]) -> Any:
    """A jitted function of any arrays that gives zeros."""

    def like(*arrays: Any) -> Arrays:
        return tuple([jnp.zeros(aval.shape, aval.np_dtype) for aval in outputs])

    return jax.jit(like, keep_unused=True)


class _Lazy:
    """A program that is read when it is first called. What was written of its derivatives is not in
    it: JAX cannot differentiate it."""

    def __init__(self, program: Program, name: str):
        self._program, self._name = program, name
        self._call: Any = None

    def __call__(self, *arrays: Any) -> Arrays:
        if self._call is None:
            exported = _callable(self._program)
            self._call = jax.custom_jvp(lambda *arrays: tuple(exported.call(*arrays)))
            self._call.defjvp(self._refused)
        found: Arrays = self._call(*arrays)
        return found

    def _refused(self, _primals: Any, _tangents: Any) -> Any:
        raise NotImplementedError(
            f"{self._name} of a SavedModel has no such derivative: that of reverse mode and of the "
            f"first order is written, unless the SaveOptions say otherwise. At {user_location()}."
        )


def op_of(program: Program, derivative: Derivative | None, name: str) -> Op:
    """A program as an op, with its derivative if that was written too. name: for messages."""

    def shapes(avals: Sequence[Aval]) -> tuple[Aval, ...]:
        sizes = _sizes(program.inputs, avals)
        return tuple([aval.at(sizes) for aval in program.outputs])

    pull = None
    if derivative is not None and derivative.program is not None:
        pull = _pull_of(_Lazy(derivative.program, name), derivative)
    return Op(_Lazy(program, name), "XlaCallModule", shapes=shapes, pull=pull, host_foldable=False)


def _sizes(wanted: Sequence[Aval], given: Sequence[Aval]) -> Sizes:
    """The unknown sizes of a program that is given such arrays. Where one has two sizes, the first
    counts: they must be equal when they are known."""
    found: dict[str, Size] = {}
    for want, have in zip(wanted, given, strict=True):
        for size, there in zip(want.shape, have.shape, strict=True):
            if is_symbolic(size):
                found.setdefault(*_solved(size, there))
    return Sizes(**found)


def _solved(size: Size, known: Size) -> tuple[str, Size]:
    """The name of a size, and what it is where an expression of it, as `that_may_be_none` and
    `size_met` put some there, is a known one; of other expressions nothing that has a name.

    >>> _solved(parsed("4*d0 - 4"), 8)
    ('d0', 3)
    """
    parts = _LINEAR.fullmatch(str(size))
    if parts is None:
        return str(size), known
    factor, name, less = parts.groups()
    return name, (known + int(less or 0)) // int(factor or 1)


_LINEAR = re.compile(r"(?:(\d+)\*)?([A-Za-z_]\w*)(?: - (\d+))?")


def _pull_of(call: _Lazy, derivative: Derivative) -> Any:
    def pull(arrays: Sequence[Any], cotangents: Sequence[Any], wrt: tuple[int, ...]) -> Arrays:
        given = [conj(cotangents[i]) for i in derivative.outputs]
        found = dict(zip(derivative.inputs, call(*arrays, *given), strict=True))
        return tuple([conj(found[i]) for i in wrt])

    return pull
