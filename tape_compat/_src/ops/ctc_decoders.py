"""The most probable labels of connectionist temporal classification.

How many labels there are depends on values: the host works them out.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..composites.sparse import SparseTensor
from ..core import dtypes, errors
from ..core.refuse import invalid
from ..values.convert import convert
from ..values.host_steps import by_host
from ..values.tensor import Tensor, concrete
from .arguments import as_int, known_value, sketched
from .sparse_layout import of_rows

_NOTHING = -math.inf

#: Of a sparse tensor: its places, its values and its shape.
Parts = tuple[Tensor, Tensor, Tensor]


def _inputs(inputs: Any, sequence_length: Any, kernel: str) -> tuple[np.ndarray, np.ndarray]:
    logits, lengths = known_value(inputs), known_value(sequence_length)
    time, batch, _ = logits.shape
    problem = ""
    if lengths.shape != (batch,):
        problem = (
            f"len(sequence_length) != batch_size.  len(sequence_length):  {lengths.size} "
            f"batch_size: {batch}"
        )
    elif (lengths > time).any():
        problem = f"sequence_length({int(np.argmax(lengths > time))}) <= {time}"
    if problem:
        raise errors.FailedPreconditionError(
            None, None, f"{problem} [Op:{kernel}] (at {errors.user_location()})"
        )
    return logits, lengths


def _logits(inputs: Any, kernel: str) -> Tensor:
    logits = convert(inputs)
    if len(logits._aval.shape) != 3:
        raise invalid("inputs is not a 3-Tensor", kernel)
    return logits


def _parts(rows: Sequence[Sequence[int]]) -> Parts:
    """Rows of different lengths as the parts of a sparse tensor of int64."""
    values = np.array([value for row in rows for value in row], np.int64)
    found = of_rows(rows, concrete(values))
    return found.indices, found.values, found.dense_shape


@by_host()
def greedy_parts(
    inputs: Tensor, sequence_length: Tensor, merge_repeated: bool, blank_index: int
) -> tuple[Parts, Tensor]:
    """The parts of the labels of the most probable path, and minus its logits.

    >>> import tape_compat as tf
    >>> from tape_compat._src.ops.ctc_decoders import greedy_parts
    >>> logits, lengths = tf.one_hot([[0], [0], [2], [1]], 3), tf.constant([4])
    >>> greedy_parts(logits, lengths, True, -1)[0][1].numpy().tolist()
    [0, 1]
    """
    sketch = sketched(inputs, sequence_length)
    if sketch is not None:
        costs = sketch.tensor([inputs._aval.shape[1], 1], inputs.dtype)
        return sketch.sparse_parts(dtypes.int64), costs
    logits, lengths = _inputs(inputs, sequence_length, "CTCGreedyDecoder")
    blank = blank_index % logits.shape[2]
    best = logits.argmax(2)
    rows, costs = [], []
    for i, length in enumerate(lengths):
        row, before = [], -1
        for one in best[:length, i].tolist():
            if one != blank and not (merge_repeated and one == before):
                row.append(one)
            before = one
        rows.append(row)
        costs.append(-logits[:length, i].max(1).sum(dtype=logits.dtype))
    return _parts(rows), concrete(np.asarray(costs, logits.dtype)[:, None])


def ctc_greedy_decoder(
    inputs: Any, sequence_length: Any, merge_repeated: bool = True, blank_index: Any = None
) -> tuple[list[SparseTensor], Tensor]:
    """The labels of the most probable path: [a SparseTensor], and minus its logits [batch, 1].

    Args:
      inputs: logits [time, batch, classes].
      sequence_length: int32 [batch], how many times count.
      merge_repeated: whether a class at times one after the other is one label.
      blank_index: the class for no label, the last by default; negative ones count from the end.
    Raises: FailedPreconditionError for lengths that do not fit.

    >>> import tape_compat as tf
    >>> logits = tf.one_hot([[0], [0], [2], [1]], 3)
    >>> (labels,), cost = tf.nn.ctc_greedy_decoder(logits, [4])
    >>> labels.values.numpy().tolist(), cost.numpy().item()
    ([0, 1], -4.0)
    """
    kernel = "CTCGreedyDecoder"
    logits = _logits(inputs, kernel)
    classes = logits._aval.shape[2]
    blank = -1 if blank_index is None else as_int(blank_index)
    if isinstance(classes, int) and not -classes <= blank < classes:
        raise invalid(
            f"blank_index expected to be between {-classes} and {classes - 1} but was {blank}",
            kernel,
        )
    parts, costs = greedy_parts(logits, convert(sequence_length), bool(merge_repeated), blank)
    return [SparseTensor(*parts)], costs


def _sum_of(a: float, b: float) -> float:
    """The logarithm of the sum of two numbers, given by theirs."""
    if a == _NOTHING or b == _NOTHING:
        return max(a, b)
    return max(a, b) + math.log1p(math.exp(-abs(a - b)))


class _Entry:
    """A prefix of labels: the logarithms of its probability, ending in a blank and in its label,
    before and after a time."""

    def __init__(self, parent: _Entry | None, label: int):
        self.parent, self.label = parent, label
        self.children: list[_Entry] | None = None
        self.forget()

    def forget(self) -> None:
        self.old = self.new = (_NOTHING, _NOTHING, _NOTHING)

    def forget_new(self) -> None:
        self.new = (_NOTHING, _NOTHING, _NOTHING)

    @property
    def active(self) -> bool:
        return self.new[2] != _NOTHING

    def extended(self, previous: _Entry) -> float:
        """What the label of this entry may follow."""
        return previous.old[0] if self.label == previous.label else previous.old[2]

    def labels(self, merge_repeated: bool) -> list[int]:
        found: list[int] = []
        entry, before = self, -1
        while entry.parent is not None:
            if not (merge_repeated and entry.label == before):
                found.append(entry.label)
            before, entry = entry.label, entry.parent
        return found[::-1]


class _Beam:
    """The best prefixes so far. Source: TF ctc_beam_search.h."""

    def __init__(self, width: int, blank: int):
        self.width, self.blank = width, blank
        root = _Entry(None, -1)
        root.new = (0.0, _NOTHING, 0.0)
        self.entries = [root]

    def step(self, logits: np.ndarray) -> None:
        """One time: every prefix stays as it is, or gets a label more."""
        top = float(logits.max())
        offset = top + math.log(float(np.exp(logits - top).sum()))
        scores = (logits - offset).tolist()
        before = sorted(self.entries, key=lambda entry: -entry.new[2])
        self.heap: list[tuple[float, int, _Entry]] = []
        self.count = 0
        for entry in before:
            entry.old = entry.new
        for entry in before:
            ending = _NOTHING
            if entry.parent is not None:
                ending = entry.old[1]
                if entry.parent.active:
                    ending = _sum_of(ending, entry.extended(entry.parent))
                ending += scores[entry.label]
            resting = entry.old[2] + scores[self.blank]
            entry.new = (resting, ending, _sum_of(resting, ending))
            self._push(entry)
        for entry in before:
            if self._accepts(entry.old[2]):
                self._grow(entry, scores)
        # In the order in which they came: of equal ones the first is the better.
        self.entries = [entry for _, _, entry in sorted(self.heap, key=lambda item: -item[1])]

    def _grow(self, entry: _Entry, scores: list[float]) -> None:
        if entry.children is None:
            entry.children = [_Entry(entry, label) for label in range(self.blank)]
        for child in entry.children:
            if child.active:
                continue
            total = scores[child.label] + child.extended(entry)
            child.new = (_NOTHING, total, total)
            if not self._accepts(total):
                child.forget()
                continue
            if len(self.heap) == self.width:
                heapq.heappop(self.heap)[2].forget_new()
            self._push(child)

    def _accepts(self, total: float) -> bool:
        return total > _NOTHING and (len(self.heap) < self.width or total > self.heap[0][0])

    def _push(self, entry: _Entry) -> None:
        heapq.heappush(self.heap, (entry.new[2], -self.count, entry))
        self.count += 1

    def best(self, count: int) -> list[_Entry]:
        return sorted(self.entries, key=lambda entry: -entry.new[2])[:count]


@by_host()
def beam_parts(
    inputs: Tensor, sequence_length: Tensor, width: int, count: int, merge_repeated: bool
) -> tuple[list[Parts], Tensor]:
    """The parts of the labels of the most probable prefixes, and the logarithms of their
    probabilities.

    >>> import tape_compat as tf
    >>> from tape_compat._src.ops.ctc_decoders import beam_parts
    >>> logits, lengths = 9 * tf.one_hot([[0], [0], [2], [1]], 3), tf.constant([4])
    >>> beam_parts(logits, lengths, 3, 1, False)[0][0][1].numpy().tolist()
    [0, 1]
    """
    sketch = sketched(inputs, sequence_length)
    if sketch is not None:
        scores = sketch.tensor([inputs._aval.shape[1], count], inputs.dtype)
        return [sketch.sparse_parts(dtypes.int64) for _ in range(count)], scores
    kernel = "CTCBeamSearchDecoder"
    logits, lengths = _inputs(inputs, sequence_length, kernel)
    rows: list[list[list[int]]] = [[] for _ in range(count)]
    scores = np.zeros((logits.shape[1], count), logits.dtype)
    for i, length in enumerate(lengths):
        beam = _Beam(width, logits.shape[2] - 1)
        for t in range(int(length)):
            beam.step(logits[t, i].astype(np.float64))
        found = beam.best(count)
        if len(found) < count:
            raise invalid("Less leaves in the beam search than requested.", kernel)
        for j, entry in enumerate(found):
            rows[j].append(entry.labels(merge_repeated))
            scores[i, j] = entry.new[2]
    return [_parts(row) for row in rows], concrete(scores)


def beam_search(
    inputs: Any, sequence_length: Any, beam_width: Any, top_paths: Any, merge_repeated: bool
) -> tuple[list[SparseTensor], Tensor]:
    """The labels of the most probable prefixes, and the logarithms of their probabilities."""
    kernel = "CTCBeamSearchDecoder"
    logits, width, count = _logits(inputs, kernel), as_int(beam_width), as_int(top_paths)
    if count > width:
        raise invalid("requested more paths than the beam width.", kernel)
    parts, scores = beam_parts(logits, convert(sequence_length), width, count, merge_repeated)
    return [SparseTensor(*each) for each in parts], scores


def ctc_beam_search_decoder(
    inputs: Any, sequence_length: Any, beam_width: Any = 100, top_paths: Any = 1
) -> tuple[list[SparseTensor], Tensor]:
    """The labels of the `top_paths` most probable prefixes, and log probabilities [batch, paths].

    Args:
      inputs: logits [time, batch, classes]; the last class is for no label.
      sequence_length: int32 [batch], how many times count.
      beam_width: how many prefixes are followed.
    Raises: InvalidArgumentError for more paths than prefixes; FailedPreconditionError for lengths
      that do not fit.

    >>> import tape_compat as tf
    >>> logits = 9 * tf.one_hot([[0], [0], [2], [1]], 3)
    >>> (labels,), _ = tf.nn.ctc_beam_search_decoder(logits, [4], beam_width=3)
    >>> labels.values.numpy().tolist()
    [0, 1]
    """
    return beam_search(inputs, sequence_length, beam_width, top_paths, False)


def ctc_beam_search_decoder_v1(
    inputs: Any,
    sequence_length: Any,
    beam_width: Any = 100,
    top_paths: Any = 1,
    merge_repeated: bool = True,
) -> tuple[list[SparseTensor], Tensor]:
    """`ctc_beam_search_decoder` of TensorFlow 1, which drops labels that repeat in the output."""
    return beam_search(inputs, sequence_length, beam_width, top_paths, bool(merge_repeated))
