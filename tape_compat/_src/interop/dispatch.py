"""`tf.experimental.dispatch_for_api` and its kin: functions of users in the place of ops, for
arguments of their classes."""

from __future__ import annotations

import functools
import importlib
import inspect
import pkgutil
import sys
import types
import typing
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar, Union

from ..values import nest
from ..values.dispatch import composites
from ..values.operators import function_of
from ..values.targets import TARGETS, Checks, Target, called, key_of

_Function = TypeVar("_Function", bound=Callable[..., Any])
_PACKAGE = __name__.partition("._src")[0]

#: TensorFlow's elementwise functions of one tensor, by their names below `tf`.
_UNARY = """
    bitwise.invert cast clip_by_value debugging.check_numerics dtypes.saturate_cast
    image.adjust_brightness image.adjust_gamma image.convert_image_dtype image.random_brightness
    image.stateless_random_brightness io.decode_base64 io.decode_compressed io.encode_base64
    math.abs math.acos math.acosh math.angle math.asin math.asinh math.atan math.atanh
    math.bessel_i0 math.bessel_i0e math.bessel_i1 math.bessel_i1e math.ceil math.conj math.cos
    math.cosh math.digamma math.erf math.erfc math.erfcinv math.erfinv math.exp math.expm1
    math.floor math.imag math.is_finite math.is_inf math.is_nan math.lgamma math.log math.log1p
    math.log_sigmoid math.logical_not math.ndtri math.negative math.nextafter math.real
    math.reciprocal math.reciprocal_no_nan math.rint math.round math.rsqrt math.sigmoid math.sign
    math.sin math.sinh math.softplus math.special.bessel_j0 math.special.bessel_j1
    math.special.bessel_k0 math.special.bessel_k0e math.special.bessel_k1 math.special.bessel_k1e
    math.special.bessel_y0 math.special.bessel_y1 math.special.dawsn math.special.expint
    math.special.fresnel_cos math.special.fresnel_sin math.special.spence math.sqrt math.square
    math.tan math.tanh nn.elu nn.gelu nn.leaky_relu nn.relu nn.relu6 nn.selu nn.silu
    nn.softsign ones_like strings.as_string strings.length strings.lower strings.regex_full_match
    strings.regex_replace strings.strip strings.substr strings.to_hash_bucket
    strings.to_hash_bucket_fast strings.to_hash_bucket_strong strings.to_number
    strings.unicode_transcode strings.upper zeros_like
""".split()

#: Those of two.
_BINARY = """
    bitwise.bitwise_and bitwise.bitwise_or bitwise.bitwise_xor bitwise.left_shift
    bitwise.right_shift dtypes.complex math.add math.atan2 math.divide math.divide_no_nan math.equal
    math.floordiv math.floormod math.greater math.greater_equal math.less math.less_equal
    math.logical_and math.logical_or math.logical_xor math.maximum math.minimum math.multiply
    math.multiply_no_nan math.not_equal math.pow math.scalar_mul math.squared_difference
    math.subtract math.truediv math.xdivy math.xlog1py math.xlogy math.zeta
    nn.sigmoid_cross_entropy_with_logits truncatediv truncatemod
""".split()

#: Those that assert something of two.
_ASSERTS = """
    debugging.assert_equal debugging.assert_greater debugging.assert_greater_equal
    debugging.assert_less debugging.assert_less_equal debugging.assert_near
    debugging.assert_none_equal
""".split()

#: Python's operators that call other ops than TensorFlow's function of the same meaning.
_OPERATORS = {
    "math.multiply": "mul",
    "math.logical_and": "and",
    "math.logical_or": "or",
    "math.logical_xor": "xor",
    "math.logical_not": "invert",
}

#: Folders and modules below `_src` whose public functions are ops.
_OPS = (
    "ops",
    "diagnostics.assertions",
    "autodiff.custom",
    "autodiff.recompute",
    "library.linear_operator",
)

#: By a user's function, the entries that were made for it.
_ENTRIES: dict[Any, list[tuple[Any, Target]]] = {}

#: By kind of handler and the classes it is for, the handler.
_HANDLERS: dict[tuple[str, tuple[Any, ...]], Callable[..., Any]] = {}


# ---------------------------------------------------------------------------------------------
# Annotations as checks.


