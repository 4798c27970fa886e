"""Losses over many classes by a few sampled ones."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
from jax import lax

from ..core.dtypes import float32, int64
from ..core.op import Op
from ..values.convert import convert
from ..values.record import apply
from ..values.tensor import Tensor
from .candidates import check_true_matrix, log_uniform_candidate_sampler
from .casting import cast
from .comparison import equal
from .creation import ones_like, zeros_like
from .elementwise import log
from .embedding import embedding_lookup
from .joining import concat
from .losses import sigmoid_cross_entropy_with_logits, softmax_cross_entropy_with_logits
from .products import matmul
from .reductions import reduce_max, reduce_sum
from .shapes import reshape

_HELD = Op(lax.stop_gradient, "StopGradient", differentiable=False).bind()


def _is_last(sampled: Any, *, classes: int) -> Any:
    """Whether a class does not come again."""
    places = jnp.arange(sampled.shape[0])
    last = jnp.full(classes, -1, places.dtype).at[sampled].max(places)
    return last[sampled] == places


_IS_LAST = Op(_is_last, "ComputeAccidentalHits", differentiable=False)


def _held(x: Any) -> Tensor:
    return apply(_HELD, (convert(x),))


def _sampled_logits(
    weights: Any,
    biases: Any,
    labels: Any,
    inputs: Any,
    num_sampled: int,
    num_classes: int,
    num_true: int,
    sampled_values: Any,
    remove_accidental_hits: bool,
    seed: Any,
) -> tuple[Tensor, Tensor]:
    """The logits of the true and of the sampled classes, less the logarithm of how often they are
    expected, and labels for them."""
    labels = cast(labels, int64)
    inputs = convert(inputs)
    if sampled_values is None:
        sampled_values = log_uniform_candidate_sampler(
            labels, num_true, num_sampled, True, num_classes, seed
        )
    sampled, true_often, sampled_often = map(_held, sampled_values)
    sampled = cast(sampled, int64)
    flat = reshape(labels, [-1])
    ids = concat([flat, sampled], 0)
    count = flat._aval.shape[0]
    rows, offsets = embedding_lookup(weights, ids), embedding_lookup(biases, ids)
    width = rows._aval.shape[-1]
    of_sampled = matmul(inputs, rows[count:], transpose_b=True) + offsets[count:]
    true_rows = reshape(rows[:count], [-1, num_true, width])
    of_true = reduce_sum(reshape(inputs, [-1, 1, width]) * true_rows, -1)
    of_true += reshape(offsets[:count], [-1, num_true])
    if remove_accidental_hits:
        check_true_matrix(labels._aval.shape, num_true)
        hits = equal(reshape(labels, [-1, num_true, 1]), reshape(sampled, [1, 1, -1]))
        often = reduce_max(cast(hits, of_sampled.dtype), 1)
        often *= cast(apply(_IS_LAST.bind(classes=int(num_classes)), (sampled,)), often.dtype)
        of_sampled += often * float32.min
    of_true -= log(true_often)
    of_sampled -= log(sampled_often)
    wanted = concat([ones_like(of_true) / num_true, zeros_like(of_sampled)], 1)
    return concat([of_true, of_sampled], 1), wanted


def sampled_softmax_loss(
    weights: Any,
    biases: Any,
    labels: Any,
    inputs: Any,
    num_sampled: int,
    num_classes: int,
    num_true: int = 1,
    sampled_values: Any = None,
    remove_accidental_hits: bool = True,
    seed: Any = None,
    name: str = "sampled_softmax_loss",
) -> Tensor:
    """Cross entropy of a softmax over the true classes and a few sampled ones, float [batch].

    Args:
      weights: table [num_classes, width], or a list of tables that are taken as one, end to end.
      biases: [num_classes]. labels: int64 [batch, num_true]. inputs: float [batch, width].
      sampled_values: what a candidate sampler gives; by default that of
        `tf.random.log_uniform_candidate_sampler`, without repetition.
      remove_accidental_hits: whether sampled classes that are true do not count.
      seed: of the sampler.

    >>> import tape_compat as tf
    >>> table, biases = tf.zeros([10, 3]), tf.zeros([10])
    >>> candidates = tf.random.all_candidate_sampler([[1]], 1, 10, True)
    >>> loss = tf.nn.sampled_softmax_loss(
    ...     table, biases, [[1]], tf.ones([1, 3]), 10, 10, sampled_values=candidates
    ... )
    >>> round(loss.numpy().item(), 5) == round(float(tf.math.log(10.0)), 5)
    True
    """
    given = weights, biases, labels, inputs, num_sampled, num_classes, num_true, sampled_values
    logits, wanted = _sampled_logits(*given, remove_accidental_hits, seed)
    return softmax_cross_entropy_with_logits(_held(wanted), logits)


def nce_loss(
    weights: Any,
    biases: Any,
    labels: Any,
    inputs: Any,
    num_sampled: int,
    num_classes: int,
    num_true: int = 1,
    sampled_values: Any = None,
    remove_accidental_hits: bool = False,
    name: str = "nce_loss",
) -> Tensor:
    """Noise-contrastive estimation: the sum of the cross entropies of the true classes and of a few
    sampled ones, float [batch].

    Arguments are as of `sampled_softmax_loss`.

    >>> import tape_compat as tf
    >>> table, biases = tf.random.normal([10, 3]), tf.zeros([10])
    >>> tf.nn.nce_loss(table, biases, [[1], [2]], tf.ones([2, 3]), 4, 10).shape
    TensorShape([2])
    """
    given = weights, biases, labels, inputs, num_sampled, num_classes, num_true, sampled_values
    logits, wanted = _sampled_logits(*given, remove_accidental_hits, None)
    return reduce_sum(sigmoid_cross_entropy_with_logits(wanted, logits), 1)
