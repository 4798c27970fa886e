"""What Keras 2, the package `tf_keras`, asks of TensorFlow's private modules."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from malt.core import ag_ctx

from ..checkpoint.restoring import SlotPosition
from ..checkpoint.state import put_state
from ..checkpoint.tracking import (
    ListWrapper,
    NoDependency,
    _DictWrapper,
    children_of_structure,
    is_trackable,
)
from ..core.errors import user_location
from ..function.autograph.entry import convert_in_context
from ..values.tensor import Tensor
from ..values.trackable import Trackable
from ..values.variable import VALUE_KEY, Variable


class DistributedDataset:
    """The class of the datasets of several devices: none is one."""


class DistributedIterator:
    """The class of their iterators: none is one."""


class DistributedDatasetInterface:
    """What both would be."""


class DistributedVariable:
    """The class of the variables of several devices, and of those in parts: none is one."""


class DelegatingTrackableMixin:
    """An object that a checkpoint sees as another one, which it is made of."""

    def __init__(self, trackable_obj: Any):
        self._trackable = trackable_obj

    def _trackable_children(self, save_type: str = "checkpoint", **kwargs: Any) -> dict[str, Any]:
        """The parts of the other one."""
        return self._trackable._trackable_children(save_type, **kwargs)

    def _track_trackable(self, *args: Any, **kwargs: Any) -> Any:
        """Let something be a part of the other one."""
        return self._trackable._track_trackable(*args, **kwargs)

    def _maybe_initialize_trackable(self) -> None:
        """Nothing is to be made ready."""


class CheckpointInitialValueCallable:
    """An initializer that gives what a checkpoint has for a variable."""

    def __init__(self, checkpoint_position: SlotPosition):
        self.checkpoint_position = checkpoint_position

    @property
    def restore_uid(self) -> int:
        """Greater than that of checkpoints restored before."""
        return self.checkpoint_position.restore_uid

    def __call__(self, shape: Any = None, dtype: Any = None, shard_info: Any = None) -> Tensor:
        """The value, of its own shape and dtype."""
        return self.checkpoint_position.value_tensors()[VALUE_KEY]


class KerasModeKeys:
    """What a model is called for."""

    TRAIN, TEST, PREDICT = "train", "test", "predict"


class EstimatorModeKeys:
    """What an estimator is called for."""

    TRAIN, EVAL, PREDICT = "train", "eval", "infer"


def is_predict(mode: str) -> bool:
    """Whether a mode is to predict."""
    return mode in (KerasModeKeys.PREDICT, EstimatorModeKeys.PREDICT)


def is_eval(mode: str) -> bool:
    """Whether a mode is to evaluate."""
    return mode in (KerasModeKeys.TEST, EstimatorModeKeys.EVAL)


def is_train(mode: str) -> bool:
    """Whether a mode is to train."""
    return mode == KerasModeKeys.TRAIN


class _OfOneKind:
    """The class of datasets that were made in one way: here all are of one class, and none of
    this."""


_GeneratorDataset = _RangeDataset = _SparseTensorSliceDataset = _OfOneKind
_TensorDataset = _TensorSliceDataset = _OfOneKind


class TrackableDataStructure:
    """A list, dict or tuple in an attribute of a layer, whose layers and variables are the layer's.

    Keras 2 asks for these lists of it, and for `_values`.
    """

    @property
    def _values(self) -> list[Any]:
        if isinstance(self, dict):
            return [part for _, part in sorted(self.items(), key=lambda item: item[0])]
        return [*self]  # type: ignore[misc]

    def _held(self, kind: str) -> list[Any]:
        found: list[Any] = []
        for value in self._values:
            found += getattr(value, kind, ())
        return found

    @property
    def trainable_weights(self) -> list[Any]:
        """The trainable variables of what is in it, and those in it."""
        mine = [v for v in self._values if isinstance(v, Variable) and v.trainable]
        return self._held("trainable_weights") + mine

    @property
    def non_trainable_weights(self) -> list[Any]:
        """The other variables."""
        mine = [v for v in self._values if isinstance(v, Variable) and not v.trainable]
        return self._held("non_trainable_weights") + mine

    @property
    def weights(self) -> list[Any]:
        """All variables."""
        return self.trainable_weights + self.non_trainable_weights

    @property
    def losses(self) -> list[Any]:
        """The losses of what is in it."""
        return self._held("losses")

    trainable_variables, non_trainable_variables = trainable_weights, non_trainable_weights
    variables = weights


class _Structure(TrackableDataStructure, Trackable):
    def _trackable_children(self, save_type: str = "checkpoint", **kwargs: Any) -> dict[str, Any]:
        return children_of_structure(self)


def _with_origin(base: type, name: str, held: Callable[..., Any] | None = None) -> Any:
    """A method that changes what a list or dict was made of, too: TensorFlow's share what they
    hold. A list or dict that was changed by itself in the meantime is left alone.

    held: what is put in, of the arguments; by default these.
    """

    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        given: Sequence[Any] = [[*x] if isinstance(x, Iterator) else x for x in args]
        origin = getattr(self, "_self_origin", None)
        if origin is not None and len(origin) == len(self):
            getattr(origin, name)(*given, **kwargs)
        if held is not None:
            given, kwargs = held(*given, **kwargs), {}
        return getattr(base, name)(self, *given, **kwargs)

    return method


def _one(part: Any) -> tuple[Any]:
    return (wrap(part),)


def _all(parts: Any) -> tuple[Any]:
    return ([wrap(part) for part in parts],)


def _at(key: Any, value: Any) -> tuple[Any, Any]:
    return (key, *(_all(value) if isinstance(key, slice) else _one(value)))


def _by_keys(*parts: Any, **named: Any) -> tuple[Any]:
    return ({key: wrap(part) for key, part in dict(*parts, **named).items()},)


class _List(_Structure, ListWrapper):
    insert, pop, remove, clear, reverse, sort = (
        _with_origin(ListWrapper, name)
        for name in ("insert", "pop", "remove", "clear", "reverse", "sort")
    )
    append = _with_origin(ListWrapper, "append", _one)
    extend, __iadd__ = (_with_origin(ListWrapper, name, _all) for name in ("extend", "__iadd__"))
    __setitem__ = _with_origin(ListWrapper, "__setitem__", _at)
    __delitem__ = _with_origin(ListWrapper, "__delitem__")


class _Dict(_Structure, _DictWrapper):
    clear, pop, popitem, setdefault = (
        _with_origin(_DictWrapper, name) for name in ("clear", "pop", "popitem", "setdefault")
    )
    update, __ior__ = (_with_origin(_DictWrapper, name, _by_keys) for name in ("update", "__ior__"))
    __setitem__ = _with_origin(_DictWrapper, "__setitem__", _at)
    __delitem__ = _with_origin(_DictWrapper, "__delitem__")


class _Tuple(_Structure, tuple):
    _plain_class = tuple


def wrap(value: Any) -> Any:
    """A list, dict or tuple, and those in it, as TrackableDataStructures; another as it is."""
    if type(value) is list:
        return _shared(_List(map(wrap, value)), value)
    if type(value) is tuple and any(map(is_trackable, value)):
        return _Tuple(map(wrap, value))
    if type(value) is dict:
        return _shared(_Dict({key: wrap(part) for key, part in value.items()}), value)
    return value


def _shared(structure: Any, origin: Any) -> Any:
    structure._self_origin = origin
    return structure


def sticky_attribute_assignment(trackable: Any, name: str, value: Any) -> Any:
    """The value that an attribute of a Trackable is to have. Those that it is not asked for are no
    parts of the Trackable."""
    noted = vars(trackable).setdefault("_self_noted", set())
    if isinstance(value, NoDependency):
        noted.discard(name)
        return value.value
    noted.add(name)
    part = wrap(value)
    waiting = vars(trackable).get("_self_waiting")
    if waiting is not None and is_trackable(part):
        waiting.restore_part(trackable, name, part)  # Keras sets it past `Trackable.__setattr__`
    return part


def control_status_ctx() -> Any:
    """What AutoGraph is to do here."""
    return ag_ctx.control_status_ctx()


def tf_convert(
    f: Callable[..., Any], ctx: Any, convert_by_default: bool = True, user_requested: bool = False
) -> Callable[..., Any]:
    """A function, converted by AutoGraph if `ctx` says so and a function is being recorded."""
    with ag_ctx.ControlStatusCtx(status=ctx.status):
        return convert_in_context(f)


def get_build_info() -> dict[str, bool]:
    """What TensorFlow was built for: CPUs."""
    return {"is_cuda_build": False, "is_rocm_build": False, "is_tensorrt_build": False}


variable_sync_on_read_context = contextlib.nullcontext


class SeveralDevices:
    """The class of a strategy for several machines: none is one, and none can be made."""

    def __init__(self, *_: Any, **__: Any):
        raise NotImplementedError(
            f"{type(self).__name__}: parameter servers and work on several machines are to follow "
            f"(at {user_location()})"
        )


@contextlib.contextmanager
def load_context(load_options: Any) -> Iterator[None]:
    """Nothing: where files are read is not chosen."""
    yield


def execute_fn_for_device(
    device_branch_fns: Any, default_fn: Callable[[], Any], name: str = "execute_fn"
) -> Any:
    """`default_fn()`: the others are for kernels that are not here."""
    return default_fn()


def update_checkpoint_state(
    save_dir: str,
    model_checkpoint_path: str,
    all_model_checkpoint_paths: Any = None,
    save_relative_paths: bool = True,
) -> None:
    """Note in a folder which checkpoint is the latest."""
    put_state(save_dir, model_checkpoint_path, all_model_checkpoint_paths or ())


@contextlib.contextmanager
def no_automatic_dependency_tracking_scope(obj: Any) -> Iterator[None]:
    """Within it, what is assigned to attributes of an object is no part of it."""
    before = getattr(obj, "_setattr_tracking", True)
    obj._setattr_tracking = False
    try:
        yield
    finally:
        obj._setattr_tracking = before
