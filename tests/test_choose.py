"""How a program runs that is not compiled: by facts and counts alone."""

from dataclasses import dataclass

import pytest

from tape_compat._src.run import policy
from tape_compat._src.run.choose import Choice, History, Later, Seen, choose, later

WHOLE, LOOPS, PIECES = Choice.WHOLE, Choice.LOOPS, Choice.PIECES


@dataclass
class Facts:
    instructions: int = 50
    outputs: int = 5
    as_loops: bool = False
    mostly_loops: bool = False
    pieces: int = 50


def seen(runs=0, in_a_row=1, structures=1, new=1):
    return Seen(runs, in_a_row, structures, new)


LATE = policy.NEW_STRUCTURES_BEFORE_PIECES + 1
MANY = policy.FEW_STRUCTURES + 1
#: So often must a program of 50 pieces have come before compiling it has been paid for.
PAID = int(policy.compile_seconds(50) / (50 * policy.PART_SECONDS)) + 1

ROWS = {
    "the first program of a place": (Facts(), seen(), WHOLE),
    "the last of the first": (Facts(), seen(new=LATE - 1, structures=MANY), WHOLE),
    "ever new ones": (Facts(), seen(new=LATE, structures=MANY), PIECES),
    "one that comes twice running": (Facts(), seen(1, policy.SIGHTS, MANY, LATE), WHOLE),
    "one of few, again": (Facts(), seen(policy.SIGHTS - 1, 1, MANY - 1, LATE), WHOLE),
    "one of many, again": (Facts(), seen(policy.SIGHTS - 1, 1, MANY, LATE), PIECES),
    "one of many, not yet paid for": (Facts(), seen(PAID - 1, 1, MANY, LATE), PIECES),
    "one of many, paid for": (Facts(), seen(PAID, 1, MANY, LATE), WHOLE),
    "few pieces are cheap for long": (Facts(pieces=1), seen(PAID, 1, MANY, LATE), PIECES),
    "a short one, first": (Facts(policy.SHORT_PROGRAM), seen(), PIECES),
    "a short one, again": (Facts(policy.SHORT_PROGRAM), seen(1, 1, MANY, LATE), WHOLE),
    "too long": (Facts(policy.MAX_WHOLE + 1), seen(9, 9), PIECES),
    "as long as can be": (Facts(policy.MAX_WHOLE), seen(), WHOLE),
    "too many outputs": (Facts(outputs=policy.MANY_OUTPUTS + 1), seen(9, 9), PIECES),
    "pieces that are loops, first": (Facts(mostly_loops=True), seen(), PIECES),
    "pieces that are loops, twice": (Facts(mostly_loops=True), seen(1, 2), PIECES),
    "pieces that are loops, thrice": (
        Facts(mostly_loops=True),
        seen(policy.LOOP_SIGHTS - 1, policy.LOOP_SIGHTS),
        WHOLE,
    ),
    "loops, first": (Facts(as_loops=True), seen(), LOOPS),
    "loops of any length": (Facts(10**6, 10**4, as_loops=True), seen(), LOOPS),
    "ever new loops": (Facts(as_loops=True), seen(new=LATE), PIECES),
    "loops that come again": (Facts(as_loops=True), seen(policy.SIGHTS - 1, 1, MANY, LATE), LOOPS),
}


@pytest.mark.parametrize("row", ROWS)
def test_choice(row):
    facts, before, expected = ROWS[row]
    assert choose(facts, before) is expected


def test_pieces_are_not_worked_out_where_they_do_not_matter():
    class Dear:
        instructions, outputs, as_loops = 50, policy.MANY_OUTPUTS + 1, False

    assert choose(Dear(), seen()) is PIECES


def test_history_counts_what_was_not_found():
    history = History()
    assert history.miss("a") == Seen(0, 1, 1, 1)
    assert history.miss("a") == Seen(1, 2, 1, 1)
    assert history.miss("b") == Seen(0, 1, 2, 2)
    assert history.miss("a") == Seen(2, 1, 2, 2)
    history.hit()
    assert not history.settled and history.miss("a") == Seen(3, 1, 2, 2)
    for _ in range(policy.HITS_TO_SETTLE):
        history.hit()
    assert history.settled and history.early
    assert history.miss("c") == Seen(0, 1, 3, 1) and not history.settled


def test_history_is_bounded():
    history = History()
    for i in range(policy.MAX_EXECUTABLES + 10):
        history.miss(i)
    assert len(history.runs) == policy.MAX_EXECUTABLES and not history.early


def test_joins_stop_where_each_program_is_given_new_ones():
    history = History()
    for _ in range(policy.NEW_JOINS):
        history.joined_new()
    assert history.joins
    history.joined_new()
    assert not history.joins


def test_layers_go_over_to_a_whole_program_at_a_count():
    for instructions in (800, 20):
        due = [later(instructions, run) for run in range(1, 200)]
        begin, switch = due.index(Later.BEGIN) + 1, due.index(Later.SWITCH) + 1
        paid = instructions // policy.LAYERS_INSTRUCTIONS_A_RUN
        assert begin == max(policy.LAYERS_SETTLED, paid)
        assert switch == 2 * begin
        assert due.count(Later.NOTHING) == len(due) - 2
