"""A program as a tree of statements, and how it is printed."""

import dataclasses
import inspect
import linecache
import tempfile
import types
import zlib
from collections.abc import Iterator

INDENT = "    "


@dataclasses.dataclass
class Statement:
    """Lines of Python; where `body` is not None, the head of a block.

    uses: the names of the right side of an assignment, one of which may stand in its place.
    """

    text: str
    body: list["Statement"] | None = None
    uses: tuple[str, ...] = ()

    def lines(self, depth: int) -> Iterator[str]:
        for line in self.text.split("\n"):
            yield INDENT * depth + line
        if self.body is not None:
            inner = [line for s in self.body for line in s.lines(depth + 1)]
            yield from inner or [INDENT * (depth + 1) + "pass"]


@dataclasses.dataclass
class Program:
    """What is done once (`setup`) and what is called (`body`), so many times.

    dtype: of most of its floats, which says how far roundings may go. `eager`: whether it looks at
    values, so that no function can record it.
    """

    setup: list[Statement] = dataclasses.field(default_factory=list)
    body: list[Statement] = dataclasses.field(default_factory=list)
    dtype: str = "float32"
    calls: int = 1
    eager: bool = False

    def source(self) -> str:
        """What `run.py` runs: it has `tf` and `attempt` among its names."""
        setup = [line for s in self.setup for line in s.lines(0)]
        body = [line for s in self.body for line in s.lines(1)]
        return "\n".join(
            [*setup, "", "", "def program():", "    out = {}", *body, "    return out", ""]
        )

    def standalone(self) -> str:
        """The same as a program of its own, for a file."""
        helpers = "\n\n".join([inspect.getsource(f) for f in HELPERS])
        return _STANDALONE.format(helpers=helpers, source=self.source(), calls=self.calls)


def attempt(function):
    """What a program knows by this name: the value of a function, or the error in words."""
    try:
        return function()
    except Exception as error:
        return "raised " + type(error).__name__


def reloaded(function, tf, *arguments):
    """What a function gives that was saved and loaded again, and the gradients of it."""
    module = tf.Module()
    module.call = function
    module.kept = list(function.get_concrete_function(*arguments).variables)
    with tempfile.TemporaryDirectory() as directory:
        tf.saved_model.save(module, directory)
        loaded = tf.saved_model.load(directory)
    with tf.GradientTape() as tape:
        tape.watch(arguments)
        results = loaded.call(*arguments)
    first = results[0] if isinstance(results, tuple | list) else results
    return results, tape.gradient(first, arguments, unconnected_gradients="zero")


#: What programs know by their names.
HELPERS = (attempt, reloaded)

_STANDALONE = """\
import tempfile

import tensorflow as tf


{helpers}

{source}

for turn in range({calls}):
    for name, value in program().items():
        print(name, value)
"""


def compiled(source: str) -> types.CodeType:
    """The code of a source that AutoGraph can read: it is where lines of files are kept."""
    name = f"<random program {zlib.crc32(source.encode()):x}>"
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    return compile(source, name, "exec")
