"""`tensorflow.python.util`: decorators and questions about functions, as libraries use them."""

from __future__ import annotations

import contextlib
import functools
import inspect
import logging
import sys
from collections import namedtuple
from collections.abc import Callable, Iterator
from typing import Any

from ..core.errors import user_location
from ..library.config import get_logger
from .op_layers import called, shown_by

_PACKAGE = __name__.partition("_src")[0]

#: Whether what is deprecated is told; off within `silence()`.
_TELLS = [True]
_TOLD: set[Any] = set()

DeprecatedArgSpec = namedtuple("DeprecatedArgSpec", ["position", "has_ok_value", "ok_value"])


def _tell(key: Any, once: bool, what: str, date: str | None, instructions: str) -> None:
    if not _TELLS[-1] or (once and key in _TOLD):
        return
    _TOLD.add(key)
    when = "in a future version" if date is None else f"after {date}"
    get_logger().log(
        logging.WARNING,
        "From %s: %s is deprecated and will be removed %s.\nInstructions for updating:\n%s",
        user_location(),
        what,
        when,
        instructions,
    )


def _name(function: Any) -> str:
    return f"{getattr(function, '__qualname__', function)} (from {function.__module__})"


def deprecated(date: str | None, instructions: str, warn_once: bool = True) -> Callable[[Any], Any]:
    """A decorator of functions and classes whose use is to be warned of, once."""

    def decorate(target: Any) -> Any:
        if inspect.isclass(target):
            made: Any = target.__init__

            @functools.wraps(made)
            def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
                _tell(target, warn_once, _name(target), date, instructions)
                made(self, *args, **kwargs)

            target.__init__ = __init__
            return target

        @functools.wraps(target)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            _tell(wrapper, warn_once, _name(target), date, instructions)
            return target(*args, **kwargs)

        return wrapper

    return decorate


def deprecated_args(
    date: str | None, instructions: str, *deprecated_arg_names_or_tuples: Any, **kwargs: Any
) -> Callable[[Any], Any]:
    """A decorator of functions some of whose arguments are to be warned of.

    Args:
      deprecated_arg_names_or_tuples: names; or (name, value), where that value is not warned of.
      kwargs: warn_once, True if not given.
    """
    once = kwargs.pop("warn_once", True)
    fine = dict(
        each if isinstance(each, tuple) else (each, None) for each in deprecated_arg_names_or_tuples
    )
    return _of_arguments(
        date, instructions, lambda name, x: name in fine and x is not fine[name], once
    )


def deprecated_arg_values(
    date: str | None, instructions: str, warn_once: bool = True, **deprecated_kwargs: Any
) -> Callable[[Any], Any]:
    """A decorator of functions some values of whose arguments are to be warned of."""

    def is_deprecated(name: str, value: Any) -> bool:
        if name not in deprecated_kwargs:
            return False
        same = value == deprecated_kwargs[name]
        return isinstance(same, bool) and same

    return _of_arguments(date, instructions, is_deprecated, warn_once)


def _of_arguments(
    date: str | None,
    instructions: str,
    is_deprecated: Callable[[str, Any], bool],
    once: bool,
) -> Callable[[Any], Any]:
    def decorate(target: Any) -> Any:
        signature = inspect.signature(target)

        @functools.wraps(target)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            with contextlib.suppress(TypeError):  # the call itself tells
                for name, value in signature.bind(*args, **kwargs).arguments.items():
                    if is_deprecated(name, value):
                        what = f"calling {_name(target)} with {name}={value!r}"
                        _tell((wrapper, name), once, what, date, instructions)
            return target(*args, **kwargs)

        return wrapper

    return decorate


def deprecated_alias(
    deprecated_name: str, name: str, func_or_class: Any, warn_once: bool = True
) -> Any:
    """The same function or class by another name, whose use is to be warned of."""
    what, instructions = f"The name {deprecated_name}", f"Please use {name} instead."
    if inspect.isclass(func_or_class):

        class Alias(func_or_class):
            def __init__(self, *args: Any, **kwargs: Any):
                _tell(Alias, warn_once, what, None, instructions)
                super().__init__(*args, **kwargs)

        return functools.wraps(func_or_class, updated=())(Alias)

    @functools.wraps(func_or_class)
    def alias(*args: Any, **kwargs: Any) -> Any:
        _tell(alias, warn_once, what, None, instructions)
        return func_or_class(*args, **kwargs)

    return alias


def deprecated_endpoints(*args: str) -> Callable[[Any], Any]:
    """A decorator that does nothing: it names old public names of a function."""
    return lambda target: target


def deprecated_argument_lookup(new_name: str, new_value: Any, old_name: str, old_value: Any) -> Any:
    """The value of an argument that has an old name too. Raises ValueError if both are given."""
    if old_value is None:
        return new_value
    if new_value is not None:
        raise ValueError(f"Cannot specify both '{old_name}' and '{new_name}'.")
    return old_value


