"""What all parts of the class Dataset use."""

from __future__ import annotations

from typing import Any

from ..core import errors
from ..core.errors import user_location
from ..core.state import LOCAL
from ..ops.random_keys import next_pair
from ..values.composite import Opaque
from ..values.trackable import Trackable
from .options import Options
from .pipeline import Pipeline
from .selecting import Seeds
from .specs import DatasetSpec


class DatasetBase(Opaque, Trackable):
    """A pipeline with its options."""

    _pipeline: Pipeline
    _options: Options

    def _made(self, pipeline: Pipeline) -> Any:
        """The dataset of a pipeline over this one's."""
        raise NotImplementedError(f"{type(self).__name__}._made")

    @property
    def element_spec(self) -> Any:
        """The specs of the elements: a nest of `tf.TypeSpec`.

        >>> import tape_compat as tf
        >>> tf.data.Dataset.range(3).element_spec
        TensorSpec(shape=(), dtype=tf.int64, name=None)
        """
        return self._pipeline.spec

    @property
    def _type_spec(self) -> DatasetSpec:
        return DatasetSpec(self.element_spec)

    def _trace_part(self) -> DatasetSpec:
        return self._type_spec


def known_size(pipeline: Pipeline) -> int:
    """How many elements there are, where that may be told."""
    if LOCAL.state.capture is not None:
        raise errors.NeedsPython(
            f"the number of elements is known when the function runs (at {user_location()})"
        )
    return pipeline.size()


def seeds(seed: Any, again: bool) -> Seeds:
    """Seeds of the runs over a dataset, from an op's seed and the global one."""
    if LOCAL.state.capture is not None:
        return Seeds((0, 0), again)
    return Seeds(next_pair(seed), again)


def dataset_of(value: Any, what: str) -> DatasetBase:
    """A dataset that was given. Raises TypeError for something else."""
    if not isinstance(value, DatasetBase):
        raise TypeError(f"{what} must be a `Dataset`, not {value!r} of type {type(value)}.")
    return value
