"""`tf.compat.v1.gfile`: files and folders."""

from ..._src.data.io.gfile import (
    GFile as FastGFile,
)
from ..._src.interop.version1 import face as _face
from ..._src.library.version1.gfile import (
    Copy as Copy,
    DeleteRecursively as DeleteRecursively,
    Exists as Exists,
    Glob as Glob,
    IsDirectory as IsDirectory,
    ListDirectory as ListDirectory,
    MakeDirs as MakeDirs,
    MkDir as MkDir,
    Remove as Remove,
    Rename as Rename,
    Stat as Stat,
    Walk as Walk,
)

_face(__name__)