def _check_of(annotation: Any) -> Callable[[Any], bool]:
    """Whether a value is of an annotation. Raises ValueError for one of another kind."""
    origin, inner = typing.get_origin(annotation), typing.get_args(annotation)
    if origin in (Union, types.UnionType):
        checks = list(map(_check_of, inner))
        return lambda value: any(check(value) for check in checks)
    if origin is list and inner:
        check = _check_of(inner[0])
        return lambda value: isinstance(value, (list, tuple)) and all(map(check, value))
    if isinstance(annotation, type) and origin is None:
        return lambda value: isinstance(value, annotation)
    raise ValueError(
        f"Type annotation {annotation} is not currently supported by dispatch.  Supported "
        "annotations: type objects,  List[...], and Union[...]"
    )


def _checks_of(names: Sequence[str], signature: dict[Any, Any]) -> Checks:
    checks: Checks = {}
    for given, annotation in signature.items():
        name: Any = names[given] if isinstance(given, int) and given < len(names) else given
        if name not in names:
            raise ValueError(f"signature includes annotation for unknown parameter {given!r}.")
        checks[name] = _check_of(annotation)
    return checks


# ---------------------------------------------------------------------------------------------
# Ops as the faces show them.


def _faces() -> list[Any]:
    """The modules that show ops to users; those that stand in for TensorFlow's too."""
    roots = [_PACKAGE]
    if type(sys.modules.get("tensorflow")).__module__.startswith(_PACKAGE):
        roots.append("tensorflow")
    return [
        module
        for name, module in list(sys.modules.items())
        if name.partition(".")[0] in roots and "._src" not in name
    ]


def _is_op(api: Any) -> bool:
    if not callable(api) or isinstance(api, type):
        return False
    prefix = _PACKAGE + "._src."
    module = getattr(inspect.unwrap(api), "__module__", None) or ""
    return hasattr(api, "op") or any(module.startswith(prefix + each) for each in _OPS)


def _attach(api: Any) -> None:
    """Let an op look for targets, if it does not do so by itself: the faces show one that does."""
    if hasattr(api, "op") or hasattr(api, "takes_composites"):
        return

    @functools.wraps(api)
    def call(*args: Any, **kwargs: Any) -> Any:
        found = NotImplemented
        if next(iter(composites((*args, *kwargs.values()))), None) is not None:
            found = called(api, args, kwargs)
        return api(*args, **kwargs) if found is NotImplemented else found

    call.takes_composites = True  # type: ignore[attr-defined]
    for face in _faces():
        for name, value in list(vars(face).items()):
            if value is api:
                setattr(face, name, call)


def _named(names: Iterable[str]) -> list[Any]:
    """The ops of these names below `tf`, each once, and those of Python's operators."""
    found: dict[Any, Any] = {}
    for name in names:
        value: Any = sys.modules[_PACKAGE]
        for part in name.split("."):
            value = getattr(value, part)
        found.setdefault(key_of(value), value)
        if name in _OPERATORS:
            value = function_of(_OPERATORS[name])
            found.setdefault(key_of(value), value)
    return list(found.values())


def _add(api: Any, owner: Any, target: Target) -> None:
    _attach(api)
    key = key_of(api)
    TARGETS.setdefault(key, []).append(target)
    _ENTRIES.setdefault(owner, []).append((key, target))


def give_way(cls: type, handler: Callable[[Any, tuple[Any, ...], dict[str, Any]], Any]) -> None:
    """Let `handler(op, args, kwargs)` do what all public ops are asked to do with an object of a
    class that no op takes, in a list too. The faces show ops that do so."""
    made: dict[int, Any] = {}

    def giving(op: Any) -> Any:
        @functools.wraps(op)
        def call(*args: Any, **kwargs: Any) -> Any:
            if not args or not isinstance(args[0], cls):
                try:
                    return op(*args, **kwargs)
                except (TypeError, ValueError):
                    leaves = nest.flatten((args, kwargs))
                    if not any(isinstance(leaf, cls) for leaf in leaves):
                        raise
            return handler(call, args, kwargs)

        return call

    for face in _all_faces():
        for name, value in list(vars(face).items()):
            if name[0] == "_" or name in _ASK_NOBODY or not isinstance(value, _FUNCTIONS):
                continue
            if _is_op(value):
                if id(value) not in made:
                    made[id(value)] = giving(value)
                setattr(face, name, made[id(value)])


