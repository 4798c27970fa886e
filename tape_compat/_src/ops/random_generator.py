"""`tf.random.Generator`: a stream of random numbers with a state."""

from __future__ import annotations

import math
import secrets
import threading
from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np

from ..core import dtypes
from ..core.dtypes import as_dtype
from ..core.op import Op
from ..core.refuse import invalid, tf_dtype_name
from ..core.state import LOCAL
from ..values.convert import convert
from ..values.record import apply
from ..values.tensor import Tensor, concrete
from ..values.trackable import Trackable
from ..values.variable import Variable, read
from .creation import zeros_like
from .declare import Number
from .joining import stack
from .random_draws import (
    BINOMIAL,
    BITS,
    FLOATING,
    NORMAL,
    SIGNED,
    TRUNCATED,
    UNSIGNED,
    check_attribute,
    draw_bell,
    draw_flat,
    draw_shape,
)
from .random_keys import MASK, RESERVED, Algorithm, algorithm_number, key_of, plain_seed
from .random_stateless import draw_binomial

#: Words of a state: a counter, then one word of key.
_STATE_SIZE = {1: 3, 2: 2}

#: How many numbers' blocks of words each number of a binomial draw takes, and three more.
_PER_BINOMIAL = 50
_STATE_LOCK = threading.Lock()


def _layout(alg: Any) -> int:
    """The algorithm of a generator: Philox, unless it says otherwise."""
    number = 1 if alg is None else algorithm_number(alg)
    return 1 if number == Algorithm.AUTO_SELECT.value else number


def _signed(words: Sequence[int]) -> np.ndarray:
    return np.array([w & MASK for w in words], np.uint64).view(np.int64)


def _state_array(state: Any, alg: int) -> np.ndarray:
    array = np.array(convert(state)._value())
    if array.dtype.kind not in "iu":
        raise TypeError(f"The state of a generator must be integers, not {array.dtype.name}")
    _check_shape(array.shape, alg)
    return array.astype(np.int64)


def _check_shape(shape: tuple[int | None, ...], alg: int) -> None:
    if shape != (_STATE_SIZE[alg],):
        raise ValueError(f"Shapes {shape} and [{_STATE_SIZE[alg]}] are incompatible")


def _checked(state: Variable, alg: int) -> Variable:
    _check_shape(tuple(state.shape), alg)
    if state.dtype is not dtypes.int64:
        what = f"dtype of RNG state variable must be int64, not {tf_dtype_name(state.dtype)}"
        raise invalid(what, "RngReadAndSkip")
    return state


def create_rng_state(seed: Any, alg: Any) -> Tensor:
    """The state, int64 [3] ([2] for ThreeFry), that a generator made from `seed` has.

    >>> import tape_compat as tf
    >>> tf.random.create_rng_state(7, "philox").numpy().tolist()
    [7, 0, 0]
    """
    size = _STATE_SIZE[_layout(alg)]
    seed = plain_seed(seed)
    if seed.__class__ is int:
        return concrete(_signed([seed >> (64 * i) for i in range(size)]))
    words = np.atleast_1d(np.asarray(seed)).astype(np.int64).ravel()[:size]
    return concrete(np.concatenate([np.zeros(size - len(words), np.int64), words]))


