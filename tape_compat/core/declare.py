"""Declaring ops: one row each.

    sin = unary(jnp.sin, "Sine of x, in radians.")
    maximum = binary(rules.maximum, "Larger of x and y, elementwise.", kernel="Maximum")

    @op(arrays=1, kernel="Sum")
    def reduce_sum(input_tensor, axis=None, keepdims=False, name=None):
        "Sum over `axis`, all axes if None."
        return jnp.sum(input_tensor, axis=axis, keepdims=keepdims)

A row's function takes JAX arrays; what it declares takes tensors, variables, NumPy arrays and Python
numbers. `name_ops(globals())` at the end of a table gives the rows their public names.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any

import numpy as np

from . import errors
from .avals import Aval
from .convert import convert
from .dispatch import apply
from .dtypes import DType
from .op import Check, Op
from .shapes import TensorShape
from .tensor import Tensor

_FLOATS = ("bfloat16", "float16", "float32", "float64")
_COMPLEX = ("complex64", "complex128")
_INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")

#: Sets of dtypes that rows name.
KINDS: dict[str, frozenset[str]] = {
    "float": frozenset(_FLOATS),
    "complex": frozenset(_COMPLEX),
    "integer": frozenset(_INTEGERS),
    "bool": frozenset(("bool",)),
    "string": frozenset(("string",)),
}
_TF_DTYPE_NAMES = {"float32": "float", "float64": "double", "float16": "half"}


def allowed(kinds: str) -> frozenset[str]:
    """The dtype names of a row's `dtypes`, for example "float complex"."""
    return frozenset().union(*(KINDS[kind] for kind in kinds.split()))


def tf_dtype_name(dtype: DType) -> str:
    """A dtype as TensorFlow's kernels call it in messages: float, double, half."""
    return _TF_DTYPE_NAMES.get(dtype.name, dtype.name)


def invalid(message: str, kernel: str) -> errors.InvalidArgumentError:
    """TensorFlow's error for bad input to a kernel, with the user's line."""
    return errors.InvalidArgumentError(
        None, None, f"{message} [Op:{kernel}] (at {errors.user_location()})"
    )


def _check_dtype(known: Aval, names: frozenset[str], kernel: str) -> None:
    if known.dtype.name not in names:
        listed = ", ".join(sorted(map(str, names)))
        raise invalid(
            f"Value for attr 'T' of {tf_dtype_name(known.dtype)} is not in the list of allowed "
            f"values: {listed}\n\t; NodeDef: {{{{node {kernel}}}}}",
            kernel,
        )


def check_same_dtype(avals: Sequence[Aval], kernel: str) -> None:
    """TensorFlow's error for tensors of different dtypes."""
    for i, known in enumerate(avals):
        if known.dtype is not avals[0].dtype:
            raise invalid(
                f"cannot compute {kernel} as input #{i}(zero-based) was expected to be a "
                f"{tf_dtype_name(avals[0].dtype)} tensor but is a {tf_dtype_name(known.dtype)} tensor",
                kernel,
            )


def check_broadcast(x: Aval, y: Aval, kernel: str) -> None:
    """TensorFlow's error for shapes that do not broadcast."""
    try:
        np.broadcast_shapes(x.shape, y.shape)
    except ValueError:
        raise invalid(
            f"Incompatible shapes: {_shape(x)} vs. {_shape(y)}", kernel
        ) from None


def _shape(known: Aval) -> str:
    return "[" + ",".join(map(str, known.shape)) + "]"


def _combined(kernel: str, kinds: str | None, same: bool, broadcast: bool, check: Check | None) -> Check:
    names = None if kinds is None else allowed(kinds)

    def combined(avals: tuple[Aval, ...], **attributes: Any) -> None:
        if same and len(avals) > 1:
            check_same_dtype(avals, kernel)
        for known in avals if same else avals[:1]:
            if names is not None:
                _check_dtype(known, names, kernel)
            elif known.dtype.name == "string":
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
    differentiable: bool = True,
) -> Callable[..., Tensor]:
    """Declare `op(x, name=None)`, elementwise. `dtypes`: kinds allowed, such as "float complex"."""
    kernel = kernel or _camel(fn.__name__)
    check = _combined(kernel, dtypes, False, False, None)
    closure = Op(fn, kernel, differentiable=differentiable, check=check).bind()

    def call(x: Any, name: str | None = None) -> Tensor:
        return apply(closure, (x if x.__class__ is Tensor else convert(x),))

    return _declared(call, closure.op, doc)


