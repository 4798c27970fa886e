"""The step count of `tf.compat.v1.train`, a variable that a collection holds."""

from __future__ import annotations

from typing import Any

from ...core.dtypes import int64
from ...values.context import init_scope
from ...values.tensor import Tensor
from ...values.variable import Variable
from .collections import GraphKeys, add_to_collection, get_collection


def get_global_step(graph: Any = None) -> Any:
    """The step count, None if there is none.

    Raises: TypeError for one that is no integer scalar.
    """
    found = get_collection(GraphKeys.GLOBAL_STEP)
    if len(found) != 1:
        return None
    assert_global_step(found[0])
    return found[0]


def create_global_step(graph: Any = None) -> Variable:
    """A new step count. Raises: ValueError if there is one."""
    if get_global_step(graph) is not None:
        raise ValueError('"global_step" already exists.')
    with init_scope():
        step = Variable(0, dtype=int64, trainable=False, name="global_step")
    add_to_collection(GraphKeys.GLOBAL_STEP, step)
    return step


def get_or_create_global_step(graph: Any = None) -> Any:
    """The step count, made the first time.

    >>> import tape_compat as tf
    >>> step = tf.compat.v1.train.get_or_create_global_step()
    >>> step.dtype, step is tf.compat.v1.train.get_global_step()
    (tf.int64, True)
    >>> tf.compat.v1.reset_default_graph()
    """
    step = get_global_step(graph)
    return create_global_step(graph) if step is None else step


def global_step(sess: Any, global_step_tensor: Any) -> int:
    """The number that a step count holds."""
    return int(global_step_tensor.numpy())


def assert_global_step(global_step_tensor: Any) -> None:
    """Nothing. Raises: TypeError for what is no integer scalar."""
    step = global_step_tensor
    if not isinstance(step, (Variable, Tensor)):
        raise TypeError(f'Existing "global_step" must be a Variable or Tensor: {step}.')
    if not step.dtype.is_integer:
        raise TypeError(f'Existing "global_step" does not have integer type: {step.dtype}')
    if step.shape.rank != 0:
        raise TypeError(f'Existing "global_step" is not scalar: {step.shape}')
