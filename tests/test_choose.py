"""How a program runs that is not compiled: by facts and counts alone."""

import pytest

from tape_compat._src.run import policy
from tape_compat._src.run.choose import Choice, Facts, History, Seen, choose, layers_settled

COMPILED, BESIDE, OP_BY_OP = Choice.COMPILED, Choice.BESIDE, Choice.OP_BY_OP


#: Of a program that may be interpreted.
USUAL = Facts(
    instructions=50,
    outputs=5,
    as_loops=False,
    interpreted=True,
    dry=True,
    loss=1e-3,
    op_compiles=0.0,
    price=0.0,
)


def seen(runs=0, in_a_row=1, structures=1, new=1):
    return Seen(runs, in_a_row, structures, new)


#: Of one that calls what the user declared a function.
FUNCTION = USUAL._replace(due=policy.FUNCTION_DUE)


LATE = policy.NEW_STRUCTURES_BEFORE_OP_BY_OP + 1
MANY = policy.FEW_STRUCTURES + 1
PRICE = policy.compile_seconds(50, 5)
#: So often must a program that loses 1 ms a run have come before its compile has been paid for.
PAID = int(PRICE / 1e-3)
BEGUN = int(policy.BESIDE_SHARE * PRICE / 1e-3)


#: Of compiles that take long: of one for whose price PAID_LONG runs pay, each twice as long as what
#: it loses.
LONG = USUAL._replace(equations=2000.0, seconds=2e-3)
LONG_PRICE = policy.compile_seconds(50, 5, 2000.0)
BEGUN_LONG = int(policy.BESIDE_SHARE * LONG_PRICE / 1e-3)
AS_LONG = int(LONG_PRICE / 2e-3)
LONG_LOOPS = LONG._replace(as_loops=True, equations=500.0)
BEGUN_LOOPS = int(policy.BESIDE_SHARE * policy.compile_seconds(50, 5, 500.0, True) / 1e-3)
LONG_FUNCTION = LONG._replace(due=policy.FUNCTION_DUE)
#: Of a function whose tenth run pays for its compile; the run of one that waits for that.
SLOW = FUNCTION._replace(loss=PRICE / 10)
OVER = policy.FUNCTION_DUE * policy.FUNCTION_OVER


def compiled(instructions=50, **facts):
    """Facts where ops are not interpreted."""
    return USUAL._replace(instructions=instructions, interpreted=False, loss=1e-4, **facts)


