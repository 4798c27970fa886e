"""`tf.distribute.cluster_resolver`: which cluster a process is of, and which of its tasks it is."""

from __future__ import annotations

import abc
import json
import os
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from ..core.errors import user_location
from .clusters import ClusterSpec
from .config import list_logical_devices


def _with_protocol(address: str, rpc_layer: str | None) -> str:
    """'grpc://here:1'; the address alone if one of the two is empty."""
    return f"{rpc_layer}://{address}" if rpc_layer and address else address


def refuse_several(spec: ClusterSpec, what: str) -> None:
    """Raises: NotImplementedError for a cluster of several tasks."""
    if sum(map(spec.num_tasks, spec.jobs)) > 1:
        raise NotImplementedError(
            f"{what}: work on several machines is to follow. Received: {spec}. At "
            f"{user_location()}."
        )


class ClusterResolver(abc.ABC):
    """What tells of a cluster: to be subclassed, with `cluster_spec` and `master`.

    An instance has the attributes `task_type` and `task_id`, which task of the cluster this process
    is, each None if that is not known.
    """

    @abc.abstractmethod
    def cluster_spec(self) -> ClusterSpec:
        """The jobs and addresses of the cluster."""

    @abc.abstractmethod
    def master(
        self,
        task_type: str | None = None,
        task_id: int | None = None,
        rpc_layer: str | None = None,
    ) -> str:
        """The address of a task, by default of the one that leads."""

    def num_accelerators(
        self,
        task_type: str | None = None,
        task_id: int | None = None,
        config_proto: Any = None,
    ) -> Mapping[str, int]:
        """How many devices this process has that are not CPUs, by kind.

        Args:
          task_type, task_id: must be this process, or None: no other one is asked.
          config_proto: None: there are no sessions.
        Raises: NotImplementedError for other arguments.
        """
        mine = [getattr(self, name, None) for name in ("task_type", "task_id")]
        asked = [(None, own) for own in mine]
        if config_proto is not None or task_type not in asked[0] or task_id not in asked[1]:
            raise NotImplementedError(
                "num_accelerators of another task: work on several machines is to follow"
            )
        found: defaultdict[str, int] = defaultdict(int)
        for device in list_logical_devices():
            if device.device_type != "CPU":
                found[device.device_type] += 1
        return found

    @property
    def environment(self) -> str | None:
        """Where the cluster runs."""
        return ""


class SimpleClusterResolver(ClusterResolver):
    """One that is told everything.

    Args:
      cluster_spec: a `tf.train.ClusterSpec`. master: the address of the one that leads.
      task_type, task_id: which task this process is. environment: where the cluster runs.
      num_accelerators: a dict of counts by kind, such as {"GPU": 1}; None for none.
      rpc_layer: the protocol that addresses begin with, such as "grpc".
    Raises: TypeError if `cluster_spec` is none.

    >>> import tape_compat as tf
    >>> spec = tf.train.ClusterSpec({"worker": ["one:2222", "two:2222"]})
    >>> resolver = tf.distribute.cluster_resolver.SimpleClusterResolver(spec)
    >>> resolver.master("worker", 1, rpc_layer="grpc")
    'grpc://two:2222'
    """

    def __init__(
        self,
        cluster_spec: ClusterSpec,
        master: str = "",
        task_type: str | None = None,
        task_id: int | None = None,
        environment: str = "",
        num_accelerators: Mapping[str, int] | None = None,
        rpc_layer: str | None = None,
    ):
        if not isinstance(cluster_spec, ClusterSpec):
            raise TypeError("cluster_spec must be a `tf.train.ClusterSpec`.")
        self.task_type, self.task_id, self.rpc_layer = task_type, task_id, rpc_layer
        self._cluster_spec, self._master = cluster_spec, master
        self._environment, self._accelerators = environment, num_accelerators

    def cluster_spec(self) -> ClusterSpec:
        """The one it was told."""
        return self._cluster_spec

    def master(
        self,
        task_type: str | None = None,
        task_id: int | None = None,
        rpc_layer: str | None = None,
    ) -> str:
        """The address of a task; of the one that leads if none is named."""
        address = self._master
        if task_type is not None and task_id is not None:
            address = self._cluster_spec.task_address(task_type, task_id)
        return _with_protocol(address, rpc_layer or self.rpc_layer)

    def num_accelerators(
        self,
        task_type: str | None = None,
        task_id: int | None = None,
        config_proto: Any = None,
    ) -> Mapping[str, int]:
        """What it was told, of whichever task."""
        return self._accelerators or {}

    @property
    def environment(self) -> str | None:
        """Where the cluster runs, as it was told."""
        return self._environment


