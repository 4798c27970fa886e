"""Steps of the host as kernels of TensorFlow's: what functions do with texts and tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np

from ...core.avals import Aval
from ...core.dtypes import int32, int64, string
from ...ops.creation import range as range_op
from ...ops.crosses import HASH_KEY
from ...ops.shapes import reshape, shape, size
from ...values.capture import capture
from ...values.tensor import Tensor
from ..lookup.static import StaticHashTable, StaticVocabularyTable
from .body import Body
from .step_nodes import (
    Given,
    Reference,
    Table,
    as_reference,
    computed,
    one_to_one,
    solvable,
    unsupported,
)

WRITERS = Table()


# -- texts one by one -----------------------------------------------------------------------------


WRITERS |= {
    "length": one_to_one("StringLength", unit=1),
    "lower": one_to_one("StringLower", encoding=1),
    "strip": one_to_one("StringStrip"),
    "to_hash_bucket_fast": one_to_one("StringToHashBucketFast", num_buckets=1),
    "to_hash_bucket_strong": one_to_one("StringToHashBucketStrong", num_buckets=1, key=2),
    "to_number": one_to_one("StringToNumber", out_type=1),
    "upper": one_to_one("StringUpper", encoding=1),
}


@WRITERS.row("same_text")
def _same_text(given: Given) -> list[str]:
    return [given.body.value("Identity", "output", [given.reference(given.args[0])], {"T": string})]


@WRITERS.row("substr")
def _substr(given: Given) -> list[str]:
    place = given.reference(given.option(1, "pos", 0), int32)
    count = given.reference(given.option(2, "len", 0), int32)
    attr = {"T": int32, "unit": given.option(3, "unit", "BYTE")}
    return [given.body.value("Substr", "output", [given.args[0].name, place, count], attr)]


@WRITERS.row("regex_replace")
def _regex_replace(given: Given) -> list[str]:
    text, pattern, rewrite = (given.option(0, "input", None), *given.args[1:3])
    attr = {"replace_global": bool(given.option(3, "replace_global", True))}
    inputs = [text.name, given.reference(pattern), given.reference(rewrite)]
    return [given.body.value("RegexReplace", "output", inputs, attr)]


@WRITERS.row("regex_full_match")
def _regex_full_match(given: Given) -> list[str]:
    inputs = [given.args[0].name, given.reference(given.args[1])]
    return [given.body.value("RegexFullMatch", "output", inputs)]


@WRITERS.row("as_string")
def _as_string(given: Given) -> list[str]:
    number = given.args[0]
    names = ("precision", "scientific", "shortest", "width", "fill")
    values = {name: given.option(i, name, None) for i, name in enumerate(names, 1)}
    attr = {name: value for name, value in values.items() if value is not None}
    attr["T"] = number.aval.dtype
    return [given.body.value("AsString", "output", [number.name], attr)]


@WRITERS.row("join")
def _join(given: Given) -> list[str]:
    inputs = [given.reference(x) for x in given.args[0]]
    attr = {"N": len(inputs), "separator": given.option(1, "separator", "")}
    return [given.body.value("StringJoin", "output", inputs, attr)]


@WRITERS.row("format")
def _format(given: Given) -> list[str]:
    inputs = given.option(1, "inputs", ())
    several = inputs if type(inputs) in (list, tuple) else [inputs]
    values = [as_reference(given.body, x) for x in several]
    attr = {
        "T": [x.aval.dtype for x in values],
        "template": given.option(0, "template", ""),
        "placeholder": given.option(2, "placeholder", "{}"),
        "summarize": given.option(3, "summarize", 3),
    }
    names = [x.name for x in values]
    return [given.body.value("StringFormat", "output", names, attr)]


@WRITERS.row("text_on_host")
def _operator(given: Given) -> list[str]:
    """`==`, `!=` and `+` of texts."""
    function, *texts = given.args
    inputs = [given.reference(x) for x in texts]
    if function is np.add:
        attr: dict[str, Any] = {"N": len(inputs)}
        return [given.body.value("StringJoin", "output", inputs, attr)]
    op = {np.equal: "Equal", np.not_equal: "NotEqual"}.get(function)
    if op is None:
        raise unsupported(f"{function!r} of texts")
    return [given.body.value(op, "z", inputs, {"T": string})]


# -- words and tables -----------------------------------------------------------------------------


def _as_vector(given: Given, what: str) -> str:
    """The texts that are given, a vector of one for a scalar."""
    text, body = given.args[0], given.body
    if text is None:
        raise unsupported(f"{what} of ragged texts")
    if len(text.aval.shape) > 1:
        raise unsupported(f"{what} of a tensor with several axes")
    if text.aval.shape:
        return str(text.name)
    attr = {"T": string, "Tshape": int32}
    return body.value("Reshape", "output", [text.name, body.constant([1], int32)], attr)


@WRITERS.row("split")
def _split(given: Given) -> list[str]:
    """The words of all texts, and where those of each end."""
    sep, most = given.option(1, "sep", None), given.option(2, "maxsplit", -1)
    body, vector = given.body, _as_vector(given, "tf.strings.split")
    inputs = [vector, given.reference("" if sep is None else sep)]
    node = body.node("split", "StringSplitV2", inputs, {"maxsplit": int(most)})
    return _rows_of(given, vector, node.name)


def _rows_of(given: Given, vector: str, node: str) -> list[str]:
    """The values of a sparse matrix that a node gives of a vector of texts, and where rows end."""
    text, words = given.args[0], f"{node}:values:0"
    if not text.aval.shape:
        return [words]
    lengths = given.body.value("StringLength", "output", [vector])
    avals = (Aval.of((given.outputs[0].shape[0], 2), int64), Aval.of(text.aval.shape, int32))
    splits = computed(given.body, _row_splits, avals, [f"{node}:indices:0", lengths])
    return [words, *splits]


@WRITERS.row("bytes_split")
def _bytes_split(given: Given) -> list[str]:
    """The bytes of all texts, and where those of each end."""
    body, vector = given.body, _as_vector(given, "tf.strings.bytes_split")
    inputs = [vector, body.constant("", string)]
    node = body.node("bytes_split", "StringSplit", inputs, {"skip_empty": False})
    return _rows_of(given, vector, node.name)


@WRITERS.row("unicode_decode", "unicode_split")
def _characters(given: Given) -> list[str]:
    """The characters of all texts, or their numbers, and where those of each end."""
    decodes = given.outputs[0].dtype is not string
    what = "tf.strings.unicode_decode" if decodes else "tf.strings.unicode_split"
    body, vector = given.body, _as_vector(given, what)
    encoding = given.option(1, "input_encoding", "")
    attr: dict[str, Any] = {
        "errors": given.option(2, "errors", "replace"),
        "replacement_char": int(given.option(3, "replacement_char", 65533)),
        "Tsplits": int64,
    }
    controls = decodes and bool(given.option(4, "replace_control_characters", False))
    reading = {**attr, "input_encoding": encoding, "replace_control_characters": controls}
    node = body.node("unicode_decode", "UnicodeDecode", [vector], reading)
    found = f"{node.name}:char_values:0"
    if not decodes:
        count = given.outputs[0].shape[0]
        alone = computed(body, _each_alone, (Aval.of((count,), int32),), [found])
        writing = {**attr, "output_encoding": encoding}
        found = body.value("UnicodeEncode", "output", [found, *alone], writing)
    return [found, f"{node.name}:row_splits:0"] if given.args[0].aval.shape else [found]


def _each_alone(codes: Any) -> Any:
    """Where rows of one element each end."""
    return jnp.cumsum(jnp.ones(codes.shape[0] + 1, jnp.int64)) - 1


def _row_splits(indices: Any, texts: Any) -> Any:
    """Where the rows end whose numbers stand in order in a column."""
    counts = jnp.zeros(texts.shape[0] + 1, jnp.int64).at[indices[:, 0] + 1].add(1)
    return jnp.cumsum(counts)


@WRITERS.row("ngrams")
def _ngrams(given: Given) -> list[str]:
    """Neighbours in rows of texts, and where those of each row end."""
    if len(given.values) != 2:
        raise unsupported("tf.strings.ngrams of what is no RaggedTensor with one ragged axis")
    words, splits = given.values
    widths, pads = given.option(1, "ngram_width", 1), given.option(3, "pad_values", None)
    left, right = ("", "") if pads is None else [pads] * 2 if isinstance(pads, str) else pads
    width = given.option(4, "padding_width", None)
    attr = {
        "Tsplits": splits.aval.dtype,
        "separator": given.option(2, "separator", " "),
        "ngram_widths": [widths] if isinstance(widths, int) else list(widths),
        "left_pad": left,
        "right_pad": right,
        "pad_width": 0 if pads is None else -1 if width is None else width,
        "preserve_short_sequences": bool(given.option(5, "preserve_short_sequences", False)),
    }
    inputs = [words.name, splits.name]
    name = given.body.node("ngrams", "StringNGrams", inputs, attr).name
    return [f"{name}:ngrams:0", f"{name}:ngrams_splits:0"]


@WRITERS.row("to_tensor")
def _to_tensor(given: Given) -> list[str]:
    """Rows of values filled up."""
    if len(given.values) != 2:
        raise unsupported("a RaggedTensor with several ragged axes")
    values, splits = given.values
    _, default, shape = given.args
    dtype = values.aval.dtype
    body = given.body
    if shape is None:
        wanted = body.constant(-1, int64)
    else:
        wanted = body.constant([-1 if n is None else int(n) for n in shape], int64)
    if default is None:
        default = "" if dtype is string else 0
    filler = given.reference(default, dtype)
    attr = {"T": dtype, "Tindex": int64, "Tshape": int64, "num_row_partition_tensors": 1}
    attr["row_partition_types"] = ["ROW_SPLITS"]
    inputs = [wanted, values.name, filler, splits.name]
    return [body.value("RaggedTensorToTensor", "result", inputs, attr)]


@WRITERS.row("_texts_to_dense")
def _texts_to_dense(given: Given) -> list[str]:
    indices, values, shape, filler = [as_reference(given.body, x) for x in given.args[:4]]
    inputs = [x.name for x in (indices, shape, values, filler)]
    attr = {"T": string, "Tindices": int64, "validate_indices": given.args[5]}
    return [given.body.value("SparseToDense", "dense", inputs, attr)]


@WRITERS.row("_found")
def _lookup(given: Given) -> list[str]:
    table, keys = given.args
    if isinstance(table, StaticVocabularyTable):
        return [_vocabulary(given.body, table, keys)]
    if not isinstance(table, StaticHashTable):
        raise unsupported(f"{type(table).__name__}.lookup")
    return [_in_table(given.body, table, keys.name)]


def _in_table(body: Body, table: StaticHashTable, keys: str) -> str:
    default = body.constant(table.default_value._value(), table.value_dtype)
    attr = {"Tin": table.key_dtype, "Tout": table.value_dtype}
    return body.value(
        "LookupTableFindV2", "values", [body.resource(table.origin), keys, default], attr
    )


def _vocabulary(body: Body, table: StaticVocabularyTable, keys: Reference) -> str:
    """The numbers of keys, of those that the table does not have by a hash."""
    kind, texts = table.key_dtype, keys.name
    if kind is not string:
        texts = body.value("AsString", "output", [texts], {"T": kind})
    buckets = {"num_buckets": table.oov_buckets}
    hashed = body.value("StringToHashBucketFast", "output", [texts], buckets)
    known = table.known
    if known is None:
        return hashed
    count = body.constant(known.size()._value(), int64)
    hashed = body.value("AddV2", "z", [hashed, count], {"T": int64})
    found = _in_table(body, known, body.cast(keys.name, kind, known.key_dtype))
    there = body.value("GreaterEqual", "z", [found, body.constant(0, int64)], {"T": int64})
    return body.value("SelectV2", "output", [there, found, hashed], {"T": int64})


@WRITERS.row("crossed")
def _crossed(given: Given) -> list[str]:
    inputs, *how = given.args
    _, values, shape = _crosses(given.body, [], inputs, how)
    attr = {"T": given.outputs[0].dtype, "Tshape": int64}
    return [given.body.value("Reshape", "output", [values, shape], attr)]


@WRITERS.row("crossed_rows")
def _crossed_rows(given: Given) -> list[str]:
    *parts, dense, separator, buckets, key = given.args
    return _crosses(given.body, parts, dense, [separator, buckets, key])


def _crosses(body: Body, sparse: Any, dense: Sequence[Any], how: Sequence[Any]) -> list[str]:
    """Combinations of the rows of sparse inputs, by their places, values and shapes, and of dense
    ones. how: what stands between texts, how many hashes there are, and what they begin with."""
    parts = [[as_reference(body, x) for x in each] for each in sparse] or [[], [], []]
    tensors = [as_reference(body, x) for x in dense]
    separator, buckets, key = how
    inputs = [x.name for each in (*parts, tensors) for x in each]
    attr: dict[str, Any] = {
        "N": len(parts[0]),
        "sparse_types": [x.aval.dtype for x in parts[1]],
        "dense_types": [x.aval.dtype for x in tensors],
    }
    if separator is None:
        attr |= {"hashed_output": True, "num_buckets": buckets, "hash_key": key or HASH_KEY}
        attr |= {"out_type": int64, "internal_type": int64}
        name = body.node("cross", "SparseCross", inputs, attr).name
    else:
        inputs.append(body.constant(separator, string))
        name = body.node("cross", "SparseCrossV2", inputs, attr).name
    return [f"{name}:output_{part}:0" for part in ("indices", "values", "shape")]


# -- labels of times ------------------------------------------------------------------------------


@WRITERS.row("greedy_parts")
def _greedy_labels(given: Given) -> list[str]:
    *inputs, merge, blank = given.args
    attr = {"merge_repeated": merge, "blank_index": blank, "T": inputs[0].aval.dtype}
    names = [x.name for x in inputs]
    name = given.body.node("greedy", "CTCGreedyDecoder", names, attr).name
    parts = [f"{name}:decoded_{part}:0" for part in ("indices", "values", "shape")]
    return [*parts, f"{name}:log_probability:0"]


@WRITERS.row("beam_parts")
def _beam_labels(given: Given) -> list[str]:
    *inputs, width, count, merge = given.args
    attr = {"beam_width": width, "top_paths": count, "merge_repeated": merge}
    attr["T"] = inputs[0].aval.dtype
    names = [x.name for x in inputs]
    name = given.body.node("beams", "CTCBeamSearchDecoder", names, attr).name
    kinds = ("indices", "values", "shape")
    parts = [f"{name}:decoded_{part}:{i}" for i in range(count) for part in kinds]
    return [*parts, f"{name}:log_probability:0"]


# -- movements ------------------------------------------------------------------------------------


@WRITERS.row("_move_text")
def _move(given: Given) -> list[str]:
    """Texts moved as their places are: a program works out these, by the sizes of the texts'
    lengths, which stand in for them."""
    move, texts, by = given.args
    body = given.body
    if not all(isinstance(x, Reference) for x in texts):
        texts = [as_reference(body, x) for x in texts]
    lengths = [body.value("StringLength", "output", [x.name]) for x in texts]
    known = [x for x in by if isinstance(x, Reference)]
    lengths_of = solvable([Aval.of(x.aval.shape, int32) for x in texts])
    avals = [*lengths_of, *[x.aval for x in known]]
    several: list[bool] = []

    def places(*inputs: Tensor) -> Any:
        numbers = _places(inputs[: len(texts)])
        left = iter(inputs[len(texts) :])
        found = move(*numbers, *[next(left) if isinstance(x, Reference) else x for x in by])
        several.append(isinstance(found, (list, tuple)))
        return list(found) if several[-1] else [found]

    captured = capture(places, avals, lambda found: found, "move")
    if any(not isinstance(source, Tensor) for source in captured.sources):
        raise unsupported("a movement of texts by a variable")
    constants = [body.constant(x._value(), x.dtype) for x in captured.sources]  # type: ignore[union-attr]
    kinds = [*avals, *[x._aval for x in captured.sources]]  # type: ignore[union-attr]
    given_to = [*lengths, *[x.name for x in known], *constants]
    indices = body.program(captured.closure, kinds, given_to)
    flat = body.constant([-1], int32)
    attr: dict[str, Any] = {"T": string, "Tshape": int32}
    parts = [body.value("Reshape", "output", [x.name, flat], attr) for x in texts]
    axis = body.constant(0, int32)
    if len(parts) > 1:
        attr = {"N": len(parts), "T": string, "Tidx": int32}
        parts = [body.value("ConcatV2", "output", [*parts, axis], attr)]
    attr = {"Tparams": string, "Tindices": int32, "Taxis": int32}
    return [body.value("GatherV2", "output", [parts[0], index, axis], attr) for index in indices]


def _places(lengths: Sequence[Tensor]) -> list[Tensor]:
    """Numbers of the elements of arrays of these shapes, one after the other."""
    found: list[Tensor] = []
    start: Any = 0
    for x in lengths:
        count = size(x)
        found.append(reshape(range_op(start, start + count), shape(x)))
        start = start + count
    return found
