"""Points of Sobol's sequence, which SciPy makes."""

from __future__ import annotations

import importlib
from typing import Any

from ..core.dtypes import as_dtype, float32, float64, int32
from ..core.refuse import invalid, not_allowed
from ..values.convert import convert
from ..values.tensor import Tensor
from .arguments import known_value

_KERNEL = "SobolSample"
_MOST = 2**31 - 1


def _count(value: Any, what: str) -> int:
    found = known_value(convert(value, int32))
    if found.ndim:
        raise invalid(f"{what} must be a scalar", _KERNEL)
    return int(found)


def sobol_sample(
    dim: Any, num_results: Any, skip: Any = 0, dtype: Any = float32, name: str | None = None
) -> Tensor:
    """`num_results` points [num_results, dim] of Sobol's sequence in the unit cube.

    dim, num_results, skip: integers; the first `skip` points are left out, and the origin always.
    dtype: float32 or float64. Raises: InvalidArgumentError for other numbers and dtypes.
    Source: Joe and Kuo (2008), "Constructing Sobol sequences with better two-dimensional
    projections"; the direction numbers are SciPy's.

    >>> import tape_compat as tf
    >>> tf.math.sobol_sample(2, 3).numpy().tolist()
    [[0.5, 0.5], [0.75, 0.25], [0.25, 0.75]]
    """
    dtype = as_dtype(dtype)
    if dtype not in (float32, float64):
        raise not_allowed(dtype, "float, double", _KERNEL, "dtype")
    size, count, start = (
        _count(value, what)
        for value, what in ((dim, "dim"), (num_results, "num_results"), (skip, "skip"))
    )
    if size < 1:
        raise invalid("dim must be at least one", _KERNEL)
    if count < 1:
        raise invalid("num_results must be at least one", _KERNEL)
    if start < 0:
        raise invalid("skip must be non-negative", _KERNEL)
    if count + start >= _MOST:
        raise invalid(f"num_results+skip must be less than {_MOST}", _KERNEL)
    points = importlib.import_module("scipy.stats.qmc").Sobol(size, scramble=False, bits=32)
    points.fast_forward(start + 1)
    return convert(points.random(count), dtype)
