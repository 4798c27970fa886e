"""`tf.distribute`: one replica, in which everything is done once, on one device or on several."""

from __future__ import annotations

import contextlib
import enum
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, NoReturn

from ..core.errors import user_location
from ..core.state import changed
from ..ops.arguments import as_tensor
from ..ops.reductions import reduce_mean, reduce_sum
from ..values import nest
from ..values.context import device as on_device
from ..values.creators import variable_creator_scope
from .cluster_resolvers import ClusterResolver, TFConfigClusterResolver, refuse_several
from .mirrored import Mirror, devices_of


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
        with _within(self._strategy, across=True):
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
    num_replicas_per_host = num_hosts = 1
    experimental_require_static_shapes = False
    should_checkpoint = should_save_summary = True
    #: Datasets are batched for all replicas at once.
    _global_batch_size = True

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

    def _replica_ctx_all_reduce(self, reduce_op: Any, value: Any, options: Any = None) -> Any:
        """The value, of one replica."""
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
    def cluster_resolver(self) -> ClusterResolver | None:
        """None: there is no cluster."""
        return None

    @property
    def num_replicas_in_sync(self) -> int:
        """1."""
        return 1

    @contextlib.contextmanager
    def scope(self) -> Iterator[Strategy]:
        """A context in which this is the strategy. It is of no replica, unless by default."""
        with _within(self, across=self is not _DEFAULT):
            yield self

    def run(
        self,
        fn: Callable[..., Any],
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
        options: Any = None,
    ) -> Any:
        """`fn(*args, **kwargs)`, in the scope of this strategy."""
        if self is _DEFAULT:
            return fn(*args, **(kwargs or {}))
        with self.scope(), _within(self, across=False):
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

    def experimental_distribute_values_from_function(self, value_fn: Callable[..., Any]) -> Any:
        """What `value_fn` makes of a value context: the value of the replica."""
        return value_fn(ValueContext())

    def experimental_make_numpy_dataset(self, numpy_input: Any) -> NoReturn:
        """Refused."""
        raise NotImplementedError(
            "tf.distribute.Strategy.experimental_make_numpy_dataset: use "
            f"tf.data.Dataset.from_tensor_slices. At {user_location()}."
        )


class ValueContext:
    """Which replica a value is made for.

    >>> import tape_compat as tf
    >>> context = tf.distribute.experimental.ValueContext()
    >>> context.replica_id_in_sync_group, context.num_replicas_in_sync
    (0, 1)
    """

    def __init__(self, replica_id_in_sync_group: int = 0, num_replicas_in_sync: int = 1) -> None:
        self.replica_id_in_sync_group = replica_id_in_sync_group
        self.num_replicas_in_sync = num_replicas_in_sync


class InputContext:
    """Which part of the input is wanted: all of it, unless it says otherwise.

    >>> import tape_compat as tf
    >>> context = tf.distribute.InputContext(num_replicas_in_sync=4)
    >>> context.num_input_pipelines, context.get_per_replica_batch_size(8)
    (1, 2)
    """

    def __init__(
        self,
        num_input_pipelines: int = 1,
        input_pipeline_id: int = 0,
        num_replicas_in_sync: int = 1,
    ) -> None:
        self.num_input_pipelines = num_input_pipelines
        self.input_pipeline_id = input_pipeline_id
        self.num_replicas_in_sync = num_replicas_in_sync

    def get_per_replica_batch_size(self, global_batch_size: int) -> int:
        """The part of a batch that a replica gets. Raises ValueError if it is no whole number."""
        if global_batch_size % self.num_replicas_in_sync:
            raise ValueError(
                f"The `global_batch_size` {global_batch_size} is not divisible by "
                f"`num_replicas_in_sync` {self.num_replicas_in_sync} "
            )
        return global_batch_size // self.num_replicas_in_sync

    def __str__(self) -> str:
        return (
            f"tf.distribute.InputContext(input pipeline id {self.input_pipeline_id}, total: "
            f"{self.num_input_pipelines})"
        )


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


class SeveralDevices(Strategy):
    """A strategy of one replica, whose arrays lie on all devices: see `MirroredStrategy`."""

    def __init__(self, devices: Sequence[Any]) -> None:
        super().__init__()
        self._mirror = Mirror(devices) if len(devices) > 1 else None

    @contextlib.contextmanager
    def scope(self) -> Iterator[Strategy]:
        """A context in which this is the strategy, and variables are made on its devices."""
        with contextlib.ExitStack() as stack:
            if self._mirror is not None:
                stack.enter_context(variable_creator_scope(self._mirror.creator))
            yield stack.enter_context(super().scope())

    def experimental_distribute_dataset(self, dataset: Any, options: Any = None) -> Any:
        """The dataset, its batches divided among the devices."""
        return dataset if self._mirror is None else self._mirror.dataset(dataset)

    def distribute_datasets_from_function(self, dataset_fn: Any, options: Any = None) -> Any:
        """The dataset that `dataset_fn` makes of an input context, likewise."""
        return self.experimental_distribute_dataset(dataset_fn(InputContext()))