@contextlib.contextmanager
def silence() -> Iterator[None]:
    """Within it nothing is warned of."""
    _TELLS.append(False)
    try:
        yield
    finally:
        _TELLS.pop()


# -- tf_decorator


class TFDecorator:
    """A decorator: what it is called, and what it was made of."""

    def __init__(
        self,
        decorator_name: str,
        target: Any,
        decorator_doc: str = "",
        decorator_argspec: Any = None,
    ):
        self.decorator_name, self.decorated_target = decorator_name, target
        self.decorator_doc, self.decorator_argspec = decorator_doc, decorator_argspec


def make_decorator(
    target: Any,
    decorator_func: Any,
    decorator_name: str | None = None,
    decorator_doc: str = "",
    decorator_argspec: Any = None,
) -> Any:
    """`decorator_func`, which looks like `target` from outside."""
    functools.update_wrapper(decorator_func, target)
    decorator_func.__original_wrapped__ = target
    name = decorator_name or sys._getframe(1).f_code.co_name
    decorator_func._tf_decorator = TFDecorator(name, target, decorator_doc, decorator_argspec)
    if decorator_argspec is not None:
        decorator_func.__signature__ = _signature_of(decorator_argspec)
    else:
        _look_like_a_method(decorator_func, target)
    return decorator_func


def _look_like_a_method(decorator_func: Any, target: Any) -> None:
    """Where a method is below a decorator with an argspec, its `self` is bound."""
    owner = next((d.decorated_target for d in unwrap(target)[0]), None)
    with contextlib.suppress(TypeError, ValueError):  # what has no signature
        signature = inspect.signature(target)
        if inspect.ismethod(owner) and "self" in signature.parameters:
            signature = signature.replace(parameters=[*signature.parameters.values()][1:])
            decorator_func.__self__ = owner.__self__
        decorator_func.__signature__ = signature


def _signature_of(spec: Any) -> inspect.Signature:
    """A signature of the argspec that a decorator gives its function."""
    kinds, first = inspect.Parameter, len(spec.args) - len(spec.defaults or ())
    parameters = [
        kinds(
            name,
            kinds.POSITIONAL_OR_KEYWORD,
            default=spec.defaults[i - first] if i >= first else kinds.empty,
        )
        for i, name in enumerate(spec.args)
    ]
    if spec.varargs:
        parameters.append(kinds(spec.varargs, kinds.VAR_POSITIONAL))
    for name in getattr(spec, "kwonlyargs", ()):
        default = (spec.kwonlydefaults or {}).get(name, kinds.empty)
        parameters.append(kinds(name, kinds.KEYWORD_ONLY, default=default))
    rest = spec.varkw if hasattr(spec, "varkw") else spec.keywords
    if rest:
        parameters.append(kinds(rest, kinds.VAR_KEYWORD))
    return inspect.Signature(parameters)


def unwrap(maybe_tf_decorator: Any) -> tuple[list[Any], Any]:
    """The decorators made by `make_decorator`, the outermost first, and what is below them."""
    found = []
    target = maybe_tf_decorator
    while True:
        decorator = getattr(target, "_tf_decorator", None)
        if isinstance(decorator, TFDecorator):
            found.append(decorator)
            target = decorator.decorated_target
        elif hasattr(target, "__wrapped__"):
            target = target.__wrapped__
        else:
            return found, target


def rewrap(decorator_func: Any, previous_target: Any, new_target: Any) -> Any:
    """The same decorators around another function; that itself if there are none."""
    decorators, target = unwrap(decorator_func)
    if not decorators or target is not previous_target:
        return new_target
    innermost = decorators[-1]
    innermost.decorated_target = new_target
    return decorator_func


# -- tf_inspect, beside the names of `inspect`

ArgSpec = namedtuple("ArgSpec", ["args", "varargs", "keywords", "defaults"])


def getcallargs(*func_and_positional: Any, **named: Any) -> dict[str, Any]:
    """The values of a function's parameters in a call, by their names. Beside those of `inspect`:
    what goes into `**kwargs` stands by itself, and nothing is refused.

    >>> getcallargs(lambda a, b=2, **rest: a, 1, c=3)
    {'c': 3, 'a': 1, 'b': 2}
    """
    function, *given = func_and_positional
    spec = getfullargspec(function)
    if inspect.ismethod(function):
        given.insert(0, function.__self__)
    found = dict(named)
    found.update(zip([name for name in spec.args if name not in named], given))
    defaults = spec.defaults or ()
    later = zip(spec.args[len(spec.args) - len(defaults) :], defaults)
    for name, default in (*later, *(spec.kwonlydefaults or {}).items()):
        found.setdefault(name, default)
    return found


