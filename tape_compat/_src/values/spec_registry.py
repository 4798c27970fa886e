"""Classes of specs by the names that SavedModels know them by."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, TypeVar

from .composite import TypeSpec

NAME_TO_SPEC: dict[str, type[TypeSpec]] = {}
SPEC_TO_NAME: dict[type[TypeSpec], str] = {}

_NAME = re.compile(r"^(\w+\.)+\w+$")
_Spec = TypeVar("_Spec", bound=type[Any])


def register(name: str) -> Callable[[_Spec], _Spec]:
    """A decorator of a subclass of `tf.TypeSpec`, which gives it a name.

    Args:
      name: 'project.ClassName', used by no other class.
    Raises: TypeError for a name that is no str or a class that is no TypeSpec; ValueError for a
      name of another form, or if the name or the class is registered already.
    """
    if not isinstance(name, str):
        raise TypeError(f"Expected `name` to be a string; got {name!r}")
    if not _NAME.match(name):
        raise ValueError(
            "Registered name must have the form '{project_name}.{type_name}' "
            f"(e.g. 'my_project.MyTypeSpec'); got {name!r}."
        )

    def decorate(cls: _Spec) -> _Spec:
        _check(cls)
        shown = f"{cls.__module__}.{cls.__name__}"
        if cls in SPEC_TO_NAME:
            raise ValueError(
                f"Class {shown} has already been registered with name {SPEC_TO_NAME[cls]}."
            )
        if name in NAME_TO_SPEC:
            known = NAME_TO_SPEC[name]
            raise ValueError(
                f"Name {name} has already been registered for class "
                f"{known.__module__}.{known.__name__}."
            )
        SPEC_TO_NAME[cls] = name
        NAME_TO_SPEC[name] = cls
        return cls

    return decorate


def _check(cls: Any) -> None:
    if not (isinstance(cls, type) and issubclass(cls, TypeSpec)):
        raise TypeError(f"Expected `cls` to be a TypeSpec; got {cls!r}")


def get_name(cls: Any) -> str:
    """The name of a class of specs. Raises TypeError for another class, ValueError without one."""
    _check(cls)
    if cls not in SPEC_TO_NAME:
        raise ValueError(f"TypeSpec {cls.__module__}.{cls.__name__} has not been registered.")
    return SPEC_TO_NAME[cls]


def lookup(name: str) -> type[TypeSpec]:
    """The class of specs with this name. Raises TypeError for no str, ValueError for no name."""
    if not isinstance(name, str):
        raise TypeError(f"Expected `name` to be a string; got {name!r}")
    if name not in NAME_TO_SPEC:
        raise ValueError(f"No TypeSpec has been registered with name {name!r}")
    return NAME_TO_SPEC[name]
