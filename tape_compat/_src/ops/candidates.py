"""Candidate samplers: a few classes drawn from many, and how often they are expected to come."""

from __future__ import annotations

import csv
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from ..core.caches import Cache
from ..core.dtypes import float32, int64
from ..core.op import Op
from ..core.paths import local_path
from ..core.refuse import check_dtype_of, invalid
from ..values.bounds import present_value
from ..values.convert import convert
from ..values.record import apply
from ..values.tensor import Tensor
from .arguments import known_value
from .random_keys import next_key, typed_key


class Candidates(NamedTuple):
    """What a sampler gives.

    sampled_candidates: classes, int64 [num_sampled]. true_expected_count: float32 of the shape of
    the true classes; sampled_expected_count: float32 [num_sampled].
    """

    sampled_candidates: Tensor
    true_expected_count: Tensor
    sampled_expected_count: Tensor


#: As TensorFlow, one class for each kernel.
_CLASSES: dict[str, type[Candidates]] = {
    kernel: type(kernel, (Candidates,), {"__slots__": ()})
    for kernel in (
        "AllCandidateSampler",
        "FixedUnigramCandidateSampler",
        "LearnedUnigramCandidateSampler",
        "LogUniformCandidateSampler",
        "UniformCandidateSampler",
    )
}


#: Draws a class by a key, and gives the probabilities of classes: of the weights, the number of
#: classes, then the key or the classes.
_Draw = Callable[[Any, int, Any], Any]


def _draw_uniform(weights: Any, count: int, key: Any) -> Any:
    return jax.random.randint(key, (), 0, count, jnp.int64)


def _uniform(weights: Any, count: int, classes: Any) -> Any:
    return jnp.full(classes.shape, 1.0 / count, jnp.float64)


def _draw_log(weights: Any, count: int, key: Any) -> Any:
    u = jax.random.uniform(key, (), jnp.float64)
    found = jnp.exp(u * np.log1p(count)).astype(jnp.int64) - 1
    return jnp.clip(found, 0, count - 1)


def _log(weights: Any, count: int, classes: Any) -> Any:
    k = classes.astype(jnp.float64)
    return jnp.log((k + 2.0) / (k + 1.0)) / np.log1p(count)


def _draw_weighted(weights: Any, count: int, key: Any) -> Any:
    ends = jnp.cumsum(weights)
    u = jax.random.uniform(key, (), jnp.float64) * ends[-1]
    return jnp.minimum(jnp.searchsorted(ends, u, side="right"), count - 1).astype(jnp.int64)


def _weighted(weights: Any, count: int, classes: Any) -> Any:
    return weights[classes] / jnp.sum(weights)


_KINDS: dict[str, tuple[_Draw, _Draw]] = {
    "uniform": (_draw_uniform, _uniform),
    "log": (_draw_log, _log),
    "weighted": (_draw_weighted, _weighted),
}


def _sampled(
    key: Any, true: Any, weights: Any = None, *, kind: str, count: int, unique: bool, classes: int
) -> Any:
    draw, probability = _KINDS[kind]
    key = typed_key(key)

    def one(state: Any) -> Any:
        """Another try: a class that is there already counts as a try and is not taken."""
        found, taken, tries, seen = state
        value = draw(weights, classes, jax.random.fold_in(key, tries))
        new = ~seen[value]
        place = jnp.where(new, taken, count)
        return (
            found.at[place].set(value, mode="drop"),
            taken + new,
            tries + 1,
            seen.at[value].set(True),
        )

    if unique:
        begin = (jnp.zeros(count, jnp.int64), 0, 0, jnp.zeros(classes, bool))
        found, _, tries, _ = lax.while_loop(lambda state: state[1] < count, one, begin)
    else:
        keys = jax.vmap(lambda i: jax.random.fold_in(key, i))(jnp.arange(count))
        found, tries = jax.vmap(lambda k: draw(weights, classes, k))(keys), count

    def expected(which: Any) -> Any:
        p = probability(weights, classes, which)
        often = jnp.where(tries == count, p * count, -jnp.expm1(tries * jnp.log1p(-p)))
        return often.astype(jnp.float32)

    return found, expected(true), expected(found)


_SAMPLED = Op(_sampled, "CandidateSampler", differentiable=False)


