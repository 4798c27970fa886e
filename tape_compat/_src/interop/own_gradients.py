"""The gradients of ops that a library brings with it, by the names of the ops.

Such an op is compiled for TensorFlow's runtime, which is not here, so none asks for its gradient: a
library that notes one can be imported, and works as far as it does without its op.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..core.errors import user_location
from .names import ledger

_NOTED: set[str] = set()


def _note(op_type: str) -> None:
    if not isinstance(op_type, str):
        raise TypeError("op_type must be a string")
    if f"tf.raw_ops.{op_type}" in ledger():
        raise NotImplementedError(
            f"the gradient of {op_type!r} is not changed, for it is an op of TensorFlow's: "
            f"tf.custom_gradient gives a function a gradient (at {user_location()})"
        )
    if op_type in _NOTED:
        raise KeyError(f"Registering two gradient with name '{op_type}'!")
    _NOTED.add(op_type)


class RegisterGradient:
    """A decorator that notes a function as the gradient of an op that a library brings with it.

    Args:
      op_type: the name of the op. Raises: TypeError for what is no text.

    The function is given back. Raises: KeyError if the op has a gradient; NotImplementedError for
    an op of TensorFlow's.

    >>> import tape_compat as tf
    >>> @tf.RegisterGradient("Library>Op")
    ... def of_op(op, gradient):
    ...     return gradient
    """

    def __init__(self, op_type: str):
        if not isinstance(op_type, str):
            raise TypeError("op_type must be a string")
        self._op_type = op_type

    def __call__(self, f: Callable[..., Any]) -> Callable[..., Any]:
        _note(self._op_type)
        return f


def no_gradient(op_type: str) -> None:
    """Note that an op that a library brings with it has no gradient.

    Args:
      op_type: the name of the op.
    Raises: TypeError for what is no text; KeyError if the op has a gradient; NotImplementedError
      for an op of TensorFlow's.

    >>> import tape_compat as tf
    >>> tf.no_gradient("Library>OpOfCounts")
    """
    _note(op_type)
