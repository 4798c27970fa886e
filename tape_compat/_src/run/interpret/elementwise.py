"""Rules of the primitives that work element by element, with XLA's results where NumPy's differ.

Kept as NumPy has them: the sign of a zero that is the larger or the smaller of zeros; complex
quotients and absolute values beyond the range, where XLA overflows early. Subnormal numbers are
zeros by `on_host`.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
from jax import lax

from .rule import SHORT_AXIS, SMALL, Avals, Function, Params, Rule, direct, moving, same, size
from .special import SPECIAL


def _is_integer(aval: Any) -> bool:
    return aval.dtype.kind in "iu"


def _of_numbers(function: np.ufunc, by_operator: Function) -> Rule:
    """By the operator where it is one number, which takes a tenth of the time."""
    return Rule(lambda params, ins, outs: function if outs[0].shape else by_operator)


def _comparison(function: np.ufunc, by_operator: Function) -> Rule:
    """Where a short last axis of one array meets a single element, as for one-hot vectors, what
    lies beside each of its elements goes together."""

    def build(params: Params, ins: Avals, outs: Avals) -> Function:
        shape = outs[0].shape
        if not shape:
            return by_operator
        lengths = {x.shape[-1] for x in ins if x.shape}
        if len(lengths) < 2 or size(outs[0]) <= SMALL or shape[-1] > SHORT_AXIS:
            return function

        def across(x: Any, y: Any) -> Any:
            return np.moveaxis(function(np.moveaxis(x, -1, 0), np.moveaxis(y, -1, 0)), 0, -1)

        return across

    return Rule(build)


# -- arithmetic ------------------------------------------------------------------------------------


def _quotient(x: Any, y: Any) -> Any:
    """Rounded towards zero; -1 where y is 0, all bits set."""
    if _is_one_number(y):
        return np.floor_divide(x if x.dtype.kind == "u" else np.subtract(x, np.fmod(x, y)), y)
    if x.dtype.itemsize <= 4:  # so small that the quotient of floats is not rounded up
        whole = np.divide(x, y, dtype=np.float64).astype(np.int64).astype(x.dtype)
    else:
        whole = np.floor_divide(x, y)
        if x.dtype.kind == "i":
            inexact = np.not_equal(np.multiply(whole, y), x)
            whole = whole + (inexact & ((x < 0) != (y < 0)))
    return np.where(np.equal(y, 0), whole.dtype.type(0) - whole.dtype.type(1), whole)


def _remainder(x: Any, y: Any) -> Any:
    """With the sign of x; x where y is 0."""
    if _is_one_number(y):
        return np.fmod(x, y)
    if x.dtype.itemsize <= 4:
        return np.subtract(x, np.multiply(_quotient(x, y), y))
    return np.where(np.equal(y, 0), x, np.fmod(x, y))


def _is_one_number(y: Any) -> bool:
    """Whether it is a single number, and not 0."""
    return not y.ndim and bool(y)


def _pow(params: Params, ins: Avals, outs: Avals) -> Function:
    """With an array of exponents: for 0.5 alone NumPy takes the root, which differs at -inf."""
    dtype, shape = ins[0].dtype, outs[0].shape or (1,)
    single = not outs[0].shape

    def function(x: Any, y: Any) -> Any:
        found = np.power(x, np.array(np.broadcast_to(y, shape), dtype, order="C"))
        return found[0] if single else found

    return function


def _repeated(x: Any, n: int) -> Any:
    """x ** n of positive n, by squaring."""
    found = None
    while n:
        if n & 1:
            found = x if found is None else np.multiply(found, x)
        n >>= 1
        x = np.square(x) if n else x
    return found


def _integer_pow(params: Params, ins: Avals, outs: Avals) -> Function:
    n = params["y"]
    if n == 0:
        return np.ones_like
    if n == 1:
        return same
    if n == 2:
        return np.square
    if n > 0:
        return lambda x: _repeated(x, n)
    return lambda x: np.reciprocal(_repeated(x, -n))


def _sign(params: Params, ins: Avals, outs: Avals) -> Function:
    """Also of a zero."""
    return (lambda x: np.copysign(np.sign(x), x)) if ins[0].dtype.kind == "f" else np.sign


def _logistic(x: Any) -> Any:
    return np.reciprocal(np.add(np.exp(np.negative(x)), x.dtype.type(1)))


def _away_from_zero(x: Any) -> Any:
    whole = np.trunc(x)
    return whole + np.copysign(np.abs(x - whole) >= 0.5, x)


def _round(params: Params, ins: Avals, outs: Avals) -> Function:
    away = params["rounding_method"] == lax.RoundingMethod.AWAY_FROM_ZERO
    return _away_from_zero if away else np.rint


# -- bits ------------------------------------------------------------------------------------------


# NumPy shifts all bits out where XLA does: by more bits than there are, or by a negative number.


def _shift_right(kind: str) -> Function:
    """Of numbers taken for signed ones ("i") the highest bit is repeated, of unsigned ones not."""

    def shift(x: Any, by: Any) -> Any:
        words = np.dtype(f"{kind}{x.dtype.itemsize}")
        return np.right_shift(x.view(words), by.view(words)).view(x.dtype)

    return shift


def _count_ones(x: Any) -> Any:
    return np.bitwise_count(x.view(f"u{x.dtype.itemsize}")).astype(x.dtype)


def _leading_zeros(x: Any) -> Any:
    bits = x.dtype.itemsize * 8
    x = x.view(f"u{bits // 8}")
    by = 1
    while by < bits:  # set all bits below the highest
        x = x | (x >> x.dtype.type(by))
        by *= 2
    return bits - np.bitwise_count(x)


def _clz(params: Params, ins: Avals, outs: Avals) -> Function:
    dtype = outs[0].dtype
    return lambda x: _leading_zeros(x).astype(dtype)


def in_total_order(x: Any) -> Any:
    """Integers in the order of the bits of floats: -NaN, -inf, ..., -0, 0, ..., inf, NaN."""
    if x.dtype.kind in "biu":
        return x
    signed = np.dtype(f"i{x.dtype.itemsize}")
    bits = np.asarray(x).view(signed)
    return np.where(bits < 0, bits ^ np.iinfo(signed).max, bits)


def _total(compare: Function) -> Rule:
    """A comparison in the order of the bits."""
    return moving(lambda *_: lambda x, y: compare(in_total_order(x), in_total_order(y)))


# -- complex numbers -------------------------------------------------------------------------------


def _complex(params: Params, ins: Avals, outs: Avals) -> Function:
    dtype = outs[0].dtype

    def function(re: Any, im: Any) -> Any:
        out = np.empty(np.broadcast_shapes(re.shape, im.shape), dtype)
        out.real, out.imag = re, im
        return out

    return function


def _log1p(x: Any) -> Any:
    """NumPy's, but near 0: there it takes the logarithm of the rounded size of 1 + x."""
    found: Any = np.log1p(x)
    if x.dtype.kind != "c":
        return found
    found, re, im = np.asarray(found), x.real.astype(np.float64), x.imag.astype(np.float64)
    near = np.maximum(np.abs(re), np.abs(im)) < 0.5
    re, im = np.where(near, re, 0), np.where(near, im, 0)
    found.real = np.where(near, np.log1p(re * (2 + re) + im * im) / 2, found.real)
    return found


