"""`tf.compat.v1.train.Saver` in eager code: checkpoints of variables by their names."""

from __future__ import annotations

import contextlib
import os
import time
from typing import Any

from ...checkpoint.bundle import Bundle, files_of, write_bundle
from ...checkpoint.state import put_state
from ...core import errors
from ...core.paths import local_path
from ...values.context import executing_eagerly
from ...values.variable import Variable


class Saver:
    """Writes and reads checkpoints of variables by their names. There is no session: None stands
    for it.

    Args:
      var_list: variables, or a dict of them by the names in the checkpoint.
      max_to_keep: how many checkpoints stay, the newest ones; None or 0 for all.
      pad_step_number: whether steps in paths have eight digits at least.
      allow_empty: whether there may be no variables.
    Raises: RuntimeError without `var_list`, as in eager TensorFlow.

    >>> import tempfile
    >>> import tape_compat as tf
    >>> v = tf.Variable(1.0)
    >>> saver = tf.compat.v1.train.Saver({"v": v})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = saver.save(None, folder + "/model", global_step=3)
    ...     _ = v.assign(5.0)
    ...     saver.restore(None, path)
    >>> path[-7:], float(v)
    ('model-3', 1.0)
    """

    def __init__(
        self,
        var_list: Any = None,
        reshape: bool = False,
        sharded: bool = False,
        max_to_keep: int | None = 5,
        keep_checkpoint_every_n_hours: float = 10000.0,
        name: str | None = None,
        restore_sequentially: bool = False,
        saver_def: Any = None,
        builder: Any = None,
        defer_build: bool = False,
        allow_empty: bool = False,
        write_version: Any = None,
        pad_step_number: bool = False,
        save_relative_paths: bool = False,
        filename: str | None = None,
    ) -> None:
        if var_list is None:
            raise RuntimeError(
                "When eager execution is enabled, `var_list` must specify a list or dict of "
                "variables to save"
            )
        for what, given in (("reshape", reshape), ("saver_def", saver_def), ("builder", builder)):
            if given:
                raise NotImplementedError(f"tf.compat.v1.train.Saver: {what}")
        self._given = var_list
        self._most = max_to_keep or 0
        self._hours = keep_checkpoint_every_n_hours
        self._pads, self._allow_empty = pad_step_number, allow_empty
        self._kept: list[tuple[str, float]] = []
        self._preserved = time.time()

    @property
    def last_checkpoints(self) -> list[str]:
        """The paths of checkpoints that were written and stay, the newest last."""
        return [path for path, _ in self._kept]

    def set_last_checkpoints_with_time(self, last_checkpoints_with_time: Any) -> None:
        """Take these paths and times for those of checkpoints that stay."""
        self._kept = list(last_checkpoints_with_time)

    def recover_last_checkpoints(self, checkpoint_paths: Any) -> None:
        """Take these paths, as far as they are there, for those of checkpoints that stay."""
        indices = [(path, f"{local_path(path)}.index") for path in checkpoint_paths]
        self._kept = [(p, os.path.getmtime(i)) for p, i in indices if os.path.exists(i)]

    def _variables(self) -> dict[str, Variable]:
        if isinstance(self._given, dict):
            found = dict(self._given)
        else:
            found = {}
            for variable in self._given:
                if not isinstance(variable, Variable):
                    raise TypeError(f"Variable to save is not a Variable: {variable}")
                name = variable.name.split(":")[0]
                if name in found:
                    raise ValueError(f"At least two variables have the same name: {name}")
                found[name] = variable
        if not found and not self._allow_empty:
            raise ValueError("No variables to save")
        return found

    def save(
        self,
        sess: Any,
        save_path: Any,
        global_step: Any = None,
        latest_filename: str | None = None,
        meta_graph_suffix: str = "meta",
        write_meta_graph: bool = True,
        write_state: bool = True,
        strip_default_attrs: bool = False,
        save_debug_info: bool = False,
    ) -> str:
        """Write a checkpoint. Gives its path: `save_path`, and the step after a dash.

        Args:
          latest_filename: another name than `checkpoint` of the file that tells which checkpoint is
            the latest.
          write_state: whether `tf.train.latest_checkpoint` is to find it.
        Raises: ValueError for no variables, or two with one name; RuntimeError in a `tf.function`.
        """
        if not executing_eagerly():
            raise RuntimeError("`build()` should be called before save if defer_build==True")
        if latest_filename is not None and os.path.split(latest_filename)[0]:
            raise ValueError("'latest_filename' must not contain path components")
        path = os.fspath(save_path)
        if global_step is not None:
            path = f"{path}-{int(global_step):08d}" if self._pads else f"{path}-{int(global_step)}"
        arrays = {name: variable.numpy() for name, variable in self._variables().items()}
        write_bundle(path, arrays)
        self._note(path)
        if write_state:
            kept = self.last_checkpoints or [path]
            times = [at for _, at in self._kept]
            put_state(os.path.dirname(path), path, kept, times, filename=latest_filename)
        return path

    def _note(self, path: str) -> None:
        """Keep a new checkpoint, and remove the oldest if there are too many."""
        if not self._most:
            return
        self._kept = [each for each in self._kept if each[0] != path]
        self._kept.append((path, time.time()))
        while len(self._kept) > self._most:
            oldest, at = self._kept.pop(0)
            if at > self._preserved + self._hours * 3600:
                self._preserved = at
                continue
            for file in files_of(oldest):
                with contextlib.suppress(FileNotFoundError):
                    os.remove(file)

    def restore(self, sess: Any, save_path: Any) -> None:
        """Assign the values of a checkpoint to the variables.

        Raises: ValueError for None, a path without a checkpoint, or another shape; NotFoundError
          for a name that it has not; InvalidArgumentError for another dtype.
        """
        if save_path is None:
            raise ValueError("Can't load save_path when it is None.")
        path = os.fspath(save_path)
        if not os.path.exists(f"{local_path(path)}.index"):
            raise ValueError(f"The passed save_path is not a valid checkpoint: {path}")
        variables, bundle = self._variables(), Bundle(path)
        try:
            found = bundle.read(list(variables))
        except errors.NotFoundError as error:
            raise _failed(errors.NotFoundError, f"{_MISSING} {error}") from None
        for name, variable in variables.items():
            value = found[name]
            if bundle.entries[name].dtype is not variable.dtype:
                raise _failed(errors.InvalidArgumentError, f"{_OTHER} tensor_name = {name}")
            if not variable.shape.is_compatible_with(value.shape):
                raise ValueError(
                    f"Received incompatible tensor with shape {value.shape} when attempting to "
                    f"restore variable with shape {variable.shape} and name {name}."
                )
        for name, variable in variables.items():
            variable.assign(found[name])


_FAILED = "Restoring from checkpoint failed. This is most likely due to"
_ALTERED = "Please ensure that you have not altered the graph expected based on the checkpoint."
_MISSING = (
    f"{_FAILED} a Variable name or other graph key that is missing from the checkpoint. "
    f"{_ALTERED} Original error:\n\n"
)
_OTHER = (
    f"{_FAILED} a mismatch between the current graph and the graph from the checkpoint. "
    f"{_ALTERED} Original error:\n\n"
)


def _failed(kind: Any, message: str) -> Exception:
    return kind(None, None, message)
