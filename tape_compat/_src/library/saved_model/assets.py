"""Files that belong to a SavedModel."""

from __future__ import annotations

import os
from typing import Any

from ...values.convert import convert
from ...values.tensor import Tensor
from ...values.trackable import Trackable


class Asset(Trackable):
    """A file that is saved with a SavedModel that has it as a part.

    Args: `path`: of the file, which must be there when it is saved.

    >>> import tape_compat as tf
    >>> tf.saved_model.Asset("words.txt").asset_path.numpy()
    b'words.txt'
    """

    def __init__(self, path: Any):
        self._path = convert(os.fspath(path) if isinstance(path, os.PathLike) else path)

    @property
    def asset_path(self) -> Tensor:
        """The path, a string scalar."""
        return self._path
