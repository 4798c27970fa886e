"""`tf.train.ClusterSpec`: the jobs of a cluster and the addresses of their tasks.

A program that can run on several machines describes them before it finds out that it is alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

from ..data.io.fields import INT, TEXT
from ..data.io.messages import Message, Messages, SingleMap


class _Tasks(SingleMap):
    """A field of addresses by the numbers of tasks."""

    KEY, VALUE = INT, TEXT


class JobDef(Message):
    """A job: its `name`, and in `tasks` the address of each of its tasks by number.

    >>> import tape_compat as tf
    >>> tf.train.JobDef(name="worker", tasks={0: "here:1"}).tasks[0]
    'here:1'
    """

    FIELDS: ClassVar = {"name": (1, TEXT), "tasks": (2, _Tasks)}


class _Jobs(Messages):
    KIND = JobDef


class ClusterDef(Message):
    """The jobs of a cluster: `job` is a list of `tf.train.JobDef`.

    >>> import tape_compat as tf
    >>> len(tf.train.ClusterDef(job=[tf.train.JobDef(name="worker")]).job)
    1
    """

    FIELDS: ClassVar = {"job": (1, _Jobs)}


class ServerDef(Message):
    """Which task of which cluster a process is. Settings of sessions and devices are left out.

    >>> import tape_compat as tf
    >>> tf.train.ServerDef(job_name="worker", task_index=1).task_index
    1
    """

    FIELDS: ClassVar = {
        "cluster": (1, ClusterDef),
        "job_name": (2, TEXT),
        "task_index": (3, INT),
        "protocol": (5, TEXT),
        "port": (6, INT),
        "replica": (8, INT),
    }


#: The addresses of a job by the numbers of its tasks.
_Addresses = dict[int, str]


class ClusterSpec:
    """The jobs of a cluster by name, each with the addresses of its tasks.

    Args:
      cluster: a dict of lists of addresses, or of dicts of them by number; a `ClusterDef`; another
        ClusterSpec.
    Raises: TypeError for anything else.

    >>> import tape_compat as tf
    >>> spec = tf.train.ClusterSpec({"worker": ["one:2222", "two:2222"], "ps": {3: "three:2222"}})
    >>> spec.jobs, spec.num_tasks("worker"), spec.task_address("ps", 3)
    (['worker', 'ps'], 2, 'three:2222')
    """

    def __init__(self, cluster: Any):
        if isinstance(cluster, ClusterSpec):
            cluster = cluster.as_cluster_def()
        if isinstance(cluster, ClusterDef):
            self._jobs = {job.name: dict(sorted(job.tasks.items())) for job in cluster.job}
        elif isinstance(cluster, Mapping):
            self._jobs = {name: _addresses(name, tasks) for name, tasks in cluster.items()}
            for name, tasks in self._jobs.items():
                _check_texts(name, tasks)
        else:
            raise TypeError(
                "`cluster` must be a dictionary mapping one or more job names to lists of network "
                "addresses, or a `ClusterDef` protocol buffer"
            )

    def __bool__(self) -> bool:
        return bool(self._jobs)

    def __eq__(self, other: object) -> bool:
        """Whether two name the same jobs and tasks: only a ClusterSpec is equal to one."""
        return isinstance(other, ClusterSpec) and self._jobs == other._jobs

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        shown = self.as_dict()
        return f"ClusterSpec({{{', '.join(f'{job!r}: {shown[job]!r}' for job in sorted(shown))}}})"

    @property
    def jobs(self) -> list[str]:
        """The names of the jobs."""
        return list(self._jobs)

    def as_dict(self) -> dict[str, Any]:
        """The addresses by job: a list, or a dict where the numbers of tasks have gaps."""
        return {
            name: list(tasks.values()) if tasks and list(tasks) == [*range(len(tasks))] else tasks
            for name, tasks in ((name, dict(tasks)) for name, tasks in self._jobs.items())
        }

    def as_cluster_def(self) -> ClusterDef:
        """A `tf.train.ClusterDef` of the same, jobs in alphabetical order."""
        jobs = [JobDef(name=name, tasks=self._jobs[name]) for name in sorted(self._jobs)]
        return ClusterDef(job=jobs)

    def _job(self, job_name: str) -> _Addresses:
        try:
            return self._jobs[job_name]
        except KeyError:
            raise ValueError(f"No such job in cluster: {job_name!r}") from None

    def num_tasks(self, job_name: str) -> int:
        """How many tasks a job has. Raises ValueError for a job that there is not."""
        return len(self._job(job_name))

    def task_indices(self, job_name: str) -> list[int]:
        """The numbers of its tasks. Raises ValueError for a job that there is not."""
        return sorted(self._job(job_name))

    def task_address(self, job_name: str, task_index: int) -> str:
        """Where a task is. Raises ValueError for a job or a task that there is not."""
        try:
            return self._job(job_name)[task_index]
        except KeyError:
            raise ValueError(f"No task with index {task_index!r} in job {job_name!r}") from None

    def job_tasks(self, job_name: str) -> list[str | None]:
        """Where the tasks of a job are, None for a number that no task has. Raises ValueError for
        a job that there is not."""
        tasks = self._job(job_name)
        return [tasks.get(i) for i in range(max(tasks, default=-1) + 1)]


def _addresses(job: Any, tasks: Any) -> _Addresses:
    if isinstance(tasks, (list, tuple)):
        return dict(enumerate(tasks))
    if isinstance(tasks, Mapping):
        return dict(sorted((int(i), address) for i, address in tasks.items()))
    raise TypeError(
        f"The tasks for job {job!r} must be a list or a dictionary from integers to strings."
    )


def _check_texts(job: Any, tasks: _Addresses) -> None:
    _check_text("Job name", [job])
    _check_text("Task address", tasks.values())


def _check_text(what: str, values: Iterable[Any]) -> None:
    for value in values:
        if not isinstance(value, (str, bytes)):
            raise TypeError(f"{what} {value!r} must be bytes or unicode")
