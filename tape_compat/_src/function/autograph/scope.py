"""What surrounds the body of a converted function.

Source: TF autograph/core/function_wrappers.py.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

from malt.core import ag_ctx
from malt.core.converter import ConversionOptions, Feature
from malt.operators.variables import UndefinedReturnValue

from ...values.names import name_scope


class FunctionScope:
    """The context that a converted function runs in.

    Functions that the user asked to convert say so to what they call; with the feature NAME_SCOPES
    names of variables begin with that of the function.
    """

    def __init__(self, function_name: str, scope_name: str, options: ConversionOptions) -> None:
        self.name = scope_name
        self.options = options
        self.callopts = options.call_options()
        self._function = function_name
        self._stack = contextlib.ExitStack()

    def __enter__(self) -> FunctionScope:
        options = self.options
        if options.user_requested:
            self._stack.enter_context(ag_ctx.ControlStatusCtx(ag_ctx.Status.ENABLED, options))
        if options.uses(Feature.NAME_SCOPES):
            prefix = "fn" if self._function.startswith("_") else ""
            self._stack.enter_context(name_scope(prefix + self._function))
        return self

    def __exit__(self, *exc_info: Any) -> None:
        self._stack.__exit__(*exc_info)

    def ret(self, value: Any, did_return: Any) -> Any:
        """What the function returns: None if no `return` was reached."""
        return None if isinstance(value, UndefinedReturnValue) else value


def with_function_scope(
    thunk: Callable[[FunctionScope], Any], scope_name: str, options: ConversionOptions
) -> Any:
    """The scope of a lambda."""
    with FunctionScope("lambda_", scope_name, options) as scope:
        return thunk(scope)
