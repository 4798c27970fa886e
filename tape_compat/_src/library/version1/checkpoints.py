"""What `tf.compat.v1.train` does with checkpoints beside `Saver`."""

from __future__ import annotations

import glob
import os
from collections.abc import Mapping, Sequence
from typing import Any

from ...checkpoint.reader import CheckpointReader
from ...checkpoint.state import CheckpointState, latest_checkpoint, put_state, state_of
from ...core.paths import local_path
from ...core.refuse import invalid
from ...values.variable import Variable


def generate_checkpoint_state_proto(
    save_dir: Any,
    model_checkpoint_path: str,
    all_model_checkpoint_paths: Sequence[str] | None = None,
    all_model_checkpoint_timestamps: Sequence[float] | None = None,
    last_preserved_timestamp: float | None = None,
) -> CheckpointState:
    """What the file `checkpoint` of a folder would say, with the latest one at the end. Paths are
    from the folder on unless that is an absolute one.

    Raises: ValueError for another number of timestamps than of paths.

    >>> import tape_compat as tf
    >>> state = tf.compat.v1.train.generate_checkpoint_state_proto("run", "run/model-2")
    >>> state.all_model_checkpoint_paths
    ['model-2']
    """
    folder = os.fspath(save_dir)
    paths = list(all_model_checkpoint_paths or [])
    if paths[-1:] != [model_checkpoint_path]:
        paths.append(model_checkpoint_path)
    times = list(all_model_checkpoint_timestamps or [])
    if times and len(times) != len(paths):
        raise ValueError(
            "Checkpoint timestamps, if provided, must match checkpoint paths (got paths "
            f"{paths} and timestamps {times})"
        )
    relative = not os.path.isabs(folder)
    return state_of(folder, paths[-1], paths, times, last_preserved_timestamp or 0.0, relative)


def update_checkpoint_state(
    save_dir: Any,
    model_checkpoint_path: str,
    all_model_checkpoint_paths: Sequence[str] | None = None,
    latest_filename: str | None = None,
    all_model_checkpoint_timestamps: Sequence[float] | None = None,
    last_preserved_timestamp: float | None = None,
) -> None:
    """Write what `generate_checkpoint_state_proto` gives into the file `checkpoint` of a folder, or
    into that of another name.

    Raises: RuntimeError if a checkpoint has the path of that file.
    """
    state = generate_checkpoint_state_proto(
        save_dir,
        model_checkpoint_path,
        all_model_checkpoint_paths,
        all_model_checkpoint_timestamps,
        last_preserved_timestamp,
    )
    put_state(
        os.fspath(save_dir),
        model_checkpoint_path,
        state.all_model_checkpoint_paths,
        state.all_model_checkpoint_timestamps,
        state.last_preserved_timestamp,
        relative=False,
        filename=latest_filename,
    )


def get_checkpoint_mtimes(checkpoint_prefixes: Sequence[str]) -> list[float]:
    """When checkpoints were written, in seconds since 1970; those that there are not are left
    out."""
    files = [f"{local_path(prefix)}.index" for prefix in checkpoint_prefixes]
    return [os.path.getmtime(file) for file in files if os.path.exists(file)]


def remove_checkpoint(
    checkpoint_prefix: str, checkpoint_format_version: int = 2, meta_graph_suffix: str = "meta"
) -> None:
    """Delete the files of a checkpoint, if there are any.

    checkpoint_format_version: 2, or 1 for one that is a single file.
    """
    name = glob.escape(checkpoint_prefix)
    patterns = [f"{name}.{meta_graph_suffix}"]
    if checkpoint_format_version == 1:
        patterns.append(name)
    else:
        patterns += [f"{name}.index", f"{name}.data-?????-of-?????"]
    for pattern in patterns:
        for file in glob.glob(pattern):
            os.remove(file)


def init_from_checkpoint(ckpt_dir_or_file: Any, assignment_map: Any) -> None:
    """Give variables the values that a checkpoint has.

    Args:
      ckpt_dir_or_file: a checkpoint, or a folder whose latest one is read.
      assignment_map: by the names in the checkpoint the variables, as a dict or as pairs. Scopes
        ('scope/') are of variables of graphs: there are none.
    Raises: ValueError for a name that the checkpoint has not, for another shape, and for names of
      variables; InvalidArgumentError for another dtype.

    >>> import tempfile
    >>> import tape_compat as tf
    >>> v = tf.Variable([0.0])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = tf.train.Checkpoint(v=tf.Variable([1.0])).write(folder + "/a")
    ...     names = {"v/.ATTRIBUTES/VARIABLE_VALUE": v}
    ...     tf.compat.v1.train.init_from_checkpoint(path, names)
    >>> v.numpy().tolist()
    [1.0]
    """
    path = _latest(os.fspath(ckpt_dir_or_file))
    reader = CheckpointReader(path)
    shapes, kinds = reader.get_variable_to_shape_map(), reader.get_variable_to_dtype_map()
    pairs = assignment_map.items() if isinstance(assignment_map, Mapping) else assignment_map
    for name, target in pairs:
        if isinstance(target, Variable):
            _check(path, name, target, shapes, kinds)
            target.assign(reader.get_tensor(name))
        elif not isinstance(target, str):
            raise TypeError(f"{name!r} must be given to a variable, not to {target!r}")
        elif not target.endswith("/"):
            scope = target.rpartition("/")[0] or target
            raise ValueError(
                f"Assignment map with scope only name {scope} should map to scope only {name}. "
                "Should be 'scope/': 'other_scope/'."
            )


def _latest(path: str) -> str:
    if not os.path.isdir(path):
        return path
    found = latest_checkpoint(path)
    if found is None:
        raise ValueError(
            f"Couldn't find 'checkpoint' file or checkpoints in given directory {path}"
        )
    return found


def _check(path: str, name: str, variable: Variable, shapes: Any, kinds: Any) -> None:
    if name not in shapes:
        raise ValueError(f"Tensor {name} is not found in {path} checkpoint {shapes}")
    if not variable.shape.is_compatible_with(shapes[name]):
        raise ValueError(
            f"Shape of variable {variable.name} ({variable.shape}) doesn't match with shape of "
            f"tensor {name} ({shapes[name]}) from checkpoint reader."
        )
    if variable.dtype is not kinds[name]:
        wanted, have = [
            {"float64": "double", "float32": "float"}.get(kind.name, kind.name)
            for kind in (variable.dtype, kinds[name])
        ]
        raise invalid(
            f"tensor_name = {name}; expected dtype {wanted} does not equal original dtype {have}",
            "RestoreV2",
        )
