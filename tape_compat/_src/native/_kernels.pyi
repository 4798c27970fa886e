"""What `kernels.c` has. All but WIDTH is missing where the compiler is not GCC or Clang."""

from typing import Any

#: Floats of a vector of this processor; 0 where there are no kernels.
WIDTH: int

#: What `jax.ffi.register_ffi_target` takes.
ANGLES: Any
CONVOLUTION: Any
DERIVATIVE: Any
KEPT_PAGES: Any
LARGE_PAGES: Any
ORDER: Any
POOL: Any
SPECIAL: Any
SYSTEMS: Any
WORDS: Any

def eliminate(matrices: Any, pivots: Any, order: Any, /) -> None:
    """Decompose matrices [b, m, n], floats or complex, into L and U in their place; which row each
    was changed for, int32 [b, min(m, n)], and the order of the rows, int32 [b, m]."""

def of_each(function: int, x: Any, out: Any, /) -> None:
    """Write the error function (0), what it leaves to 1 (1), the logarithm of the absolute value of
    Gamma (2), or the Bessel function I0 (3) or I1 (4) times exp(-|x|), of the float32 or float64 of
    `x` into `out`."""

def of_sets(function: int, arrays: Any, out: Any, /) -> None:
    """Write one of the functions that SPECIAL has of the float32 or float64 in `arrays`, two arrays
    like `out` one behind the other, or three, into `out`."""

def order(x: Any, places: Any, descending: bool, /) -> None:
    """Write the order of the last axis of numbers of 32 or 64 bits into `places`, int32."""

def kept_pages(forget: bool, /) -> int:
    """How many bytes are kept for the next large program; with `forget` they are given back."""

def largest(x: Any, values: Any, places: Any, /) -> None:
    """Write the largest numbers of each row of `x`, of 32 or 64 bits in the order of their bits,
    and where they stand, int32; as many as `values` has room for, 64 at most."""

def compute(derivative: bool, x: Any, other: Any, out: Any, numbers: tuple[int, ...], /) -> None:
    """Write a convolution, or its derivative by the kernel, of arrays of four axes into `out`. The
    numbers are those of `native/kernels.c`."""

def substitute(matrices: Any, x: Any, lower: bool, unit: bool, /) -> None:
    """Write the solutions of triangular systems into x [b, n, k]; of matrices [b, n, n] the part
    below the diagonal is read, or the one above it, and the diagonal unless it is of ones."""
