"""Files that belong to a SavedModel."""

from __future__ import annotations

import os
import weakref
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
        _OF_PATHS[id(self._path)] = self

    @property
    def asset_path(self) -> Tensor:
        """The path, a string scalar."""
        return self._path

    def __tf_tensor__(self, dtype: Any = None, name: str | None = None) -> Tensor:
        return convert(self._path, dtype)


#: Assets by the identities of their paths.
_OF_PATHS: weakref.WeakValueDictionary[int, Asset] = weakref.WeakValueDictionary()


def asset_of(path: Tensor) -> Asset | None:
    """The asset that a tensor is the path of."""
    return _OF_PATHS.get(id(path))