class Generator(Trackable):
    """A generator of random numbers with a state of its own, a variable.

    Args:
      copy_from: a generator to start from, or else both of
      state: integers [3] ([2] for ThreeFry); a Variable, int64, is shared; and
      alg: "philox", "threefry" or "auto_select".

    The state moves as TensorFlow's does. Numbers are TensorFlow's for Philox, but for `binomial`.

    >>> import tape_compat as tf
    >>> one, two = tf.random.Generator.from_seed(1), tf.random.Generator.from_seed(1)
    >>> bool(tf.reduce_all(one.normal([3]) == two.normal([3])))
    True
    """

    def __init__(self, copy_from: Generator | None = None, state: Any = None, alg: Any = None):
        if copy_from is not None:
            if state is not None or alg is not None:
                raise ValueError("Generator: copy_from stands alone, without state and alg")
            self._alg = copy_from._alg
            array = copy_from._state.numpy()
        else:
            if state is None or alg is None:
                raise ValueError("Generator: copy_from, or state and alg, must be given")
            self._alg = _layout(alg)
            if isinstance(state, Variable):
                self._state = _checked(state, self._alg)
                return
            array = _state_array(state, self._alg)
        self._state = Variable(array, trainable=False, name="StateVar", dtype=dtypes.int64)

    @classmethod
    def from_state(cls, state: Any, alg: Any) -> Generator:
        """A generator with this state."""
        return cls(state=state, alg=alg)

    @classmethod
    def from_seed(cls, seed: Any, alg: Any = None) -> Generator:
        """A generator from an integer, of any size, or a vector of them."""
        alg = _layout(alg)
        return cls(state=create_rng_state(seed, alg), alg=alg)

    @classmethod
    def from_non_deterministic_state(cls, alg: Any = None) -> Generator:
        """A generator that nobody can predict."""
        alg = _layout(alg)
        return cls(state=_signed([secrets.randbits(64) for _ in range(_STATE_SIZE[alg])]), alg=alg)

    @classmethod
    def from_key_counter(cls, key: Any, counter: Any, alg: Any) -> Generator:
        """A generator with this key (a scalar) and counter ([2]; a scalar for ThreeFry)."""
        alg = _layout(alg)
        return cls(state=_joined(key, counter), alg=alg)

    def _trackable_children(self, save_type: str = "checkpoint", **kwargs: Any) -> dict[str, Any]:
        return {"_state_var": self._state}

    @property
    def algorithm(self) -> int:
        """1 for Philox, 2 for ThreeFry."""
        return self._alg

    @property
    def state(self) -> Variable:
        """The state, a variable: save it, restore it, assign to it."""
        return self._state

    @property
    def key(self) -> Tensor:
        """The word of the state that is not the counter."""
        return concrete(self._state.numpy()[-1:].reshape(()))

    def reset(self, state: Any) -> None:
        """Set the state. Raises ValueError for a wrong shape."""
        self._state.assign(_state_array(state, self._alg))

    def reset_from_seed(self, seed: Any) -> None:
        """Set the state to what `from_seed` starts with."""
        self.reset(create_rng_state(seed, self._alg))

    def reset_from_key_counter(self, key: Any, counter: Any) -> None:
        """Set the state to what `from_key_counter` starts with."""
        self.reset(_joined(key, counter))

    def skip(self, delta: Any) -> Tensor:
        """Move on as if `delta` numbers had been drawn. Returns the state before."""
        return concrete(self._advance(int(plain_seed(delta)))[0])

    def _advance(self, numbers: int) -> tuple[np.ndarray, list[int]]:
        """Move the counter. The state before, signed, and as words."""
        with _STATE_LOCK:
            before = self._state.numpy()
            words = [int(w) & MASK for w in before]
            counter = sum(w << (64 * i) for i, w in enumerate(words[:-1])) + numbers * RESERVED
            moved = [counter >> (64 * i) for i in range(len(words) - 1)]
            self._state.assign(concrete(_signed([*moved, words[-1]])))
        return before, words

    def _key(self, numbers: int) -> Tensor:
        """The key of the next draw, of so many numbers."""
        if LOCAL.state.capture is None:
            *counter, key = self._advance(numbers)[1]
            return key_of(key, *reversed(counter))
        state, key = apply(_MOVE.bind(numbers=numbers), (read(self._state),))
        self._state.assign(state)
        return key

    def make_seeds(self, count: int = 1) -> Tensor:
        """Seeds for `count` stateless ops, int64 [2, count]."""
        keys = self.uniform_full_int([count], dtypes.int64)
        return stack([keys, zeros_like(keys)])

    def split(self, count: int = 1) -> list[Generator]:
        """`count` new generators, independent of each other and of this one."""
        counter = [0] * (_STATE_SIZE[self._alg] - 1)
        keys = self.uniform_full_int([count], dtypes.int64)
        return [
            Generator(state=np.array([*counter, key], np.int64), alg=self._alg)
            for key in keys.numpy().tolist()
        ]

    def normal(
        self,
        shape: Any,
        mean: Number = 0.0,
        stddev: Number = 1.0,
        dtype: Any = dtypes.float32,
        name: str | None = None,
    ) -> Tensor:
        """As `tf.random.normal`."""
        sizes = draw_shape(shape, "StatelessRandomNormalV2")
        return draw_bell(NORMAL, self._key(math.prod(sizes)), sizes, mean, stddev, dtype)

    def truncated_normal(
        self,
        shape: Any,
        mean: Number = 0.0,
        stddev: Number = 1.0,
        dtype: Any = dtypes.float32,
        name: str | None = None,
    ) -> Tensor:
        """As `tf.random.truncated_normal`."""
        sizes = draw_shape(shape, "StatelessTruncatedNormalV2")
        return draw_bell(TRUNCATED, self._key(math.prod(sizes)), sizes, mean, stddev, dtype)

    def uniform(
        self,
        shape: Any,
        minval: Number = 0,
        maxval: Number = None,
        dtype: Any = dtypes.float32,
        name: str | None = None,
    ) -> Tensor:
        """As `tf.random.stateless_uniform`, without the seed."""
        dtype = as_dtype(dtype)
        if dtype.is_integer and (minval is None) != (maxval is None):
            raise ValueError(
                f"For integer dtype {dtype}, minval and maxval must be both `None` or both "
                f"non-`None`; got minval={minval} and maxval={maxval}"
            )
        if dtype.is_integer and minval is None:
            return self.uniform_full_int(shape, dtype)
        kernel = "StatelessRandomUniformIntV2" if dtype.is_integer else "StatelessRandomUniformV2"
        check_attribute(dtype, (*FLOATING, *SIGNED), kernel)
        sizes = draw_shape(shape, kernel)
        return draw_flat(self._key(math.prod(sizes)), sizes, minval, maxval, dtype, kernel)

    def uniform_full_int(
        self, shape: Any, dtype: Any = dtypes.uint64, name: str | None = None
    ) -> Tensor:
        """Integers from all that `dtype` (int32, int64, uint32, uint64) has."""
        dtype = as_dtype(dtype)
        check_attribute(dtype, (*SIGNED, *UNSIGNED), BITS.name)
        sizes = draw_shape(shape, BITS.name)
        return apply(BITS.bind(shape=sizes, dtype=dtype), (self._key(math.prod(sizes)),))

    def binomial(
        self,
        shape: Any,
        counts: Number,
        probs: Number,
        dtype: Any = dtypes.int32,
        name: str | None = None,
    ) -> Tensor:
        """As `tf.random.stateless_binomial`, without the seed."""
        sizes = draw_shape(shape, BINOMIAL.name)
        key = self._key(_PER_BINOMIAL * (math.prod(sizes) + 3))
        return draw_binomial(key, shape, counts, probs, dtype)