def _all_faces() -> list[Any]:
    """The modules that show ops to users, imported where they were not."""
    package = sys.modules[_PACKAGE]
    for found in pkgutil.walk_packages(package.__path__, f"{_PACKAGE}."):
        name = found.name
        if not any(part.startswith("_") or part in _OF_OTHERS for part in name.split(".")[1:]):
            importlib.import_module(name)
    return _faces()


#: Faces of no ops.
_OF_OTHERS = frozenset({"keras", "initializers", "losses", "metrics", "v1", "v2", "raw_ops"})
#: Public functions that do not ask for what takes their place.
_ASK_NOBODY = frozenset(
    """
    constant custom_gradient get_static_value grad_pass_through group is_symbolic_tensor is_tensor
    make_tensor_proto map_fn recompute_grad switch_case type_spec_from_value vectorized_map
    while_loop
    """.split()
)
_FUNCTIONS = (types.FunctionType, types.BuiltinFunctionType, functools.partial)


# ---------------------------------------------------------------------------------------------
# The decorators.


def _plain(signature: inspect.Signature) -> inspect.Signature:
    """A signature as TensorFlow's is written, without annotations."""
    parameters = [p.replace(annotation=p.empty) for p in signature.parameters.values()]
    return inspect.Signature(parameters)


def _check_names(api: inspect.Signature, target: inspect.Signature) -> None:
    """A target takes what the op takes, by the same names; `name` may be left out."""
    kinds = [p.kind for p in target.parameters.values()]
    if inspect.Parameter.VAR_POSITIONAL in kinds or inspect.Parameter.VAR_KEYWORD in kinds:
        return
    names, wanted = list(target.parameters), list(api.parameters)
    if names not in (wanted, [name for name in wanted if name != "name"]):
        raise ValueError(
            f"Dispatch function's signature {target} does not match API's signature {_plain(api)}."
        )


def dispatch_for_api(api: Any, *signatures: dict[Any, Any]) -> Callable[[_Function], _Function]:
    """Decorator: a function that is called in the place of an op, for arguments of given classes.

    Args:
      api: an op of this library, such as `tf.concat`.
      signatures: dicts from the names, or places, of parameters to classes, `List[...]` or
        `Union[...]` of them; the function is for calls that one of them fits. None for the
        annotations of the function itself.
    The function has the op's parameters. It is called where an argument is a composite, such as an
    ExtensionType; `NotImplemented` as its result stands for the op itself.
    Raises: ValueError if `api` is no op, if parameters differ, if there is no annotation; and at a
      call that fits several functions.

    >>> import tape_compat as tf
    >>> class Masked(tf.experimental.ExtensionType):
    ...     values: tf.Tensor
    ...     mask: tf.Tensor
    >>> @tf.experimental.dispatch_for_api(tf.size)
    ... def masked_size(input: Masked, out_type=tf.int32, name=None):
    ...     return tf.reduce_sum(tf.cast(input.mask, out_type))
    >>> tf.size(Masked([1, 2, 3], [True, False, True])).numpy().item()
    2
    >>> tf.experimental.unregister_dispatch_for(masked_size)
    """
    if not _is_op(api):
        raise ValueError(f"{api} does not support dispatch.")
    signature = inspect.signature(api)

    def decorated(target: _Function) -> _Function:
        own = inspect.signature(target)
        _check_names(signature, own)
        asked: Sequence[dict[Any, Any]] = signatures
        if not asked:
            asked = [typing.get_type_hints(target)]
            asked[0].pop("return", None)
            if not asked[0]:
                raise ValueError(
                    "The dispatch_for_api decorator must be called with at least one signature, or "
                    "applied to a function that has type annotations on its parameters."
                )
        names = list(signature.parameters)
        _add(api, target, Target(target, tuple(_checks_of(names, each) for each in asked)))
        return target

    return decorated


def _elementwise(
    kind: str, names: Sequence[str], classes: tuple[Any, ...]
) -> Callable[[_Function], _Function]:
    def decorated(handler: _Function) -> _Function:
        checks = list(map(_check_of, classes))
        known = _HANDLERS.get((kind, classes))
        if known is not None:
            shown = classes[0] if len(classes) == 1 else classes
            raise ValueError(
                f"A {kind} dispatch handler ({known}) has already been registered for {shown}."
            )
        _HANDLERS[kind, classes] = handler
        for api in _named(names):
            parameters = list(inspect.signature(api).parameters)[: len(checks)]
            target = _handled(api, handler, parameters)
            _add(api, handler, Target(target, (dict(zip(parameters, checks)),)))
        return handler

    return decorated


