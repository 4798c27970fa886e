"""What ops do beside what they give: they print, and they check.

Where values are at hand it is done at once. In a function that is being recorded it becomes an
instruction that calls back to Python, in the order of the program.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np
from jax.experimental import io_callback

from ..core.dtypes import string
from ..core.errors import InvalidArgumentError
from ..core.op import Op
from ..run.executor import FAILURES
from .record import apply
from .tensor import Tensor


def record_effect(function: Callable[..., None], tensors: Sequence[Tensor], name: str) -> None:
    """Record an instruction that calls `function` of the values of tensors, as NumPy arrays. What
    it raises, the call of the program raises; what would follow it is not done."""

    texts = {i: x.numpy() for i, x in enumerate(tensors) if x.dtype is string}  # of the host
    computed = [i for i in range(len(tensors)) if i not in texts]

    def call(*arrays: Any) -> None:
        if FAILURES:
            return
        given = {**texts, **dict(zip(computed, map(np.asarray, arrays), strict=True))}
        try:
            function(*[given[i] for i in range(len(tensors))])
        except Exception as error:
            FAILURES.append(error)

    def effect(*arrays: Any) -> tuple[()]:
        io_callback(call, None, *map(jax.lax.stop_gradient, arrays), ordered=True)
        return ()

    apply(
        Op(effect, name, effect=True, differentiable=False).bind(),
        tuple([tensors[i] for i in computed]),
    )


def require(ok: Tensor, tensors: Sequence[Tensor], failure: Callable[..., str]) -> None:
    """Raise unless `ok` is true everywhere.

    failure: what InvalidArgumentError is to say, by the values of `ok` and of `tensors` as NumPy
    arrays.
    """

    def check(holds: Any, *values: Any) -> None:
        if not np.all(holds):
            raise InvalidArgumentError(None, None, failure(holds, *values))

    given = (ok, *tensors)
    if any(x._is_symbolic() for x in given):
        record_effect(check, given, "Assert")
    elif not np.all(ok.numpy()):
        check(*[x.numpy() for x in given])
