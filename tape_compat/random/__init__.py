"""`tf.random`: random tensors, by global seed, op seed, stateless seed or generator."""

from .._src.interop.names import face as _face
from .._src.ops.candidates import (
    all_candidate_sampler as all_candidate_sampler,
    fixed_unigram_candidate_sampler as fixed_unigram_candidate_sampler,
    learned_unigram_candidate_sampler as learned_unigram_candidate_sampler,
    log_uniform_candidate_sampler as log_uniform_candidate_sampler,
    uniform_candidate_sampler as uniform_candidate_sampler,
)
from .._src.ops.random_generator import (
    Generator as Generator,
    create_rng_state as create_rng_state,
    get_global_generator as get_global_generator,
    set_global_generator as set_global_generator,
)
from .._src.ops.random_keys import Algorithm as Algorithm, set_seed as set_seed
from .._src.ops.random_stateful import (
    categorical as categorical,
    gamma as gamma,
    normal as normal,
    poisson as poisson,
    shuffle as shuffle,
    truncated_normal as truncated_normal,
    uniform as uniform,
)
from .._src.ops.random_stateless import (
    fold_in as fold_in,
    split as split,
    stateless_binomial as stateless_binomial,
    stateless_categorical as stateless_categorical,
    stateless_gamma as stateless_gamma,
    stateless_normal as stateless_normal,
    stateless_parameterized_truncated_normal as stateless_parameterized_truncated_normal,
    stateless_poisson as stateless_poisson,
    stateless_truncated_normal as stateless_truncated_normal,
    stateless_uniform as stateless_uniform,
)
from . import experimental as experimental

_face(__name__)
