"""Lists and items, which the feature LISTS converts. Lists stay Python's.

Source: TF autograph/operators: data_structures.py, slices.py.
"""

from __future__ import annotations

import operator
from typing import Any

from malt.operators.data_structures import ListPopOpts, ListStackOpts
from malt.operators.slices import GetItemOpts

from ...ops.gather_scatter import tensor_scatter_nd_update
from ..tensor_array import TensorArray
from .staging import is_tensor


def new_list(iterable: Any = None) -> list[Any]:
    """`[...]`"""
    return list(iterable or ())


def list_append(list_: Any, x: Any) -> Any:
    """`list_` after `list_.append(x)`."""
    if isinstance(list_, TensorArray):
        return list_.write(list_.size(), x)
    if is_tensor(list_):
        raise ValueError(_no_list(list_))
    list_.append(x)
    return list_


def _no_list(list_: Any) -> str:
    return f"tensor lists are expected to be Tensors with dtype=tf.variant, instead found {list_}"


def list_pop(list_: Any, i: Any, opts: ListPopOpts) -> tuple[Any, Any]:
    """`list_` without its item `i`, and the item."""
    if isinstance(list_, TensorArray):
        raise ValueError("TensorArray does not support item removal")
    if is_tensor(list_):
        raise ValueError(_no_list(list_))
    x = list_.pop() if i is None else list_.pop(i)
    return list_, x


def list_stack(list_: Any, opts: ListStackOpts) -> Any:
    """The items as one tensor."""
    if isinstance(list_, TensorArray):
        return list_.stack()
    return list_ if is_tensor(list_) else opts.original_call(list_)


def get_item(target: Any, i: Any, opts: GetItemOpts) -> Any:
    """`target[i]`"""
    return target.read(i) if isinstance(target, TensorArray) else target[i]


def set_item(target: Any, i: Any, x: Any) -> Any:
    """`target` after `target[i] = x`."""
    if isinstance(target, TensorArray):
        return target.write(i, x)
    if is_tensor(target):
        return tensor_scatter_nd_update(target, ((i,),), (x,))
    target[i] = x
    return target


_ARITHMETIC = {
    "add": operator.iadd,
    "div": operator.itruediv,
    "mult": operator.imul,
    "pow": operator.ipow,
    "sub": operator.isub,
}


def update_item_with_op(target: Any, i: Any, x: Any, op: str) -> Any:
    """`target` after `target[i] += x` and the like."""
    return set_item(target, i, _ARITHMETIC[op](target[i], x))


#: What converted code calls, by name.
OPERATORS = {
    "GetItemOpts": GetItemOpts,
    "ListPopOpts": ListPopOpts,
    "ListStackOpts": ListStackOpts,
    "get_item": get_item,
    "list_append": list_append,
    "list_pop": list_pop,
    "list_stack": list_stack,
    "new_list": new_list,
    "set_item": set_item,
    "update_item_with_op": update_item_with_op,
}
