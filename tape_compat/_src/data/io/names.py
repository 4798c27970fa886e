"""Names of files as elements."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core import errors
from ..base import seeds
from ..pipeline import Pipeline
from ..selecting import Shuffle
from ..sources import Slices
from .contents import matching, strings, texts


def list_files(file_pattern: Any, shuffle: Any, seed: Any) -> Pipeline:
    """The names of the files that match, in order or shuffled.

    Raises: InvalidArgumentError if there is none.
    """
    found = matching(file_pattern)
    if not found:
        shown = ", ".join([x.decode() for x in np.ravel(texts(file_pattern, "file_pattern"))])
        raise errors.InvalidArgumentError(
            None,
            None,
            "Expected 'tf.Tensor(False, shape=(), dtype=bool)' to be true. Summarized data: "
            f"b'No files matched pattern: {shown}'",
        )
    names = Slices(strings([path.encode() for path in found]))
    if shuffle is not None and not shuffle:
        return names
    return Shuffle(names, len(found), seeds(seed, True))
