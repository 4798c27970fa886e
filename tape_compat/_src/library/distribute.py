"""`tf.distribute` on one device: the default strategy, in which everything is done once."""

from __future__ import annotations

import contextlib
import enum
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NoReturn

from ..core.errors import user_location
from ..ops.arguments import as_tensor
from ..ops.reductions import reduce_mean, reduce_sum
from ..values import nest
from ..values.context import device as on_device


class ReduceOp(enum.Enum):
    """How values of replicas are combined."""

    SUM = "SUM"
    MEAN = "MEAN"

    @staticmethod
    def from_variable_aggregation(aggregation: Any) -> ReduceOp:
        """What `tf.VariableAggregation` asks for. Raises ValueError for NONE."""
        if aggregation.name == "NONE":
            raise ValueError(f"Could not convert from `tf.VariableAggregation` {aggregation}")
        return ReduceOp.SUM if aggregation.name == "SUM" else ReduceOp.MEAN


class DistributedValues:
    """The class of values that differ by replica. With one replica there are none."""


class DistributedDataset:
    """The class of datasets that are spread over replicas. With one replica there are none."""


class DistributedIterator:
    """The class of their iterators."""


def _op(reduce_op: Any) -> ReduceOp:
    if isinstance(reduce_op, ReduceOp):
        return reduce_op
    if isinstance(reduce_op, str) and reduce_op.upper() in ReduceOp.__members__:
        return ReduceOp[reduce_op.upper()]
    raise ValueError(f"`reduce_op` must be SUM or MEAN. Received: {reduce_op!r}")


class ReplicaContext:
    """What a replica knows of the others: there are none.

    >>> import tape_compat as tf
    >>> tf.distribute.get_replica_context().num_replicas_in_sync
    1
    """

    def __init__(self, strategy: Strategy):
        self._strategy = strategy

    @property
    def strategy(self) -> Strategy:
        """The strategy it is of."""
        return self._strategy

    @property
    def num_replicas_in_sync(self) -> int:
        """1."""
        return 1

    @property
    def replica_id_in_sync_group(self) -> int:
        """0."""
        return 0

    @property
    def devices(self) -> tuple[str, ...]:
        """Its only device."""
        return ("/job:localhost/replica:0/task:0/device:CPU:0",)

    def all_reduce(self, reduce_op: Any, value: Any, options: Any = None) -> Any:
        """The values themselves: the sum and the mean over one replica."""
        _op(reduce_op)
        return nest.map_structure(as_tensor_or_slices, value)

    def all_gather(self, value: Any, axis: int, options: Any = None) -> Any:
        """The values themselves. Raises ValueError if one has no such axis."""
        return nest.map_structure(lambda x: _with_axis(x, axis), value)

    def merge_call(
        self, merge_fn: Callable[..., Any], args: Sequence[Any] = (), kwargs: Any = None
    ) -> Any:
        """`merge_fn(strategy, *args, **kwargs)`."""
        with _merging(self._strategy):
            return merge_fn(self._strategy, *args, **(kwargs or {}))


def _with_axis(value: Any, axis: int) -> Any:
    x = as_tensor(value)
    if not -x.ndim <= axis < x.ndim:
        raise ValueError(f"`axis` = {axis} is out of range for a tensor of the shape {x.shape}")
    return x


def as_tensor_or_slices(x: Any) -> Any:
    """A tensor; composites stay what they are."""
    return x if hasattr(x, "indices") else as_tensor(x)


class _Extended:
    """The part of a strategy's interface that libraries use."""

    #: Variables are made where everything is.
    worker_devices = ("/job:localhost/replica:0/task:0/device:CPU:0",)
    parameter_devices = worker_devices
    num_replicas_per_host = 1
    experimental_require_static_shapes = False

    def _in_multi_worker_mode(self) -> bool:
        return False

    def _use_merge_call(self) -> bool:
        return True

    @contextlib.contextmanager
    def colocate_vars_with(self, colocate_with_variable: Any) -> Iterator[None]:
        """A context in which variables are made where another one is."""
        yield

    def update(
        self,
        var: Any,
        fn: Callable[..., Any],
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
        group: bool = True,
    ) -> Any:
        """`fn(var, *args, **kwargs)`."""
        return fn(var, *args, **(kwargs or {}))

    def batch_reduce_to(self, reduce_op: Any, pairs: Any, options: Any = None) -> list[Any]:
        """The values of the pairs."""
        _op(reduce_op)
        return [value for value, _ in pairs]

    def reduce_to(self, reduce_op: Any, value: Any, destinations: Any, options: Any = None) -> Any:
        """The value."""
        _op(reduce_op)
        return value

    def variable_created_in_scope(self, _: Any) -> bool:
        """True: there is one scope."""
        return True