def getfullargspec(obj: Any) -> inspect.FullArgSpec:
    """`inspect.getfullargspec`, through decorators; of ops without annotations, as TensorFlow's."""
    target = obj
    while hasattr(target, "__wrapped__") and not hasattr(target, "__signature__"):
        target = target.__wrapped__
    spec = inspect.getfullargspec(target)
    ours = (getattr(target, "__module__", None) or "").startswith(_PACKAGE)
    return spec._replace(annotations={}) if ours else spec


def getargspec(obj: Any) -> Any:
    """The parameters of a function that has no keyword-only ones."""
    spec = getfullargspec(obj)
    return ArgSpec(spec.args, spec.varargs, spec.varkw, spec.defaults)


# -- tf_contextlib


def contextmanager(target: Callable[..., Any]) -> Any:
    """`contextlib.contextmanager`."""
    return make_decorator(target, contextlib.contextmanager(target), "contextmanager")


# -- tf_export

#: By the name of a library, what it has by each of its public names.
_EXPORTED: dict[str, dict[str, Any]] = {}


class api_export:
    """A decorator that notes by which names a library shows something.

    Args:
      args: the names, the canonical one first.
      api_name: of the library: 'keras'.
    """

    def __init__(self, *args: str, api_name: str = "tensorflow", **_: Any):
        self._names, self._library = args, api_name

    def __call__(self, target: Any) -> Any:
        known = _EXPORTED.setdefault(self._library, {})
        known.update(dict.fromkeys(self._names, target))
        with contextlib.suppress(AttributeError, TypeError):  # what has no attributes
            names = {**vars(target).get("_exported_names", {}), self._library: self._names}
            target._exported_names = names
        return target

    def export_constant(self, module_name: str, name: str) -> None:
        """Nothing: constants are not looked for by name."""


tf_export = api_export
keras_export = functools.partial(api_export, api_name="keras")
estimator_export = functools.partial(api_export, api_name="estimator")


def get_canonical_name_for_symbol(
    symbol: Any, api_name: str = "tensorflow", add_prefix_to_v1_names: bool = False
) -> str | None:
    """The first name that a library shows something by; None if it does not."""
    held = symbol.__dict__ if hasattr(symbol, "__dict__") else {}
    names = held.get("_exported_names", {}).get(api_name, ())
    if not names and api_name == "tensorflow":
        return shown_by(symbol)
    return names[0] if names else None


def get_symbol_from_name(name: str) -> Any:
    """What a library shows by 'keras.layers.Dense', or we by 'nn.relu'; None if nobody does."""
    for known in _EXPORTED.values():
        if name in known:
            return known[name]
    return called(name)


# -- all_util


def remove_undocumented(
    module_name: str, allowed_exception_list: Any = None, doc_string_modules: Any = None
) -> None:
    """Take names that a module does not allow out of it; those with an underscore stay."""
    module = sys.modules[module_name]
    for name in {*dir(module)} - {*(allowed_exception_list or ())}:
        if not name.startswith("_"):
            delattr(module, name)


# -- dispatch: functions of libraries that other functions take the place of for some classes


def add_dispatch_support(target: Any = None, iterable_parameters: Any = None) -> Any:
    """A decorator of functions that `dispatch_for_types` may be used for."""
    if target is None:
        return add_dispatch_support
    handlers: list[tuple[tuple[type, ...], Any]] = []

    @functools.wraps(target)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        try:
            return target(*args, **kwargs)
        except (TypeError, ValueError):
            given = [*args, *kwargs.values()]
            for types, handler in handlers:
                if any(isinstance(value, types) for value in given):
                    return handler(*args, **kwargs)
            raise

    wrapper._handlers = handlers  # type: ignore[attr-defined]
    return wrapper


def dispatch_for_types(op: Any, *types: type) -> Callable[[Any], Any]:
    """A decorator of the function that is called where `op` fails for an argument of a class.

    Raises: AssertionError for a function without `add_dispatch_support`.
    """

    def decorate(handler: Any) -> Any:
        if not hasattr(op, "_handlers"):
            raise AssertionError(f"Dispatching not enabled for {op}")
        op._handlers.append((types, handler))
        return handler

    return decorate


class OpDispatcher:
    """The base of what takes the place of one op for values of other classes. It is not asked."""

    NOT_SUPPORTED = object()

    def register(self, op: Any = None) -> None:
        """Nothing."""


GlobalOpDispatcher = OpDispatcher


# -- doc_controls: decorators that tell a generator of documents, and do nothing


def do_not_generate_docs(target: Any) -> Any:
    """`target`."""
    return target


do_not_doc_inheritable = do_not_doc_in_subclasses = do_not_generate_docs
doc_in_current_and_subclasses = doc_private = for_subclass_implementers = do_not_generate_docs


def inheritable_header(text: str) -> Callable[[Any], Any]:
    """A decorator that does nothing."""
    return do_not_generate_docs


header = inheritable_header
