"""`tf.train.CheckpointManager`."""

from __future__ import annotations

import contextlib
import copy
import logging
import os
import time
from collections.abc import Callable
from typing import Any

from ..core.paths import local_path
from ..values.variable import Variable
from .bundle import files_of
from .checkpoint import Checkpoint
from .options import CheckpointOptions
from .state import get_checkpoint_state, put_state

_LOG = logging.getLogger("tape_compat")


class CheckpointManager:
    """Keeps the latest checkpoints of a folder, and deletes older ones.

    Args:
      checkpoint: the Checkpoint to save.
      directory: the folder. What a manager there noted before goes on.
      max_to_keep: how many to keep; None for all.
      keep_checkpoint_every_n_hours: keep one for good after so many hours each.
      checkpoint_name: the beginning of the names.
      step_counter: a Variable that counts steps, for
      checkpoint_interval: the least number of steps between two checkpoints.
      init_fn: what `restore_or_initialize` calls if there is no checkpoint.
      last_checkpoint_step: the step of the checkpoint before.
    Raises: ValueError if `max_to_keep` is not positive, or an interval comes without a counter.

    >>> import tempfile
    >>> import tape_compat as tf
    >>> checkpoint = tf.train.Checkpoint(v=tf.Variable(3))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     manager = tf.train.CheckpointManager(checkpoint, folder, max_to_keep=2)
    ...     paths = [manager.save() for _ in range(3)]
    ...     manager.checkpoints == paths[1:] and manager.latest_checkpoint == paths[2]
    True
    """

    def __init__(
        self,
        checkpoint: Checkpoint,
        directory: Any,
        max_to_keep: int | None,
        keep_checkpoint_every_n_hours: float | None = None,
        checkpoint_name: str = "ckpt",
        step_counter: Variable | None = None,
        checkpoint_interval: int | None = None,
        init_fn: Callable[[], Any] | None = None,
        last_checkpoint_step: int | None = None,
    ):
        if max_to_keep is not None and max_to_keep <= 0:
            raise ValueError(
                f"Expected a positive integer or `None` for `max_to_keep`, got {max_to_keep}."
            )
        if checkpoint_interval is not None and step_counter is None:
            raise ValueError(
                "`step_counter` should be passed if `checkpoint_interval` is not None."
            )
        self._checkpoint = checkpoint
        self._directory = os.fspath(directory)
        self._checkpoint_prefix = os.path.join(self._directory, checkpoint_name)
        self._max_to_keep = max_to_keep
        self._hours = keep_checkpoint_every_n_hours
        self._step_counter = step_counter
        self._interval = checkpoint_interval
        self._init_fn = init_fn
        self._last_step = last_checkpoint_step
        self._recover()

    def _recover(self) -> None:
        """Go on with what the folder says."""
        now = time.time()
        #: When those were made that may be deleted, by their paths.
        self._kept: dict[str, float] = {}
        state = get_checkpoint_state(self._directory)
        if state is None:
            self._latest: str | None = None
            self._preserved = now - 1.0
            return
        self._latest = state.model_checkpoint_path
        self._preserved = state.last_preserved_timestamp
        if now < self._preserved:
            _LOG.warning(
                "time.time() returned a value %f seconds behind the last preserved checkpoint "
                "timestamp.",
                self._preserved - now,
            )
            self._preserved = now
        paths = state.all_model_checkpoint_paths
        times = state.all_model_checkpoint_timestamps or [self._preserved] * len(paths)
        for path, when in zip(paths, times):
            if min(when, now) > self._preserved:
                self._kept[path] = min(when, now)

    @property
    def directory(self) -> str:
        """The folder."""
        return self._directory

    @property
    def checkpoint(self) -> Checkpoint:
        """What is saved."""
        return self._checkpoint

    @property
    def checkpoint_interval(self) -> int | None:
        """The least number of steps between two checkpoints."""
        return self._interval

    @property
    def latest_checkpoint(self) -> str | None:
        """The path of the latest checkpoint, to restore from; None if there is none."""
        return self._latest

    @property
    def checkpoints(self) -> list[str]:
        """The paths of those that may be deleted, oldest first."""
        return list(self._kept)

    def save(
        self,
        checkpoint_number: Any = None,
        check_interval: bool = True,
        options: CheckpointOptions | None = None,
    ) -> str | None:
        """Write a checkpoint, and delete those that are too many.

        Args:
          checkpoint_number: its number, which may be a Variable; default `save_counter`, which
            goes on by one anyway.
          check_interval: whether to heed `checkpoint_interval`; there are never two of one step.
        Returns: the path; None if the interval is not over.
        """
        if self._interval is not None and not self._is_due(check_interval):
            return None
        counter = self._checkpoint.save_counter
        counter.assign_add(1)
        number = int(counter if checkpoint_number is None else checkpoint_number)
        options = copy.copy(options) or CheckpointOptions()
        callbacks = list(options.experimental_write_callbacks or ())
        options.experimental_write_callbacks = [*callbacks, self._written]
        return self._checkpoint._write(f"{self._checkpoint_prefix}-{number}", options)

    def _is_due(self, check_interval: bool) -> bool:
        assert self._step_counter is not None and self._interval is not None
        step, last = int(self._step_counter), self._last_step
        if last is not None and (step == last or (check_interval and step < last + self._interval)):
            return False
        self._last_step = step
        return True

    def _written(self, path: str) -> None:
        """Note a new checkpoint, and delete or preserve the oldest."""
        self._kept.pop(path, None)
        self._kept[path] = time.time()
        self._latest = path
        self._put_state()
        while self._max_to_keep and len(self._kept) > self._max_to_keep:
            oldest = next(iter(self._kept))
            when = self._kept.pop(oldest)
            if self._hours and when - self._hours * 3600.0 >= self._preserved:
                self._preserved = when
                continue
            for file in files_of(oldest):
                with contextlib.suppress(FileNotFoundError):
                    os.remove(local_path(file))
        self._put_state()

    def _put_state(self) -> None:
        assert self._latest is not None
        paths, times = list(self._kept), list(self._kept.values())
        put_state(self._directory, self._latest, paths, times, self._preserved)

    def restore_or_initialize(self) -> str | None:
        """Restore the latest checkpoint, or call `init_fn`. Gives the path restored, or None."""
        if self._latest is not None:
            self._checkpoint.restore(self._latest)
            if self._interval is not None:
                assert self._step_counter is not None
                self._last_step = int(self._step_counter)
            return self._latest
        if self._init_fn is not None:
            self._init_fn()
            _LOG.info("Customized initialization is done through the passed `init_fn`.")
        return None

    def sync(self) -> None:
        """Wait until the files are written."""
        if self._checkpoint:
            self._checkpoint.sync()
