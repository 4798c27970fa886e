"""What a primitive costs when NumPy does it: an estimate, from shapes and parameters alone.

Figures: 2 cores, NumPy 2.4 with AVX-512, least of several runs. Estimates are within a factor of
two where arrays fit the caches.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from .convolutions import BLOCK, kernel_call
from .elementwise import OF_ONE_NUMBER
from .indexing import SCATTERS
from .products import by_floats
from .rule import Avals, Params, narrow, size
from .sorting import BY_KERNEL, LEAST_BY_KERNEL, by_kernel

#: Of a whole plan: the handling of floating point errors (1.5 us), the list of values.
CALL_SECONDS = 4e-6

#: Of calling NumPy once: arguments, checks, the new array. 0.7 us where there is one element.
NUMPY_SECONDS = 0.9e-6

#: Of a primitive that has no rule: launching what JAX compiles.
ALONE_SECONDS = 40e-6

#: A loop whose length is not known is taken to go on so long.
WHILE_ITERATIONS = 10

#: Multiplications and additions a second in `np.matmul`, by the kind and size of numbers: BLAS for
#: floats, a plain loop for few integers.
FLOPS = {"f4": 75e9, "f8": 37e9, "c8": 10e9, "c16": 5e9}
FLOPS_OF_OTHERS = 2e9

#: Multiplications a second in this library's own kernels, of each channel with all and by itself.
KERNEL_MULTIPLICATIONS = {False: 100e9, True: 20e9}

#: Beyond what glibc keeps of freed blocks, memory is new: its pages come from the system, 0.3 ns a
#: byte, and a result moves to the device by another copy. 256 MB took 260 ms.
FRESH_BYTES = 32 << 20
FRESH_BYTE_SECONDS = 0.8e-9

#: What moves elements as they are.
MOVES = frozenset(
    "reshape squeeze expand_dims transpose rev slice split broadcast_in_dim concatenate stack tile "
    "dynamic_slice dynamic_update_slice pad gather copy copy_p".split()
)

#: Of primitives, the calls of NumPy, and nanoseconds an element in 32 and in 64 bits. `where` and
#: casts that saturate take several passes.
_TABLE: tuple[tuple[float, float, float, str], ...] = (
    (0.3, 0.0, 0.0, "reshape squeeze expand_dims transpose rev slice split empty empty2"),
    (0.3, 0.0, 0.0, "platform_index"),
    (0.7, 0.0, 0.0, "broadcast_in_dim"),
    (1.0, 0.5, 1.0, "reduce_sum reduce_prod reduce_max reduce_min reduce_and reduce_or reduce_xor"),
    (3.0, 2.0, 2.5, "clamp round argmax argmin iota stack tile"),
    (4.0, 0.8, 1.6, "select_n"),
    (3.0, 0.5, 0.8, "dynamic_slice dynamic_update_slice pad"),
    (1.0, 0.8, 2.0, "exp exp2 log log1p log2 expm1 tanh sqrt rsqrt cbrt asin acos atan sinh cosh"),
    (1.0, 1.2, 10.0, "sin cos tan asinh acosh atanh"),
    (3.0, 0.9, 1.5, "one_minus_square"),
    (3.0, 1.8, 4.0, "pow atan2 logistic integer_pow nextafter"),
    (2.0, 1.0, 2.0, "shift_left shift_right_arithmetic shift_right_logical"),
    (7.0, 5.0, 6.0, "rem clz lt_to le_to"),
    (2.0, 5.0, 5.0, "cumsum cumprod cummax cummin"),
    (2.0, 46.0, 60.0, "cumlogsumexp"),
    (1.5, 10.0, 10.0, "erf erfc"),
    (1.5, 26.0, 26.0, "lgamma"),
    (1.5, 45.0, 50.0, "bessel_i0e bessel_i1e"),
    (5.0, 150.0, 260.0, "igamma igammac zeta"),
    (5.0, 300.0, 1000.0, "igamma_grad_a regularized_incomplete_beta"),
    (60.0, 45.0, 45.0, "digamma"),
    (60.0, 25.0, 150.0, "erf_inv"),
    (110.0, 40.0, 40.0, "threefry2x32"),
)
_ROWS = {name: row[:3] for row in _TABLE for name in row[3].split()}
_ARITHMETIC = (1.0, 0.3, 0.5)
_FUNCTION_OF_COMPLEX = 50.0


def seconds(name: str, params: Params, ins: Avals, outs: Avals) -> float:
    """What one equation costs."""
    avals = (*ins, *outs)
    elements = max([size(aval) for aval in avals], default=0)
    fresh = sum([size(aval) * getattr(aval.dtype, "itemsize", 8) for aval in outs]) - FRESH_BYTES
    found = _OWN[name](params, ins, outs) if name in _OWN else _by_element(name, elements, avals)
    if any(narrow(aval.dtype) for aval in avals):  # to float32 and back
        found += 3 * (NUMPY_SECONDS + elements * 1e-9)
    return found + max(0, fresh) * FRESH_BYTE_SECONDS


def operations(name: str, params: Params, ins: Avals, outs: Avals) -> int:
    """About how many additions, multiplications and the like one equation is; none for moves."""
    if name in MOVES:
        return 0
    elements = max([size(aval) for aval in (*ins, *outs)], default=0)
    if name == "dot_general":
        (contracted, _), _ = params["dimension_numbers"]
        return 2 * size(outs[0]) * math.prod([ins[0].shape[i] for i in contracted])
    if name == "conv_general_dilated":
        return 2 * size(outs[0]) * size(ins[1])
    return elements


def _by_element(name: str, elements: int, avals: Avals) -> float:
    calls, short, long = _ROWS.get(name, _ARITHMETIC)
    dtype = getattr(avals[0], "dtype", None) if avals else None
    if not isinstance(dtype, np.dtype):  # of keys
        dtype = None
    each = long if dtype is not None and dtype.itemsize > 4 else short
    if dtype is not None and dtype.kind == "c" and short > 0.5:
        each = max(each, _FUNCTION_OF_COMPLEX)
    if name in ("div", "rem") and dtype is not None and dtype.kind in "iu":
        calls, each = (7.0, 4.0) if getattr(avals[1], "shape", ()) else (2.0, 3.0)
    elif name in OF_ONE_NUMBER and elements == 1:
        calls = 0.2
    return calls * NUMPY_SECONDS + elements * each * 1e-9


def _product(count: float, aval: Any) -> float:
    """So many multiplications and additions."""
    return 2.0 * count / FLOPS.get(f"{aval.dtype.kind}{aval.dtype.itemsize}", FLOPS_OF_OTHERS)


def _dot(params: Params, ins: Avals, outs: Avals) -> float:
    (contracted, _), _ = params["dimension_numbers"]
    depth = math.prod([ins[0].shape[i] for i in contracted])
    if by_floats(outs[0], depth):
        moved = (2 * size(ins[0]) + 2 * size(ins[1]) + 2 * size(outs[0])) * 1e-9
        return 12 * NUMPY_SECONDS + moved + 2.0 * size(outs[0]) * depth / FLOPS["f8"]
    return 2 * NUMPY_SECONDS + _product(size(outs[0]) * depth, outs[0])


def _conv(params: Params, ins: Avals, outs: Avals) -> float:
    call = kernel_call(params, ins, outs)
    if call is not None:
        return 10 * NUMPY_SECONDS + call.work / KERNEL_MULTIPLICATIONS[call.depthwise]
    numbers = params["dimension_numbers"]
    features = ins[1].shape[numbers.rhs_spec[0]]
    depth = size(ins[1]) // max(features, 1)
    elements = size(outs[0]) // max(features, 1) * depth * params["feature_group_count"]
    beside = ins[1].shape[numbers.rhs_spec[1]]
    moved = size(ins[0]) * 1e-9 + elements * (0.3e-9 + 3e-9 / max(beside, 1))
    calls = 20 + 6 * math.ceil(elements / BLOCK)
    return calls * NUMPY_SECONDS + moved + _product(size(outs[0]) * depth, outs[0])


def _sort(params: Params, ins: Avals, outs: Avals) -> float:
    axis = params.get("dimension", params.get("axis", -1))
    length = ins[0].shape[axis] if ins[0].shape else 1
    each = math.log2(length + 1) * (1.5e-9 if len(outs) == 1 else 5e-9)
    if ins[0].dtype in BY_KERNEL and size(ins[0]) >= LEAST_BY_KERNEL and len(outs) > 1:
        each = (7e-9 if ins[0].dtype.itemsize == 4 else 24e-9) + 2e-9 * len(outs)
    return 6 * NUMPY_SECONDS + size(ins[0]) * each


def _largest(params: Params, ins: Avals, outs: Avals) -> float:
    if by_kernel(params, ins):
        return 3 * NUMPY_SECONDS + size(ins[0]) * 2.5e-9
    return _sort(params, ins, outs)


def _window(params: Params, ins: Avals, outs: Avals) -> float:
    passes = sum(params["window_dimensions"])
    return (2 * passes + 3) * NUMPY_SECONDS + size(ins[0]) * passes * 0.5e-9


def _matrices(calls: float, cubes: float) -> Callable[[Params, Avals, Avals], float]:
    """Of a decomposition: calls of NumPy for each row of a matrix, and flops by its size cubed."""

    def cost(params: Params, ins: Avals, outs: Avals) -> float:
        rows = ins[0].shape[-1]
        work = _product(cubes * size(ins[-1]) * rows, outs[0])
        return (10 + calls * rows) * NUMPY_SECONDS + 2 * work

    return cost


def _fft(params: Params, ins: Avals, outs: Avals) -> float:
    elements = max(size(ins[0]), size(outs[0]))
    calls = 6 * len(params["fft_lengths"]) * NUMPY_SECONDS
    return calls + elements * math.log2(math.prod(params["fft_lengths"]) + 1) * 2e-9


def _lu(params: Params, ins: Avals, outs: Avals) -> float:
    return 6 * NUMPY_SECONDS + size(ins[0]) * ins[0].shape[-1] * 0.5e-9


def _triangular_solve(params: Params, ins: Avals, outs: Avals) -> float:
    return 5 * NUMPY_SECONDS + size(ins[1]) * ins[0].shape[-1] * 0.4e-9


def _tridiagonal_solve(params: Params, ins: Avals, outs: Avals) -> float:
    return 6 * NUMPY_SECONDS + size(outs[0]) // outs[0].shape[-1] * 10e-9 + size(outs[0]) * 4e-9


def _gather(params: Params, ins: Avals, outs: Avals) -> float:
    rows = size(ins[1]) * 20e-9  # each row of indices
    return 8 * NUMPY_SECONDS + rows + size(outs[0]) * 3e-9


def _scatter(params: Params, ins: Avals, outs: Avals) -> float:
    return 14 * NUMPY_SECONDS + size(ins[0]) * 0.3e-9 + size(ins[2]) * 7e-9


def _hash(params: Params, ins: Avals, outs: Avals) -> float:
    return 110 * NUMPY_SECONDS + size(outs[0]) * 40e-9


_OWN: dict[str, Callable[[Params, Avals, Avals], float]] = {
    **dict.fromkeys(("random_bits", "random_fold_in", "random_split"), _hash),
    "gather": _gather,
    **dict.fromkeys(SCATTERS, _scatter),
    "dot_general": _dot,
    "conv_general_dilated": _conv,
    "sort": _sort,
    "top_k": _largest,
    "reduce_window_sum": _window,
    "reduce_window_max": _window,
    "reduce_window_min": _window,
    "triangular_solve": _triangular_solve,
    "cholesky": _matrices(0.0, 0.3),
    "qr": _matrices(1.0, 2.0),
    "lu": _lu,
    "eigh": _matrices(0.0, 9.0),
    "svd": _matrices(0.0, 20.0),
    "eig": _matrices(0.0, 25.0),
    "schur": _matrices(0.0, 25.0),
    "tridiagonal_solve": _tridiagonal_solve,
    "fft": _fft,
}


def by_hand_seconds(elements: int) -> float:
    """What is written by hand: about 20 calls of NumPy, and a few passes."""
    return CALL_SECONDS + 20 * NUMPY_SECONDS + elements * 5e-9


def nested_seconds(name: str, params: Params, plans: list[float]) -> float:
    """What a condition or a loop costs, by what its parts cost once."""
    iteration = NUMPY_SECONDS + max(plans, default=0.0)
    if name == "cond":
        return iteration
    if name == "scan":
        return params["length"] * iteration
    if name == "while":
        return WHILE_ITERATIONS * (2 * NUMPY_SECONDS + sum(plans))
    return iteration