def _true_classes(value: Any, num_true: int, classes: int, kernel: str) -> Tensor:
    true = convert(value, None if isinstance(value, Tensor) else int64)
    check_dtype_of(true._aval, 0, int64, kernel)
    if len(true._aval.shape) != 2:
        raise invalid("true_classes must be a matrix", kernel)
    if true._aval.shape[1] != num_true:
        raise invalid(
            f"true_classes must have num_true columns, expected: {true._aval.shape[1]} was: "
            f"{num_true}",
            kernel,
        )
    known = present_value(true)
    if known is not None:
        wrong = [n for n in np.asarray(known).ravel().tolist() if not 0 <= n < classes]
        if wrong:
            raise invalid(
                f"`true_candidate` out of range [0, {classes}), received {wrong[0]}", kernel
            )
    return true


def _sample(
    kind: str,
    kernel: str,
    true_classes: Any,
    num_true: int,
    num_sampled: int,
    unique: bool,
    range_max: int,
    seed: Any,
    weights: np.ndarray | None = None,
) -> Candidates:
    true = _true_classes(true_classes, num_true, range_max, kernel)
    possible = range_max if weights is None else int(np.count_nonzero(weights))
    if unique and num_sampled > possible:
        raise invalid("Sampler's range is too small.", kernel)
    closure = _SAMPLED.bind(
        kind=kind, count=int(num_sampled), unique=bool(unique), classes=int(range_max)
    )
    more = () if weights is None else (convert(weights.astype(np.float64)),)
    return _CLASSES[kernel](*apply(closure, (next_key(kernel, seed), true, *more)))


def uniform_candidate_sampler(
    true_classes: Any,
    num_true: int,
    num_sampled: int,
    unique: bool,
    range_max: int,
    seed: Any = None,
    name: str | None = None,
) -> Candidates:
    """Classes drawn alike from 0 to `range_max`.

    Args:
      true_classes: int64 [batch, num_true].
      unique: whether each class may come once only.
      seed: of the op; see `tf.random.set_seed`.
    Returns: see Candidates.
    Raises: InvalidArgumentError for true classes of another shape or out of range, and if there are
      fewer classes than are to be unique.

    >>> import tape_compat as tf
    >>> found = tf.random.uniform_candidate_sampler([[1]], 1, 3, True, 3)
    >>> sorted(found.sampled_candidates.numpy().tolist())
    [0, 1, 2]
    """
    given = true_classes, num_true, num_sampled, unique, range_max, seed
    return _sample("uniform", "UniformCandidateSampler", *given)


def log_uniform_candidate_sampler(
    true_classes: Any,
    num_true: int,
    num_sampled: int,
    unique: bool,
    range_max: int,
    seed: Any = None,
    name: str | None = None,
) -> Candidates:
    """Classes drawn by Zipf's law: k comes with log((k + 2) / (k + 1)) / log(range_max + 1).

    Arguments, results and errors are as of `uniform_candidate_sampler`.

    >>> import tape_compat as tf
    >>> found = tf.random.log_uniform_candidate_sampler([[0]], 1, 2, False, 3)
    >>> found.true_expected_count.numpy().tolist()
    [[1.0]]
    """
    given = true_classes, num_true, num_sampled, unique, range_max, seed
    return _sample("log", "LogUniformCandidateSampler", *given)


#: How often each class came, by what tells samplers apart.
_LEARNED: Cache[tuple, np.ndarray] = Cache("learned unigrams", 64)


def learned_unigram_candidate_sampler(
    true_classes: Any,
    num_true: int,
    num_sampled: int,
    unique: bool,
    range_max: int,
    seed: Any = None,
    name: str | None = None,
) -> Candidates:
    """Classes drawn as often as they were true in the calls before, with the same settings.

    Each class begins with one. Arguments, results and errors are as of
    `uniform_candidate_sampler`; a `tf.function` with one runs its Python at each call.

    >>> import tape_compat as tf
    >>> sample = tf.random.learned_unigram_candidate_sampler
    >>> [sample([[1]], 1, 2, False, 4).true_expected_count.numpy().item() for _ in range(2)]
    [0.5, 0.800000011920929]
    """
    kernel = "LearnedUnigramCandidateSampler"
    given = true_classes, num_true, num_sampled, unique, range_max, seed
    values = np.asarray(known_value(convert(true_classes, int64)))  # functions do not know them
    key = num_true, num_sampled, unique, range_max, seed
    weights = _LEARNED.get(key)
    if weights is None:
        weights = _LEARNED.put(key, np.ones(range_max, np.int64))
    found = _sample("weighted", kernel, *given, weights=weights)
    np.add.at(weights, values.ravel(), 1)
    return found


