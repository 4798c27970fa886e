"""Drops statements of a program for as long as it still differs."""

import copy
import re
from collections import Counter
from collections.abc import Callable, Iterator

from .program import Program, Statement


def shrunk(program: Program, differs: Callable[[Program], bool], name: str = "") -> Program:
    """A short program for which `differs` holds, of one for which it does. `name`: of the output
    that differs, if it is known."""
    state = _Shrinking(program, differs)
    if name:
        state.tries(lambda p: _without_others(p, name))
    state.tries(_without_unused)
    for calls in range(1, program.calls):
        if state.tries(lambda p: setattr(p, "calls", calls)):
            break
    while True:
        length = len(state.program.source())
        for path in _blocks(state.program):
            state.drops(path)
        for path in _blocks(state.program):
            state.simplifies(path)
        state.tries(_without_unused)
        if len(state.program.source()) == length:
            return state.program


class _Shrinking:
    """A program that gets shorter; `program` differs at any time."""

    def __init__(self, program: Program, differs: Callable[[Program], bool]):
        self.program, self.differs = program, differs

    def tries(self, change: Callable[[Program], None]) -> bool:
        smaller = copy.deepcopy(self.program)
        change(smaller)
        good = smaller.source() != self.program.source() or smaller.calls != self.program.calls
        if good and self.differs(smaller):
            self.program = smaller
            return True
        return False

    def drops(self, path: "Path") -> None:
        """Statements of a block, many at once first, the last before those that they need."""
        step = len(_at(self.program, path))
        while step:
            start = len(_at(self.program, path)) - step
            while start > -step:
                self.tries(_drop(path, max(start, 0), start + step))
                start -= step
            step //= 2

    def simplifies(self, path: "Path") -> None:
        for place in range(len(_at(self.program, path)) - 1, -1, -1):
            statement = _at(self.program, path)[place]
            if statement.body:
                self.tries(_unwrap(path, place))
            for name in statement.uses:
                if self.tries(_replace(path, place, name)):
                    break


def _without_others(program: Program, name: str) -> None:
    """No output but one."""
    program.body = [s for s in program.body if not s.text.startswith("out[") or name in s.text]


def _without_unused(program: Program) -> None:
    """Without assignments to names that nothing else speaks of, and functions nobody calls."""
    before = ""
    while before != program.source():
        before = program.source()
        words = Counter(re.findall(r"\w+", before))
        for path in _blocks(program):
            block = _at(program, path)
            block[:] = [s for s in block if not _unused(s, words)]


def _unused(statement: Statement, words: Counter) -> bool:
    text = statement.text.split("\n")[-1]
    if statement.body is not None:
        return text.startswith("def ") and words[re.findall(r"\w+", text)[1]] == 1
    targets, equals, _ = text.partition(" = ")
    return bool(equals) and all(words[name] == 1 for name in targets.strip("[]").split(", "))


Path = tuple[int, ...]


def _blocks(program: Program) -> list[Path]:
    """Where blocks are: 0 is the setup, 1 the body, then the places of the statements."""

    def below(path: Path, block: list[Statement]) -> Iterator[Path]:
        yield path
        for place, statement in enumerate(block):
            if statement.body is not None:
                yield from below((*path, place), statement.body)

    return [*below((1,), program.body), *below((0,), program.setup)]


def _at(program: Program, path: Path) -> list[Statement]:
    block = program.body if path[0] else program.setup
    for place in path[1:]:
        block = (block[place].body if place < len(block) else None) or []
    return block


def _drop(path: Path, start: int, stop: int) -> Callable[[Program], None]:
    def change(program: Program) -> None:
        del _at(program, path)[start:stop]

    return change


def _unwrap(path: Path, place: int) -> Callable[[Program], None]:
    def change(program: Program) -> None:
        block = _at(program, path)
        block[place : place + 1] = block[place].body or []

    return change


def _replace(path: Path, place: int, name: str) -> Callable[[Program], None]:
    """The value of a statement is one of the values that went into it."""

    def change(program: Program) -> None:
        statement = _at(program, path)[place]
        statement.text = f"{statement.text.split(' = ')[0]} = {name}"
        statement.uses = ()

    return change
