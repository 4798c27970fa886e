"""`tensorflow.python.lib.io.file_io`: `tf.io.gfile` by names of its own."""

from __future__ import annotations

import binascii
import uuid
from typing import Any

from ..core import errors
from ..data.io import gfile
from ..library.version1 import gfile as version1

FileIO = gfile.GFile
copy, copy_v2 = version1.Copy, gfile.copy
create_dir, create_dir_v2 = version1.MkDir, gfile.mkdir
delete_file, delete_file_v2 = version1.Remove, gfile.remove
delete_recursively, delete_recursively_v2 = version1.DeleteRecursively, gfile.rmtree
file_exists, file_exists_v2 = version1.Exists, gfile.exists
get_matching_files, get_matching_files_v2 = version1.Glob, gfile.glob
get_registered_schemes = gfile.get_registered_schemes
is_directory, is_directory_v2 = version1.IsDirectory, gfile.isdir
join = gfile.join
list_directory, list_directory_v2 = version1.ListDirectory, gfile.listdir
recursive_create_dir, recursive_create_dir_v2 = version1.MakeDirs, gfile.makedirs
rename, rename_v2 = version1.Rename, gfile.rename
stat, stat_v2 = version1.Stat, gfile.stat
walk, walk_v2 = version1.Walk, gfile.walk


def read_file_to_string(filename: Any, binary_mode: bool = False) -> Any:
    """What is in a file: text, or bytes."""
    with FileIO(filename, "rb" if binary_mode else "r") as file:
        return file.read()


def write_string_to_file(filename: Any, file_content: Any) -> None:
    """Make a file of text or bytes."""
    with FileIO(filename, "w") as file:
        file.write(file_content)


def atomic_write_string_to_file(filename: Any, contents: Any, overwrite: bool = True) -> None:
    """Make a file that nobody sees half written."""
    beside = f"{filename}.tmp{uuid.uuid4().hex}"
    write_string_to_file(beside, contents)
    try:
        gfile.rename(beside, filename, overwrite)
    except errors.OpError:
        gfile.remove(beside)
        raise


def has_atomic_move(path: Any) -> bool:
    """Whether files are renamed at once where `path` lies: those of this machine are."""
    return "://" not in str(path)


def file_crc32(filename: Any, block_size: int = 1 << 24) -> str:
    """The CRC-32 of a file as a hexadecimal number."""
    crc = 0
    with FileIO(filename, "rb") as file:
        while chunk := file.read(block_size):
            crc = binascii.crc32(chunk, crc)
    return hex(crc)


def filecmp(filename_a: Any, filename_b: Any) -> bool:
    """Whether two files hold the same."""
    if FileIO(filename_a, "rb").size() != FileIO(filename_b, "rb").size():
        return False
    return file_crc32(filename_a) == file_crc32(filename_b)
