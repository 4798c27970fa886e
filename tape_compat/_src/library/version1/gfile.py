"""`tf.compat.v1.gfile`: `tf.io.gfile` by the names of TensorFlow 1."""

from __future__ import annotations

from typing import Any

from ...data.io import gfile
from .renamed import renamed

Copy = renamed(gfile.copy, "oldpath>src newpath>dst overwrite=False", "Copy")
DeleteRecursively = renamed(gfile.rmtree, "dirname>path", "DeleteRecursively")
Exists = renamed(gfile.exists, "filename>path", "Exists")
Glob = renamed(gfile.glob, "filename>pattern", "Glob")
IsDirectory = renamed(gfile.isdir, "dirname>path", "IsDirectory")
ListDirectory = renamed(gfile.listdir, "dirname>path", "ListDirectory")
MakeDirs = renamed(gfile.makedirs, "dirname>path", "MakeDirs")
MkDir = renamed(gfile.mkdir, "dirname>path", "MkDir")
Remove = renamed(gfile.remove, "filename>path", "Remove")
Rename = renamed(gfile.rename, "oldname>src newname>dst overwrite=False", "Rename")
Stat = renamed(gfile.stat, "filename>path", "Stat")


def Walk(top: Any, in_order: bool = True) -> Any:
    """See `tf.io.gfile.walk`; without `in_order` folders come after what is in them."""
    return gfile.walk(top, topdown=in_order)
