"""`tf.compat.v1.get_variable` in scopes and templates, as in eager TensorFlow.

Outside of a template each call makes a new variable, whatever `reuse` says; a template keeps those
that its function asks for. In a `wrap_function` a scope says whether a variable is new or one that
is there.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

from ...core import dtypes
from ...core.shapes import as_shape
from ...core.state import changed
from ...ops.creation import fill, zeros
from ...values.names import name_scope
from ...values.trackable import Trackable
from ...values.variable import Variable
from .collections import GraphKeys, add_to_collection, get_collection, on_reset
from .initializers import GlorotUniform


class _Reuse:
    """Takes a variable if there is one, else makes it."""

    def __repr__(self) -> str:
        return "_ReuseMode.AUTO_REUSE"


AUTO_REUSE = _Reuse()

#: What a scope hands on to those inside it, and to `get_variable`.
_INHERITED = ("initializer", "regularizer", "custom_getter", "dtype", "constraint")


class VariableScope:
    """A prefix of names, and what `get_variable` takes where it is not told."""

    def __init__(
        self,
        reuse: Any,
        name: str = "",
        initializer: Any = None,
        regularizer: Any = None,
        caching_device: Any = None,
        partitioner: Any = None,
        custom_getter: Any = None,
        name_scope: str = "",
        dtype: Any = dtypes.float32,
        use_resource: Any = None,
        constraint: Any = None,
    ) -> None:
        self.name = name
        self.reuse: Any = AUTO_REUSE
        self.initializer = initializer
        self.regularizer = regularizer
        self.caching_device = caching_device
        self.partitioner = partitioner
        self.custom_getter = custom_getter
        self.dtype = dtype
        self.use_resource = True
        self.constraint = constraint
        self.original_name_scope = name_scope

    def reuse_variables(self) -> None:
        """Let it take variables that are there."""
        self.reuse = True

    def set_initializer(self, initializer: Any) -> None:
        """Take this initializer from now on."""
        self.initializer = initializer

    def set_regularizer(self, regularizer: Any) -> None:
        """Take this regularizer from now on."""
        self.regularizer = regularizer

    def set_caching_device(self, caching_device: Any) -> None:
        """Note where values are to be kept, which changes nothing."""
        self.caching_device = caching_device

    def set_partitioner(self, partitioner: Any) -> None:
        """Refused: a variable is one array."""
        _refuse_partitioner(partitioner)

    def set_use_resource(self, use_resource: bool) -> None:
        """Nothing: all variables are resources."""
        self.use_resource = True

    def set_dtype(self, dtype: Any) -> None:
        """Take this dtype from now on."""
        self.dtype = dtype

    def set_custom_getter(self, custom_getter: Any) -> None:
        """Take this getter from now on."""
        self.custom_getter = custom_getter

    def get_collection(self, name: str) -> list[Any]:
        """What is in a collection and has a name of this scope."""
        return get_collection(name, f"{self.name}/" if self.name else None)

    def trainable_variables(self) -> list[Any]:
        """The trainable variables of templates in this scope."""
        return self.get_collection(GraphKeys.TRAINABLE_VARIABLES)

    def global_variables(self) -> list[Any]:
        """The variables of templates in this scope."""
        return self.get_collection(GraphKeys.GLOBAL_VARIABLES)


class _Within(threading.local):
    """The scopes that are open, and the variables of the template that runs, if any, by name.
    strict: whether scopes say which variables are new."""

    def __init__(self) -> None:
        self.scopes = [VariableScope(AUTO_REUSE)]
        self.kept: dict[str, Variable] | None = None
        self.strict = False


_WITHIN = _Within()
#: How many scopes have been opened with a name.
_OPENED: Counter[str] = Counter()
on_reset(_OPENED.clear)


def keeping() -> Any:
    """A context with variables of its own by their names: as a graph has. `reuse` of the scopes
    says whether those that are there are taken."""
    outermost = VariableScope(False)
    outermost.reuse = False
    return changed(_WITHIN, scopes=[outermost], kept={}, strict=True)


def get_variable_scope() -> VariableScope:
    """The scope that is open."""
    return _WITHIN.scopes[-1]


def _unique(name: str) -> str:
    """A name that no scope has had: 'a', 'a_1', ..."""
    found, number = name, 0
    while _OPENED[found]:
        number += 1
        found = f"{name}_{number}"
    return found


def _full(name: str) -> str:
    outer = get_variable_scope().name
    return f"{outer}/{name}" if outer else name


@contextlib.contextmanager
def variable_scope(
    name_or_scope: Any,
    default_name: str | None = None,
    values: Any = None,
    initializer: Any = None,
    regularizer: Any = None,
    caching_device: Any = None,
    partitioner: Any = None,
    custom_getter: Any = None,
    reuse: Any = None,
    dtype: Any = None,
    use_resource: Any = None,
    constraint: Any = None,
    auxiliary_name_scope: bool = True,
) -> Iterator[VariableScope]:
    """A scope for `get_variable`: names begin with its name.

    Args:
      name_or_scope: a name, a scope that was open before, or None for one like `default_name`.
      initializer, regularizer, dtype, constraint: for `get_variable` where it is not told.
      custom_getter: called as `custom_getter(getter=..., name=..., ...)` for each variable.
      auxiliary_name_scope: whether other variables get the prefix too.
    Raises: TypeError for None without a `default_name`; NotImplementedError for a `partitioner`.

    >>> import tape_compat as tf
    >>> with tf.compat.v1.variable_scope("layer"):
    ...     tf.compat.v1.get_variable("w", [2, 3]).name
    'layer/w:0'
    """
    _refuse_partitioner(partitioner)
    outer = get_variable_scope()
    if isinstance(name_or_scope, VariableScope):
        base, name = name_or_scope, name_or_scope.name
    elif name_or_scope is not None:
        base, name = outer, _full(name_or_scope)
    elif default_name is not None:
        base, name = outer, _unique(_full(default_name))
    else:
        raise TypeError("If default_name is None then name_or_scope is required")
    _OPENED[name] += 1
    given = {
        "initializer": initializer,
        "regularizer": regularizer,
        "custom_getter": _chained(custom_getter, base.custom_getter),
        "dtype": dtype,
        "constraint": constraint,
    }
    options = {key: getattr(base, key) if given[key] is None else given[key] for key in _INHERITED}
    prefix = default_name if name_or_scope is None else name_or_scope
    last = prefix if isinstance(prefix, str) else name.rpartition("/")[2]
    with name_scope(last) if auxiliary_name_scope and last else contextlib.nullcontext() as names:
        scope = VariableScope(reuse, name, name_scope=names or "", **options)
        if _WITHIN.strict:
            scope.reuse = reuse or base.reuse
        _WITHIN.scopes.append(scope)
        try:
            yield scope
        finally:
            _WITHIN.scopes.remove(scope)


def _refuse_partitioner(partitioner: Any) -> None:
    if partitioner is not None:
        raise NotImplementedError("tf.compat.v1: a variable in parts, by a `partitioner`")


def _chained(inner: Any, outer: Any) -> Any:
    """A getter that hands on to the one of the scope around."""
    if inner is None or outer is None:
        return inner

    def getter(getter: Any, name: str, **options: Any) -> Any:
        return inner(getter=functools.partial(outer, getter), name=name, **options)

    return getter


def get_variable(
    name: str,
    shape: Any = None,
    dtype: Any = None,
    initializer: Any = None,
    regularizer: Any = None,
    trainable: bool | None = None,
    collections: Any = None,
    caching_device: Any = None,
    partitioner: Any = None,
    validate_shape: bool = True,
    use_resource: Any = None,
    custom_getter: Any = None,
    constraint: Any = None,
    synchronization: Any = None,
    aggregation: Any = None,
) -> Variable:
    """A variable of the scope that is open: a new one, in a template the one it has.

    Args:
      shape: not with an `initializer` that is a value.
      initializer: a value, or a function of a shape and `dtype`; by default glorot_uniform, zeros
        for what is not floating.
      regularizer: a function of the variable, for the collection of regularization losses.
      collections: names of those that a variable of a template is added to.
    Raises: ValueError for a shape beside a value, none without an initializer, and in a template
      another shape or dtype than that of the variable; NotImplementedError for a `partitioner`.

    >>> import tape_compat as tf
    >>> tf.compat.v1.get_variable("w", initializer=3.0)
    <tf.Variable 'w:0' shape=() dtype=float32, numpy=3.0>
    """
    _refuse_partitioner(partitioner)
    scope = get_variable_scope()
    options = {
        "shape": shape,
        "dtype": scope.dtype if dtype is None else dtype,
        "initializer": scope.initializer if initializer is None else initializer,
        "regularizer": scope.regularizer if regularizer is None else regularizer,
        "trainable": True if trainable is None else trainable,
        "collections": collections,
        "constraint": scope.constraint if constraint is None else constraint,
    }
    getter = _chained(custom_getter, scope.custom_getter) or scope.custom_getter
    if getter is None:
        return _got(_full(name), **options)
    return getter(getter=_got, name=_full(name), **options)


def get_local_variable(
    name: str, shape: Any = None, dtype: Any = None, initializer: Any = None, **options: Any
) -> Variable:
    """`get_variable`, not trainable."""
    options["trainable"] = False
    return get_variable(name, shape, dtype, initializer, **options)


def _got(
    name: str,
    shape: Any = None,
    dtype: Any = dtypes.float32,
    initializer: Any = None,
    regularizer: Any = None,
    trainable: bool = True,
    collections: Any = None,
    constraint: Any = None,
    **others: Any,
) -> Variable:
    kept, dtype = _WITHIN.kept, dtypes.as_dtype(dtype)
    if kept is not None and _WITHIN.strict:
        _check_reuse(name, name in kept)
    if kept is not None and name in kept:
        if initializer is None or callable(initializer):
            _check_shared(name, kept[name], shape, dtype)
        return kept[name]
    value, dtype = _first_value(name, shape, dtype, initializer)
    with name_scope(""):
        made = Variable(value, trainable, name=name, dtype=dtype, constraint=constraint)
    if kept is not None:
        kept[name] = made
        keys = [GraphKeys.GLOBAL_VARIABLES] if collections is None else list(collections)
        for key in [*keys, GraphKeys.TRAINABLE_VARIABLES] if trainable else keys:
            if all(made is not x for x in get_collection(key)):
                add_to_collection(key, made)
    if regularizer is not None:
        add_to_collection(GraphKeys.REGULARIZATION_LOSSES, _Late(regularizer, made))
    return made


def _check_reuse(name: str, known: bool) -> None:
    reuse = get_variable_scope().reuse
    if known and not reuse:
        raise ValueError(
            f"Variable {name} already exists, disallowed. Did you mean to set reuse=True or "
            "reuse=tf.AUTO_REUSE in VarScope?"
        )
    if not known and reuse is True:
        raise ValueError(
            f"Variable {name} does not exist, or was not created with tf.get_variable(). Did you "
            "mean to set reuse=tf.AUTO_REUSE in VarScope?"
        )


class _Late:
    """A loss that is computed where it is used."""

    def __init__(self, regularizer: Callable[..., Any], variable: Variable) -> None:
        self._of = regularizer, variable

    def _as_tensor(self) -> Any:
        regularizer, variable = self._of
        return regularizer(variable)


def _check_shared(name: str, variable: Variable, shape: Any, dtype: Any) -> None:
    if shape is not None and not as_shape(shape).is_compatible_with(variable.shape):
        raise ValueError(
            f"Trying to share variable {name}, but specified shape {as_shape(shape)} and found "
            f"shape {variable.shape}."
        )
    if dtype is not variable.dtype:
        raise ValueError(
            f"Trying to share variable {name}, but specified dtype {dtype.name} and found dtype "
            f"{variable.dtype.name}."
        )


def _first_value(name: str, shape: Any, dtype: Any, initializer: Any) -> tuple[Any, Any]:
    """The first value of a variable, or a function that gives it, and its dtype."""
    if initializer is None:
        if shape is None:
            raise ValueError(
                f"Variable {name} did not get an initializer, so its `shape` argument must be "
                "specified."
            )
        initializer = _default(dtype)
    if not callable(initializer):
        if shape is not None:
            raise ValueError("If initializer is a constant, do not specify shape.")
        return initializer, None
    if inspect.isclass(initializer):
        initializer = initializer()
    if shape is None:
        return initializer, dtype
    sizes = as_shape(shape)
    if not sizes.is_fully_defined():
        raise ValueError(
            "The initializer passed is not valid. It should be a callable with no arguments and "
            "the shape should not be provided or an instance of `tf.keras.initializers.*' and "
            "`shape` should be fully defined."
        )
    options = {"dtype": dtype}
    with contextlib.suppress(TypeError, ValueError):
        if "partition_info" in inspect.signature(initializer).parameters:
            options["partition_info"] = None
    return functools.partial(initializer, sizes.as_list(), **options), dtype


def _default(dtype: Any) -> Any:
    if dtype.is_floating:
        return GlorotUniform(dtype=dtype)
    if dtype.name == "string":
        return lambda shape, dtype: fill(shape, "")
    return zeros


# -- templates -----------------------------------------------------------------------------------


class Template(Trackable):
    """A function that keeps the variables it asks for by `get_variable`; see `make_template`."""

    def __init__(self, name: str, function: Callable[..., Any], custom_getter: Any) -> None:
        self._name, self._function, self._getter = name, function, custom_getter
        self._kept: dict[str, Variable] = {}
        self._scope: VariableScope | None = None

    @property
    def variable_scope(self) -> VariableScope:
        """The scope of its variables."""
        if self._scope is None:
            with variable_scope(None, self._name, custom_getter=self._getter) as scope:
                self._scope = scope
        return self._scope

    @property
    def name(self) -> str:
        """The name of its scope."""
        return self.variable_scope.name

    @property
    def func(self) -> Callable[..., Any]:
        """The function."""
        return self._function

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        outer = _WITHIN.kept
        with variable_scope(self.variable_scope):
            _WITHIN.kept = self._kept
            try:
                return self._function(*args, **kwargs)
            finally:
                _WITHIN.kept = outer

    @property
    def variables(self) -> list[Variable]:
        """Its variables, sorted by name."""
        return sorted(self._kept.values(), key=lambda variable: variable.name)

    @property
    def trainable_variables(self) -> list[Variable]:
        """Those that are trainable."""
        return [variable for variable in self.variables if variable.trainable]

    @property
    def non_trainable_variables(self) -> list[Variable]:
        """Those that are not trainable."""
        return [variable for variable in self.variables if not variable.trainable]

    global_variables = variables
    weights = variables
    trainable_weights = trainable_variables
    non_trainable_weights = non_trainable_variables

    def _trackable_children(self, save_type: str = "checkpoint", **kwargs: Any) -> dict[str, Any]:
        start = f"{self.name}/"
        kept = {name.removeprefix(start): variable for name, variable in self._kept.items()}
        return {**kept, **super()._trackable_children(save_type, **kwargs)}


def make_template(
    name_: str,
    func_: Callable[..., Any],
    create_scope_now_: bool = False,
    unique_name_: str | None = None,
    custom_getter_: Any = None,
    **kwargs: Any,
) -> Template:
    """A function that calls `func_`, and has the same variables by `get_variable` each time.

    Args:
      name_: its variables begin with it, or with it and a number.
      create_scope_now_: take the name now, not at the first call.
      kwargs: for `func_`.
    Raises: ValueError with `unique_name_`, as in eager TensorFlow.

    >>> import tape_compat as tf
    >>> count = tf.compat.v1.make_template(
    ...     "count", lambda: tf.compat.v1.get_variable("n", initializer=0).assign_add(1)
    ... )
    >>> int(count()), int(count())
    (1, 2)
    """
    if unique_name_ is not None:
        raise ValueError("unique_name_ cannot be used when eager execution is enabled.")
    function = functools.partial(func_, **kwargs) if kwargs else func_
    template = Template(name_, function, custom_getter_)
    if create_scope_now_:
        _ = template.variable_scope
    return template


# -- lists of variables --------------------------------------------------------------------------


def _listed(key: str, name: str) -> Any:
    def variables(scope: str | None = None) -> list[Any]:
        return get_collection(key, scope)

    variables.__name__ = variables.__qualname__ = name
    variables.__doc__ = f"What is in the collection '{key}': variables of templates, if any."
    return variables


global_variables = _listed(GraphKeys.GLOBAL_VARIABLES, "global_variables")
trainable_variables = _listed(GraphKeys.TRAINABLE_VARIABLES, "trainable_variables")
local_variables = _listed(GraphKeys.LOCAL_VARIABLES, "local_variables")
model_variables = _listed(GraphKeys.MODEL_VARIABLES, "model_variables")
moving_average_variables = _listed(GraphKeys.MOVING_AVERAGE_VARIABLES, "moving_average_variables")
all_variables = global_variables


def no_regularizer(_: Any) -> None:
    """No loss."""
