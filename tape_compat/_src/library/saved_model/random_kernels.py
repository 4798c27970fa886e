"""Kernels of random numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core.dtypes import DType, int32, int64, uint64
from ...ops import (
    candidates,
    casting,
    creation,
    joining,
    philox_host,
    random_draws,
    random_stateful,
    random_stateless as stateless,
    shapes,
)
from ...ops.arguments import known_value
from ...ops.images import distortions
from ...ops.index_shuffle import random_index_shuffle
from ...ops.random_keys import RESERVED, SeedPair
from ...ops.sobol import sobol_sample
from ...values.convert import convert
from ...values.record import apply
from ...values.tensor import Tensor, concrete
from .nodes import Node, node_kernel
from .registry import KERNELS, Kernel, calling, kernel

KERNELS |= {
    "AllCandidateSampler": calling(candidates.all_candidate_sampler, "num_true num_sampled unique"),
    "ComputeAccidentalHits": calling(candidates.compute_accidental_hits, "num_true"),
    "RandomIndexShuffle": calling(random_index_shuffle, "rounds"),
    "SobolSample": calling(sobol_sample, "dtype"),
    "StatelessMultinomial": calling(stateless.stateless_categorical, "output_dtype"),
    "StatelessParameterizedTruncatedNormal": calling(
        stateless.stateless_parameterized_truncated_normal
    ),
    "StatelessRandomBinomial": calling(stateless.stateless_binomial, "dtype"),
    "StatelessRandomPoisson": calling(stateless.stateless_poisson, "dtype"),
}


def _seed(seed: int, seed2: int) -> SeedPair | None:
    return SeedPair(seed, seed2) if seed or seed2 else None


@kernel("RandomUniform")
def _uniform(shape: Any, *, dtype: DType, seed: int, seed2: int) -> Tensor:
    return random_stateful.uniform(shape, dtype=dtype, seed=_seed(seed, seed2))


@kernel("RandomUniformInt")
def _uniform_int(shape: Any, low: Any, high: Any, *, seed: int, seed2: int) -> Tensor:
    return random_stateful.uniform(shape, low, high, low.dtype, _seed(seed, seed2))


@kernel("RandomStandardNormal")
def _normal(shape: Any, *, dtype: DType, seed: int, seed2: int) -> Tensor:
    return random_stateful.normal(shape, dtype=dtype, seed=_seed(seed, seed2))


@kernel("TruncatedNormal")
def _truncated_normal(shape: Any, *, dtype: DType, seed: int, seed2: int) -> Tensor:
    return random_stateful.truncated_normal(shape, dtype=dtype, seed=_seed(seed, seed2))


@kernel("Multinomial")
def _multinomial(logits: Any, count: Any, *, seed: int, seed2: int, output_dtype: DType) -> Tensor:
    return random_stateful.categorical(logits, count, output_dtype, _seed(seed, seed2))


@kernel("StatelessRandomUniform")
def _stateless_uniform(shape: Any, seed: Any, *, dtype: DType) -> Tensor:
    return stateless.stateless_uniform(shape, seed, dtype=dtype)


@kernel("StatelessRandomNormal")
def _stateless_normal(shape: Any, seed: Any, *, dtype: DType) -> Tensor:
    return stateless.stateless_normal(shape, seed, dtype=dtype)


@kernel("StatelessTruncatedNormal")
def _stateless_truncated(shape: Any, seed: Any, *, dtype: DType) -> Tensor:
    return stateless.stateless_truncated_normal(shape, seed, dtype=dtype)


@kernel("StatelessRandomUniformInt")
def _stateless_integers(shape: Any, seed: Any, low: Any, high: Any) -> Tensor:
    return stateless.stateless_uniform(shape, seed, low, high, low.dtype)


@kernel("StatelessRandomUniformFullInt")
def _stateless_bits(shape: Any, seed: Any, *, dtype: DType) -> Tensor:
    return _bits(casting.cast(seed, int64), shape, dtype)


def _bits(key: Tensor, shape: Any, dtype: DType) -> Tensor:
    sizes = random_draws.draw_shape(shape, random_draws.BITS.name)
    return apply(random_draws.BITS.bind(shape=sizes, dtype=dtype), (key,))


@kernel("StatelessRandomGammaV2")
def _stateless_gamma(shape: Any, seed: Any, alpha: Any) -> Tensor:
    return stateless.stateless_gamma(shape, seed, alpha, dtype=alpha.dtype)


# -- by a key and a counter -----------------------------------------------------------------------

#: TensorFlow's number of its Philox generator, and of the choice of one.
_PHILOX, _ANY = 1, 3


def _key(key: Any, counter: Any, alg: Any) -> Tensor:
    """The key of a draw."""
    if known_value(alg).item() not in (_PHILOX, _ANY):
        raise NotImplementedError("random numbers by an algorithm other than Philox (alg=1)")
    return joining.concat([counter, key, creation.zeros([1], uint64)], 0)


@node_kernel("RngReadAndSkip")
def _read_and_skip(node: Node) -> Tensor:
    """The state of a `tf.random.Generator`, which moves on by so many numbers: two words that
    count, the lower one first, then the key."""
    variable, _, numbers = node.inputs
    before = variable.read_value()
    counter = casting.bitcast(before[:2], uint64)
    low = counter[0] + casting.cast(numbers, uint64) * convert(RESERVED, uint64)
    high = counter[1] + casting.cast(low < counter[0], uint64)
    moved = casting.bitcast(joining.stack([low, high]), int64)
    variable.assign(joining.concat([moved, before[2:]], 0))
    return before


@kernel("StatelessRandomGetAlg")
def _algorithm() -> Tensor:
    return convert(_PHILOX, int32)


@kernel("StatelessRandomGetKeyCounter")
def _key_and_counter(seed: Any) -> Sequence[Tensor]:
    key, counter = philox_host.key_and_counter(known_value(seed))
    return concrete(key), concrete(counter)


@kernel("StatelessRandomGetKeyCounterAlg")
def _key_counter_and_algorithm(seed: Any) -> Sequence[Tensor]:
    return *_key_and_counter(seed), _algorithm()


def _bell(op: Any) -> Kernel:
    def draw(shape: Any, key: Any, counter: Any, alg: Any, *, dtype: DType) -> Tensor:
        sizes = random_draws.draw_shape(shape, op.name)
        return random_draws.draw_bell(op, _key(key, counter, alg), sizes, 0.0, 1.0, dtype)

    return draw


KERNELS |= {
    "StatelessRandomNormalV2": _bell(random_draws.NORMAL),
    "StatelessTruncatedNormalV2": _bell(random_draws.TRUNCATED),
}


@kernel("StatelessRandomUniformV2")
def _uniform_by_key(shape: Any, key: Any, counter: Any, alg: Any, *, dtype: DType) -> Tensor:
    kernel = "StatelessRandomUniformV2"
    sizes = random_draws.draw_shape(shape, kernel)
    return random_draws.draw_flat(_key(key, counter, alg), sizes, 0, 1, dtype, kernel)


@kernel("StatelessRandomUniformIntV2")
def _integers_by_key(shape: Any, key: Any, counter: Any, alg: Any, low: Any, high: Any) -> Tensor:
    kernel = "StatelessRandomUniformIntV2"
    sizes = random_draws.draw_shape(shape, kernel)
    return random_draws.draw_flat(_key(key, counter, alg), sizes, low, high, low.dtype, kernel)


@kernel("StatelessRandomUniformFullIntV2")
def _bits_by_key(shape: Any, key: Any, counter: Any, alg: Any, *, dtype: DType) -> Tensor:
    return _bits(_key(key, counter, alg), shape, dtype)


@kernel("StatelessRandomGammaV3")
def _gamma_by_key(shape: Any, key: Any, counter: Any, alg: Any, alpha: Any) -> Tensor:
    sizes = random_draws.draw_shape(shape, "StatelessRandomGammaV3")
    parameters = random_draws.gamma_parameters(alpha, None, alpha.dtype)
    return random_draws.draw_gamma(_key(key, counter, alg), sizes, *parameters)


@kernel("StatelessShuffle")
def _shuffled_by_key(x: Any, key: Any, counter: Any, alg: Any) -> Tensor:
    return random_draws.shuffled(_key(key, counter, alg), x)


# -- others ---------------------------------------------------------------------------------------


@kernel("RandomGamma")
def _gamma(shape: Any, alpha: Any, *, seed: int, seed2: int) -> Tensor:
    return random_stateful.gamma(shape, alpha, dtype=alpha.dtype, seed=_seed(seed, seed2))


@kernel("RandomPoissonV2")
def _poisson(shape: Any, rate: Any, *, seed: int, seed2: int, dtype: DType) -> Tensor:
    return random_stateful.poisson(shape, rate, dtype, _seed(seed, seed2))


@kernel("ParameterizedTruncatedNormal")
def _between(shape: Any, *parameters: Any, seed: int, seed2: int) -> Tensor:
    """Normal numbers between bounds: the first axis is that of the parameters."""
    key = random_stateful.uniform([2], dtype=int32, maxval=2**31 - 1, seed=_seed(seed, seed2))
    count, *rest = known_value(shape).tolist()
    draw = stateless.stateless_parameterized_truncated_normal
    found = draw([*rest, count], key, *parameters)
    return shapes.transpose(found, [len(rest), *range(len(rest))])


@kernel("NonDeterministicInts")
def _of_no_seed(shape: Any, *, dtype: DType) -> Tensor:
    """Integers that no seed repeats."""
    sizes, kind = known_value(shape).tolist(), dtype.np_dtype
    ends = np.iinfo(kind)
    numbers = np.random.default_rng().integers(ends.min, ends.max, sizes, kind, endpoint=True)
    return concrete(np.asarray(numbers))


@kernel("RandomShuffle")
def _shuffled(x: Any, *, seed: int, seed2: int) -> Tensor:
    return random_stateful.shuffle(x, _seed(seed, seed2))


def _sampler(sample: Kernel, weights: str = "") -> Kernel:
    """weights: the attributes that say how often classes are drawn."""

    def call(*given: Any) -> Sequence[Tensor]:
        *rest, seed, seed2 = given
        found: Sequence[Tensor] = sample(*rest, seed2 or seed or None)
        return found

    return calling(call, f"num_true num_sampled unique range_max {weights} seed seed2")


KERNELS |= {
    "ThreadUnsafeUnigramCandidateSampler": _sampler(candidates.learned_unigram_candidate_sampler),
    "FixedUnigramCandidateSampler": _sampler(
        candidates.fixed_unigram_candidate_sampler,
        "vocab_file distortion num_reserved_ids num_shards shard unigrams",
    ),
    "LearnedUnigramCandidateSampler": _sampler(candidates.learned_unigram_candidate_sampler),
    "LogUniformCandidateSampler": _sampler(candidates.log_uniform_candidate_sampler),
    "UniformCandidateSampler": _sampler(candidates.uniform_candidate_sampler),
}


def _distorted(
    size: Any, boxes: Any, covered: Any, seed: int, seed2: int, *rest: Any
) -> Sequence[Tensor]:
    return distortions.sample_distorted_bounding_box(size, boxes, seed2 or seed, covered, *rest)


def _distorted_by_attributes(
    size: Any, boxes: Any, seed: int, seed2: int, covered: float, *rest: Any
) -> Sequence[Tensor]:
    return distortions.sample_distorted_bounding_box(size, boxes, seed2 or seed, covered, *rest)


def _stateless_distorted(
    size: Any, boxes: Any, covered: Any, seed: Any, *rest: Any
) -> Sequence[Tensor]:
    return distortions.stateless_sample_distorted_bounding_box(size, boxes, seed, covered, *rest)


#: The attributes of boxes that are drawn.
_DRAWN = "aspect_ratio_range area_range max_attempts use_image_if_no_bounding_boxes"

KERNELS |= {
    "SampleDistortedBoundingBox": calling(
        _distorted_by_attributes, f"seed seed2 min_object_covered {_DRAWN}"
    ),
    "SampleDistortedBoundingBoxV2": calling(_distorted, f"seed seed2 {_DRAWN}"),
    "StatelessSampleDistortedBoundingBox": calling(_stateless_distorted, _DRAWN),
}