def fixed_unigram_candidate_sampler(
    true_classes: Any,
    num_true: int,
    num_sampled: int,
    unique: bool,
    range_max: int,
    vocab_file: str = "",
    distortion: float = 1.0,
    num_reserved_ids: int = 0,
    num_shards: int = 1,
    shard: int = 0,
    unigrams: Any = (),
    seed: Any = None,
    name: str | None = None,
) -> Candidates:
    """Classes drawn by weights that are given.

    Args:
      vocab_file: a file of comma-separated values, the last of each line the weight of a class.
      unigrams: the weights, in place of a file.
      distortion: the power that weights are raised to.
      num_reserved_ids: how many classes of weight 0 come first.
      num_shards, shard: only each `num_shards`-th weight counts, from `shard` on.
    Other arguments, results and errors are as of `uniform_candidate_sampler`.

    >>> import tape_compat as tf
    >>> found = tf.random.fixed_unigram_candidate_sampler(
    ...     [[1]], 1, 2, False, 2, unigrams=[1.0, 3.0]
    ... )
    >>> found.true_expected_count.numpy().item()
    1.5
    """
    kernel = "FixedUnigramCandidateSampler"
    given = list(unigrams)
    if vocab_file:
        with open(local_path(vocab_file), encoding="utf-8", newline="") as file:
            given = [float(row[-1]) for row in csv.reader(file) if row]
    if not given:
        raise invalid("Must provide either vocab_file or unigrams.", kernel)
    powers = np.power(np.asarray(given, np.float64), distortion)
    weights = np.concatenate([np.zeros(num_reserved_ids), powers])[shard::num_shards]
    if len(weights) != range_max:
        raise invalid(f"range is {range_max} must be equal to weights size  {len(weights)}", kernel)
    options = true_classes, num_true, num_sampled, unique, range_max, seed
    return _sample("weighted", kernel, *options, weights=weights)


def all_candidate_sampler(
    true_classes: Any,
    num_true: int,
    num_sampled: int,
    unique: bool,
    seed: Any = None,
    name: str | None = None,
) -> Candidates:
    """All classes from 0 to `num_sampled`, each expected once.

    Arguments, results and errors are as of `uniform_candidate_sampler`. `unique` and `seed` have
    no effect: nothing is drawn.

    >>> import tape_compat as tf
    >>> tf.random.all_candidate_sampler([[1]], 1, 3, True).sampled_candidates.numpy().tolist()
    [0, 1, 2]
    """
    kernel = "AllCandidateSampler"
    true = _true_classes(true_classes, num_true, num_sampled, kernel)
    return _CLASSES[kernel](
        convert(np.arange(num_sampled, dtype=np.int64)),
        convert(np.ones(true._aval.shape), float32),
        convert(np.ones(num_sampled), float32),
    )


class ComputeAccidentalHits(NamedTuple):
    """Where sampled classes are true ones.

    indices: rows of the true classes, int32 [n]. ids: places among the sampled ones, int64 [n].
    weights: the lowest float32, n times.
    """

    indices: Tensor
    ids: Tensor
    weights: Tensor


def check_true_matrix(shape: Any, num_true: int) -> None:
    """Refuse true classes that are not [batch, num_true]."""
    if len(shape) != 2 or shape[1] != num_true:
        raise invalid(
            "true_candidates must be a batch_size * num_true matrix", "ComputeAccidentalHits"
        )


def compute_accidental_hits(
    true_classes: Any,
    sampled_candidates: Any,
    num_true: int,
    seed: Any = None,
    name: str | None = None,
) -> ComputeAccidentalHits:
    """Where sampled classes are true ones. How many there are depends on values, so a `tf.function`
    with it runs its Python at each call; the losses do without it.

    Args:
      true_classes: int64 [batch, num_true]. sampled_candidates: int64 [num_sampled].
      seed: without effect: nothing is drawn.
    Raises: InvalidArgumentError for true classes of another shape.

    >>> import tape_compat as tf
    >>> found = tf.nn.compute_accidental_hits([[1], [5]], [5, 7, 1], 1)
    >>> found.indices.numpy().tolist(), found.ids.numpy().tolist()
    ([0, 1], [2, 0])
    """
    true = np.asarray(known_value(convert(true_classes, int64)))
    sampled = np.asarray(known_value(convert(sampled_candidates, int64)))
    check_true_matrix(true.shape, num_true)
    places = {n: place for place, n in enumerate(sampled.tolist())}  # of several, the last counts
    hits = [
        (row, places[n])
        for row, classes in enumerate(true.tolist())
        for n in classes
        if n in places
    ]
    found = np.asarray(hits, np.int64).reshape(-1, 2)
    return ComputeAccidentalHits(
        convert(found[:, 0].astype(np.int32)),
        convert(found[:, 1]),
        convert(np.full(len(found), np.finfo(np.float32).min, np.float32)),
    )
