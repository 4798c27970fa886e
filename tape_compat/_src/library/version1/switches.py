"""What turns the behaviour of TensorFlow 2 on, which it always is, and asks about it."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from ...function.grouping import group, no_op
from ...values.convert import convert
from ...values.names import name_scope as name_scope_v2
from ...values.tensor import Tensor


def _nothing(name: str) -> Any:
    def call(*args: Any, **kwargs: Any) -> None:
        return None

    call.__name__ = call.__qualname__ = name
    call.__doc__ = "Nothing: it is so."
    return call


def _true(name: str) -> Any:
    def call() -> bool:
        return True

    call.__name__ = call.__qualname__ = name
    call.__doc__ = "True."
    return call


enable_control_flow_v2 = _nothing("enable_control_flow_v2")
enable_eager_execution = _nothing("enable_eager_execution")
enable_resource_variables = _nothing("enable_resource_variables")
enable_tensor_equality = _nothing("enable_tensor_equality")
enable_v2_behavior = _nothing("enable_v2_behavior")
enable_v2_tensorshape = _nothing("enable_v2_tensorshape")
control_flow_v2_enabled = _true("control_flow_v2_enabled")
executing_eagerly_outside_functions = _true("executing_eagerly_outside_functions")
resource_variables_enabled = _true("resource_variables_enabled")


# -- first values, which variables have when they are made ----------------------------------------


def global_variables_initializer() -> Any:
    """Nothing is left to do: None, in a `tf.function` an operation that does nothing.

    >>> import tape_compat as tf
    >>> tf.compat.v1.global_variables_initializer()
    """
    return no_op()


local_variables_initializer = global_variables_initializer
initialize_all_variables = global_variables_initializer
initialize_local_variables = global_variables_initializer


def tables_initializer(name: str = "init_all_tables") -> Any:
    """As `global_variables_initializer`."""
    return no_op()


initialize_all_tables = tables_initializer


def variables_initializer(var_list: Any, name: str = "init") -> Any:
    """As `global_variables_initializer`."""
    return group()


initialize_variables = variables_initializer


def is_variable_initialized(variable: Any) -> Tensor:
    """True."""
    return convert(True)


def report_uninitialized_variables(
    var_list: Any = None, name: str = "report_uninitialized_variables"
) -> Tensor:
    """The names of variables without a value: none."""
    return convert([], "string")


# -- scopes --------------------------------------------------------------------------------------


class name_scope(name_scope_v2):
    """`tf.name_scope`; the name may be None, with a `default_name`."""

    def __init__(self, name: Any, default_name: str | None = None, values: Any = None) -> None:
        super().__init__(name if default_name is None or name is not None else default_name)


@contextlib.contextmanager
def op_scope(values: Any, name: Any, default_name: str | None = None) -> Iterator[str]:
    """`tf.name_scope`."""
    with name_scope(name, default_name) as scope:
        yield scope


@contextlib.contextmanager
def colocate_with(op: Any, ignore_existing: bool = False) -> Iterator[None]:
    """A context that changes nothing: JAX places what is computed."""
    yield


@contextlib.contextmanager
def container(container_name: str) -> Iterator[str]:
    """A context that changes nothing."""
    yield container_name
