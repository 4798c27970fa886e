"""What is in a checkpoint: names, shapes, dtypes and values."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from ..core.dtypes import DType
from .bundle import Bundle
from .state import latest_checkpoint


class CheckpointReader:
    """A checkpoint to read from; `tf.train.load_checkpoint` gives one.

    Args: `filename`: the path without `.index`.
    Raises: NotFoundError if there is none; DataLossError if its index is damaged.

    >>> import tempfile
    >>> import tape_compat as tf
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = tf.train.Checkpoint(v=tf.Variable([1.0, 2.0])).write(folder + "/a")
    ...     reader = tf.train.load_checkpoint(path)
    ...     reader.get_tensor("v/.ATTRIBUTES/VARIABLE_VALUE").tolist()
    [1.0, 2.0]
    """

    def __init__(self, filename: Any):
        self._bundle = Bundle(_text(filename))

    def get_variable_to_shape_map(self) -> dict[str, list[int]]:
        """The shapes by the names."""
        return {name: list(entry.shape) for name, entry in self._bundle.entries.items()}

    def get_variable_to_dtype_map(self) -> dict[str, DType]:
        """The dtypes by the names."""
        return {name: entry.dtype for name, entry in self._bundle.entries.items()}

    def has_tensor(self, tensor_str: Any) -> bool:
        """Whether there is a value with this name."""
        return _text(tensor_str) in self._bundle.entries

    def get_tensor(self, tensor_str: Any) -> Any:
        """A value as a NumPy array, or scalar; texts as bytes.

        Raises: NotFoundError if there is none with this name; DataLossError or OutOfRangeError if
          it is damaged.
        """
        name = _text(tensor_str)
        array = self._bundle.read([name])[name]
        return array if array.ndim else array[()]

    def get_tensors(self, names: list[str]) -> dict[str, np.ndarray]:
        """Several values by their names, as arrays."""
        return self._bundle.read(names)

    def keys_with(self, prefix: str) -> dict[str, str]:
        """The names that begin so, by what follows."""
        return {n[len(prefix) :]: n for n in self._bundle.entries if n.startswith(prefix)}

    def debug_string(self) -> bytes:
        """A line for each value: its name, dtype and shape."""
        lines = []
        for name, entry in sorted(self._bundle.entries.items()):
            shape = ",".join(map(str, entry.shape))
            title = _TITLES.get(entry.dtype.name) or entry.dtype.name.upper()
            lines.append(f"{name} (DT_{title}) [{shape}]\n")
        return "".join(lines).encode()


_TITLES = {"float32": "FLOAT", "float64": "DOUBLE", "float16": "HALF"}


def _text(value: Any) -> str:
    if isinstance(value, os.PathLike):
        value = os.fspath(value)
    if isinstance(value, bytes):
        return value.decode()
    if not isinstance(value, str):
        raise TypeError(f"Expected binary or unicode string, got {value!r}")
    return value


def load_checkpoint(ckpt_dir_or_file: Any) -> CheckpointReader:
    """A reader of a checkpoint.

    Args: `ckpt_dir_or_file`: the path of a checkpoint, or a folder whose latest one is meant.
    Raises: ValueError if a folder has none; NotFoundError if there is no such checkpoint.

    >>> import tape_compat as tf
    >>> tf.train.load_checkpoint("/there/is/none")
    Traceback (most recent call last):
    tape_compat.errors.NotFoundError: Unsuccessful TensorSliceReader constructor: ...
    """
    path = _text(ckpt_dir_or_file)
    if os.path.isdir(path):
        path = latest_checkpoint(path)
    if path is None:
        raise ValueError(
            "Couldn't find 'checkpoint' file or checkpoints in given directory "
            f"{_text(ckpt_dir_or_file)}"
        )
    return CheckpointReader(path)


def load_variable(ckpt_dir_or_file: Any, name: str) -> Any:
    """A value of a checkpoint as a NumPy array, or scalar. Raises NotFoundError if it is not there.

    >>> import tempfile
    >>> import tape_compat as tf
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = tf.train.Checkpoint(v=tf.Variable(3)).write(folder + "/a")
    ...     tf.train.load_variable(path, "v/.ATTRIBUTES/VARIABLE_VALUE").item()
    3
    """
    # TensorFlow takes the name of a variable or tensor: `v` or `v:0`.
    return load_checkpoint(ckpt_dir_or_file).get_tensor(name.removesuffix(":0"))


def list_variables(ckpt_dir_or_file: Any) -> list[tuple[str, list[int]]]:
    """Names and shapes of what is in a checkpoint, in the order of the names.

    >>> import tempfile
    >>> import tape_compat as tf
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = tf.train.Checkpoint(v=tf.Variable([1.0, 2.0])).write(folder + "/a")
    ...     tf.train.list_variables(path)[1:]
    [('v/.ATTRIBUTES/VARIABLE_VALUE', [2])]
    """
    return sorted(load_checkpoint(ckpt_dir_or_file).get_variable_to_shape_map().items())
