"""Functions of TensorFlow 1 made from those of TensorFlow 2, by a text that has the parameters.

`renamed(f, "x axis=None dim:axis tensor>input ~optimize=True")`: `dim` is an older name of `axis`,
`tensor` is what `f` calls `input`, and `optimize` says nothing. A `name` that `f` has not says
nothing either. What is None is left to `f`, as what is not given is.
"""

from __future__ import annotations

import ast
import functools
import inspect
from collections.abc import Callable
from typing import Any, NamedTuple

_Parameter = inspect.Parameter


class _Row(NamedTuple):
    """A parameter: its name, default, what `f` calls it ('' for nothing), if it is older."""

    name: str
    default: Any
    place: str
    older: bool


def _row(text: str) -> _Row:
    ignored, text = text.startswith("~"), text.removeprefix("~")
    text, has_default, default = text.partition("=")
    name, _, place = text.partition(">")
    name, older, new = name.partition(":")
    value = ast.literal_eval(default) if has_default else None if older else _Parameter.empty
    return _Row(name, value, "" if ignored else new or place or name, bool(older))


def renamed(function: Callable[..., Any], parameters: str, name: str | None = None) -> Any:
    """A function with other parameters that calls one of TensorFlow 2.

    Raises, where it is called: ValueError if a parameter and an older name of it are both given;
      TypeError for what is no parameter.

    >>> from tape_compat._src.library.version1.renamed import renamed
    >>> total = renamed(
    ...     lambda values, start=0: sum(values, start), "x>values first:start start=None"
    ... )
    >>> total([1, 2], first=10), total([1, 2], start=1)
    (13, 4)
    >>> total([1], 1, 2)
    Traceback (most recent call last):
        ...
    ValueError: Cannot specify both 'first' and 'start'.
    """
    rows = {row.name: row for row in map(_row, parameters.split())}
    if "name" in rows and "name" not in inspect.signature(function).parameters:
        rows["name"] = rows["name"]._replace(place="")
    names = tuple(rows)
    title = name or function.__name__

    @functools.wraps(function, updated=())
    def call(*args: Any, **kwargs: Any) -> Any:
        if len(args) > len(names):
            raise TypeError(
                f"{title}() takes {len(names)} positional arguments but {len(args)} were given"
            )
        given: dict[str, Any] = {}
        for key, value in (*zip(names, args, strict=False), *kwargs.items()):
            row = rows.get(key)
            if row is None:
                raise TypeError(f"{title}() got an unexpected keyword argument '{key}'")
            if not row.place or value is None:
                continue
            if row.place in given:
                _refuse_both(title, key, row.place, rows)
            given[row.place] = value
        return function(**{**defaults, **given})

    defaults = {
        row.place: row.default
        for row in rows.values()
        if row.place and row.default is not None and row.default is not _Parameter.empty
    }
    del call.__wrapped__
    call.__name__ = call.__qualname__ = title
    call.__doc__ = f"See `tf.{function.__name__}`; the parameters are those of TensorFlow 1."
    kind = _Parameter.POSITIONAL_OR_KEYWORD
    call.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [_Parameter(row.name, kind, default=row.default) for row in rows.values()]
    )
    return call


def _refuse_both(title: str, key: str, place: str, rows: dict[str, _Row]) -> None:
    older = [row.name for row in rows.values() if row.older and row.place == place]
    if not older:
        raise TypeError(f"{title}() got multiple values for argument '{key}'")
    raise ValueError(f"Cannot specify both '{older[0]}' and '{place}'.")
