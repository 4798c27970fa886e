"""What Keras 2, the package `tf_keras`, asks of TensorFlow's private modules."""

from __future__ import annotations

from typing import Any

from ..values.trackable import NoDependency


class DistributedDataset:
    """The class of the datasets of several devices: none is one."""


class DistributedIterator:
    """The class of their iterators: none is one."""


class DistributedDatasetInterface:
    """What both would be."""


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


class Gauge:
    """What counts uses of TensorFlow: nothing is counted."""

    def __init__(self, *_: Any):
        pass

    def get_cell(self, *_: Any) -> Gauge:
        """Itself."""
        return self

    def set(self, *_: Any) -> None:
        """Nothing."""

    def increase_by(self, *_: Any) -> None:
        """Nothing."""

    def add(self, *_: Any) -> None:
        """Nothing."""


BoolGauge = StringGauge = IntGauge = Counter = Sampler = Gauge


def ExponentialBuckets(*_: Any) -> None:
    """Nothing: see Gauge."""


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


class FeatureColumn:
    """The base of `tf.feature_column`, which is not here: none is one."""


class StateManager(FeatureColumn):
    """What would hold the variables of feature columns."""


class FeatureTransformationCache(FeatureColumn):
    """What would hold their values."""


def sticky_attribute_assignment(trackable: Any, name: str, value: Any) -> Any:
    """The value that an attribute of a Trackable is to have; note whether it is a part of it."""
    untracked = vars(trackable).setdefault("_self_untracked", set())
    if isinstance(value, NoDependency):
        untracked.add(name)
        return value.value
    untracked.discard(name)
    return value


def wrap(value: Any) -> Any:
    """A list or dict as it is: it is looked at when what it is a part of is saved."""
    return value