def _conj(params: Params, ins: Avals, outs: Avals) -> Function:
    if ins[0].dtype.kind == "c":
        return np.conjugate
    dtype = outs[0].dtype
    return lambda x: x.astype(dtype)


# -- other dtypes ----------------------------------------------------------------------------------


def _saturating(dtype: Any) -> Function:
    """Floats to integers: towards zero, the nearest if out of range, 0 of NaN."""
    least, most = np.iinfo(dtype).min, np.iinfo(dtype).max
    smallest, largest = dtype.type(least), dtype.type(most)
    low, end = float(least), float(most) + (1.0 if most < 2**53 else 0.0)

    def function(x: Any) -> Any:
        fits = (x >= x.dtype.type(low)) & (x < x.dtype.type(end))
        found = x.astype(dtype)
        if fits.all():
            return found
        nearest = np.where(x < 0, smallest, np.where(np.isnan(x), dtype.type(0), largest))
        return np.where(fits, found, nearest)

    return function


def _convert(params: Params, ins: Avals, outs: Avals) -> Function:
    old, new = ins[0].dtype, outs[0].dtype
    if old == new:
        return same
    if new.kind in "iu" and old.kind in "fV":
        convert = _saturating(new)
        if old.itemsize > 2:
            return convert
        return lambda x: convert(x.astype(np.float32))
    if old.kind == "c" and new.kind != "c":
        return lambda x: x.real.astype(new)
    return lambda x: x.astype(new)


def _bitcast(params: Params, ins: Avals, outs: Avals) -> Function | None:
    old, new = ins[0].dtype, outs[0].dtype
    if old.itemsize != new.itemsize or "b" in (old.kind, new.kind):
        return None
    return lambda x: x.view(new)


def _reduce_precision(params: Params, ins: Avals, outs: Avals) -> Function | None:
    """Of a dtype that has as many bits, or the one that the numbers say."""
    bits = params["exponent_bits"], params["mantissa_bits"]
    formats = {(5, 10): np.float16, (8, 23): np.float32, (11, 52): np.float64}
    target, dtype = formats.get(bits), ins[0].dtype
    if target is None or dtype.kind == "V":
        return None
    return same if target == dtype else lambda x: x.astype(target).astype(dtype)


