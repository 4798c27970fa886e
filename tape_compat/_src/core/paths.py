"""Names of files: paths, or URLs of the files of this machine."""

from __future__ import annotations

_SCHEME = "file://"


def local_path(name: str) -> str:
    """The path of a file by its name, a path or a URL as `file:///tmp/a`."""
    if not name.startswith(_SCHEME):
        return name
    return name[name.find("/", len(_SCHEME)) :]


def scheme_of(name: str) -> str:
    """What stands before the path in the name of a file."""
    return name.removesuffix(local_path(name))
