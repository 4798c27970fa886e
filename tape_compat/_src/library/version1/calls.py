"""Functions of TensorFlow 1: arguments that have another name, place or default."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...autodiff.arguments import UnconnectedGradients
from ...composites.ragged import RaggedTensor
from ...core.dimensions import differ
from ...core.errors import user_location
from ...core.refuse import invalid, shown
from ...function.control_flow import cond as cond_v2, while_loop as while_loop_v2
from ...function.gradients import gradients as gradients_v2
from ...ops.arguments import as_size
from ...ops.convolutions import (
    conv2d_transpose as conv2d_transpose_v2,
    convolution as convolution_v2,
)
from ...ops.counting import in_top_k as in_top_k_v2
from ...ops.creation import range as range_of
from ...ops.gather_scatter import gather as gather_v2, gather_nd as gather_nd_v2
from ...ops.joining import concat, pad as pad_v2
from ...ops.pooling import avg_pool2d, max_pool2d
from ...ops.ragged_creation import map_flat_values
from ...ops.selection import boolean_mask as boolean_mask_v2, where as where_v2
from ...ops.shapes import reshape, shape as shape_of
from ...values.convert import convert
from ...values.tensor import Tensor
from .renamed import renamed


def _either(first: Any, second: Any, names: tuple[str, str]) -> Any:
    """The one of two arguments that is given.

    Raises: ValueError for both.
    """
    if first is not None and second is not None:
        raise ValueError(f"Cannot specify both '{names[0]}' and '{names[1]}'.")
    return second if first is None else first


def where(condition: Any, x: Any = None, y: Any = None, name: str | None = None) -> Tensor:
    """`tf.where` without broadcasting, but a vector `condition` chooses whole rows.

    Raises: ValueError if one of `x` and `y` is missing; InvalidArgumentError for other shapes.

    >>> import tape_compat as tf
    >>> tf.compat.v1.where([True, False], [[1], [2]], [[3], [4]]).numpy().tolist()
    [[1], [4]]
    """
    if x is None and y is None:
        return where_v2(condition)
    if x is None or y is None:
        raise ValueError("x and y must both be non-None or both be None.")
    if isinstance(x, RaggedTensor) or isinstance(y, RaggedTensor):
        return _ragged_where(condition, x, y)
    condition, x, y = convert(condition, "bool"), convert(x), convert(y)
    have, wanted = condition._aval.shape, x._aval.shape
    if have != wanted and have:
        if len(have) != 1:
            raise invalid(f"Incompatible shapes: {shown(have)} vs. {shown(wanted)}", "Select")
        if not wanted:
            raise invalid("'then' must be at least a vector, but saw shape: []", "Select")
        if differ(wanted[0], have[0]):
            raise invalid(
                "Number of batches of 'then' must match size of 'cond', but saw: "
                f"{wanted[0]} vs. {have[0]}",
                "Select",
            )
        condition = reshape(condition, (*have, *[1] * (len(wanted) - 1)))
    return where_v2(condition, x, y)


def _ragged_where(condition: Any, x: Any, y: Any) -> Any:
    """Elements of ragged tensors by a ragged condition, or their rows by a vector."""
    if all(isinstance(value, RaggedTensor) for value in (condition, x, y)):
        return map_flat_values(where, condition, x, y)  # a vector of values chooses whole rows
    if isinstance(condition, RaggedTensor):
        raise ValueError(
            "Input shapes do not match. `condition`, `x` and `y` must all be ragged, or "
            f"`condition` a vector (at {user_location()})."
        )
    condition = convert(condition, "bool")
    if len(condition._aval.shape) != 1:
        raise ValueError(f"Shape {condition.shape} must have rank 1 (at {user_location()})")
    rows = as_size(x.nrows() if isinstance(x, RaggedTensor) else shape_of(x)[0])
    places = range_of(rows)
    return gather_v2(concat([x, y], 0), where_v2(condition, places, places + rows))


gather = renamed(gather_v2, "params indices validate_indices=None name=None axis=None batch_dims=0")
gather_nd = renamed(gather_nd_v2, "params indices name=None batch_dims=0 bad_indices_policy=''")
pad = renamed(pad_v2, "tensor paddings mode='CONSTANT' name=None constant_values=0")
boolean_mask = renamed(boolean_mask_v2, "tensor mask name='boolean_mask' axis=None")


def cond(
    pred: Any,
    true_fn: Callable[[], Any] | None = None,
    false_fn: Callable[[], Any] | None = None,
    strict: bool = False,
    name: str | None = None,
    fn1: Callable[[], Any] | None = None,
    fn2: Callable[[], Any] | None = None,
) -> Any:
    """See `tf.cond`. Without `strict` a list of one result is that result.

    >>> import tape_compat as tf
    >>> tf.compat.v1.cond(tf.constant(True), lambda: [1], lambda: [2])
    1
    """
    true_fn = _either(true_fn, fn1, ("true_fn", "fn1"))
    false_fn = _either(false_fn, fn2, ("false_fn", "fn2"))
    for given, what in ((true_fn, "true_fn"), (false_fn, "false_fn")):
        if given is None:
            raise TypeError(f"cond(): '{what}' argument required")
    found = cond_v2(pred, true_fn, false_fn)
    one = not strict and isinstance(found, (list, tuple)) and len(found) == 1
    return found[0] if one else found


def while_loop(
    cond: Callable[..., Any],
    body: Callable[..., Any],
    loop_vars: Any,
    shape_invariants: Any = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    name: str | None = None,
    maximum_iterations: Any = None,
    return_same_structure: bool = False,
) -> Any:
    """See `tf.while_loop`. Without `return_same_structure` a list of one result is that result.

    >>> import tape_compat as tf
    >>> int(tf.compat.v1.while_loop(lambda i: i < 3, lambda i: i + 1, [tf.constant(0)]))
    3
    """
    alone = not return_same_structure and isinstance(loop_vars, list) and len(loop_vars) == 1

    def step(*values: Any) -> Any:
        found = body(*values)
        return [found] if alone and not isinstance(found, (list, tuple)) else found

    found = while_loop_v2(
        cond,
        step,
        loop_vars,
        shape_invariants,
        parallel_iterations,
        back_prop,
        swap_memory,
        maximum_iterations,
    )
    one = not return_same_structure and isinstance(found, (list, tuple)) and len(found) == 1
    return found[0] if one else found


def gradients(
    ys: Any,
    xs: Any,
    grad_ys: Any = None,
    name: str = "gradients",
    colocate_gradients_with_ops: bool = False,
    gate_gradients: bool = False,
    aggregation_method: int | None = None,
    stop_gradients: Any = None,
    unconnected_gradients: UnconnectedGradients = UnconnectedGradients.NONE,
) -> list[Any]:
    """See `tf.gradients`; where ops are placed is JAX's choice."""
    return gradients_v2(
        ys,
        xs,
        grad_ys,
        name,
        gate_gradients,
        aggregation_method,
        stop_gradients,
        unconnected_gradients,
    )


