"""Donated buffers: given away only by a call that no exception can come between.

`jax.jit` looks in C++ for what it has compiled for these arguments. If it finds it, the buffers are
taken and the results handed over in the same C++ call. If not, it goes through Python, where a
signal handler may raise after the buffers were taken and before anybody has the results. JAX takes
the arguments apart once in C++, and again whenever it goes through Python; so it is given the
buffers the first time and copies of them from the second time on. This holds for every way to miss:
the first call, another sharding, another configuration, a cache that was cleared.
"""

from __future__ import annotations

import operator
import sys
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from ..core.counters import COUNTERS
from ..core.kernels import tracing
from ..core.native import native
from ..core.x64 import in_x64


@native
class Donated:
    """The arrays of one call that are donated.

    looked: whether JAX has looked for the compiled call. copies: what is taken if it found none.
    """

    __slots__ = ("arrays", "copies", "looked")

    def __init__(self, arrays: list[Any]) -> None:
        self.arrays = arrays
        self.looked = False
        self.copies: list[Any] | None = None


@native
def flatten(donated: Donated) -> tuple[list[Any], None]:
    """The arrays, or, when it is asked again, copies of them."""
    if not donated.looked:
        donated.looked = True
        return donated.arrays, None
    if donated.copies is None:
        donated.copies = copy_all(donated.arrays)
    return donated.copies, None


def copied(array: Any) -> Any:
    """A buffer of its own; JAX never takes an array of the host."""
    return array if array.__class__ is np.ndarray else in_x64(jnp.copy, array)


def replaced(array: Any) -> Any:
    """`copied` where that is rare: on the host without a program for the shape, which takes longer
    to compile than the copy to be made."""
    if array.__class__ is np.ndarray or jax.default_backend() != "cpu":
        return copied(array)
    return in_x64(partial(jax.device_put, may_alias=False), array)


def _baseline() -> int:
    leaves = (np.zeros(1),)
    arrays = [leaves[0]]
    return sys.getrefcount(arrays[0])


#: References counted for an array that only the leaves of a program and a list of them hold.
ONLY_OURS = _baseline()


class Spare(list[Any]):
    """Arrays that nobody needs should the call fail."""


def copy_all(arrays: list[Any]) -> list[Any]:
    """What JAX is given in their place when it goes through Python."""
    return arrays if isinstance(arrays, Spare) else [replaced(array) for array in arrays]


def _arrays(_: Any, arrays: Any) -> Any:
    """What the program sees in the place of a `Donated`."""
    return arrays


jax.tree_util.register_pytree_node(Donated, flatten, _arrays)


def donating(
    function: Callable[..., tuple[Any, ...]], donate: tuple[int, ...]
) -> Callable[..., Any]:
    """`jax.jit` of a program, to be called with what `arranged` makes of its arguments."""

    def program(*given: Any) -> tuple[Any, ...]:
        COUNTERS.traces += 1
        arguments = list(given)
        if donate:
            donated = arguments.pop(0)
            if isinstance(donated, Donated):  # under `jax.disable_jit`
                donated = flatten(donated)[0]
            pairs = zip(donate, donated, strict=True)
            for place, array in sorted(pairs, key=operator.itemgetter(0)):
                arguments.insert(place, array)
        return function(*arguments)

    return jax.jit(tracing(True, program), donate_argnums=0 if donate else ())


def arranged(
    arguments: list[Any], donate: tuple[int, ...], kind: type[list[Any]] = list
) -> list[Any]:
    """The arguments with those at `donate` taken out into one `Donated` of a list of that kind, in
    that order.

    JAX gives the first buffer of a shape and dtype to the first output of it, and so on. Where a
    value is written over another one that is still to be read, XLA copies that one first.
    """
    if not donate:
        return arguments
    taken = set(donate)
    rest = [array for i, array in enumerate(arguments) if i not in taken]
    return [Donated(kind([arguments[i] for i in donate])), *rest]


def run_on_zeros(call: Callable[..., Any], zeros: Sequence[Any], donate: tuple[int, ...]) -> None:
    """Call what `donating` gave with zeros of the host, which compiles it, and wait."""
    given = [in_x64(jax.device_put, x) for x in zeros]
    jax.block_until_ready(in_x64(call, *arranged(given, donate, Spare)))


class Care(NamedTuple):
    """What is seen to when a compiled program runs, which is then waited for.

    one_thread: whether LAPACK is to have no more, for decompositions of small matrices. large:
    whether there may be no memory for it.
    """

    one_thread: bool = False
    large: bool = False
