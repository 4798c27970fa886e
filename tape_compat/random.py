"""`tf.random`: random tensors, by global seed, op seed, stateless seed or generator."""

from .ops.random_generator import Generator as Generator
from .ops.random_generator import create_rng_state as create_rng_state
from .ops.random_generator import experimental as experimental
from .ops.random_generator import get_global_generator as get_global_generator
from .ops.random_generator import set_global_generator as set_global_generator
from .ops.random_keys import Algorithm as Algorithm
from .ops.random_keys import set_seed as set_seed
from .ops.random_stateful import categorical as categorical
from .ops.random_stateful import gamma as gamma
from .ops.random_stateful import normal as normal
from .ops.random_stateful import poisson as poisson
from .ops.random_stateful import shuffle as shuffle
from .ops.random_stateful import truncated_normal as truncated_normal
from .ops.random_stateful import uniform as uniform
from .ops.random_stateless import fold_in as fold_in
from .ops.random_stateless import split as split
from .ops.random_stateless import stateless_binomial as stateless_binomial
from .ops.random_stateless import stateless_categorical as stateless_categorical
from .ops.random_stateless import stateless_gamma as stateless_gamma
from .ops.random_stateless import stateless_normal as stateless_normal
from .ops.random_stateless import (
    stateless_parameterized_truncated_normal as stateless_parameterized_truncated_normal,
)
from .ops.random_stateless import stateless_poisson as stateless_poisson
from .ops.random_stateless import stateless_truncated_normal as stateless_truncated_normal
from .ops.random_stateless import stateless_uniform as stateless_uniform
