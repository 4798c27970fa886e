"""Work on TPUs: those of this machine, which JAX finds by itself."""

from __future__ import annotations

import os
from typing import Any, NamedTuple

import jax

from ..core import errors
from ..core.errors import user_location
from .cluster_resolvers import ClusterResolver, refuse_several
from .clusters import ClusterSpec
from .distribute import SeveralDevices

#: What the TPUs of this machine are called, in place of an address.
_HERE = ("", "local")


class XLAOptions(NamedTuple):
    """How XLA compiles a function for several replicas: it decides so itself here."""

    use_spmd_for_xla_partitioning: bool = True
    enable_xla_dynamic_padder: bool = True
    use_shardy_partitioner: bool = False


def tpus() -> list[Any]:
    """The TPUs that JAX has."""
    return [device for device in jax.local_devices() if device.platform == "tpu"]


class TPUClusterResolver(ClusterResolver):
    """Where TPUs are: a program asks for it to find out whether it has any.

    Args:
      tpu: a name; by default what the environment variable TPU_NAME says. None, "" and "local" are
        the TPUs of this machine.
    Raises: ValueError if no TPU is named and this machine has none; NotImplementedError for those
      of another machine.

    >>> import tape_compat as tf
    >>> try:
    ...     tf.distribute.cluster_resolver.TPUClusterResolver()
    ... except ValueError as error:
    ...     print(error)
    Please provide a TPU Name to connect to.
    """

    task_type: str | None = None
    task_id: int | None = None
    rpc_layer: str | None = None

    def __init__(self, tpu: str | None = None, *args: Any, **kwargs: Any) -> None:
        name = tpu or os.environ.get("TPU_NAME") or ""
        if not (name or tpus()):
            raise ValueError("Please provide a TPU Name to connect to.")
        if name not in _HERE or not tpus():
            raise NotImplementedError(
                "tf.distribute.cluster_resolver.TPUClusterResolver: work on several machines is to "
                f"follow, and JAX finds {len(tpus())} TPUs on this one. Received: tpu={tpu!r}, "
                f"{args}, {kwargs}. At {user_location()}."
            )
        self._name = name

    @staticmethod
    def connect(tpu: str | None = None, *args: Any, **kwargs: Any) -> TPUClusterResolver:
        """A resolver, connected and initialized. Raises what the resolver raises."""
        return TPUClusterResolver(tpu, *args, **kwargs)

    def cluster_spec(self) -> ClusterSpec:
        """An empty one: this process alone."""
        return ClusterSpec({})

    def master(
        self,
        task_type: str | None = None,
        task_id: int | None = None,
        rpc_layer: str | None = None,
    ) -> str:
        """The name that it was made with."""
        return self._name

    get_master = master


class TPUStrategy(SeveralDevices):
    """`tf.distribute.MirroredStrategy` on the TPUs of this machine.

    Args:
      tpu_cluster_resolver: a `TPUClusterResolver`, or None.
      experimental_device_assignment: None: XLA numbers the cores.
      experimental_spmd_xla_partitioning: XLA divides programs either way.
    Raises: NotFoundError if there are none; NotImplementedError for an assignment.
    """

    def __init__(
        self,
        tpu_cluster_resolver: TPUClusterResolver | None = None,
        experimental_device_assignment: Any = None,
        experimental_spmd_xla_partitioning: bool = False,
    ) -> None:
        if experimental_device_assignment is not None:
            raise NotImplementedError(
                "tf.distribute.TPUStrategy: `experimental_device_assignment`. All TPUs of this "
                f"machine are used. At {user_location()}."
            )
        super().__init__(_found("tf.distribute.TPUStrategy"))
        self._resolver = tpu_cluster_resolver

    @property
    def cluster_resolver(self) -> ClusterResolver | None:
        """What it was made with."""
        return self._resolver


def _found(what: str) -> list[Any]:
    found = tpus()
    if not found:
        raise errors.NotFoundError(
            None,
            None,
            f"TPUs not found in the cluster: {what} at {user_location()}; JAX finds "
            f"{', '.join(map(str, jax.local_devices()))}",
        )
    return found


def initialize_tpu_system(cluster_resolver: TPUClusterResolver | None = None) -> None:
    """Check that there are TPUs; JAX has initialized them. Raises NotFoundError if there are none.

    >>> import tape_compat as tf
    >>> try:
    ...     tf.tpu.experimental.initialize_tpu_system()
    ... except tf.errors.NotFoundError as error:
    ...     print(str(error)[:18])
    TPUs not found in
    """
    _found("tf.tpu.experimental.initialize_tpu_system")


def shutdown_tpu_system(cluster_resolver: TPUClusterResolver | None = None) -> None:
    """Do nothing: JAX gives TPUs back at the end of the process."""


def connect_to_cluster(
    cluster_spec_or_resolver: ClusterSpec | ClusterResolver,
    job_name: str = "localhost",
    task_index: int = 0,
    protocol: str | None = None,
    make_master_device_default: bool = True,
    cluster_device_filters: Any = None,
) -> None:
    """Check that a cluster is of this process alone.

    Raises: NotImplementedError for one of several tasks; ValueError for what is no cluster.

    >>> import tape_compat as tf
    >>> tf.config.experimental_connect_to_cluster(tf.train.ClusterSpec({}))
    """
    spec = cluster_spec_or_resolver
    if isinstance(spec, ClusterResolver):
        spec = spec.cluster_spec()
    if not isinstance(spec, ClusterSpec):
        raise ValueError(
            "`cluster_spec_or_resolver` must be a `ClusterSpec` or a `ClusterResolver`, not "
            f"{spec!r} (at {user_location()})."
        )
    refuse_several(spec, "tf.config.experimental_connect_to_cluster")
