"""Declaring ops: one row each.

    sin = unary(jnp.sin, "Sine of x, in radians.")
    maximum = binary(rules.maximum, "Larger of x and y, elementwise.", kernel="Maximum")

    @op(arrays=1, kernel="Sum")
    def reduce_sum(input_tensor, axis=None, keepdims=False, name=None):
        "Sum over `axis`, all axes if None."
        return jnp.sum(input_tensor, axis=axis, keepdims=keepdims)

A row's function takes JAX arrays; what it declares takes tensors, variables, NumPy arrays and
Python numbers. `name_ops(globals())` at the end of a table gives the rows their public names.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from functools import partial, wraps
from typing import TYPE_CHECKING, Any, ParamSpec, Protocol, TypeAlias, overload

import numpy as np

from ..core import limits
from ..core.avals import Aval
from ..core.dimensions import broadcast
from ..core.dtypes import DType, float32
from ..core.native import native_calls
from ..core.op import Check, Closure, Op
from ..core.refuse import check_dtype_of, invalid, not_allowed, shown
from ..core.shapes import TensorShape
from ..values import dispatch
from ..values.convert import convert
from ..values.dispatch import CompositeOperand
from ..values.indexed_slices import IndexedSlices
from ..values.record import apply, apply_scalar
from ..values.sizes import sizes_of
from ..values.tensor import Tensor
from ..values.variable import Variable, read
from . import rules

if TYPE_CHECKING:
    from numpy.typing import ArrayLike
else:  # numpy.typing takes long to import
    ArrayLike = np.ndarray | np.generic | bool | int | float | complex | str | bytes

_Parameters = ParamSpec("_Parameters")

#: What ops take for a tensor: numbers, nested lists, and arrays of any library too.
TensorLike: TypeAlias = Tensor | Variable | IndexedSlices | ArrayLike | Sequence[Any]

#: The type of parameters that take a number of continuous value: a rate, a bound, a tolerance. Such
#: a number is an input, not an attribute, so that another one needs no other program. A default may
#: be part of the op.
Number: TypeAlias = Any


def is_number(value: Any, number: float) -> bool:
    """Whether a value is this Python number, for which an op has a form of its own."""
    return (value.__class__ is float or value.__class__ is int) and value == number


class Unary(Protocol):
    """An op of one tensor."""

    op: Op

    def __call__(self, x: TensorLike, name: str | None = None) -> Tensor: ...


class Binary(Protocol):
    """An op of two tensors. `reflected(y, x)` is the same of x and y, for operators."""

    op: Op
    reflected: Callable[[Any, Any], Tensor]

    def __call__(self, x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor: ...


_FLOATS = ("bfloat16", "float16", "float32", "float64")
_COMPLEX = ("complex64", "complex128")
_INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")

#: Sets of dtypes that rows name.
KINDS: dict[str, frozenset[str]] = {
    "float": frozenset(_FLOATS),
    "complex": frozenset(_COMPLEX),
    "full": frozenset(("float32", "float64")),
    "integer": frozenset(_INTEGERS),
    "index": frozenset(("int32", "int64")),
    "bool": frozenset(("bool",)),
    "string": frozenset(("string",)),
}


def allowed(kinds: str) -> frozenset[str]:
    """The dtype names of a row's `dtypes`, for example "float complex"."""
    return frozenset().union(*(KINDS[kind] for kind in kinds.split()))


def _check_dtype(aval: Aval, names: frozenset[str], kernel: str) -> None:
    if aval.dtype.name not in names:
        raise not_allowed(aval.dtype, names, kernel)


def check_same_dtype(avals: Sequence[Aval], kernel: str) -> None:
    """TensorFlow's error for tensors of different dtypes."""
    for i, aval in enumerate(avals):
        check_dtype_of(aval, i, avals[0].dtype, kernel)


def check_broadcast(x: Aval, y: Aval, kernel: str) -> None:
    """TensorFlow's error for shapes that do not broadcast."""
    if broadcast((x.shape, y.shape)) is None:
        raise invalid(f"Incompatible shapes: {shown(x.shape)} vs. {shown(y.shape)}", kernel)


class TextOperands(Exception):
    """Raised where an op that also takes strings meets them: the host computes those."""


def _combined(
    kernel: str,
    kinds: str | None,
    same: bool,
    broadcast: bool,
    check: Check | None,
    text: bool = False,
) -> Check:
    names = None if kinds is None else allowed(kinds)

    def combined(avals: Sequence[Aval], **attributes: Any) -> None:
        if same and len(avals) > 1:
            check_same_dtype(avals, kernel)
        if text and avals[0].dtype.name == "string":
            raise TextOperands
        for aval in avals if same else avals[:1]:
            if names is not None:
                _check_dtype(aval, names, kernel)
            elif aval.dtype.name == "string":
                raise invalid(f"{kernel} does not take tensors of dtype string", kernel)
        if broadcast:
            check_broadcast(avals[0], avals[1], kernel)
        if check is not None:
            check(avals, **attributes)

    return combined