ROWS = {
    "the first time": (USUAL, seen(), OP_BY_OP),
    "again and again": (USUAL, seen(9, 9), OP_BY_OP),
    "not yet a share of the price": (USUAL, seen(BEGUN - 1), OP_BY_OP),
    "a share of the price": (USUAL, seen(BEGUN), BESIDE),
    "not on zeros": (USUAL._replace(dry=False), seen(BEGUN), OP_BY_OP),
    "no loops beside": (USUAL._replace(as_loops=True), seen(BEGUN), OP_BY_OP),
    "not yet the price": (USUAL, seen(PAID - 1), BESIDE),
    "the price": (USUAL, seen(PAID), COMPILED),
    "the price of loops": (USUAL._replace(as_loops=True), seen(PAID), COMPILED),
    "the price, not on zeros": (USUAL._replace(dry=False), seen(PAID), COMPILED),
    "a loss that is dear": (USUAL._replace(loss=1.0), seen(), COMPILED),
    "ops that are to be compiled": (USUAL._replace(op_compiles=1.0), seen(), COMPILED),
    "convolutions are dear": (USUAL._replace(price=1.0), seen(PAID), OP_BY_OP),
    "no loss": (USUAL._replace(loss=0.0), seen(10**6, 10**6), OP_BY_OP),
    "many outputs are dear": (USUAL._replace(outputs=2000), seen(PAID), OP_BY_OP),
    "function: the first time": (FUNCTION, seen(), OP_BY_OP),
    "function: just before it is due": (FUNCTION, seen(policy.FUNCTION_DUE - 2), OP_BY_OP),
    "function: due": (FUNCTION, seen(policy.FUNCTION_DUE - 1), BESIDE),
    "function: loops are due": (
        FUNCTION._replace(as_loops=True),
        seen(policy.FUNCTION_DUE - 1),
        BESIDE,
    ),
    "function: due, not on zeros": (
        FUNCTION._replace(dry=False),
        seen(policy.FUNCTION_DUE - 1),
        COMPILED,
    ),
    "function: interpreted for less": (SLOW, seen(policy.FUNCTION_DUE + 8), BESIDE),
    "function: interpreted for as long": (SLOW, seen(policy.FUNCTION_DUE + 10), COMPILED),
    "function: short runs, not yet many": (FUNCTION, seen(OVER - 2), BESIDE),
    "function: many short runs": (FUNCTION, seen(OVER - 1), COMPILED),
    "function: many runs, of a long compile": (LONG_FUNCTION, seen(OVER), BESIDE),
    "function: as good op by op": (FUNCTION._replace(loss=1e-6), seen(9), OP_BY_OP),
    "function: dear": (FUNCTION._replace(price=10.0), seen(9), OP_BY_OP),
    "function: to be compiled": (
        FUNCTION._replace(due=policy.JIT_COMPILE_DUE),
        seen(policy.JIT_COMPILE_DUE - 1),
        COMPILED,
    ),
    "long: not yet a share of the price": (LONG, seen(BEGUN_LONG - 1), OP_BY_OP),
    "long: a share of the price": (LONG, seen(BEGUN_LONG), BESIDE),
    "long: the price": (LONG, seen(int(LONG_PRICE / 1e-3)), BESIDE),
    "long: interpreted for less": (LONG, seen(BEGUN_LONG + AS_LONG - 1), BESIDE),
    "long: interpreted for as long": (LONG, seen(BEGUN_LONG + AS_LONG + 1), COMPILED),
    "long: ops take as long to compile": (LONG._replace(op_compiles=5.0), seen(), COMPILED),
    "long: the price, not on zeros": (
        LONG._replace(dry=False),
        seen(int(LONG_PRICE / 1e-3)),
        COMPILED,
    ),
    "long: loops, a share of the price": (LONG_LOOPS, seen(BEGUN_LOOPS), BESIDE),
    "long: loops, interpreted for as long": (LONG_LOOPS, seen(2 * BEGUN_LOOPS), COMPILED),
    "long: no loss": (LONG._replace(loss=0.0), seen(10**6, 10**6), OP_BY_OP),
    "long function: just before it is due": (LONG_FUNCTION, seen(2), OP_BY_OP),
    "long function: due": (LONG_FUNCTION, seen(3), BESIDE),
    "long function: interpreted for less": (LONG_FUNCTION, seen(2 + AS_LONG), BESIDE),
    "long function: interpreted for as long": (LONG_FUNCTION, seen(4 + AS_LONG), COMPILED),
    "equations are dear": (USUAL._replace(equations=300.0), seen(PAID), OP_BY_OP),
    "equations of loops are dearer": (
        USUAL._replace(equations=400.0, as_loops=True),
        seen(2 * PAID),
        OP_BY_OP,
    ),
    "compiled: the first of a place": (compiled(), seen(), COMPILED),
    "compiled: the last of the first": (compiled(), seen(new=LATE - 1, structures=MANY), COMPILED),
    "compiled: ever new ones": (compiled(), seen(new=LATE, structures=MANY), OP_BY_OP),
    "compiled: twice running": (compiled(), seen(1, policy.SIGHTS, MANY, LATE), COMPILED),
    "compiled: one of few": (compiled(), seen(policy.SIGHTS - 1, 1, MANY - 1, LATE), COMPILED),
    "compiled: one of many": (compiled(), seen(policy.SIGHTS - 1, 1, MANY, LATE), OP_BY_OP),
    "compiled: paid for": (compiled(), seen(11 * PAID, 1, MANY, LATE), COMPILED),
    "compiled: short, first": (compiled(policy.SHORT_PROGRAM), seen(), OP_BY_OP),
    "compiled: short, again": (compiled(policy.SHORT_PROGRAM), seen(1, 2, MANY, LATE), COMPILED),
    "compiled: dear": (compiled(10**4), seen(9, 9), OP_BY_OP),
    "compiled: loops, first": (compiled(as_loops=True), seen(), COMPILED),
    "compiled: ever new loops": (compiled(as_loops=True), seen(new=LATE), OP_BY_OP),
}


@pytest.mark.parametrize("row", ROWS)
def test_choice(row):
    facts, before, expected = ROWS[row]
    assert choose(facts, before) is expected


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
    assert history.settled
    assert history.miss("c") == Seen(0, 1, 3, 1) and not history.settled


def test_history_is_bounded():
    history = History()
    for i in range(policy.MAX_EXECUTABLES + 10):
        history.miss(i)
    assert len(history.runs) == policy.MAX_EXECUTABLES


def test_joins_stop_where_each_program_is_given_new_ones():
    history = History()
    for _ in range(policy.NEW_JOINS):
        history.joined_new()
    assert history.joins
    history.joined_new()
    assert not history.joins


def test_layers_go_over_to_a_whole_program_at_a_count():
    assert layers_settled(20) == policy.LAYERS_SETTLED
    assert layers_settled(800) == 800 // policy.LAYERS_INSTRUCTIONS_A_RUN > policy.LAYERS_SETTLED
