"""Where a program repeats itself, and how it is cut there."""

import random

import pytest

from tape_compat._src.run.loops.find import Repeat, find_loops
from tape_compat._src.run.pieces import cuts, shortened


def loops(text, length=32):
    """The stretches of a text (each letter an instruction) that are turns of loops."""
    return [text[a:b] for a, b, looping in cuts([(c,) for c in text], length) if looping]


def rest(text, length=32):
    return [text[a:b] for a, b, looping in cuts([(c,) for c in text], length) if not looping]


def test_a_loop_is_cut_into_powers_of_two():
    assert loops("xy" + "abcde" * 7 + "z") == ["abcde" * 4, "abcde" * 2, "abcde"]
    assert rest("xy" + "abcde" * 7 + "z") == ["xy", "z"]


def test_what_is_left_of_a_turn_stays_outside():
    assert loops("abcde" * 4 + "abc") == ["abcde" * 4]
    assert rest("abcde" * 4 + "abc") == ["abc"]


def test_two_loops():
    assert loops("abcd" * 5 + "?" + "efg" * 5) == ["abcd" * 4, "abcd", "efg" * 4, "efg"]


def test_an_outer_loop_wins_over_the_one_inside_it():
    turn = "abcabcxyz"
    assert loops(turn * 6) == [turn * 2] * 3


def test_one_op_again_and_again():
    assert loops("a" * 70) == ["a" * 32, "a" * 32, "a" * 4, "a" * 2]


def test_a_loop_longer_than_a_piece_is_none():
    assert loops("abcdefgh" * 3, length=6) == []


def test_lengths_share_their_pieces():
    """All lengths of a loop consist of the same few stretches."""
    pieces = {piece for n in range(2, 60) for piece in loops("<" + "abcde" * n + ">")}
    assert pieces == {"abcde" * n for n in (1, 2, 4)}


@pytest.mark.parametrize("seed", range(20))
def test_nothing_is_lost_or_done_twice(seed):
    rng = random.Random(seed)
    text = ""
    while len(text) < 300:
        turn = "".join(rng.choice("abcdef") for _ in range(rng.randint(1, 9)))
        text += turn * rng.choice([1, 1, 2, 3, 12])
    tokens = [(c,) for c in text]
    for length in (4, 32, 256):
        for stretches in (cuts(tokens, length), shortened(cuts(tokens, length), 5)):
            assert [i for a, b, _ in stretches for i in range(a, b)] == list(range(len(text)))


def test_nothing_to_cut():
    assert cuts([], 32) == []
    assert cuts([("a",)], 32) == [(0, 1, False)]


def test_shortened_cuts_what_is_no_loop():
    assert shortened([(0, 5, False), (5, 25, True)], 2) == [
        (0, 2, False),
        (2, 4, False),
        (4, 5, False),
        (5, 25, True),
    ]


def test_a_loop_has_its_shortest_period_and_begins_where_it_can():
    def found(text):
        return find_loops([(c,) for c in text], 100)

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