def binary(
    fn: Callable[..., Any],
    doc: str,
    *,
    kernel: str | None = None,
    dtypes: str | None = None,
    differentiable: bool = True,
) -> Callable[..., Tensor]:
    """Declare `op(x, y, name=None)`, elementwise with broadcasting, both of one dtype."""
    kernel = kernel or _camel(fn.__name__)
    check = _combined(kernel, dtypes, True, True, None)
    closure = Op(fn, kernel, differentiable=differentiable, check=check).bind()

    def call(x: Any, y: Any, name: str | None = None) -> Tensor:
        if x.__class__ is Tensor and y.__class__ is Tensor:
            return apply(closure, (x, y))
        return apply(closure, tuple(matching((x, y))))

    return _declared(call, closure.op, doc)


def op(
    fn: Callable[..., Any] | None = None,
    *,
    arrays: int | None = None,
    kernel: str | None = None,
    dtypes: str | None = None,
    same_dtype: bool = True,
    differentiable: bool = True,
    check: Check | None = None,
    sparse: Callable[..., Any] | None = None,
) -> Any:
    """Declare an op by its JAX function, whose signature is the public one.

    The first `arrays` parameters are tensors (default: those without a default value); the others
    are attributes, which must be known: numbers, strings, dtypes, shapes, or tensors with a value.
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
        )
    kernel = kernel or _camel(fn.__name__)
    parameters = [p for p in inspect.signature(fn).parameters.values()]
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
    )
    convert_inputs = matching if same_dtype else _each
    count = arrays

    def call(*args: Any, **kwargs: Any) -> Any:
        if len(args) > len(names):
            raise TypeError(
                f"{fn.__name__}() takes {len(names)} positional arguments but {len(args)} were given"
            )
        if kwargs or len(args) != count:
            given = dict(zip(names, args, strict=False))
            for key, value in kwargs.items():
                if key not in names:
                    raise TypeError(f"{fn.__name__}() got an unexpected keyword argument '{key}'")
                if key in given:
                    raise TypeError(f"{fn.__name__}() got multiple values for argument '{key}'")
                given[key] = value
        else:
            given = dict(zip(inputs, args, strict=True))
        try:
            tensors = [given[key] for key in inputs]
            attributes = {
                key: static(given[key]) if key in given else defaults[key] for key in options
            }
        except KeyError as error:
            raise TypeError(
                f"{fn.__name__}() missing required argument: {error.args[0]!r}"
            ) from None
        for x in tensors:
            if x.__class__ is not Tensor:
                tensors = convert_inputs(tensors)
                break
        return apply(declared.bind(**attributes), tuple(tensors))

    wraps(fn)(call)
    return _declared(call, declared, fn.__doc__ or "")


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
    """Values as tensors of one dtype: what is not a tensor adopts the dtype of the first that is."""
    dtype = None
    for x in values:
        if x.__class__ is Tensor:
            dtype = x._aval.dtype
            break
        if hasattr(x, "_as_tensor") or isinstance(x, Tensor):
            dtype = x.dtype
            break
    if dtype is not None:
        return [
            x
            if x.__class__ is Tensor
            else x._as_tensor()
            if hasattr(x, "_as_tensor")
            else convert(x, dtype)
            for x in values
        ]
    tensors = []
    for x in values:
        tensor = convert(x, hint=tensors[0].dtype if tensors else None)
        tensors.append(tensor)
    return tensors


def _each(values: Sequence[Any]) -> list[Tensor]:
    return [convert(x) for x in values]


def static(value: Any) -> Any:
    """An attribute as a hashable Python value. A tensor gives its value."""
    if value is None or value.__class__ in (int, bool, str, float):
        return value
    if isinstance(value, (list, tuple)):
        return tuple(static(v) for v in value)
    if isinstance(value, TensorShape):
        return tuple(value.as_list())
    if isinstance(value, (Tensor, np.ndarray, np.generic)) or hasattr(value, "_as_tensor"):
        array = np.asarray(value if not isinstance(value, Tensor) else value._value())
        return _nested_tuple(array.tolist())
    return value


def _nested_tuple(value: Any) -> Any:
    return tuple(map(_nested_tuple, value)) if isinstance(value, list) else value
