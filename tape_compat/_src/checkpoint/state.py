"""The file `checkpoint` of a folder: which checkpoints there are, and which is the latest."""

from __future__ import annotations

import logging
import os
import re
import secrets
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ..core.paths import local_path
from ..data.io.records import file_error

_LOG = logging.getLogger("tape_compat")
_LINE = re.compile(r'^\s*(\w+)\s*:\s*("(?:[^"\\]|\\.)*"|\S+)\s*$')
_ESCAPE = re.compile(rb"\\([0-7]{1,3}|x[0-9a-fA-F]{1,2}|.)")
_PLAIN = {b"n": b"\n", b"t": b"\t", b"r": b"\r"}


class CheckpointState:
    """What the file `checkpoint` says; `str()` gives its text.

    Attributes:
      model_checkpoint_path: the latest checkpoint.
      all_model_checkpoint_paths, all_model_checkpoint_timestamps: of those that are kept, and when
        they were made, in seconds since 1970.
      last_preserved_timestamp: when the last one that is kept for good was made.
    """

    def __init__(
        self,
        model_checkpoint_path: str = "",
        all_model_checkpoint_paths: Sequence[str] = (),
        all_model_checkpoint_timestamps: Sequence[float] = (),
        last_preserved_timestamp: float = 0.0,
    ):
        self.model_checkpoint_path = model_checkpoint_path
        self.all_model_checkpoint_paths = list(all_model_checkpoint_paths)
        self.all_model_checkpoint_timestamps = list(all_model_checkpoint_timestamps)
        self.last_preserved_timestamp = last_preserved_timestamp

    def __str__(self) -> str:
        lines = []
        if self.model_checkpoint_path:
            lines.append(f"model_checkpoint_path: {_quoted(self.model_checkpoint_path)}")
        for path in self.all_model_checkpoint_paths:
            lines.append(f"all_model_checkpoint_paths: {_quoted(path)}")
        for when in self.all_model_checkpoint_timestamps:
            lines.append(f"all_model_checkpoint_timestamps: {float(when)!r}")
        if self.last_preserved_timestamp:
            lines.append(f"last_preserved_timestamp: {float(self.last_preserved_timestamp)!r}")
        return "".join(f"{line}\n" for line in lines)

    __repr__ = __str__


def _quoted(text: str) -> str:
    found = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\t", "\\t")
    return (
        '"'
        + "".join(c if c.isascii() else "".join(f"\\{b:03o}" for b in c.encode()) for c in found)
        + '"'
    )


def _unquoted(text: str) -> str:
    def plain(match: re.Match[bytes]) -> bytes:
        code = match[1]
        if code[:1] == b"x" and len(code) > 1:
            return bytes([int(code[1:], 16)])
        return bytes([int(code, 8)]) if code.isdigit() else _PLAIN.get(code, code)

    return _ESCAPE.sub(plain, text[1:-1].encode()).decode()


def _parsed(text: str) -> CheckpointState:
    """The state that a text says. Raises ValueError for another text."""
    found = CheckpointState()
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        match = _LINE.match(line)
        name = match[1] if match else line.split(":")[0].strip()
        held = getattr(found, name, None) if name in vars(found) else None
        if match is None or held is None:
            raise ValueError(
                f'{number}:1 : Message type "tensorflow.CheckpointState" has no field named '
                f'"{name}".'
            )
        is_text = match[2].startswith('"')
        value: Any = _unquoted(match[2]) if is_text else float(match[2])
        if is_text != name.endswith(("path", "paths")):
            raise ValueError(f"{number}:1 : {name} is not {match[2]}")
        held.append(value) if isinstance(held, list) else setattr(found, name, value)
    return found


def _file_of(folder: Any, latest_filename: str | None) -> str:
    return os.path.join(local_path(os.fspath(folder)), latest_filename or "checkpoint")


