"""`tf.strings`, and string tensors in other ops."""

import pytest

import tape_compat as tf
from tape_compat._src.ops import hashing, regex, string_splits


def values(x):
    found = x.to_list() if hasattr(x, "to_list") else x.numpy()
    return found.tolist() if hasattr(found, "tolist") else found


@pytest.mark.parametrize(
    "found, want",
    [
        (lambda s: s.lower(["AbC"]), [b"abc"]),
        (lambda s: s.upper("ä", encoding="utf-8"), "Ä".encode()),
        (lambda s: s.strip(["  a b\n"]), [b"a b"]),
        (lambda s: s.length(["abc", "ä"]), [3, 2]),
        (lambda s: s.length(["ä"], unit="UTF8_CHAR"), [1]),
        (lambda s: s.substr("hello", 1, 3), b"ell"),
        (lambda s: s.join(["a", ["b", "c"]], "-"), [b"a-b", b"a-c"]),
        (lambda s: s.reduce_join([["a", "b"], ["c", "d"]], 1), [b"ab", b"cd"]),
        (lambda s: s.regex_replace("abab", "a(.)", r"\1-"), b"b-b-"),
        (lambda s: s.regex_full_match(["ab", "b"], "a."), [True, False]),
        (lambda s: s.split(["a b  c", ""]), [[b"a", b"b", b"c"], []]),
        (lambda s: s.split("a,b,,c", sep=","), [b"a", b"b", b"", b"c"]),
        (lambda s: s.bytes_split(["ab"]), [[b"a", b"b"]]),
        (lambda s: s.unicode_split("äb", "UTF-8"), ["ä".encode(), b"b"]),
        (lambda s: s.unicode_decode(["äb"], "UTF-8"), [[228, 98]]),
        (lambda s: s.unicode_encode([228, 98], "UTF-8"), "äb".encode()),
        (lambda s: s.to_number(["1.5", "2"]), [1.5, 2.0]),
        (lambda s: s.as_string([1.5], precision=1), [b"1.5"]),
        (lambda s: s.as_string([True]), [b"true"]),
        (lambda s: s.format("x: {}", tf.constant([1, 2])), b"x: [1 2]"),
        (lambda s: s.ngrams(["a", "b", "c"], 2), [b"a b", b"b c"]),
        (lambda s: s.upper(tf.ragged.constant([["a"], []])), [[b"A"], []]),
        (lambda s: s.unsorted_segment_join(["a", "b", "c"], [0, 1, 0], 2), [b"ac", b"b"]),
    ],
)
def test_values(found, want):
    assert values(found(tf.strings)) == want


@pytest.mark.parametrize(
    "text, want",
    [
        (b"", 11160318154034397263),
        (b"a", 12917804110809363939),
        (b"hello world", 6381520714923946011),
    ],
)
def test_fingerprints(text, want):
    assert hashing.fingerprint64(text) == want


def test_hash_buckets():
    """The numbers are TensorFlow's."""
    texts = ["a", "b", "hello world", "", "x" * 40, "y" * 100]
    fast = tf.strings.to_hash_bucket_fast(texts, 1000000)
    assert values(fast) == [363939, 164822, 946011, 397263, 984852, 28355]
    strong = tf.strings.to_hash_bucket_strong(texts[:4], 1000000, [1, 2])
    assert values(strong) == [958646, 888184, 517446, 117435]
    assert values(tf.strings.to_hash_bucket(texts[:3], 100)) == [68, 70, 55]


@pytest.mark.parametrize(
    "call",
    [
        lambda s: s.substr("hello", 9, 1),
        lambda s: s.regex_replace("a", "(", "b"),
        lambda s: s.to_number("x"),
        lambda s: s.join([["a", "b"], ["c"]] + [["d"]]),
        lambda s: s.as_string([1], precision=2),
    ],
)
def test_refusals(call):
    with pytest.raises(tf.errors.InvalidArgumentError):
        call(tf.strings)


def test_patterns_of_re2():
    assert regex.compiled("[[:digit:]]+").fullmatch("12")
    assert regex.compiled(r"[^[:space:]x]").fullmatch("y")
    assert not regex.compiled(r"\d").fullmatch("\u0663")
    with pytest.raises(NotImplementedError):
        regex.compiled(r"\pL")


def test_other_ops_take_strings():
    x = tf.constant(["a", "b"])
    assert values(x + "c") == [b"ac", b"bc"]
    assert values(x == "a") == [True, False]
    assert values(tf.pad(x, [[0, 1]], constant_values="z")) == [b"a", b"b", b"z"]
    assert values(tf.where([True, False], x, "q")) == [b"a", b"q"]


def test_in_a_function():
    words = tf.function(lambda x: tf.strings.split(tf.strings.lower(x)))
    assert values(words(tf.constant(["A b", "C"]))) == [[b"a", b"b"], [b"c"]]


def test_a_function_that_moves_many_texts_is_recorded(caplog):
    @tf.function
    def moved(texts):
        rare = tf.gather_nd(texts, tf.where(tf.not_equal(texts, "0")))
        both = tf.transpose(tf.stack([texts, tf.where(tf.equal(texts, "1"), "one", texts)]))
        rows = tf.reverse(tf.reshape(tf.tile(both, [1, 2]), [-1, 4])[1:], [0])
        short = tf.boolean_mask(texts, tf.equal(texts, "7"))
        return [tf.strings.length(found) for found in (rare, rows, short)]

    words = [str(i) for i in range(100)]
    rare, rows, short = map(values, moved(tf.constant(words)))
    assert rare == [len(word) for word in words[1:]]
    assert rows[-1] == [1, 3, 1, 3] and len(rows) == 99
    assert short == [1]
    assert not caplog.records


def test_texts_that_a_symbolic_index_moves(caplog):
    taken = tf.function(lambda texts, i: tf.strings.length(tf.gather(texts, i)))
    assert values(taken(tf.constant(["a", "bb", "ccc"]), tf.constant([2, 0]))) == [3, 1]
    assert values(taken(tf.constant(["b", "", "cc"]), tf.constant([2, 1]))) == [2, 0]
    assert taken.experimental_get_tracing_count() == 1 and not caplog.records


@pytest.mark.parametrize("encoding", ["UTF-8", "UTF-16-BE", "UTF-32-BE", "latin-1"])
def test_characters_of_a_sound_text_are_those_found_one_by_one(encoding):
    for text in (
        "",
        "plain text\n",
        "\ufeffmark",
        "na\u00efve",
        "\U0001f600 \u4e2d\u6587",
        "\x00\x7f",
    ):
        try:
            raw = text.encode(encoding)
        except UnicodeEncodeError:
            continue
        codec = string_splits._codec(encoding, "")
        pairs = string_splits._decoded(raw, codec, "strict", 65533, False, "")
        codes, places = tf.strings.unicode_decode_with_offsets(raw, encoding)
        assert list(zip(codes.numpy().tolist(), places.numpy().tolist())) == pairs
        pieces = tf.strings.unicode_split(raw, encoding).numpy().tolist()
        assert pieces == [chr(code).encode(encoding) for code, _ in pairs]