def assign(
    ref: Any,
    value: Any,
    validate_shape: bool | None = None,
    use_locking: bool | None = None,
    name: str | None = None,
) -> Any:
    """`ref.assign(value)` of a Variable.

    >>> import tape_compat as tf
    >>> v = tf.Variable(1.0)
    >>> float(tf.compat.v1.assign(v, 2.0))
    2.0
    """
    return ref.assign(value)


def assign_add(
    ref: Any, value: Any, use_locking: bool | None = None, name: str | None = None
) -> Any:
    """`ref.assign_add(value)` of a Variable."""
    return ref.assign_add(value)


def assign_sub(
    ref: Any, value: Any, use_locking: bool | None = None, name: str | None = None
) -> Any:
    """`ref.assign_sub(value)` of a Variable."""
    return ref.assign_sub(value)


def count_up_to(ref: Any, limit: int, name: str | None = None) -> Tensor:
    """`ref.count_up_to(limit)` of a Variable.

    >>> import tape_compat as tf
    >>> v = tf.Variable(3)
    >>> int(tf.compat.v1.count_up_to(v, 4)), int(v)
    (3, 4)
    """
    return ref.count_up_to(limit)


# -- tf.compat.v1.nn, tf.compat.v1.math ------------------------------------------------------------


def convolution(
    input: Any,
    filter: Any = None,
    padding: Any = None,
    strides: Any = None,
    dilation_rate: Any = None,
    name: str | None = None,
    data_format: str | None = None,
    filters: Any = None,
    dilations: Any = None,
) -> Tensor:
    """See `tf.nn.convolution`; `filter` and `dilation_rate` are the older names.

    >>> import tape_compat as tf
    >>> tf.compat.v1.nn.convolution(tf.ones([1, 4, 2]), tf.ones([2, 2, 5]), "SAME").shape
    TensorShape([1, 4, 5])
    """
    filters = _either(filter, filters, ("filter", "filters"))
    dilations = _either(dilation_rate, dilations, ("dilation_rate", "dilations"))
    if filters is None or padding is None:
        raise TypeError("Missing required positional argument")
    return convolution_v2(input, filters, strides, padding, data_format, dilations)


conv2d_transpose = renamed(
    conv2d_transpose_v2,
    "value:input filter:filters output_shape=None strides=None padding='SAME' "
    "data_format='NHWC' name=None input=None filters=None dilations=None",
)
in_top_k = renamed(in_top_k_v2, "predictions targets k name=None")


def max_pool(
    value: Any,
    ksize: Any,
    strides: Any,
    padding: Any,
    data_format: str = "NHWC",
    name: str | None = None,
    input: Any = None,
) -> Tensor:
    """See `tf.nn.max_pool2d`; `value` is the older name."""
    value = _either(value, input, ("value", "input"))
    return max_pool2d(value, ksize, strides, padding, data_format)


def avg_pool(
    value: Any,
    ksize: Any,
    strides: Any,
    padding: Any,
    data_format: str = "NHWC",
    name: str | None = None,
    input: Any = None,
) -> Tensor:
    """See `tf.nn.avg_pool2d`; `value` is the older name."""
    value = _either(value, input, ("value", "input"))
    return avg_pool2d(value, ksize, strides, padding, data_format)