def _moved(state: Any, numbers: int) -> tuple[Any, Any]:
    """The state after so many numbers, and the key of the draw: what `_key` does on the host."""
    *counter, key = state.astype(np.uint64)
    zero = np.uint64(0)
    drawn = jnp.stack([*counter, *[zero] * (2 - len(counter)), key, zero])
    carry = jnp.asarray(numbers * RESERVED, np.uint64)
    moved = []
    for part in counter:
        moved.append(part + carry)
        carry = (moved[-1] < part).astype(np.uint64)
    return jnp.stack([*moved, key]).astype(np.int64), drawn


#: How a generator moves on in a function that is being recorded, where its state has no value.
_MOVE = Op(_moved, "RngReadAndSkip", differentiable=False, host_foldable=False)


def _joined(key: Any, counter: Any) -> np.ndarray:
    parts = [np.atleast_1d(np.array(convert(x)._value())).ravel() for x in (counter, key)]
    return np.concatenate([part.astype(np.int64) for part in parts])


_global_generator: Generator | None = None


def get_global_generator() -> Generator:
    """The generator shared by the process; unpredictable until `set_global_generator`.

    >>> import tape_compat as tf
    >>> tf.random.get_global_generator() is tf.random.get_global_generator()
    True
    """
    global _global_generator
    if _global_generator is None:
        with _STATE_LOCK:
            if _global_generator is None:
                _global_generator = Generator.from_non_deterministic_state()
    return _global_generator


def set_global_generator(generator: Generator) -> None:
    """Put another generator in the place of the shared one.

    >>> import tape_compat as tf
    >>> tf.random.set_global_generator(tf.random.Generator.from_seed(1))
    >>> tf.random.get_global_generator().state.numpy().tolist()
    [1, 0, 0]
    """
    global _global_generator
    _global_generator = generator
