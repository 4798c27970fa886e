"""tf.Module: an object that finds the Variables and Modules it holds."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from ..checkpoint.tracking import NOTES, AutoTrackable
from ..values import nest
from ..values.names import name_scope
from ..values.variable import Variable

__all__ = ["Module"]

_Method = TypeVar("_Method", bound=Callable[..., Any])
_Path = tuple[Any, ...]


def camel_to_snake(name: str) -> str:
    """`name` in lower case, with an underscore before each word.

    >>> from tape_compat._src.library.module import camel_to_snake
    >>> camel_to_snake("MyMLPLayer2D")
    'my_mlp_layer2_d'
    """
    return re.sub(r"((?<=[a-z0-9])[A-Z]|(?!^)[A-Z](?=[a-z]))", r"_\1", name).lower()


class Module(AutoTrackable):
    """A base class for what holds Variables: layers, models, optimizers.

    Attributes are searched for Variables and Modules in the order of their names, and nested
    lists, tuples and dicts in them as `tf.nest` reads them. Each is listed once.

    Args:
      name: a valid Python identifier; default is the name of the class in snake case.
    Raises: ValueError if `name` is no identifier, TypeError if it is no string.

    >>> import tape_compat as tf
    >>> class Dense(tf.Module):
    ...     def __init__(self, inputs, outputs, name=None):
    ...         super().__init__(name=name)
    ...         self.w = tf.Variable(tf.zeros([inputs, outputs]), name="w")
    ...         self.b = tf.Variable(tf.zeros([outputs]), name="b")
    ...
    ...     def __call__(self, x):
    ...         return x @ self.w + self.b
    >>> layer = Dense(3, 2)
    >>> layer.name, [v.name for v in layer.trainable_variables]
    ('dense', ['b:0', 'w:0'])
    """

    _TF_MODULE_IGNORED_PROPERTIES: frozenset[str] = frozenset()

    def __init__(self, name: str | None = None) -> None:
        if name is None:
            name = camel_to_snake(type(self).__name__)
        elif not isinstance(name, str):
            raise TypeError(f"Module names must be strings, got {type(name).__name__}.")
        elif not name.isidentifier():
            raise ValueError(
                f"{name!r} is not a valid module name. Module names must be valid Python "
                "identifiers (e.g. a valid class name)."
            )
        self._name = name
        with name_scope(name) as scope:
            self._name_scope = name_scope(scope)

    @property
    def name(self) -> str:
        """The name given, or that of the class in snake case."""
        return self._name

    @property
    def name_scope(self) -> name_scope:
        """The scope named after the Module, inside those in force when it was made."""
        return self._name_scope

    def _variables_if(self, predicate: Callable[[Variable], bool]) -> tuple[Variable, ...]:
        return tuple(
            self._flatten(
                predicate=lambda leaf: isinstance(leaf, Variable) and predicate(leaf),
                expand_composites=True,
            )
        )

    @property
    def variables(self) -> tuple[Variable, ...]:
        """The Variables of this Module, its submodules, and the composites in them."""
        return self._variables_if(lambda _: True)

    @property
    def trainable_variables(self) -> tuple[Variable, ...]:
        """The Variables whose `trainable` is true."""
        return self._variables_if(lambda variable: variable.trainable)

    @property
    def non_trainable_variables(self) -> tuple[Variable, ...]:
        """The Variables whose `trainable` is false."""
        return self._variables_if(lambda variable: not variable.trainable)

    @property
    def submodules(self) -> tuple[Module, ...]:
        """The Modules held by this one, at any depth.

        >>> import tape_compat as tf
        >>> outer, inner = tf.Module(name="outer"), tf.Module(name="inner")
        >>> outer.parts = [inner]
        >>> [module.name for module in outer.submodules]
        ['inner']
        """
        return tuple(self._flatten(predicate=lambda leaf: isinstance(leaf, Module)))

    def _flatten(
        self,
        recursive: bool = True,
        predicate: Callable[[Any], bool] | None = None,
        attribute_traversal_key: Callable[[str], Any] | None = None,
        with_path: bool = False,
        expand_composites: bool = False,
    ) -> Iterator[Any]:
        """The leaves of the attributes that satisfy `predicate`: a Module's own before its parts'.

        Args:
          recursive: whether to look into Modules found.
          predicate: which leaves to give; default all.
          attribute_traversal_key: the key by which attribute names are sorted.
          with_path: whether to give pairs of (path, leaf), an object as often as a path leads to
            it; else each object is given once. A path is a tuple of names, keys and positions.
          expand_composites: as in `tf.nest.flatten`.
        Raises: ValueError if an attribute is a structure that cannot be read.
        """
        seen = {id(self)}

        def walk(module: Module, path: _Path, parents: tuple[int, ...]) -> Iterator[Any]:
            parts = []
            leaves = _attribute_leaves(module, attribute_traversal_key, expand_composites)
            for subpath, leaf in leaves:
                if not with_path:
                    if id(leaf) in seen:
                        continue
                    seen.add(id(leaf))
                if predicate is None or predicate(leaf):
                    yield (path + subpath, leaf) if with_path else leaf
                if recursive and isinstance(leaf, Module):
                    parts.append((path + subpath, leaf))
            if id(module) not in parents:
                for subpath, part in parts:
                    yield from walk(part, subpath, (*parents, id(module)))

        return walk(self, (), ())

    @classmethod
    def with_name_scope(cls, method: _Method) -> _Method:
        """Decorator of a method: Variables it creates are named after the Module.

        >>> import tape_compat as tf
        >>> class Counter(tf.Module):
        ...     @tf.Module.with_name_scope
        ...     def build(self):
        ...         return tf.Variable(0.0, name="count").name
        >>> Counter().build()
        'counter/count:0'
        """

        @functools.wraps(method)
        def wrapped(self: Module, *args: Any, **kwargs: Any) -> Any:
            with self.name_scope:
                return method(self, *args, **kwargs)

        wrapped._calls_users_function = True  # type: ignore[attr-defined]  # for AutoGraph
        return wrapped  # type: ignore[return-value]


def _attribute_leaves(
    module: Module, key: Callable[[str], Any] | None, expand_composites: bool
) -> Iterator[tuple[_Path, Any]]:
    attributes = vars(module)
    for name in sorted(attributes, key=key):
        if name in module._TF_MODULE_IGNORED_PROPERTIES or name in NOTES:
            continue
        try:
            leaves = nest.flatten_with_tuple_paths(attributes[name], expand_composites)
        except Exception as error:
            raise ValueError(
                f"Error processing property {name!r} of {type(module).__name__} "
                f"{getattr(module, '_name', '')!r}: {error}"
            ) from error
        for path, leaf in leaves:
            yield (name, *path), leaf