def unary(
    fn: Callable[..., Any],
    doc: str,
    *,
    kernel: str | None = None,
    dtypes: str | None = None,
    differentiable: bool | None = True,
    sparse: Callable[..., Any] | None = None,
    of_sizes: Callable[..., Any] | None = None,
    kernels: bool = False,
    parameter: str = "x",
) -> Unary:
    """Declare `op(x, name=None)`, elementwise. `dtypes`: kinds allowed, such as "float complex".
    of_sizes, kernels: see `Op`. parameter: another name for x."""
    kernel = kernel or _camel(fn.__name__)
    check = _combined(kernel, dtypes, False, False, None)
    closure = Op(
        fn,
        kernel,
        differentiable=differentiable,
        check=check,
        sparse=sparse,
        of_sizes=of_sizes,
        broadcasts=True,
        kernels=kernels,
    ).bind()

    def call(x: Any, name: str | None = None) -> Tensor:
        try:
            return apply(closure, (x if x.__class__ is Tensor else convert(x),))
        except CompositeOperand:
            return _composite(dispatch.elementwise(declared, x))

    declared: Any = native_calls("op", closure, 1)(_renamed(call, (parameter,)))
    return _declared(declared, closure.op, doc)


def binary(
    fn: Callable[..., Any],
    doc: str,
    *,
    kernel: str | None = None,
    dtypes: str | None = None,
    differentiable: bool | None = True,
    operands: Callable[[Sequence[Any]], Sequence[Tensor]] | None = None,
    text: Callable[[Tensor, Tensor], Tensor] | None = None,
    check: Check | None = None,
    of_sizes: Callable[..., Any] | None = None,
    kernels: bool = False,
    parameters: tuple[str, str] = ("x", "y"),
) -> Binary:
    """Declare `op(x, y, name=None)`, elementwise with broadcasting, both of one dtype.

    operands: makes tensors of a pair that is not two tensors; default `matching`. text: computes it
    for string tensors. check: stands for the usual checks of dtypes and shapes. of_sizes, kernels:
    see `Op`. parameters: other names for x and y.
    """
    kernel = kernel or _camel(fn.__name__)
    check = check or _combined(kernel, dtypes, True, True, None, text is not None)
    closure = Op(
        rules.spread(fn),
        kernel,
        differentiable=differentiable,
        check=check,
        broadcasts=True,
        of_sizes=of_sizes,
        kernels=kernels,
    ).bind()
    operands = operands or matching

    def call(x: Any, y: Any, name: str | None = None) -> Tensor:
        if x.__class__ is Tensor:
            kind = y.__class__
            if kind is Tensor:
                pass
            elif (kind is float or kind is int) and x._aval.floating:
                return apply_scalar(closure, x, y, False)
            elif kind is Variable:
                y = read(y)
            else:
                try:
                    x, y = operands((x, y))
                except CompositeOperand:
                    return _composite(dispatch.elementwise(declared, x, y))
        elif x.__class__ is Variable and (y.__class__ is Tensor or y.__class__ is Variable):
            x = read(x)
            if y.__class__ is Variable:
                y = read(y)
        elif _is_number_for(y, x):
            return apply_scalar(closure, read(x), y, False)
        else:
            try:
                x, y = operands((x, y))
            except CompositeOperand:
                return _composite(dispatch.elementwise(declared, x, y))
        try:
            return apply(closure, (x, y))
        except TextOperands:
            assert text is not None
            return text(x, y)

    def reflected(y: Any, x: Any) -> Tensor:
        if (
            y.__class__ is Tensor
            and (x.__class__ is float or x.__class__ is int)
            and y._aval.floating
        ):
            return apply_scalar(closure, y, x, True)
        if _is_number_for(x, y):
            return apply_scalar(closure, read(y), x, True)
        try:
            x, y = matching((x, y))
        except CompositeOperand:
            pass  # `call` has a form for them
        return call(x, y)

    retry = TextOperands if text else None
    declared: Any = native_calls("binary", closure, retry=retry)(_renamed(call, parameters))
    declared.reflected = native_calls("reflected", closure)(reflected)
    return _declared(declared, closure.op, doc)


def _renamed(call: Callable[..., Tensor], names: Sequence[str]) -> Callable[..., Tensor]:
    """`call` with these names for its parameters, which `name` follows."""
    own = inspect.signature(call)
    names = (*names, "name")
    if list(own.parameters) == list(names):
        return call
    parameters = [p.replace(name=n) for p, n in zip(own.parameters.values(), names, strict=True)]
    signature = own.replace(parameters=parameters)

    @wraps(call)
    def renamed(*args: Any, **kwargs: Any) -> Tensor:
        return call(*signature.bind(*args, **kwargs).args)

    renamed.__signature__ = signature  # type: ignore[attr-defined]
    return renamed


