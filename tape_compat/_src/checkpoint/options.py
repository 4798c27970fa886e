"""`tf.train.CheckpointOptions`."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any


class CheckpointOptions:
    """How a checkpoint is written and read.

    Args:
      experimental_io_device: None or a CPU of this machine, which is where files are.
      experimental_enable_async_checkpoint, enable_async: write the files in a thread, while the
        program goes on; `Checkpoint.sync` waits for it. The values are those of the call.
      experimental_write_callbacks: functions called after a checkpoint has been written, with its
        path or without arguments.
      experimental_skip_slot_variables: leave out variables that optimizers of TensorFlow 1 and 2
        keep for others, when restoring.
      experimental_sharding_callback: another than None raises NotImplementedError.
    Raises: NotImplementedError for another device; AssertionError for a callback that takes more.

    >>> import tape_compat as tf
    >>> tf.train.CheckpointOptions(enable_async=True).enable_async
    True
    """

    def __init__(
        self,
        experimental_io_device: str | None = None,
        experimental_enable_async_checkpoint: bool = False,
        experimental_write_callbacks: list[Callable[..., Any]] | None = None,
        enable_async: bool = False,
        experimental_skip_slot_variables: bool = False,
        experimental_sharding_callback: Any = None,
    ):
        device = str(experimental_io_device or "").lower()
        if device and "localhost" not in device and "cpu" not in device:
            raise NotImplementedError(
                f"CheckpointOptions: experimental_io_device={experimental_io_device!r}: files are "
                "written and read by this machine"
            )
        if experimental_sharding_callback is not None:
            raise NotImplementedError("CheckpointOptions: experimental_sharding_callback")
        for callback in experimental_write_callbacks or ():
            if len(inspect.signature(callback).parameters) > 1:
                raise AssertionError(f"{callback} has more than one parameter")
        self.experimental_io_device = experimental_io_device
        asynchronous = experimental_enable_async_checkpoint or enable_async
        self.experimental_enable_async_checkpoint = self.enable_async = asynchronous
        self.experimental_write_callbacks = experimental_write_callbacks
        self.experimental_skip_slot_variables = experimental_skip_slot_variables
        self.experimental_sharding_callback = experimental_sharding_callback
