"""Where a sequence of instructions repeats itself."""

import random

import pytest

from tape_compat._src.run.loops.find import Repeat, find_loops


def found(text, longest=100):
    """The loops of a text, each letter an instruction."""
    return find_loops([(c,) for c in text], longest)


def test_two_loops():
    assert found("abcd" * 5 + "?" + "efg" * 5) == [Repeat(0, 4, 5), Repeat(21, 3, 5)]


def test_what_is_left_of_a_turn_stays_outside():
    assert found("xy" + "abcde" * 4 + "abc") == [Repeat(2, 5, 4)]


def test_an_outer_loop_wins_over_the_one_inside_it():
    assert found("abcabcxyz" * 6) == [Repeat(0, 9, 6)]


def test_one_op_again_and_again():
    assert found("a" * 70) == [Repeat(0, 1, 70)]


def test_a_turn_longer_than_the_longest_is_none():
    assert found("abcdefgh" * 3, longest=6) == []


def test_nothing_to_find():
    assert found("") == found("a") == found("abcdef") == []


@pytest.mark.parametrize("seed", range(20))
def test_loops_lie_apart_and_repeat_themselves(seed):
    rng = random.Random(seed)
    text = ""
    while len(text) < 300:
        iteration = "".join(rng.choice("abcdef") for _ in range(rng.randint(1, 9)))
        text += iteration * rng.choice([1, 1, 2, 3, 12])
    for longest in (4, 32, 256):
        end = 0
        for loop in found(text, longest):
            assert end <= loop.start and loop.period <= longest
            iteration = text[loop.start : loop.start + loop.period]
            assert text[loop.start : loop.stop] == iteration * loop.iterations
            end = loop.stop
        assert end <= len(text)


def test_a_loop_has_its_shortest_period_and_begins_where_it_can():
    assert found("ab" * 20) == [Repeat(0, 2, 20)]
    assert found("?" + "abcd" * 11 + "!") == [Repeat(1, 4, 11)]
    # Twenty instructions further on both loops are equal to themselves; each is found as it is.
    assert found("x" + "abcd" * 30 + "y" + "fghij" * 29 + "z") == [
        Repeat(1, 4, 30),
        Repeat(122, 5, 29),
    ]
    for n in range(20, 60):
        first, second = found("x" + "abcd" * n + "y" + "jfghi" * (n - 1) + "z")
        assert first == Repeat(1, 4, n)
        assert second == Repeat(2 + 4 * n, 5, n - 1)