#: Beyond it a number for a variable is converted with more care.
MOST_NUMBER = 2**24


def _is_number_for(value: Any, x: Any) -> bool:
    """Whether a value is a Python number that the variable `x`, of float32, takes as it is."""
    return (
        x.__class__ is Variable
        and (value.__class__ is float or value.__class__ is int)
        and x.dtype is float32
        and -MOST_NUMBER <= value <= MOST_NUMBER
    )


@overload
def op(fn: Callable[_Parameters, Any]) -> Callable[_Parameters, Tensor]: ...
@overload
def op(
    fn: None = None,
    *,
    arrays: int | None = None,
    kernel: str | None = None,
    dtypes: str | None = None,
    same_dtype: bool = True,
    differentiable: bool | None = True,
    check: Check | None = None,
    sparse: Callable[..., Any] | None = None,
    shapes: Callable[..., Any] | None = None,
    of_sizes: Callable[..., Any] | None = None,
    masks: bool = False,
    kernels: bool = False,
    only: DType | None = None,
    axis: Callable[[Any], Any] | None = None,
) -> Callable[[Callable[_Parameters, Any]], Callable[_Parameters, Tensor]]: ...
def op(
    fn: Callable[..., Any] | None = None,
    *,
    arrays: int | None = None,
    kernel: str | None = None,
    dtypes: str | None = None,
    same_dtype: bool = True,
    differentiable: bool | None = True,
    check: Check | None = None,
    sparse: Callable[..., Any] | None = None,
    shapes: Callable[..., Any] | None = None,
    of_sizes: Callable[..., Any] | None = None,
    masks: bool = False,
    kernels: bool = False,
    only: DType | None = None,
    axis: Callable[[Any], Any] | None = None,
) -> Any:
    """Declare an op by its JAX function, whose signature is the public one.

    The first `arrays` parameters are tensors (default: those without a default value); the others
    are attributes, which must be known: numbers, strings, dtypes, shapes, or tensors with a value.
    shapes, of_sizes, masks, kernels: see `Op`. only: the one dtype it takes; what is no tensor is
    brought to it. axis: what makes the attribute `axis` of an argument, where `static` does not.
    """
    if fn is None:
        return lambda fn: op(
            fn,
            arrays=arrays,
            kernel=kernel,
            dtypes=dtypes,
            same_dtype=same_dtype,
            differentiable=differentiable,
            check=check,
            sparse=sparse,
            shapes=shapes,
            of_sizes=of_sizes,
            masks=masks,
            kernels=kernels,
            only=only,
            axis=axis,
        )
    kernel = kernel or _camel(fn.__name__)
    parameters = list(inspect.signature(fn).parameters.values())
    if arrays is None:
        arrays = sum(p.default is p.empty for p in parameters)
    names = [p.name for p in parameters]
    inputs, options = names[:arrays], [n for n in names[arrays:] if n != "name"]
    defaults = {p.name: p.default for p in parameters if p.default is not p.empty}
    declared = Op(
        fn,
        kernel,
        differentiable=differentiable,
        check=_combined(kernel, dtypes, same_dtype, False, check),
        sparse=sparse,
        shapes=shapes,
        of_sizes=of_sizes,
        masks=masks,
        kernels=kernels,
    )
    convert_inputs = matching if same_dtype else _each
    if only is not None:
        convert_inputs = partial(_brought_to, only)
    count = arrays
    usual = (
        declared.bind(**{n: defaults[n] for n in options})
        if set(options) <= set(defaults)
        else None
    )
    #: Closures by the attributes as they were written in the call.
    written: dict[tuple, Closure] = {}

    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            if len(args) >= count:
                closure, values = usual, args
                if kwargs or len(args) > count:
                    values = args[:count]
                    try:
                        closure = written.get(_key(args[count:], kwargs))
                    except TypeError:  # an attribute that is a list or a tensor
                        closure = None
                if closure is not None:
                    return apply(closure, _inputs(values))
            return general(args, kwargs)
        except CompositeOperand:
            return _composite(dispatch.called(fast, args, kwargs))

    def general(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        given = _arguments(fn.__name__, names, args, kwargs)
        missing = [n for n in (*inputs, *options) if n not in given and n not in defaults]
        if missing:
            raise TypeError(f"{fn.__name__}() missing required argument: {missing[0]!r}")
        attributes = {n: static(given[n]) if n in given else defaults[n] for n in options}
        if axis is not None and "axis" in given:
            attributes["axis"] = axis(given["axis"])
        closure = declared.bind(**attributes)
        if len(args) >= count:
            try:
                if len(written) < limits.MAX_CLOSURES_PER_OP:
                    written[_key(args[count:], kwargs)] = closure
            except TypeError:
                pass
        return apply(closure, _inputs([given[n] for n in inputs]))

    def _inputs(values: Sequence[Any]) -> tuple[Tensor, ...]:
        for x in values:
            if x.__class__ is not Tensor:
                return tuple(convert_inputs(values))
        return tuple(values)

    wraps(fn)(call)
    fast = native_calls("op", usual, count, written)(call) if count else call
    return _declared(fast, declared, fn.__doc__ or "")


def _key(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple:
    """Attributes as they were written in a call. 1, 1.0 and True are equal, but not their types."""
    values = (*args, *kwargs.values())
    return (len(args), *kwargs, *values, *map(type, values))


def _arguments(
    name: str, names: list[str], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> dict[str, Any]:
    """Arguments by name, with Python's errors for wrong ones."""
    if len(args) > len(names):
        raise TypeError(
            f"{name}() takes {len(names)} positional arguments but {len(args)} were given"
        )
    given = dict(zip(names, args, strict=False))
    for key, value in kwargs.items():
        if key not in names:
            raise TypeError(f"{name}() got an unexpected keyword argument '{key}'")
        if key in given:
            raise TypeError(f"{name}() got multiple values for argument '{key}'")
        given[key] = value
    return given


def _composite(found: Any) -> Any:
    """What an op gives of composites; the error of their conversion if it has no form for them."""
    if found is NotImplemented:
        raise
    return found


def _declared(call: Any, declared: Op, doc: str) -> Any:
    call.op = declared
    call.__doc__ = doc
    return call


def _camel(name: str) -> str:
    return "".join(part.capitalize() for part in name.split("_"))


def name_ops(table: dict[str, Any]) -> None:
    """Give each row its public name, once, at the end of its table."""
    for name, value in table.items():
        if callable(value) and hasattr(value, "op") and value.__name__ == "call":
            value.__name__ = value.__qualname__ = name
            value.__module__ = table["__name__"]


def matching(values: Sequence[Any]) -> list[Tensor]:
    """Values as tensors of one dtype: the others adopt that of the first that is a tensor, or of
    the first. Raises TypeError for what Python writes in another way."""
    dtype = None
    for x in values:
        if x.__class__ is Tensor or hasattr(x, "_as_tensor"):
            dtype = x.dtype
            break
    if dtype is not None:
        return [x if x.__class__ is Tensor else _adopting(x, dtype) for x in values]
    tensors: list[Tensor] = []
    for x in values:
        dtype = tensors[0].dtype if tensors else None
        arrays = dtype is None or isinstance(x, (np.ndarray, np.generic))
        tensors.append(convert(x, hint=dtype) if arrays else _written_as(x, dtype))
    return tensors


def _written_as(x: Any, dtype: DType | None) -> Tensor:
    """Python's numbers in a dtype. Raises TypeError, with all of them, if they do not fit."""
    try:
        return convert(x, dtype)
    except TypeError:
        if dtype is None or not isinstance(x, (list, tuple)):
            raise
        raise TypeError(f"Cannot convert {x!r} to EagerTensor of dtype {dtype.name}") from None


def _adopting(x: Any, dtype: DType) -> Tensor:
    to_tensor = getattr(x, "_as_tensor", None)
    return convert(x, dtype) if to_tensor is None else to_tensor()


def _each(values: Sequence[Any]) -> list[Tensor]:
    return [convert(x) for x in values]


def _brought_to(dtype: DType, values: Sequence[Any]) -> list[Tensor]:
    """Values as tensors: those that are none yet in this dtype."""
    return [
        convert(x)
        if x.__class__ is Tensor or hasattr(x, "_as_tensor")
        else convert(x, dtype)
        if isinstance(x, (np.ndarray, np.generic))
        else _written_as(x, dtype)
        for x in values
    ]


def static(value: Any) -> Any:
    """An attribute as a hashable Python value. A tensor gives its value."""
    if value is None or value.__class__ in (int, bool, str, float):
        return value
    if isinstance(value, (list, tuple, range)):
        return tuple(static(v) for v in value)
    if isinstance(value, TensorShape):
        return tuple(value.as_list())
    if hasattr(value, "_as_tensor"):
        value = value._as_tensor()
    if isinstance(value, (Tensor, np.ndarray, np.generic)):
        array = sizes_of(value) if isinstance(value, Tensor) else np.asarray(value)
        return _nested_tuple(array.tolist())
    return value


def _nested_tuple(value: Any) -> Any:
    return tuple(map(_nested_tuple, value)) if isinstance(value, list) else value
