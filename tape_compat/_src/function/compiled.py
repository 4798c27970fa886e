"""`tf.xla.experimental`: a function that is recorded for one call, and a scope that only marks."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from ..core.errors import user_location
from ..ops.creation import convert_to_tensor
from ..values import nest
from ..values.context import executing_eagerly
from ..values.operation import Operation
from .function import function
from .grouping import group


def compile(computation: Callable[..., Any], inputs: Any = None) -> Any:
    """What a function gives for inputs, recorded and run as a `tf.function` with `jit_compile`.

    AutoGraph does not rewrite it. It is recorded at each call: a `tf.function` that is kept is not.

    Args:
      computation: a function of as many arguments as there are inputs.
      inputs: a list or tuple of nests of what can become tensors, of numbers one by one; None for
        none.
    Returns: a list of tensors, where it gives a tensor or a list of them; a nest with structures
      inside as it is; in a `tf.function` an operation, where it gives none.
    Raises: TypeError if `inputs` is no sequence, and in eager code if it gives no tensor;
      ValueError if a result cannot become a tensor, or if operations stand inside of a structure.

    >>> import tape_compat as tf
    >>> tf.xla.experimental.compile(lambda x, y: x * y, [2.0, tf.constant([1.0, 3.0])])[0].numpy()
    array([2., 6.], dtype=float32)
    """
    if not executing_eagerly():
        return _called(computation, inputs)
    return function(lambda: _called(computation, inputs), autograph=False, jit_compile=True)()


def _called(computation: Callable[..., Any], inputs: Any) -> Any:
    inputs = [] if inputs is None else inputs
    if not isinstance(inputs, Sequence):
        raise TypeError(f"inputs must be a list (compile() at {user_location()})")
    given = [convert_to_tensor(x) for x in nest.flatten(inputs)]
    found = computation(*nest.pack_sequence_as(inputs, given))
    results = _flat_results(found) if _is_flat(found) else _nested_results(found)
    return group() if results is None else results


def _is_structure(value: Any) -> bool:
    return isinstance(value, Mapping) or hasattr(type(value), "__attrs_attrs__")


def _is_flat(found: Any) -> bool:
    """Whether a result is one value, or a sequence without structures inside."""
    if isinstance(found, Sequence):
        return not any(isinstance(part, Sequence) or _is_structure(part) for part in found)
    return not _is_structure(found)


def _flat_results(found: Any) -> list[Any] | None:
    """The tensors of a flat result, in front of its operations; None if it has none."""
    parts = [] if found is None else [*found] if isinstance(found, Sequence) else [found]
    parts = [_as_result(part) for part in parts]
    tensors = [part for part in parts if not isinstance(part, Operation)]
    if any(isinstance(part, Operation) for part in parts[: len(tensors)]):
        raise ValueError(
            "XLA computation function must return zero or more Tensor values followed by zero or "
            f"more Operations (compile() at {user_location()})"
        )
    return tensors or None


def _nested_results(found: Any) -> Any:
    parts = nest.flatten(found)
    if any(isinstance(part, Operation) for part in parts):
        raise ValueError(
            "xla.compile does not support Operation as return value in non-flat output structure "
            f"(at {user_location()}). You can set returned Operations as control dependencies of "
            "returned Tensors so Operations are triggered when Tensors are evaluated"
        )
    return nest.pack_sequence_as(found, [_as_result(part) for part in parts]) if parts else None


def _as_result(value: Any) -> Any:
    if isinstance(value, Operation):
        return value
    try:
        return convert_to_tensor(value)
    except Exception as error:
        raise ValueError(
            "XLA computation function return values must all either be Operations or convertible "
            f'to Tensors. Got error: "{error}"'
        ) from error


@contextlib.contextmanager
def jit_scope(compile_ops: Any = True, separate_compiled_gradients: bool = False) -> Iterator[None]:
    """A scope in a `tf.function`, which says what to compile: XLA compiles whole functions here.

    Args:
      compile_ops, separate_compiled_gradients: without effect.
    Raises: RuntimeError outside of a function.

    >>> import tape_compat as tf
    >>> @tf.function
    ... def f(x):
    ...     with tf.xla.experimental.jit_scope():
    ...         return x + 1.0
    >>> f(tf.constant(1.0)).numpy()
    np.float32(2.0)
    """
    if executing_eagerly():
        raise RuntimeError(
            "xla.experimental.jit_scope is not supported when eager execution is enabled. Try use "
            f"it inside tf.function (at {user_location()})."
        )
    yield
