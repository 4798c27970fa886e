"""What libraries call of `tensorflow.python.framework` and `.ops` that has no public name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np

from ..core.errors import user_location
from ..core.shapes import TensorShape, as_shape as as_shape
from ..function.vectorized_map import vectorized_map
from ..library.saved_model.array_kernels import prevent_gradient as prevent_gradient
from ..library.version1.dimension import Dimension as Dimension
from ..ops.convolutions import convolution
from ..ops.creation import (
    convert_to_tensor,
    get_static_value,
    is_tensor,
    range as range_of,
)
from ..ops.indexing import getitem, variable_getitem
from ..ops.shapes import broadcast_static_shape
from ..values.composite import CompositeTensor, TypeSpec
from ..values.context import executing_eagerly, init_scope
from ..values.convert import convert
from ..values.nest import children_of, map_structure, rebuilt
from ..values.sizes import folded
from ..values.spec import DenseSpec as DenseSpec, VariableSpec as VariableSpec
from ..values.tensor import Tensor
from ..values.variable import Variable

BaseResourceVariable = ResourceVariable = Variable


class _OfValues(type):
    """The class of a class whose instances are the tensors that are not symbolic."""

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, Tensor) and not instance._is_symbolic()

    def __subclasscheck__(cls, subclass: type) -> bool:
        return issubclass(subclass, Tensor)


class EagerTensor(metaclass=_OfValues):
    """What a Tensor is an instance of outside of functions that are recorded."""


class Convolution:
    """A convolution of inputs and filters of these shapes, called with them.

    padding, strides, dilation_rate, data_format: as of `tf.nn.convolution`.
    """

    def __init__(
        self,
        input_shape: Any,
        filter_shape: Any,
        padding: Any,
        strides: Any = None,
        dilation_rate: Any = None,
        name: str | None = None,
        data_format: str | None = None,
    ):
        self.input_shape, self.filter_shape = as_shape(input_shape), as_shape(filter_shape)
        self._options = (strides, padding, data_format, dilation_rate)

    def __call__(self, inp: Any, filter: Any) -> Tensor:
        return convolution(inp, filter, *self._options)


def steps_of_windows(num_spatial_dims: int, strides: Any, dilation_rate: Any) -> tuple[Any, Any]:
    """The strides and dilations of a convolution as arrays, ones where they are not given. Raises
    ValueError for others than a positive one for each axis, or where neither are all 1."""

    def sizes(name: str, given: Any) -> np.ndarray:
        if given is None:
            return np.ones(num_spatial_dims, np.int32)
        if len(given) != num_spatial_dims:
            raise ValueError(
                f"`len({name})` should be {num_spatial_dims}. "
                f"Received: {name}={given} of length {len(given)}"
            )
        array = np.array(given, np.int32)
        if (array < 1).any():
            raise ValueError(f"all values of `{name}` must be positive. Received: {name}={array}")
        return array

    dilations, steps = sizes("dilation_rate", dilation_rate), sizes("strides", strides)
    if (steps > 1).any() and (dilations > 1).any():
        raise ValueError(
            "`strides > 1` not supported in conjunction with `dilation_rate > 1`. "
            f"Received: strides={steps} and dilation_rate={dilations}"
        )
    return steps, dilations


# -- shapes


def as_dimension(value: Any) -> Dimension:
    """A Dimension of a size, None or a Dimension."""
    return value if isinstance(value, Dimension) else Dimension(value)


def dimension_value(dimension: Any) -> int | None:
    """The size that a Dimension, or a size, is; None if it is unknown."""
    return dimension.value if isinstance(dimension, Dimension) else dimension


def dimension_at_index(shape: TensorShape, index: int) -> Dimension:
    """The size of one axis of a shape."""
    return Dimension(None if shape.rank is None else shape[index])


def unknown_shape(rank: int | None = None, **_: Any) -> TensorShape:
    """A shape of so many sizes that are unknown."""
    return TensorShape(rank if rank is None else [None] * rank)


def constant_value(tensor: Any, partial: bool = False) -> Any:
    """The value of a tensor as an array, where it is known; else None."""
    return get_static_value(tensor, partial)


def try_evaluate_constant(tensor: Any) -> Any:
    """The value of a tensor as an array, where it can be worked out from constants; else None."""
    known = get_static_value(tensor)
    return folded(tensor) if known is None and isinstance(tensor, Tensor) else known


def constant_value_as_shape(tensor: Any) -> TensorShape:
    """The shape that a vector of sizes is, as far as these are known; -1 is unknown."""
    if isinstance(tensor, (list, tuple, TensorShape)):
        return as_shape(tensor)
    known = get_static_value(tensor, partial=True)
    if known is None:
        return unknown_shape(convert(tensor).shape[0])
    return TensorShape([None if size is None or size < 0 else int(size) for size in known])


def is_broadcast_compatible(shape_x: TensorShape, shape_y: TensorShape) -> bool:
    """Whether two shapes of known rank broadcast to one."""
    try:
        return broadcast_static_shape(shape_x, shape_y).rank is not None
    except ValueError:
        return False


# -- tensors


def is_tf_type(x: Any) -> bool:
    """`tf.is_tensor`."""
    return is_tensor(x)


def slice_helper_var(var: Any, slice_spec: Any) -> Any:
    """A part of a variable, or of what becomes a tensor."""
    return (variable_getitem if isinstance(var, Variable) else getitem)(var, slice_spec)


def convert_to_tensor_or_composite(value: Any, dtype: Any = None, name: Any = None) -> Any:
    """A composite as it is, anything else as a Tensor."""
    return value if isinstance(value, CompositeTensor) else convert_to_tensor(value, dtype)


internal_convert_to_tensor_or_composite = convert_to_tensor_or_composite


def is_resource_variable(var: Any) -> bool:
    """Whether a value is a Variable."""
    return isinstance(var, Variable)


def convert_variables_to_tensors(values: Any) -> Any:
    """A nest with the values of its variables, those in composites too, in their places."""

    def converted(value: Any) -> Any:
        if isinstance(value, Variable):
            return convert(value)
        convert_it = getattr(value, "_convert_variables_to_tensors", None)
        if isinstance(value, CompositeTensor) and convert_it is not None:
            return convert_it()
        children = children_of(value)
        return value if children is None else rebuilt(value, list(map(converted, children)))

    return converted(values)


def replace_composites_with_components(structure: Any) -> Any:
    """A nest with what composites are made of in their places."""

    def replaced(value: Any) -> Any:
        if not isinstance(value, CompositeTensor):
            return value
        return replace_composites_with_components(value._type_spec._to_components(value))

    return map_structure(replaced, structure)


def _ShapeTensor(shape: Any) -> Tensor:
    """A vector of sizes as int32, or as int64 if it has that dtype."""
    if isinstance(shape, (tuple, list)) and not shape:
        return convert_to_tensor(np.zeros(0, np.int32))
    return convert_to_tensor(shape)


# -- specs


class BatchableTypeSpec(TypeSpec):
    """The base of specs whose values a dataset can stack, by `_batch` and `_unbatch`."""

    __slots__ = ()


def register_type_spec_from_value_converter(
    type_object: type, converter_fn: Callable[[Any], TypeSpec], allow_subclass: bool = False
) -> None:
    """Refused: give the class a property `_type_spec`."""
    raise NotImplementedError(
        f"register_type_spec_from_value_converter({type_object.__name__}): give the class a "
        "property `_type_spec`, which tf.type_spec_from_value asks for"
    )


def make_composite_tensor(cls: Any, module_name: str = "tf.linalg") -> Any:
    """A class of linear operators as it is: each has a class of specs."""
    return cls


# -- graphs and control flow

ENABLE_CONTROL_FLOW_V2 = True


def EnableControlFlowV2(graph: Any) -> bool:
    """True: conditionals and loops hold functions."""
    return True


def GraphOrParentsInXlaContext(graph: Any) -> bool:
    """False: what is done otherwise for XLA in TensorFlow need not be here."""
    return False


def InXlaContext(graph: Any) -> bool:
    """See `GraphOrParentsInXlaContext`."""
    return False


def get_enclosing_xla_context() -> None:
    """None: see `GraphOrParentsInXlaContext`."""


def IsInWhileLoop(op: Any) -> bool:
    """False: loops hold functions of their own."""
    return False


def executing_eagerly_outside_functions() -> bool:
    """True: there are no sessions."""
    with init_scope():
        return executing_eagerly()


def pfor(
    loop_fn: Callable[[Any], Any],
    iters: Any,
    fallback_to_while_loop: bool = True,
    parallel_iterations: int | None = None,
    warn: bool = False,
) -> Any:
    """What `loop_fn` gives of each number below `iters`, stacked: `tf.vectorized_map`.

    parallel_iterations: how many to work out at once bounds memory in TensorFlow; here all are.
    """
    return vectorized_map(loop_fn, range_of(iters), fallback_to_while_loop, warn)


def _case_helper(
    cond_fn: Callable[..., Any],
    pred_fn_pairs: Any,
    default: Callable[[], Any] | None,
    exclusive: bool,
    name: Any,
    allow_python_preds: bool = False,
    **cond_kwargs: Any,
) -> Any:
    """The result of the first function whose condition is true, by conditionals of `cond_fn`."""
    pairs = list(pred_fn_pairs.items() if isinstance(pred_fn_pairs, dict) else pred_fn_pairs)
    chosen: Callable[[], Any] = default or pairs.pop()[1]
    for pred, function in reversed(pairs):
        chosen = _choosing(cond_fn, pred, function, chosen, cond_kwargs)
    return chosen()


def _choosing(
    cond_fn: Callable[..., Any],
    pred: Any,
    true_fn: Callable[[], Any],
    false_fn: Callable[[], Any],
    options: dict[str, Any],
) -> Callable[[], Any]:
    return lambda: cond_fn(pred, true_fn=true_fn, false_fn=false_fn, **options)


def smart_constant_value(pred: Any) -> bool | None:
    """Whether a condition holds, where that is known; else None."""
    if isinstance(pred, Tensor):
        known = try_evaluate_constant(pred)
        return None if known is None else bool(known)
    if pred in (0, 1):
        return bool(pred)
    raise TypeError(f"Argument `pred` must be a Tensor, or a Python bool, or 1 or 0. Found: {pred}")


# -- numbers


def get_seed(op_seed: int | None) -> tuple[Any, Any]:
    """The seeds of the graph and of an op, as they were given."""
    return None, op_seed


def parameterized_truncated_normal(*_: Any, **__: Any) -> NoReturn:
    """Refused: the stateless op is there."""
    raise NotImplementedError(
        "parameterized_truncated_normal: take tf.random.stateless_parameterized_truncated_normal "
        f"(at {user_location()})"
    )


# -- ops of graphs


class RegisterStatistics:
    """A decorator that notes nothing: it names what an op of a graph costs, and there are none.

    Args:
      op_type, statistic_type: the name of an op and of what is counted. Raises: TypeError for what
        is no text, ValueError for a name that needs quotes.
    """

    def __init__(self, op_type: str, statistic_type: str):
        if not isinstance(op_type, str):
            raise TypeError("op_type must be a string.")
        if "," in op_type:
            raise TypeError("op_type must not contain a comma.")
        if not isinstance(statistic_type, str):
            raise TypeError("statistic_type must be a string.")
        if "," in statistic_type:
            raise TypeError("statistic_type must not contain a comma.")

    def __call__(self, f: Callable[..., Any]) -> Callable[..., Any]:
        return f