class Strategy:
    """The strategy of one replica on the default device.

    >>> import tape_compat as tf
    >>> strategy = tf.distribute.get_strategy()
    >>> with strategy.scope():
    ...     v = tf.Variable(1.0)
    >>> strategy.run(lambda x: x + v, args=(2.0,)).numpy(), strategy.num_replicas_in_sync
    (np.float32(3.0), 1)
    """

    #: What Keras 2 asks: whether workers are told what to do by another process, and how many.
    _should_use_with_coordinator = False
    _num_workers = 1

    def __init__(self) -> None:
        self._extended = _Extended()

    @property
    def extended(self) -> _Extended:
        """What libraries need of it."""
        return self._extended

    @property
    def cluster_resolver(self) -> None:
        """None: there is no cluster."""
        return None

    @property
    def num_replicas_in_sync(self) -> int:
        """1."""
        return 1

    @contextlib.contextmanager
    def scope(self) -> Iterator[Strategy]:
        """A context in which this is the strategy."""
        before = _STATE.strategy
        _STATE.strategy = self
        try:
            yield self
        finally:
            _STATE.strategy = before

    def run(
        self,
        fn: Callable[..., Any],
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
        options: Any = None,
    ) -> Any:
        """`fn(*args, **kwargs)`."""
        return fn(*args, **(kwargs or {}))

    def reduce(self, reduce_op: Any, value: Any, axis: int | None) -> Any:
        """The sum or mean of a value along an axis; the value itself if the axis is None."""
        op = _op(reduce_op)
        if axis is None:
            return nest.map_structure(as_tensor, value)
        along = reduce_sum if op is ReduceOp.SUM else reduce_mean
        return nest.map_structure(lambda x: along(x, axis=axis), value)

    def gather(self, value: Any, axis: int) -> Any:
        """The value itself. Raises ValueError if it has no such axis."""
        return nest.map_structure(lambda x: _with_axis(x, axis), value)

    def experimental_local_results(self, value: Any) -> tuple[Any, ...]:
        """The values of the replicas."""
        return (value,)

    def unwrap(self, value: Any) -> tuple[Any, ...]:
        """The old name of `experimental_local_results`."""
        return self.experimental_local_results(value)

    def experimental_distribute_dataset(self, dataset: Any, options: Any = None) -> Any:
        """The dataset itself."""
        return dataset

    def distribute_datasets_from_function(self, dataset_fn: Any, options: Any = None) -> Any:
        """The dataset that `dataset_fn` makes of an input context."""
        return dataset_fn(InputContext())

    def experimental_make_numpy_dataset(self, numpy_input: Any) -> NoReturn:
        """Refused."""
        raise NotImplementedError(
            "tf.distribute.Strategy.experimental_make_numpy_dataset: use "
            f"tf.data.Dataset.from_tensor_slices. At {user_location()}."
        )


class InputContext:
    """Which part of the input is wanted: all of it."""

    num_input_pipelines = 1
    input_pipeline_id = 0
    num_replicas_in_sync = 1

    def get_per_replica_batch_size(self, global_batch_size: int) -> int:
        """The whole batch."""
        return global_batch_size


class OneDeviceStrategy(Strategy):
    """The strategy of one device.

    >>> import tape_compat as tf
    >>> tf.distribute.OneDeviceStrategy("/cpu:0").num_replicas_in_sync
    1
    """

    def __init__(self, device: str) -> None:
        super().__init__()
        self._device = device

    @contextlib.contextmanager
    def scope(self) -> Iterator[Strategy]:
        """A context in which this is the strategy, and its device that of what is made."""
        with super().scope(), on_device(self._device):
            yield self


class MirroredStrategy(Strategy):
    """A copy of the variables on each device: here on one.

    Raises: NotImplementedError for more than one device.
    """

    def __init__(self, devices: Sequence[str] | None = None, cross_device_ops: Any = None) -> None:
        super().__init__()
        if devices is not None and len(devices) > 1:
            raise NotImplementedError(
                f"tf.distribute.MirroredStrategy: work on several devices is to follow. Received: "
                f"devices={list(devices)}. At {user_location()}."
            )


class _Several(Strategy):
    """Refused: it is for several devices or machines."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise NotImplementedError(
            f"tf.distribute.{type(self).__name__}: work on several devices is to follow. At "
            f"{user_location()}."
        )


class TPUStrategy(_Several):
    """Refused."""


class MultiWorkerMirroredStrategy(_Several):
    """Refused."""


class _State:
    """strategy: of the innermost scope, None outside. merging: inside `merge_call`."""

    strategy: Strategy | None = None
    merging: bool = False


_STATE = _State()
_DEFAULT = Strategy()


@contextlib.contextmanager
def _merging(strategy: Strategy) -> Iterator[None]:
    before, _STATE.merging = _STATE.merging, True
    try:
        yield
    finally:
        _STATE.merging = before


def get_strategy() -> Strategy:
    """The strategy in whose scope this is, or the default."""
    return _STATE.strategy or _DEFAULT


def has_strategy() -> bool:
    """Whether this is in the scope of a strategy."""
    return _STATE.strategy is not None


def get_replica_context() -> ReplicaContext | None:
    """The replica that this runs in; None inside `merge_call`."""
    return None if _STATE.merging else ReplicaContext(get_strategy())


def in_cross_replica_context() -> bool:
    """Whether this is inside `merge_call`."""
    return _STATE.merging