def _handled(api: Any, handler: Callable[..., Any], parameters: list[str]) -> Callable[..., Any]:
    """The handler as a target of one op."""
    signature = inspect.signature(api)

    def elementwise_dispatch_target(*args: Any, **kwargs: Any) -> Any:
        given = signature.bind(*args, **kwargs).arguments
        values = [given.pop(name) for name in parameters]
        given.pop("name", None)
        if given:
            return handler(lambda *plain: api(*plain, **given), *values)
        return handler(api, *values)

    elementwise_dispatch_target.__name__ += f"_for_{api.__name__}"
    return elementwise_dispatch_target


def dispatch_for_unary_elementwise_apis(x_type: Any) -> Callable[[_Function], _Function]:
    """Decorator: a function that is called in the place of every elementwise op of one tensor, for
    arguments of a class.

    Args:
      x_type: a class, or a `Union` of some.
    The function takes `(api_func, x)`, `api_func` being the op with its other arguments held.
    Raises: ValueError if the class has such a function already.

    >>> import tape_compat as tf
    >>> class Masked(tf.experimental.ExtensionType):
    ...     values: tf.Tensor
    ...     mask: tf.Tensor
    >>> @tf.experimental.dispatch_for_unary_elementwise_apis(Masked)
    ... def masked_unary(api_func, x):
    ...     return Masked(api_func(x.values), x.mask)
    >>> tf.abs(Masked([1, -2], [True, False])).values.numpy().tolist()
    [1, 2]
    """
    return _elementwise("unary elementwise", _UNARY, (x_type,))


def dispatch_for_binary_elementwise_apis(
    x_type: Any, y_type: Any
) -> Callable[[_Function], _Function]:
    """Decorator: a function that is called in the place of every elementwise op of two tensors, for
    arguments of two classes.

    The function takes `(api_func, x, y)`, `api_func` being the op with its other arguments held.
    Raises: ValueError if the classes have such a function already.

    >>> import tape_compat as tf
    >>> class Masked(tf.experimental.ExtensionType):
    ...     values: tf.Tensor
    ...     mask: tf.Tensor
    >>> @tf.experimental.dispatch_for_binary_elementwise_apis(Masked, Masked)
    ... def masked_binary(api_func, x, y):
    ...     return Masked(api_func(x.values, y.values), x.mask & y.mask)
    >>> masked = Masked([1, 2], [True, False])
    >>> tf.add(masked, masked).values.numpy().tolist()
    [2, 4]
    """
    return _elementwise("binary elementwise", _BINARY, (x_type, y_type))


def dispatch_for_binary_elementwise_assert_apis(
    x_type: Any, y_type: Any
) -> Callable[[_Function], _Function]:
    """Decorator: a function that is called in the place of `tf.debugging.assert_equal` and the
    other assertions of two tensors, for arguments of two classes.

    The function takes `(api_func, x, y)`, `api_func` being the assertion with its other arguments
    held.
    Raises: ValueError if the classes have such a function already.

    >>> import tape_compat as tf
    >>> class Masked(tf.experimental.ExtensionType):
    ...     values: tf.Tensor
    ...     mask: tf.Tensor
    >>> @tf.experimental.dispatch_for_binary_elementwise_assert_apis(Masked, Masked)
    ... def masked_assert(api_func, x, y):
    ...     return api_func(tf.boolean_mask(x.values, x.mask), tf.boolean_mask(y.values, y.mask))
    >>> tf.debugging.assert_equal(Masked([1, 2], [True, False]), Masked([1, 3], [True, False]))
    """
    return _elementwise("binary elementwise assert", _ASSERTS, (x_type, y_type))


def unregister_dispatch_for(dispatch_target: Callable[..., Any]) -> None:
    """Undo what a `dispatch_for_*` decorator did with a function.

    Raises: ValueError if none did anything.

    >>> import tape_compat as tf
    >>> tf.experimental.unregister_dispatch_for(len)
    Traceback (most recent call last):
        ...
    ValueError: Function <built-in function len> was not registered using a `@dispatch_for_*` ...
    """
    entries = _ENTRIES.pop(dispatch_target, None)
    if entries is None:
        raise ValueError(
            f"Function {dispatch_target} was not registered using a `@dispatch_for_*` decorator."
        )
    for key, target in entries:
        TARGETS[key].remove(target)
    for at, handler in list(_HANDLERS.items()):
        if handler is dispatch_target:
            del _HANDLERS[at]
