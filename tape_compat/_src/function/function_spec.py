"""`function_spec`: the parameters of a function as TensorFlow gives them."""

from __future__ import annotations

import inspect
from typing import Any

from ..values import nest
from .signature import Signature


class FunctionSpec:
    """The parameters of a `tf.function`.

    jit_compile: what was given.

    >>> import tape_compat as tf
    >>> f = tf.function(lambda x, y=1, *, z=2: x)
    >>> f.function_spec.arg_names, f.function_spec.default_values
    (['x', 'y'], {'y': 1, 'z': 2})
    """

    def __init__(self, signature: Signature, jit_compile: bool | None):
        self._signature = signature
        self.jit_compile = jit_compile

    @property
    def fullargspec(self) -> inspect.FullArgSpec:
        """The parameters as `inspect.getfullargspec` has them."""
        python = self._signature.python
        plain = [p.replace(annotation=p.empty) for p in python.parameters.values()]

        def function() -> None: ...

        function.__signature__ = inspect.Signature(plain)  # type: ignore[attr-defined]
        return inspect.getfullargspec(function)

    @property
    def arg_names(self) -> list[str]:
        """The names of the parameters by position."""
        return self.fullargspec.args

    @property
    def default_values(self) -> dict[str, Any]:
        """The defaults, by the names of the parameters."""
        parameters = self._signature.python.parameters.values()
        return {p.name: p.default for p in parameters if p.default is not p.empty}

    @property
    def input_signature(self) -> tuple[Any, ...] | None:
        """The specs that were given."""
        return self._signature.specs

    @property
    def flat_input_signature(self) -> tuple[Any, ...]:
        """Their leaves."""
        return tuple(nest.flatten(self._signature.specs, expand_composites=True))

    @property
    def is_pure(self) -> bool:
        """False: it may read and assign to variables."""
        return False
