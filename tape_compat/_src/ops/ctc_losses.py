"""The losses of `ctc.py` as TensorFlow calls them."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..composites.sparse import SparseTensor
from ..core.refuse import invalid
from ..values.convert import convert
from ..values.tensor import Tensor
from .arguments import as_int, known_value
from .casting import cast
from .comparison import greater, less
from .ctc import dense_loss
from .reductions import reduce_sum
from .selection import where
from .sparse_layout import to_dense


def ctc_loss(
    labels: Any,
    logits: Any,
    label_length: Any,
    logit_length: Any,
    logits_time_major: bool = True,
    unique: Any = None,
    blank_index: Any = None,
    name: str | None = None,
) -> Tensor:
    """Minus the logarithm of the probability of `labels`, wherever they stand in time; [batch].

    Args:
      labels: int32 [batch, n], or a SparseTensor with them.
      logits: float32 [time, batch, classes], or [batch, time, classes] by `logits_time_major`.
      label_length: int32 [batch], how many labels count; None for a SparseTensor.
      logit_length: int32 [batch], how many times count.
      unique: what `tf.nn.ctc_unique_labels` gives; the loss is the same without it.
      blank_index: the class for no label, 0 by default; negative ones count from the end.
    Raises: ValueError for a SparseTensor without `blank_index`.

    >>> import tape_compat as tf
    >>> tf.nn.ctc_loss([[1]], tf.zeros([2, 1, 2]), [1], [2]).numpy().round(4).tolist()
    [0.28769999742507935]
    """
    if isinstance(labels, SparseTensor):
        if blank_index is None:
            raise ValueError(
                "Argument `blank_index` must be provided when `labels` is a `SparseTensor`."
            )
        dense, length = _dense(labels)
        x = convert(logits)
        blank = as_int(blank_index)
        _check_time(dense, logit_length, x._aval.shape[0 if logits_time_major else 1])
        return dense_loss(dense, x, length, logit_length, logits_time_major, blank)
    blank = 0 if blank_index is None else as_int(blank_index)
    return dense_loss(labels, logits, label_length, logit_length, logits_time_major, blank)


def _dense(labels: SparseTensor) -> tuple[Tensor, Tensor]:
    """Labels [batch, n], -1 after the last, and how many there are in each row."""
    dense = to_dense(labels, -1)
    return dense, reduce_sum(cast(greater(dense, convert(-1, dense.dtype)), "int32"), 1)


def _required(labels: np.ndarray) -> np.ndarray:
    """The least time for each row of labels: a repeated one needs a blank before it."""
    repeated = (labels[:, 1:] == labels[:, :-1]) & (labels[:, 1:] >= 0)
    return (labels >= 0).sum(1) + repeated.sum(1)


def _at_hand(x: Tensor) -> np.ndarray | None:
    """The value of a tensor, None inside of a function that is recorded."""
    return None if x._is_symbolic() else known_value(x)


def _check_time(labels: Tensor, times: Any, most: Any, late: bool = False) -> None:
    """TensorFlow's errors for lengths that are known and do not fit."""
    known, given = _at_hand(convert(times)), _at_hand(labels)
    if known is None or known.ndim != 1:
        return
    if most.__class__ is int and (known > most).any():
        at = int(np.argmax(known > most))
        raise invalid(f"sequence_length({at}) <= {most}", "CTCLoss")
    if given is None or late or len(given) != len(known):
        return
    needed = _required(given)
    if (needed > known).any():
        at = int(np.argmax(needed > known))
        raise invalid(
            f"Not enough time for target transition sequence (required: {needed[at]}, available: "
            f"{known[at]}){at}You can turn this error into a warning by using the flag "
            "ignore_longer_outputs_than_inputs",
            "CTCLoss",
        )


def ctc_loss_v1(
    labels: Any,
    inputs: Any = None,
    sequence_length: Any = None,
    preprocess_collapse_repeated: bool = False,
    ctc_merge_repeated: bool = True,
    ignore_longer_outputs_than_inputs: bool = False,
    time_major: bool = True,
    logits: Any = None,
) -> Tensor:
    """The loss of TensorFlow 1: labels are a SparseTensor, and blank is the last class; [batch].

    Raises: TypeError for other labels; NotImplementedError for the ways to merge repeated labels.
    """
    if not isinstance(labels, SparseTensor):
        raise TypeError(
            "Expected argument `labels` to be a SparseTensor. "
            f"Received labels={labels} of type: {type(labels).__name__}"
        )
    if preprocess_collapse_repeated or not ctc_merge_repeated:
        raise NotImplementedError(
            "tf.compat.v1.nn.ctc_loss: preprocess_collapse_repeated=True and "
            "ctc_merge_repeated=False"
        )
    x = convert(inputs if logits is None else logits)
    dense, length = _dense(labels)
    times = convert(sequence_length)
    batch = x._aval.shape[1 if time_major else 0]
    if times._aval.shape != (batch,) and batch.__class__ is int:
        raise invalid(
            "len(sequence_length) != batch_size.  len(sequence_length):  "
            f"{times._aval.shape[0]} batch_size: {batch}",
            "CTCLoss",
        )
    late = ignore_longer_outputs_than_inputs
    _check_time(dense, times, x._aval.shape[0 if time_major else 1], late)
    loss = dense_loss(dense, x, length, times, time_major, -1)
    if not late:
        return loss
    repeated = where(dense[:, 1:] == dense[:, :-1], cast(dense[:, 1:] >= 0, "int32"), 0)
    enough = length + reduce_sum(repeated, 1)
    return where(less(cast(times, "int32"), enough), convert(0, loss.dtype), loss)