class MirroredStrategy(SeveralDevices):
    """A copy of the variables on each device, and a part of each batch.

    There is one replica, whose arrays lie on all devices: variables made in the scope as a whole on
    each, batches of a distributed dataset divided among them. What is computed of them is computed
    on all, and is what one device would give.

    Args:
      devices: names, as `tf.device` takes them; default all that JAX has.
      cross_device_ops: XLA knows how to combine what is on several devices.
    Raises: ValueError for a name that is none; AssertionError for one that stands there twice.

    >>> import tape_compat as tf
    >>> strategy = tf.distribute.MirroredStrategy()
    >>> with strategy.scope():
    ...     w = tf.Variable([2.0])
    >>> batches = strategy.experimental_distribute_dataset(tf.data.Dataset.range(4).batch(4))
    >>> for x in batches:
    ...     total = strategy.run(lambda x: tf.reduce_sum(tf.cast(x, tf.float32) * w), args=(x,))
    >>> strategy.reduce("SUM", total, axis=None).numpy()
    np.float32(12.0)
    """

    def __init__(self, devices: Sequence[str] | None = None, cross_device_ops: Any = None) -> None:
        super().__init__(devices_of(devices))


class CentralStorageStrategy(MirroredStrategy):
    """As `MirroredStrategy`: variables lie on all devices, where `parameter_device` is to have
    them."""

    def __init__(
        self, compute_devices: Sequence[str] | None = None, parameter_device: str | None = None
    ) -> None:
        super().__init__(compute_devices)


class CommunicationImplementation(enum.Enum):
    """How workers talk to each other."""

    AUTO = "AUTO"
    RING = "RING"
    NCCL = "NCCL"


class MultiWorkerMirroredStrategy(MirroredStrategy):
    """`MirroredStrategy` for several workers: here for one, as where `TF_CONFIG` is not set.

    Args:
      cluster_resolver: of a cluster of one task at most; None for what `TF_CONFIG` says.
      communication_options: how workers would talk to each other.
    Raises: NotImplementedError for more than one worker.
    """

    def __init__(
        self, cluster_resolver: ClusterResolver | None = None, communication_options: Any = None
    ) -> None:
        super().__init__()
        self._cluster_resolver = cluster_resolver or TFConfigClusterResolver()
        spec = self._cluster_resolver.cluster_spec()
        refuse_several(spec, "tf.distribute.MultiWorkerMirroredStrategy")

    @property
    def cluster_resolver(self) -> ClusterResolver:
        """What says which task of the cluster this process is."""
        return self._cluster_resolver


class OlderMultiWorkerMirroredStrategy(MultiWorkerMirroredStrategy):
    """That of `tf.distribute.experimental`, which takes how workers would talk by itself."""

    def __init__(
        self,
        communication: CommunicationImplementation = CommunicationImplementation.AUTO,
        cluster_resolver: ClusterResolver | None = None,
    ) -> None:
        super().__init__(cluster_resolver)


class CrossDeviceOps:
    """How values of several devices are combined. Of one device there is nothing to combine.

    >>> import tape_compat as tf
    >>> how = tf.distribute.NcclAllReduce()
    >>> tf.distribute.MirroredStrategy(["/cpu:0"], cross_device_ops=how).num_replicas_in_sync
    1
    """


class ReductionToOneDevice(CrossDeviceOps):
    """Values go to one device, `reduce_to_device`, and are combined there by `accumulation_fn`."""

    def __init__(self, reduce_to_device: str | None = None, accumulation_fn: Any = None) -> None:
        self.reduce_to_device, self.accumulation_fn = reduce_to_device, accumulation_fn


class _AllReduce(CrossDeviceOps):
    def __init__(self, num_packs: int = 1) -> None:
        if num_packs < 0:
            raise ValueError(f"num_packs must be >= 0. Received: {num_packs}")
        self.num_packs = num_packs


class NcclAllReduce(_AllReduce):
    """By NVIDIA's library, in `num_packs` parts."""


class HierarchicalCopyAllReduce(_AllReduce):
    """By copies between pairs of devices, in `num_packs` parts."""


class CommunicationOptions(NamedTuple):
    """How values of several workers are combined."""

    bytes_per_pack: int = 0
    timeout_seconds: float | None = None
    implementation: CommunicationImplementation = CommunicationImplementation.AUTO


class InputReplicationMode(enum.Enum):
    """Whether a function that makes datasets is called for each worker or each replica."""

    PER_WORKER = "PER_WORKER"
    PER_REPLICA = "PER_REPLICA"


class InputOptions(NamedTuple):
    """How elements come to several replicas."""

    experimental_fetch_to_device: bool | None = None
    experimental_replication_mode: InputReplicationMode = InputReplicationMode.PER_WORKER
    experimental_place_dataset_on_device: bool = False
    experimental_per_replica_buffer_size: int = 1


class RunOptions(NamedTuple):
    """How a function runs on several replicas."""

    experimental_enable_dynamic_batch_size: bool = True
    experimental_bucketizing_dynamic_shape: bool = False
    experimental_xla_options: Any = None


class _State:
    """strategy: of the innermost scope, None outside. across: whether no replica runs here."""

    strategy: Strategy | None = None
    across: bool = False


_STATE = _State()
_DEFAULT = Strategy()


def _within(strategy: Strategy, across: bool) -> Any:
    return changed(_STATE, strategy=strategy, across=across)


def get_strategy() -> Strategy:
    """The strategy in whose scope this is, or the default."""
    return _STATE.strategy or _DEFAULT


def has_strategy() -> bool:
    """Whether this is in the scope of a strategy that is not the default."""
    return get_strategy() is not _DEFAULT


def get_replica_context() -> ReplicaContext | None:
    """The replica that this runs in; None in the scope of a strategy and inside `merge_call`."""
    return None if _STATE.across else ReplicaContext(get_strategy())


def in_cross_replica_context() -> bool:
    """Whether this is in the scope of a strategy, outside of `run`, or inside `merge_call`."""
    return _STATE.across
