"""`tf.autograph`: to convert a function by hand, and to see what became of it."""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Callable
from typing import Any

from malt.core.converter import ConversionOptions, Feature
from malt.impl.api import autograph_artifact
from malt.utils import ag_logging

from .convert import convert_function
from .failures import ConversionError

__all__ = ["Feature", "set_verbosity", "to_code", "to_graph", "trace"]


def to_graph(
    entity: Callable[..., Any], recursive: bool = True, experimental_optional_features: Any = None
) -> Callable[..., Any]:
    """The converted form of a Python function, as `tf.function` traces it.

    Args:
      entity: a function or method; a method takes `self` as first argument then.
      recursive: whether what it calls is converted too.
      experimental_optional_features: `None`, a `tf.autograph.experimental.Feature` or several.
    Raises: ConversionError (a ValueError in spirit) if it has no source code that can be converted.

    >>> import tape_compat as tf
    >>> def larger(x, y):
    ...     return x if x > y else y
    >>> tf.autograph.to_graph(larger)(tf.constant(1), tf.constant(2)).numpy().item()
    2
    """
    try:
        options = ConversionOptions(
            recursive, user_requested=True, optional_features=experimental_optional_features
        )
        return autograph_artifact(convert_function(entity, options))
    except (ValueError, AttributeError, KeyError, NameError, AssertionError) as error:
        raise ConversionError(f"converting {entity}: {type(error).__name__}: {error}") from error


def to_code(
    entity: Callable[..., Any], recursive: bool = True, experimental_optional_features: Any = None
) -> str:
    """The source of the converted form of a Python function.

    >>> import tape_compat as tf
    >>> def sign(x):
    ...     return 1 if x > 0 else -1
    >>> "def tf__sign(x):" in tf.autograph.to_code(sign)
    True
    """
    return textwrap.dedent(
        inspect.getsource(to_graph(entity, recursive, experimental_optional_features))
    )


def trace(*args: Any) -> None:
    """Print the arguments while a function is traced.

    >>> import tape_compat as tf
    >>> tf.autograph.trace("traced")
    traced
    """
    print(*args)


def set_verbosity(level: int, alsologtostdout: bool = False) -> None:
    """How much AutoGraph logs of what it does: 0 nothing, up to 10.

    Args:
      alsologtostdout: whether to print it too.
    """
    ag_logging.set_verbosity(level, alsologtostdout)
