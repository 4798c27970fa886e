"""Whether a program is compiled, as a whole or as loops, or runs op by op.

`choose` decides by the facts about a program and by what was seen from the same place in the user's
program, which a `History` notes; `policy.py` has the numbers and their reasons.
"""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Hashable
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, NamedTuple

from ..core.native import native
from . import policy


class Choice(Enum):
    """How a program is to run that is not compiled yet."""

    COMPILED = "compile it, as a whole or with its loops as loops"
    BESIDE = "run it op by op while another thread compiles it as a whole"
    OP_BY_OP = "run it op by op"


class Facts(NamedTuple):
    """What the choice depends on of a program.

    instructions: how many, those of a loop once, and without loops only those that a compiler has
    to do something about; equations: how many these are. outputs: how many are alive. as_loops:
    whether it can run as loops. interpreted: whether its ops may be interpreted. dry: whether to
    run it on zeros does no harm, as another thread does to compile it. loss: about how many seconds
    longer it takes op by op than compiled; seconds: how many that takes in all. op_compiles: how
    many to compile ops by themselves. price: how many its compile takes beyond what its length
    says. due: at which run that begins because it calls what the user declared a function, or is
    of the Python of one, 0 if neither.
    """

    instructions: int
    outputs: int
    as_loops: bool
    interpreted: bool
    dry: bool
    loss: float
    op_compiles: float
    price: float
    due: int = 0
    equations: float = 0.0
    seconds: float = 0.0


class Seen(NamedTuple):
    """How often a program came that was not found compiled.

    runs: before this time. in_a_row: with this time. structures: how many others came as well.
    new: how many came from its place that had not come before, since that was settled.
    """

    runs: int
    in_a_row: int
    structures: int
    new: int


def choose(facts: Facts, seen: Seen) -> Choice:
    """How to run a program that is not compiled."""
    price = facts.price + policy.compile_seconds(
        facts.instructions, facts.outputs, facts.equations, facts.as_loops
    )
    if not facts.interpreted and price < policy.DEAR_COMPILE_SECONDS:
        long = facts.as_loops or facts.instructions > policy.SHORT_PROGRAM
        early = seen.new <= policy.NEW_STRUCTURES_BEFORE_OP_BY_OP and not seen.runs
        few = seen.structures <= policy.FEW_STRUCTURES
        again = seen.in_a_row >= policy.SIGHTS or (few and seen.runs + 1 >= policy.SIGHTS)
        if again or (early and long):
            return Choice.COMPILED
    run = seen.runs + 1
    paid = run * facts.loss + (facts.op_compiles if facts.interpreted else 0.0)
    likely = facts.due > 0 and price <= min(
        policy.FUNCTION_RUNS * facts.loss, policy.DEAR_COMPILE_SECONDS
    )
    beside = facts.interpreted and facts.dry
    if beside and (likely or price >= policy.LONG_COMPILE_SECONDS):
        quick = likely and price < policy.LONG_COMPILE_SECONDS
        times = policy.FUNCTION_OVER if facts.due > policy.JIT_COMPILE_DUE else 1
        over = facts.due * times if quick else math.inf
        return _choose_beside(facts, run, price, facts.due if likely else math.inf, over)
    if paid >= price or (likely and run >= facts.due):
        return Choice.COMPILED
    if beside and not facts.as_loops and paid >= policy.BESIDE_SHARE * price:
        return Choice.BESIDE
    return Choice.OP_BY_OP


def _choose_beside(facts: Facts, run: int, price: float, due: float, over: float) -> Choice:
    """How to run a program that another thread compiles while runs go on, unless to compile its ops
    by themselves took longer. due: the run that begins it. over: one that waits for it."""
    paid = math.ceil(policy.BESIDE_SHARE * price / facts.loss) if facts.loss > 0 else math.inf
    begin = min(paid, due)
    if run < begin:
        settled = run * facts.loss + facts.op_compiles >= price
        return Choice.COMPILED if settled else Choice.OP_BY_OP
    compiled = (run - begin) * max(facts.seconds, facts.loss) + facts.op_compiles >= price
    return Choice.COMPILED if compiled or run >= over else Choice.BESIDE


def layers_settled(instructions: int) -> int:
    """At which run another thread begins to compile a program as a whole that runs as loops, though
    each iteration has variables of its own: as a whole it takes longer to compile, and less to run.
    After as many more it goes over. By counts, not by clocks: every run of a program is alike."""
    return max(policy.LAYERS_SETTLED, instructions // policy.LAYERS_INSTRUCTIONS_A_RUN)


@native
@dataclass(slots=True, eq=False)
class History:
    """What was seen from one place in the user's program.

    key: the place. misses: programs not found compiled, until `policy.HITS_TO_SETTLE` in a row
    were: then it is settled. runs: how often each of these came. previous: the last one, which came
    `in_a_row` times. joins: whether ops of concrete inputs join what is pending; new_joins: how
    many programs were given new ones. leads: whether ops that follow lead to a tape; ran_between:
    how many did, in all; misled: how often they did not, though that was expected. instructions: of
    the last program. of_function: whether it is in a function whose Python runs. last: the program
    compiled last, for the reasons.
    """

    key: Any = None
    settled: bool = False
    misses: int = 0
    hits_in_a_row: int = 0
    in_a_row: int = 0
    joins: bool = True
    new_joins: int = 0
    leads: bool = False
    misled: int = 0
    ran_between: int = 0
    instructions: int = 0
    step: int = 0
    of_function: bool = False
    last: Any = None
    previous: Hashable = None
    runs: OrderedDict[Hashable, int] = field(default_factory=OrderedDict)

    def hit(self) -> None:
        """Note a program that was found compiled."""
        self.previous = None
        self.hits_in_a_row += 1
        if self.hits_in_a_row >= policy.HITS_TO_SETTLE:
            self.misses = self.new_joins = 0
            self.settled = True

    def miss(self, key: Hashable) -> Seen:
        """Note a program that was not found compiled."""
        self.in_a_row = self.in_a_row + 1 if key == self.previous else 1
        self.previous = key
        self.hits_in_a_row = 0
        self.settled = False
        runs = self.runs.pop(key, 0)
        self.runs[key] = runs + 1
        while len(self.runs) > policy.MAX_EXECUTABLES:
            self.runs.popitem(last=False)
        if not runs:
            self.misses += 1
        return Seen(runs, self.in_a_row, len(self.runs), self.misses)

    def led(self, ops: int) -> None:
        """Note ops that ran between a program and the next tape. To record them with the step costs
        another compile of it, which they must have cost already."""
        self.ran_between += ops
        paid = self.ran_between * policy.RUN_NOW_SECONDS >= policy.compile_seconds(
            self.instructions
        )
        self.leads = paid and self.misled < policy.MISLED

    def not_led(self) -> None:
        """Note that what was to prepare a step was run without one."""
        self.leads = False
        self.misled += 1
        self.step = 0

    def prepared(self, instructions: int) -> None:
        """Note that so many of a step came before what prepared the next one."""
        if self.misled < policy.MISLED:
            self.step = instructions

    def joined_new(self) -> None:
        """Note a program that was given new ops of concrete inputs."""
        self.new_joins += 1
        self.joins = self.new_joins <= policy.NEW_JOINS
