"""Names of files: paths, or URLs of the files of this machine."""

from __future__ import annotations

_SCHEME = "file://"


def local_path(name: str) -> str:
    """The path of a file by its name, a path or a URL as `file:///a/b`; "" if the URL has none."""
    if not name.startswith(_SCHEME):
        return name
    _, *path = name.removeprefix(_SCHEME).partition("/")
    return "".join(path)


def scheme_of(name: str) -> str:
    """What stands before the path in the name of a file."""
    return name.removesuffix(local_path(name))