def _blend(dtype: Any) -> Function:
    """Bit by bit: `np.where` goes by each element, which takes five times as long where what it
    does cannot be foreseen."""
    word = np.dtype(f"i{dtype.itemsize}")

    def blend(which: Any, no: Any, yes: Any) -> Any:
        bits, no = np.negative(which.view(np.int8), dtype=word), no.view(word)
        out = np.empty_like(bits) if bits.ndim else None  # in memory as the choice is
        out = np.bitwise_xor(no, yes.view(word), out=out)
        np.bitwise_and(out, bits, out=out)
        return np.bitwise_xor(out, no, out=out).view(dtype)

    return blend


def _select(which: Any, no: Any, yes: Any) -> Any:
    if which.ndim:
        return np.where(which, yes, no)
    return yes if which else no


def _select_n(params: Params, ins: Avals, outs: Avals) -> Function:
    if len(ins) == 2:
        return lambda which, x: x
    if len(ins) == 3:
        kinds = ins[0].dtype.kind + outs[0].dtype.kind
        if size(outs[0]) > SMALL and kinds in ("bb", "bi", "bu", "bf"):
            return _blend(outs[0].dtype)
        if not ins[0].shape:
            return _select
        return lambda which, no, yes: np.where(which, yes, no)

    def function(which: Any, *cases: Any) -> Any:
        stacked = np.stack(cases)
        index = np.broadcast_to(np.clip(which, 0, len(cases) - 1), cases[0].shape)
        return np.take_along_axis(stacked, index[None], 0)[0]

    return function


#: What operators do of single numbers.
OF_ONE_NUMBER = frozenset(
    "add add_any sub mul neg lt le gt ge eq ne and or xor not select_n".split()
)

TABLE: dict[str, Rule] = {
    **{
        name: direct(function)
        for name, function in {
            "max": np.maximum,
            "min": np.minimum,
            "abs": np.abs,
            "square": np.square,
            "one_minus_square": lambda x: (1 + x) * (1 - x),
            "floor": np.floor,
            "ceil": np.ceil,
            "is_finite": np.isfinite,
            "sqrt": np.sqrt,
            "rsqrt": lambda x: np.reciprocal(np.sqrt(x)),
            "cbrt": np.cbrt,
            "exp": np.exp,
            "exp2": np.exp2,
            "log": np.log,
            "log1p": _log1p,
            "log2": np.log2,  # since JAX 0.12
            "expm1": np.expm1,
            "sin": np.sin,
            "cos": np.cos,
            "tan": np.tan,
            "asin": np.arcsin,
            "acos": np.arccos,
            "atan": np.arctan,
            "atan2": np.arctan2,
            "sinh": np.sinh,
            "cosh": np.cosh,
            "tanh": np.tanh,
            "asinh": np.arcsinh,
            "acosh": np.arccosh,
            "atanh": np.arctanh,
            "logistic": _logistic,
            "clamp": lambda low, x, high: np.minimum(np.maximum(x, low), high),
            "shift_left": np.left_shift,
            "shift_right_arithmetic": _shift_right("i"),
            "shift_right_logical": _shift_right("u"),
            "population_count": _count_ones,
            "real": np.real,
            "imag": np.imag,
            **SPECIAL,
        }.items()
    },
    "eq_to": _total(np.equal),
    "lt_to": _total(np.less),
    "le_to": _total(np.less_equal),
    "sign": Rule(_sign),
    "div": Rule(lambda params, ins, outs: _quotient if _is_integer(ins[0]) else np.divide),
    "rem": Rule(lambda params, ins, outs: _remainder if _is_integer(ins[0]) else np.fmod),
    "pow": Rule(_pow),
    "integer_pow": Rule(_integer_pow),
    "round": Rule(_round),
    "clz": Rule(_clz),
    "complex": Rule(_complex),
    "conj": Rule(_conj),
    "convert_element_type": moving(_convert),
    "bitcast_convert_type": moving(_bitcast),
    "reduce_precision": Rule(_reduce_precision),
    "nextafter": moving(lambda params, ins, outs: np.nextafter),
    "eq": _comparison(np.equal, operator.eq),
    "ne": _comparison(np.not_equal, operator.ne),
    "add": _of_numbers(np.add, operator.add),
    "add_any": _of_numbers(np.add, operator.add),
    "sub": _of_numbers(np.subtract, operator.sub),
    "mul": _of_numbers(np.multiply, operator.mul),
    "neg": _of_numbers(np.negative, operator.neg),
    "lt": _of_numbers(np.less, operator.lt),
    "le": _of_numbers(np.less_equal, operator.le),
    "gt": _of_numbers(np.greater, operator.gt),
    "ge": _of_numbers(np.greater_equal, operator.ge),
    "and": _of_numbers(np.bitwise_and, operator.and_),
    "or": _of_numbers(np.bitwise_or, operator.or_),
    "xor": _of_numbers(np.bitwise_xor, operator.xor),
    "not": _of_numbers(np.invert, operator.invert),
    "select_n": moving(_select_n),
}