class TFConfigClusterResolver(ClusterResolver):
    """One that reads the variable `TF_CONFIG` of the environment, which is JSON.

    Args: each stands for what the variable says.
      task_type, task_id: which task this process is. rpc_layer: the protocol. environment: where
        the cluster runs.
    Raises: json.JSONDecodeError, when it is asked, if the variable is no JSON.

    >>> import os
    >>> import tape_compat as tf
    >>> os.environ["TF_CONFIG"] = '{"cluster": {"worker": ["a:1"]}, "task": {"type": "worker"}}'
    >>> resolver = tf.distribute.cluster_resolver.TFConfigClusterResolver()
    >>> resolver.cluster_spec(), resolver.task_type
    (ClusterSpec({'worker': ['a:1']}), 'worker')
    >>> del os.environ["TF_CONFIG"]
    """

    def __init__(
        self,
        task_type: str | None = None,
        task_id: int | None = None,
        rpc_layer: str | None = None,
        environment: str | None = None,
    ):
        self._task_type, self._task_id = task_type, task_id
        self._rpc_layer, self._environment = rpc_layer, environment

    @staticmethod
    def _config() -> dict[str, Any]:
        found: dict[str, Any] = json.loads(os.environ.get("TF_CONFIG") or "{}")
        return found

    @property
    def task_type(self) -> str | None:
        """The job of this process; None if that is not said."""
        if self._task_type is not None:
            return self._task_type
        found = self._config().get("task", {}).get("type")
        return None if found is None else str(found)

    @task_type.setter
    def task_type(self, value: str | None) -> None:
        self._task_type = value

    @property
    def task_id(self) -> int | None:
        """The number of this process in its job; None if that is not said."""
        if self._task_id is not None:
            return int(self._task_id)
        found = self._config().get("task", {}).get("index")
        return None if found is None else int(found)

    @task_id.setter
    def task_id(self, value: int | None) -> None:
        self._task_id = value

    @property
    def rpc_layer(self) -> str | None:
        """The protocol that addresses begin with."""
        return self._config().get("rpc_layer") if self._rpc_layer is None else self._rpc_layer

    @rpc_layer.setter
    def rpc_layer(self, value: str | None) -> None:
        self._rpc_layer = value

    @property
    def environment(self) -> str | None:
        """Where the cluster runs, as it was told."""
        return self._environment

    def cluster_spec(self) -> ClusterSpec:
        """What the variable says; an empty one if it says nothing."""
        return ClusterSpec(self._config().get("cluster", {}))

    def master(
        self,
        task_type: str | None = None,
        task_id: int | None = None,
        rpc_layer: str | None = None,
    ) -> str:
        """The address of a task, by default of this process; '' where the cluster is of one task or
        none. Raises ValueError for a task that there is not."""
        spec = self.cluster_spec()
        if len(spec.jobs) < 2 and sum(map(spec.num_tasks, spec.jobs)) < 2:
            return ""
        task_type = self.task_type if task_type is None else task_type
        task_id = self.task_id if task_id is None else task_id
        address = spec.task_address(task_type, task_id)  # type: ignore[arg-type]
        return _with_protocol(address, rpc_layer or self.rpc_layer)


class UnionResolver(ClusterResolver):
    """Several clusters as one: the tasks of a job that several have are counted on.

    Args:
      cluster_resolvers: of these the first says which task this process is.
      rpc_layer, task_type, task_id: stand for what the first one says.
    Raises: ValueError for no resolver, TypeError for what is none.

    >>> import tape_compat as tf
    >>> resolver = tf.distribute.cluster_resolver.SimpleClusterResolver
    >>> one, two = [resolver(tf.train.ClusterSpec({"worker": [x]})) for x in ("a:1", "b:1")]
    >>> tf.distribute.cluster_resolver.UnionResolver(one, two).cluster_spec()
    ClusterSpec({'worker': ['a:1', 'b:1']})
    """

    def __init__(self, *cluster_resolvers: ClusterResolver, **kwargs: Any):
        first = cluster_resolvers[0] if cluster_resolvers else None
        told = {
            name: kwargs.pop(name, getattr(first, name, None))
            for name in ("rpc_layer", "task_type", "task_id")
        }
        if kwargs:
            raise ValueError(f"Unexpected kwargs provided {kwargs!r}")
        if first is None:
            raise ValueError("At least one ClusterResolver is required.")
        if not all(isinstance(each, ClusterResolver) for each in cluster_resolvers):
            raise TypeError("All arguments must be a sub-class of `ClusterResolver.`")
        self._resolvers: Sequence[ClusterResolver] = cluster_resolvers
        self.rpc_layer = told["rpc_layer"]
        self.task_type, self.task_id = told["task_type"], told["task_id"]

    def cluster_spec(self) -> ClusterSpec:
        """The tasks of all, one cluster after the other. Where numbers of tasks have gaps they stay
        what they are; KeyError if two clusters then have one of a number."""
        jobs: dict[str, list[Any]] = {}
        for resolver in self._resolvers:
            for job, tasks in resolver.cluster_spec().as_dict().items():
                jobs.setdefault(job, []).append(tasks)
        return ClusterSpec({job: _joined(parts) for job, parts in jobs.items()})

    def master(
        self,
        task_type: str | None = None,
        task_id: int | None = None,
        rpc_layer: str | None = None,
    ) -> str:
        """The address of a task of all; of the one that leads the first cluster if none is
        named."""
        if task_type is not None and task_id is not None:
            address = self.cluster_spec().task_address(task_type, task_id)
            return _with_protocol(address, rpc_layer or self.rpc_layer)
        return self._resolvers[0].master(rpc_layer=rpc_layer)

    def num_accelerators(
        self,
        task_type: str | None = None,
        task_id: int | None = None,
        config_proto: Any = None,
    ) -> Mapping[str, int]:
        """What the first one says."""
        return self._resolvers[0].num_accelerators(task_type, task_id, config_proto)

    @property
    def environment(self) -> str | None:
        """Where the first cluster runs."""
        return self._resolvers[0].environment


def _joined(parts: Sequence[Any]) -> Any:
    """The addresses of one job: lists one after the other, dicts as one."""
    if all(isinstance(part, list) for part in parts):
        return [address for part in parts for address in part]
    found: dict[int, str] = {}
    for part in parts:
        for i, address in part.items() if isinstance(part, Mapping) else enumerate(part):
            if i in found:
                raise KeyError(f"Duplicate key {i} in two clusters of one job")
            found[i] = address
    return found