def get_checkpoint_state(
    checkpoint_dir: Any, latest_filename: str | None = None
) -> CheckpointState | None:
    """What the file `checkpoint` of a folder says, with whole paths; None without one.

    Args: `latest_filename`: another name of the file.
    Raises: ValueError if it does not say which checkpoint is the latest.

    >>> import tempfile
    >>> import tape_compat as tf
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = tf.train.Checkpoint(v=tf.Variable(3)).save(folder + "/a")
    ...     state = tf.train.get_checkpoint_state(folder)
    ...     state.model_checkpoint_path == folder + "/a-1"
    True
    """
    path, folder = _file_of(checkpoint_dir, latest_filename), os.fspath(checkpoint_dir)
    try:
        with open(path) as file:
            found = _parsed(file.read())
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        _LOG.warning("%s: %s", type(error).__name__, error)
        _LOG.warning("%s: Checkpoint ignored", path)
        return None
    if not found.model_checkpoint_path:
        raise ValueError(f"Invalid checkpoint state loaded from {folder}")
    found.model_checkpoint_path = os.path.join(folder, found.model_checkpoint_path)
    found.all_model_checkpoint_paths = [
        os.path.join(folder, each) for each in found.all_model_checkpoint_paths
    ]
    return found


def latest_checkpoint(checkpoint_dir: Any, latest_filename: str | None = None) -> str | None:
    """The path of the latest checkpoint of a folder, to restore from; None if there is none.

    >>> import tempfile
    >>> import tape_compat as tf
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     print(tf.train.latest_checkpoint(folder))
    None
    """
    found = get_checkpoint_state(checkpoint_dir, latest_filename)
    if found is None:
        return None
    path = found.model_checkpoint_path
    if any(os.path.exists(local_path(each)) for each in (f"{path}.index", path)):
        return path
    _LOG.error("Couldn't match files for checkpoint %s", path)
    return None


def state_of(
    folder: str,
    latest: str,
    paths: Sequence[str],
    timestamps: Sequence[float] = (),
    last_preserved: float = 0.0,
    relative: bool = True,
) -> CheckpointState:
    """The state of checkpoints of these paths; `relative`: which it names from the folder on."""
    start = folder or "."
    if relative:
        latest, paths = os.path.relpath(latest, start), [os.path.relpath(p, start) for p in paths]
    return CheckpointState(latest, paths, timestamps, last_preserved)


def put_state(
    folder: str,
    latest: str,
    paths: Sequence[str],
    timestamps: Sequence[float] = (),
    last_preserved: float = 0.0,
    *,
    relative: bool = True,
    filename: str | None = None,
) -> None:
    """Write the file `checkpoint`, or that of another name, with paths from the folder on if they
    are to be `relative`.

    Raises: RuntimeError if a checkpoint has the path of that file.
    """
    place = _file_of(folder, filename)
    if os.path.abspath(latest) == os.path.abspath(place):
        raise RuntimeError(
            f"Save path '{latest}' conflicts with path used for checkpoint state.  Please use a "
            "different save path."
        )
    state = state_of(folder, latest, paths, timestamps, last_preserved, relative)
    temporary = f"{place}.tmp{secrets.randbits(64)}"
    try:
        with open(temporary, "w") as file:
            file.write(str(state))
        os.replace(temporary, place)
    except OSError as error:
        raise file_error(error, place) from None


def checkpoints_iterator(
    checkpoint_dir: Any,
    min_interval_secs: float = 0,
    timeout: float | None = None,
    timeout_fn: Callable[[], bool] | None = None,
) -> Iterator[str]:
    """The checkpoints of a folder as they come.

    Args:
      min_interval_secs: the least time between two.
      timeout: how many seconds to wait for the next one; None for ever.
      timeout_fn: called then; the iterator ends if it gives True. Without it, it ends.

    >>> import tempfile
    >>> import tape_compat as tf
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = tf.train.Checkpoint(v=tf.Variable(3)).save(folder + "/a")
    ...     list(tf.train.checkpoints_iterator(folder, timeout=0.0)) == [path]
    True
    """
    before: str | None = None
    while True:
        path = _next_checkpoint(checkpoint_dir, before, timeout)
        if path is None:
            if not timeout_fn or timeout_fn():
                return
            continue
        start, before = time.monotonic(), path
        yield path
        time.sleep(max(0.0, start + min_interval_secs - time.monotonic()))


def _next_checkpoint(folder: Any, before: str | None, timeout: float | None) -> str | None:
    """Wait for another checkpoint; None if there is none in time."""
    end = None if timeout is None else time.monotonic() + timeout
    while True:
        path = latest_checkpoint(folder)
        if path is not None and path != before:
            return path
        if end is not None and time.monotonic() + 1 > end:
            return None
        time.sleep(1)
