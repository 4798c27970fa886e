"""`tf.train.Checkpoint`."""

from __future__ import annotations

import copy
import inspect
import os
import threading
import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core import dtypes, errors
from ..core.paths import local_path
from ..core.state import LOCAL
from ..values.context import init_scope
from ..values.trackable import Trackable
from ..values.variable import VALUE_KEY, Variable
from .bundle import write_bundle
from .graph import GRAPH_KEY, parsed
from .options import CheckpointOptions
from .reader import CheckpointReader
from .restoring import Restoration, assign_values
from .saving import View, gather, view_of
from .state import put_state
from .status import CheckpointLoadStatus, InitializationOnlyStatus, NameBasedSaverStatus, Unrestored
from .tracking import AutoTrackable, NoDependency, children, is_trackable
from .variables import full_name, is_variable

Status = CheckpointLoadStatus | InitializationOnlyStatus | NameBasedSaverStatus


class Checkpoint(AutoTrackable):
    """Saves and restores the Variables of objects, with the names that lead to them.

    Objects are Modules, Keras models and optimizers, Variables, iterators, generators of random
    numbers, tables, and lists, dicts and tuples of them. The files are TensorFlow's.

    Args:
      root: an object to save, or a weak reference to one; without it, a Checkpoint is the root.
      **kwargs: objects to save, which become attributes.
    Raises: ValueError for what cannot be saved, or for an attribute of `root` that is another
      object than the one given.

    >>> import tempfile
    >>> import tape_compat as tf
    >>> step, w = tf.Variable(0), tf.Variable([1.0, 2.0])
    >>> checkpoint = tf.train.Checkpoint(step=step, w=w)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = checkpoint.save(folder + "/a")
    ...     _ = w.assign([0.0, 0.0])
    ...     _ = checkpoint.restore(path).assert_consumed()
    >>> w.numpy().tolist(), int(checkpoint.save_counter)
    ([1.0, 2.0], 1)
    """

    _save_counter: Any
    _writer: Any
    _failed: Any
    #: Parts of the root besides its own; None where this Checkpoint is the root.
    _attached: Any

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...  # what it was given

    def __init__(self, root: Any = None, **kwargs: Any):
        for name in ("_save_counter", "_writer", "_failed", "_attached"):
            setattr(self, name, NoDependency(None))
        parts: dict[str, Any] = {}
        if root is not None:
            target = root() if isinstance(root, weakref.ref) else root
            _check_trackable(target, "root", isinstance(target, Trackable))
            parts = children(target)
            self._save_counter = NoDependency(parts.get("save_counter"))
            self._attached = NoDependency({})
            kwargs["root"] = root
        for name, value in sorted(kwargs.items()):
            setattr(self, name, value)
            held = value() if isinstance(value, weakref.ref) else value
            _check_trackable(held, name, is_trackable(held) or _is_function(held))
            if root is None:
                continue
            if name not in parts:
                self._attached[name] = held
            elif parts[name] is not held:
                raise ValueError(
                    f"Cannot create a Checkpoint with keyword argument {name} if root.{name} "
                    "already exists."
                )

    # -- what is saved --------------------------------------------------------------------------

    def _trackable_children(self, save_type: str = "checkpoint", **kwargs: Any) -> dict[str, Any]:
        found = super()._trackable_children(save_type, **kwargs)
        if self._save_counter is not None:
            found["save_counter"] = self._save_counter
        return found

    def _target(self) -> Any:
        """The root of what is saved."""
        if self._attached is None:
            return self
        root = vars(self)["root"]
        return root() if isinstance(root, weakref.ref) else root

    def _view(self) -> View:
        return view_of(self._target(), self._attached)

    @property
    def save_counter(self) -> Variable:
        """How often it was saved, an int64 Variable: the number in the names of its checkpoints."""
        if self._save_counter is None:
            with init_scope():
                counter = Variable(0, trainable=False, dtype=dtypes.int64, name="save_counter")
            self._save_counter = NoDependency(counter)
            if self._attached is not None:
                self._attached["save_counter"] = counter
            target = self._target()
            waiting = vars(target).get("_self_waiting")
            if waiting is not None:
                waiting.restore_part(target, "save_counter", counter)
        return self._save_counter

    # -- writing --------------------------------------------------------------------------------

    def write(self, file_prefix: Any, options: CheckpointOptions | None = None) -> str:
        """Write a checkpoint without counting it. Gives its path, which is `file_prefix`.

        Raises: an OpError if the files cannot be written.

        >>> import tempfile
        >>> import tape_compat as tf
        >>> v = tf.Variable(3)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = tf.train.Checkpoint(v=v).write(folder + "/a")
        ...     _ = tf.train.Checkpoint(v=v.assign(0)).read(path)
        >>> int(v)
        3
        """
        return self._write(_path(file_prefix), options)

    def _write(self, prefix: str, options: CheckpointOptions | None = None) -> str:
        if LOCAL.state.capture is not None:
            raise errors.NeedsPython(
                "tf.train.Checkpoint.write() needs values, which are known when the function runs "
                f"(at {errors.user_location()})."
            )
        self.sync()
        options = options or CheckpointOptions()
        aside = options.experimental_enable_async_checkpoint
        arrays = gather(self._target(), self._attached, copy=aside)
        callbacks = list(options.experimental_write_callbacks or ())
        if aside:
            self._write_aside(prefix, arrays, callbacks)
        else:
            _write_now(prefix, arrays, callbacks)
        return prefix

    def _write_aside(
        self, prefix: str, arrays: dict[str, np.ndarray], callbacks: list[Callable[..., Any]]
    ) -> None:
        def run() -> None:
            try:
                _write_now(prefix, arrays, callbacks)
            except BaseException as error:
                self._failed = NoDependency(error)

        thread = threading.Thread(target=run, name="checkpoint")
        self._writer = NoDependency(thread)
        thread.start()

    def sync(self) -> None:
        """Wait until the files are written. Raises what kept them from being written."""
        writer, self._writer = self._writer, NoDependency(None)
        if writer is not None and writer is not threading.current_thread():
            writer.join()
        error, self._failed = self._failed, NoDependency(None)
        if error is not None:
            raise error

    def save(self, file_prefix: Any, options: CheckpointOptions | None = None) -> str:
        """Write a checkpoint with the next number, and make it the latest of its folder.

        Args: `file_prefix`: the path without the number.
        Returns: the path, to restore from.
        Raises: NotImplementedError in a `tf.function`; an OpError if the files cannot be written.
        """
        if LOCAL.state.capture is not None:
            raise NotImplementedError(
                "Calling tf.train.Checkpoint.save() from a function is not supported, as save() "
                "modifies saving metadata in ways not supported by TensorFlow Operations. Consider "
                "using tf.train.Checkpoint.write(), a lower-level API which does not update "
                "metadata. tf.train.latest_checkpoint and related APIs will not see this "
                "checkpoint."
            )
        options = copy.copy(options) or CheckpointOptions()
        callbacks = list(options.experimental_write_callbacks or ())
        options.experimental_write_callbacks = [*callbacks, _make_latest]
        number = int(self.save_counter.assign_add(1))
        return self._write(f"{_path(file_prefix)}-{number}", options)

    # -- reading --------------------------------------------------------------------------------

    def read(self, save_path: Any, options: CheckpointOptions | None = None) -> Status:
        """Restore what `write` wrote; `restore`, without the counter of `save`."""
        if LOCAL.state.capture is not None:
            raise errors.NeedsPython(
                "tf.train.Checkpoint.read() assigns values, which are known when the function runs "
                f"(at {errors.user_location()})."
            )
        self.sync()
        if save_path is None:
            return InitializationOnlyStatus()
        reader = CheckpointReader(_path(save_path))
        if not reader.has_tensor(GRAPH_KEY):
            return self._read_by_names(reader)
        try:
            graph = parsed(reader.get_tensor(GRAPH_KEY))
        except ValueError as error:
            raise errors.DataLossError(
                None, None, f"The graph of objects in {save_path} is damaged: {error}"
            ) from None
        skip_slots = bool(options and options.experimental_skip_slot_variables)
        restoration = Restoration(graph, reader, skip_slots)
        target = self._target()
        restoration.restore(0, target, attached=self._attached)
        restoration.unrestored = Unrestored(restoration)
        return CheckpointLoadStatus(restoration, self._view, target, skip_slots)

    def _read_by_names(self, reader: CheckpointReader) -> NameBasedSaverStatus:
        """Restore the variables that are there by their names, as TensorFlow 1 saved them."""
        wanted: list[tuple[Any, dict[str, str]]] = []
        unmatched = []
        for value in self._view().objects:
            if is_variable(value):
                name = full_name(value)
                if reader.has_tensor(name):
                    wanted.append((value, {VALUE_KEY: name}))
                else:
                    unmatched.append((value, name))
        assign_values(reader, wanted)
        return NameBasedSaverStatus(unmatched, ("save_counter",))

    def restore(self, save_path: Any, options: CheckpointOptions | None = None) -> Status:
        """Give the objects the values of a checkpoint; those made later get theirs when they come.

        All values are read and checked before one is assigned.

        Args: `save_path`: what `save` gave, or `tf.train.latest_checkpoint`; with None, nothing is
          restored. The folder of a SavedModel may be given too.
        Returns: a status, whose methods tell how far it matched: `assert_consumed`,
          `assert_existing_objects_matched`, `assert_nontrivial_match`, `expect_partial`.
        Raises: NotFoundError if there is no such checkpoint; DataLossError or OutOfRangeError if it
          is damaged; ValueError for another shape than that of a Variable, InvalidArgumentError for
          another dtype.
        """
        path = None if save_path is None else _path(save_path)
        if path is not None and any(
            os.path.exists(os.path.join(local_path(path), f"saved_model.{end}"))
            for end in ("pb", "pbtxt")
        ):
            path = os.path.join(path, "variables", "variables")
        try:
            status = self.read(path, options)
        except errors.NotFoundError as error:
            raise errors.NotFoundError(
                None,
                None,
                f"Error when restoring from checkpoint or SavedModel at {save_path}: "
                f"{error.message}\nPlease double-check that the path is correct. You may be "
                "missing the checkpoint suffix (e.g. the '-1' in 'path/to/ckpt-1').",
            ) from None
        _ = self.save_counter  # so that its value is taken
        return status


def _path(path: Any) -> str:
    found = os.fspath(path) if isinstance(path, os.PathLike) else path
    found = found.numpy() if hasattr(found, "numpy") else found
    return found.decode() if isinstance(found, bytes) else found


def _is_function(value: Any) -> bool:
    return hasattr(value, "get_concrete_function")


def _check_trackable(value: Any, name: str, fits: bool) -> None:
    if not fits:
        raise ValueError(
            f"`Checkpoint` was expecting {name} to be a trackable object (an object derived from "
            f"`Trackable`), got {value}. If you believe this object should be trackable (i.e. it "
            "is part of the TensorFlow Python API and manages state), please open an issue."
        )


def _write_now(
    prefix: str, arrays: dict[str, np.ndarray], callbacks: list[Callable[..., Any]]
) -> None:
    write_bundle(prefix, arrays)
    for callback in callbacks:
        callback(prefix) if inspect.signature(callback).parameters else callback()


def _make_latest(path: str) -> None:
    put_state(os.path.dirname(path), path, [path])
