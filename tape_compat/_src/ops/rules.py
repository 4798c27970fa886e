"""Functions whose derivative is TensorFlow's where JAX's differs, one a rule.

Each says what the convention is, where TensorFlow has it and what JAX would give. A rule is a JVP;
reverse mode follows by transposition. Complex numbers follow JAX's convention here, the conjugation
that TensorFlow wants is made once, in `core/op.py`.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import jax.scipy.special as special
import numpy as np
from jax import lax
from jax.custom_derivatives import SymbolicZero, zero_from_primal

from ..core.dimensions import less
from ..values.bounds import not_empty

#: `partial(dx, out, *args)`: the part of the tangent that comes from one argument, linear in `dx`.
Partial = Callable[..., Any]


def rule(function: Callable[..., Any], *partials: Partial | None) -> Callable[..., Any]:
    """`function` with the derivative by its i-th argument given by `partials[i]`, None for none.

    An argument that is held costs nothing and cannot bring a NaN: its tangent is a symbolic zero.
    """

    # Not the function itself: JAX 0.8 would add lax.sqrt's default `accuracy` to the primals.
    def primal(*args: Any) -> Any:
        return function(*args)

    ruled: Any = jax.custom_jvp(primal)

    def jvp(primals: tuple, tangents: tuple) -> tuple[Any, Any]:
        out = ruled(*primals)
        tangent = None
        for partial, dx in zip(partials, tangents, strict=True):
            if partial is None or isinstance(dx, SymbolicZero) or dx.dtype == jax.dtypes.float0:
                continue
            term = jnp.broadcast_to(partial(dx, out, *primals), out.shape).astype(out.dtype)
            tangent = term if tangent is None else tangent + term
        return out, zero_from_primal(out, symbolic_zeros=True) if tangent is None else tangent

    ruled.defjvp(jvp, symbolic_zeros=True)
    return ruled


def spread(function: Callable[..., Any]) -> Callable[..., Any]:
    """The same of two arrays, which it broadcasts.

    Of bfloat16 the derivative adds up in float32 what an element was spread to, as TensorFlow does:
    XLA rounds each sum on CPUs, and the gradient of a bias of 65,536 rows took it 20 ms, not 0.5.
    """

    @functools.wraps(function)
    def spreading(x: Any, y: Any) -> Any:
        if x.dtype == jnp.bfloat16 and x.shape != y.shape:
            wide = jnp.broadcast_arrays(x.astype(jnp.float32), y.astype(jnp.float32))
            x, y = [a.astype(jnp.bfloat16) for a in wide]
        return function(x, y)

    return spreading


def is_complex(x: Any) -> bool:
    return jnp.issubdtype(x.dtype, jnp.complexfloating)


def _floating(x: Any) -> bool:
    return jnp.issubdtype(x.dtype, jnp.floating)


# -- division that keeps a zero tangent zero ------------------------------------------------------


def _finite_reciprocal(y: Any) -> Any:
    """1 / y, and a large number where y is 0 or NaN."""
    pole = _pole(y)
    big = jnp.finfo(y.dtype).max
    big = big if is_complex(y) else jnp.copysign(big, y).astype(y.dtype)
    return jnp.where(pole, big, 1 / jnp.where(pole, 1, y))


def _pole(y: Any) -> Any:
    return (y == 0) | (y != y)


_reciprocal_part = rule(_finite_reciprocal, lambda dy, r, y: -over(over(dy, y), y))


def over(dx: Any, y: Any) -> Any:
    """dx / y, linear in dx, with 0 / 0 = 0, x / 0 = inf and 0 / NaN = 0.

    At y = 0 it multiplies by two large finite numbers one after the other: zero stays zero and all
    else overflows to infinity. At NaN so much stands on both sides of a factor 0, which makes NaN
    of infinity in this order and in that of the transpose. A test for `dx == 0` has no transpose.
    """
    big = jnp.finfo(y.dtype).max
    again = lax.stop_gradient(jnp.where(_pole(y), big, 1).astype(y.dtype))
    nan = lax.stop_gradient(y != y)
    zero, large = (jnp.where(nan, number, 1).astype(y.dtype) for number in (0, big))
    return dx * _reciprocal_part(y) * again * zero * large * large


#: sqrt where it has no derivative, with a zero cotangent, as in `where(x > 0, sqrt(x), 0)`, gives
#: 0, and so do rsqrt and reciprocal. JAX: NaN.
#: Source: TF cwise_ops_gradients.h, whose products keep a zero gradient zero.
sqrt = rule(lax.sqrt, lambda dx, y, x: over(dx / 2, y))
reciprocal = rule(lambda x: 1 / x, lambda dx, y, x: over(over(-dx, x), x))


def _rsqrt_partial(dx: Any, y: Any, x: Any) -> Any:
    if is_complex(x):
        return over(over(dx / -2, x), sqrt(x))
    plain = jnp.where(x > 0, x, 1)  # elsewhere the other division decides
    return over(dx / -2 / plain, sqrt(x))


def _rsqrt(x: Any) -> Any:
    # XLA takes complex ones by powers: a million in 110 ms, and with a part that is no zero at -1.
    return 1 / lax.sqrt(x) if is_complex(x) else lax.rsqrt(x)


rsqrt = rule(_rsqrt, _rsqrt_partial)


# -- kinks: which way a gradient goes where two pieces meet ---------------------------------------


def _sign(x: Any) -> Any:
    """The sign of either zero is 0, that of complex infinity NaN. JAX: -0; a unit for some.

    Source: TF cwise_ops.h, functor::sign.
    """
    if not is_complex(x):
        return jnp.where(x == 0, 0, lax.sign(x))
    other = jnp.where(x == 0, 1, x)  # the derivative of a size is NaN at 0
    size = lax.abs(other)
    size = jnp.where(jnp.isinf(size), jnp.nan, size)
    unit = lax.complex(jnp.real(other) / size, jnp.imag(other) / size)
    return jnp.where((x == 0) | (size == 0), 0, unit)


def _abs_partial(dx: Any, y: Any, x: Any) -> Any:
    return jnp.real(jnp.conj(_sign(x)) * dx) if is_complex(x) else dx * _sign(x)


#: abs at 0 has the gradient 0, and so has that of complex numbers there. JAX: 1.
#: Source: TF math_grad.py, _AbsGrad, _ComplexAbsGrad.
abs = rule(lax.abs, _abs_partial)


def _sign_partial(dx: Any, y: Any, x: Any) -> Any:
    if not is_complex(x):
        return jnp.zeros_like(dx)
    size = jnp.abs(jnp.where(x == 0, 1, x))
    along = jnp.real(jnp.conj(y) * dx)
    return jnp.where(x == 0, 0, (dx - y * along) / size)


#: For complex x the derivative of x / |x|, 0 at 0. JAX: 0 everywhere.
sign = rule(_sign, _sign_partial)

#: A tie sends the whole gradient to x; JAX halves it. Source: TF math_grad.py, _MaximumMinimumGrad.
maximum = rule(
    jnp.maximum,
    lambda dx, z, x, y: jnp.where(x >= y, dx, 0),
    lambda dy, z, x, y: jnp.where(x >= y, 0, dy),
)
minimum = rule(
    jnp.minimum,
    lambda dx, z, x, y: jnp.where(x <= y, dx, 0),
    lambda dy, z, x, y: jnp.where(x <= y, 0, dy),
)


def _square_of_distance(x: Any, y: Any) -> Any:
    v = x - y
    return v * jnp.conj(v) if is_complex(v) else lax.square(v)


def _twice(v: Any) -> Any:
    return 2 * (jnp.conj(v) if is_complex(v) else v)


#: (x - y) * conj(x - y); the gradient is 2 (x - y) g, for a complex g too, where JAX's has the
#: real part of g. Source: TF math_grad.py, _SquaredDifferenceGrad.
squared_difference = rule(
    _square_of_distance,
    lambda dx, z, x, y: dx * _twice(x - y),
    lambda dy, z, x, y: -dy * _twice(x - y),
)

#: x and the next number move as one. JAX: no derivative. Source: TF math_grad.py, _NextAfterGrad.
nextafter = rule(jnp.nextafter, lambda dx, z, x, y: dx, None)

#: At 0 and at NaN the gradient is 0. Source: TF relu_op_functor.h, ReluGrad.
relu = rule(lambda x: jnp.maximum(x, 0), lambda dx, y, x: jnp.where(x > 0, dx, 0))


def leaky_relu(x: Any, alpha: Any = float(np.float32(0.2))) -> Any:
    """At 0 the gradient is alpha. JAX: 1. Source: TF relu_op_functor.h, LeakyReluGrad."""
    return jnp.where(x > 0, x, x * jnp.asarray(alpha, x.dtype))


#: At 0 the gradient is 1, at NaN it is 1 too. Source: TF relu_op_functor.h, EluGrad.
def _elu_partial(dx: Any, y: Any, x: Any) -> Any:
    return dx * jnp.where(y < 0, y + 1, 1)


elu = rule(lambda x: jnp.where(x < 0, jnp.expm1(x), x), _elu_partial)

_SELU_SCALE = 1.0507009873554804934193349852946
_SELU_SCALE_ALPHA = 1.7580993408473768599402175208123


def _selu_partial(dx: Any, y: Any, x: Any) -> Any:
    return dx * jnp.where(y < 0, y + _SELU_SCALE_ALPHA, _SELU_SCALE)


#: Source: TF relu_op_functor.h, SeluGrad.
selu = rule(
    lambda x: jnp.where(x < 0, _SELU_SCALE_ALPHA * jnp.expm1(x), _SELU_SCALE * x), _selu_partial
)

#: At 6 and at NaN the gradient is 0. Source: TF relu_op_functor.h, Relu6Grad.
relu6 = rule(
    lambda x: jnp.minimum(jnp.maximum(x, 0), 6),
    lambda dx, y, x: jnp.where((x > 0) & (x < 6), dx, 0),
)


# -- powers, quotients and logarithms at their singular points ------------------------------------


#: The quotient is divided twice, never by y * y, which may underflow. Source: _RealDivGrad.
divide = rule(
    jnp.true_divide,
    lambda dx, z, x, y: dx / y,
    lambda dy, z, x, y: dy * divide(-z, y),
)


def _no_nan(x: Any, y: Any) -> Any:
    zero = y == 0
    return jnp.where(zero, 0, x / jnp.where(zero, 1, y))


#: 0 where y is 0, with zero gradients there. Source: TF math_grad.py, _DivNoNanGrad.
divide_no_nan = rule(
    _no_nan,
    lambda dx, z, x, y: jnp.where(y == 0, 0, dx / jnp.where(y == 0, 1, y)),
    lambda dy, z, x, y: dy * divide_no_nan(divide_no_nan(-x, y), y),
)

#: 0 where y is 0, even if x is infinite. Source: TF math_grad.py, _MulNoNanGrad.
multiply_no_nan = rule(
    lambda x, y: jnp.where(y == 0, 0, x * y),
    lambda dx, z, x, y: dx * y,
    lambda dy, z, x, y: dy * x,
)

xdivy = rule(
    lambda x, y: jnp.where(x == 0, 0, x / jnp.where(x == 0, 1, y)),
    lambda dx, z, x, y: jnp.where(x == 0, 0, dx / jnp.where(x == 0, 1, y)),
    lambda dy, z, x, y: dy * xdivy(-xdivy(x, y), y),
)

#: Where x is 0 both gradients are 0. JAX: log(y) by x. Source: TF math_grad.py, _XLogyGrad.
xlogy = rule(
    lambda x, y: jnp.where(x == 0, 0, x * jnp.log(jnp.where(x == 0, 1, y))),
    lambda dx, z, x, y: dx * xlogy((x != 0).astype(x.dtype), y),
    lambda dy, z, x, y: dy * xdivy(x, y),
)

#: As xlogy, of 1 + y. Source: TF math_grad.py, _XLog1pyGrad.
xlog1py = rule(
    lambda x, y: jnp.where(x == 0, 0, x * jnp.log1p(jnp.where(x == 0, 0, y))),
    lambda dx, z, x, y: dx * xlog1py((x != 0).astype(x.dtype), y),
    lambda dy, z, x, y: dy * xdivy(x, y + 1),
)


def _log_of_base(x: Any) -> Any:
    mask = x != 0 if is_complex(x) else x > 0
    return jnp.where(mask, jnp.log(jnp.where(mask, x, 1)), 0)


#: By the exponent the gradient is 0 where the base is not positive. JAX: NaN below 0.
#: By the base it is y x**(y - 1) even for y = 0, NaN at x = 0. Source: TF math_grad.py, _PowGrad.
pow = rule(
    jnp.power,
    lambda dx, z, x, y: dx * (y * pow(x, y - 1)),
    lambda dy, z, x, y: dy * (z * _log_of_base(x)),
)


def power(x: Any, exponent: float) -> Any:
    """x to a constant exponent; the derivative is `pow`'s."""
    return _power(exponent)(x)


def _power(exponent: float) -> Callable[..., Any]:
    if isinstance(exponent, int):

        def function(x: Any) -> Any:
            return lax.integer_pow(x, exponent)
    else:

        def function(x: Any) -> Any:
            return jnp.power(x, jnp.asarray(exponent, x.dtype))

    return rule(function, lambda dx, z, x: dx * (exponent * power(x, exponent - 1)))


#: By y: minus the floored quotient. JAX differentiates the remainder piecewise, NaN at infinity.
#: Source: TF math_grad.py, _FloorModGrad.
floormod = rule(
    jnp.mod,
    lambda dx, z, x, y: dx,
    lambda dy, z, x, y: -dy * jnp.floor(x / y),
)


# -- others ---------------------------------------------------------------------------------------

#: acosh(x)' = 1 / sinh(y), which is exact near 1. Source: TF math_grad.py, _AcoshGrad.
acosh = rule(lax.acosh, lambda dx, y, x: dx / jnp.sinh(y))

#: asinh(x)' = 1 / cosh(y). Source: TF math_grad.py, _AsinhGrad.
asinh = rule(lax.asinh, lambda dx, y, x: dx / jnp.cosh(y))

#: atan at infinity has the gradient 0; JAX's square overflows alike. Source: _AtanGrad.
atan = rule(lax.atan, lambda dx, y, x: dx * (1 / (1 + x * x)))


def segment_extreme(data: Any, ids: Any, segments: int, largest: bool, start: Any) -> Any:
    """Largest or smallest of each segment and of `start`; ids outside are dropped.

    Ties share the gradient evenly. Source: TF math_grad.py, _SegmentMinOrMaxGrad.
    """

    def function(data: Any, ids: Any) -> Any:
        at = jnp.full((segments, *data.shape[1:]), start, data.dtype).at[ids]
        return at.max(data, mode="drop") if largest else at.min(data, mode="drop")

    def partial(dx: Any, out: Any, data: Any, ids: Any) -> Any:
        inside = (ids >= 0) & (ids < segments)
        inside = inside.reshape(inside.shape + (1,) * (data.ndim - 1))
        chosen = inside & (data == not_empty(out, (0,))[jnp.clip(ids, 0, max(segments - 1, 0))])
        zeros = jnp.zeros_like(out)
        count = zeros.at[ids].add(chosen.astype(out.dtype), mode="drop")
        total = zeros.at[ids].add(jnp.where(chosen, dx, 0), mode="drop")
        return total / jnp.where(count == 0, 1, count)

    return rule(function, partial, None)(data, ids)


#: Bessel functions: at 0 JAX differentiates |x|. Source: TF math_grad.py, _BesselI0Grad.
bessel_i0 = rule(special.i0, lambda dx, y, x: dx * bessel_i1(x))
bessel_i1 = rule(
    special.i1,
    lambda dx, y, x: (
        dx * jnp.where(x == 0, 0.5, bessel_i0(x) - y / jnp.where(x == 0, 1, x)).astype(x.dtype)
    ),
)


def _bessel_i1e_partial(dx: Any, y: Any, x: Any) -> Any:
    """JAX: 1/2 at NaN. Source: TF math_grad.py, _BesselI1eGrad."""
    tiny = jnp.abs(x) <= jnp.finfo(x.dtype).eps
    slope = special.i0e(x) - y * (jnp.sign(x) + 1 / jnp.where(tiny, 1, x))
    return dx * jnp.where(tiny, 0.5, slope).astype(x.dtype)


bessel_i1e = rule(special.i1e, _bessel_i1e_partial)

#: JAX's derivative is 1 + y, which is 0 far below 0.
expm1 = rule(lax.expm1, lambda dx, y, x: dx * lax.exp(x))

#: The gradient is infinite where the value is. JAX: 0. Source: TF math_grad.py, _NdtriGrad.
ndtri = rule(
    special.ndtri, lambda dx, y, x: dx * (math.sqrt(2 * math.pi) * jnp.exp(lax.square(y) / 2))
)


def product_of_unknown(x: Any, axis: int) -> Any:
    """Product along an axis of unknown size, which stays with size 1. The derivative is of the
    products before and behind each element; JAX's needs the size. Source: TF math_grad.py,
    _ProdGrad.
    """

    def before(x: Any) -> Any:
        one = jnp.ones_like(x, shape=[1 if i == axis else n for i, n in enumerate(x.shape)])
        running = jnp.cumprod(jnp.concatenate([one, x], axis), axis, dtype=x.dtype)
        return lax.slice_in_dim(running, 0, x.shape[axis], axis=axis)

    def partial(dx: Any, out: Any, x: Any) -> Any:
        others = before(x) * jnp.flip(before(jnp.flip(x, axis)), axis)
        return jnp.sum(dx * others, axis, keepdims=True)

    return rule(lambda x: jnp.prod(x, axis, keepdims=True, dtype=x.dtype), partial)(x)


def segment_product(data: Any, ids: Any, segments: int) -> Any:
    """Product of each segment; ids outside are dropped. The derivative never divides by zero.

    JAX has none where ids repeat. Source: TF math_grad.py, _UnsortedSegmentProdGrad.
    """

    def function(data: Any, ids: Any) -> Any:
        ones = jnp.ones((segments, *data.shape[1:]), data.dtype)
        return ones.at[ids].multiply(data, mode="drop")

    def partial(dx: Any, out: Any, data: Any, ids: Any) -> Any:
        zero = data == 0
        filled = jnp.where(zero, 1, data)
        at = jnp.clip(ids, 0, max(segments - 1, 0))
        zeros = jnp.zeros((segments, *data.shape[1:]), jnp.int32)
        zeros = zeros.at[ids].add(zero.astype(jnp.int32), mode="drop")
        rest = not_empty(segment_product(filled, ids, segments), (0,))[at] / filled
        others = jnp.where(not_empty(zeros, (0,))[at] == zero.astype(jnp.int32), rest, 0)
        return jnp.zeros_like(out).at[ids].add(dx * others, mode="drop")

    return rule(function, partial, None)(data, ids)


def cross_entropy(labels: Any, logits: Any) -> Any:
    """-sum(labels * log_softmax(logits)) over the last axis.

    By the logits the gradient is softmax - labels, as if the labels summed to 1. JAX: softmax times
    the sum of the labels, minus the labels. A second derivative holds those labels. Source: TF
    xent_op.h, nn_grad.py.
    """
    return _cross_entropy(labels, logits)


def _log_softmax(x: Any) -> Any:
    shifted = x - lax.stop_gradient(jnp.max(x, -1, keepdims=True, initial=-jnp.inf))
    return shifted - jnp.log(jnp.sum(jnp.exp(shifted), -1, keepdims=True))


_cross_entropy = rule(
    lambda labels, logits: -jnp.sum(labels * _log_softmax(logits), -1),
    lambda dlabels, out, labels, logits: -jnp.sum(dlabels * _log_softmax(logits), -1),
    lambda dlogits, out, labels, logits: jnp.sum(
        dlogits * (jnp.exp(_log_softmax(logits)) - lax.stop_gradient(labels)), -1
    ),
)


def _sparse_value(labels: Any, logits: Any) -> Any:
    at = labels[..., None]
    chosen = jnp.take_along_axis(_log_softmax(logits), at, -1, mode="clip")[..., 0]
    return jnp.where((labels >= 0) & (labels < logits.shape[-1]), -chosen, jnp.nan)


def _sparse_partial(dx: Any, out: Any, labels: Any, logits: Any) -> Any:
    hot = lax.broadcasted_iota(labels.dtype, logits.shape, logits.ndim - 1) == labels[..., None]
    slope = jnp.exp(_log_softmax(logits)) - hot.astype(logits.dtype)
    return jnp.sum(dx * jnp.where(jnp.isnan(out)[..., None], jnp.nan, slope), -1)


#: As `cross_entropy`, of integer labels. A label out of range gives NaN, as TF on a GPU.
sparse_cross_entropy = rule(_sparse_value, None, _sparse_partial)

#: x / (1 + |x|), with the gradient 1 / (1 + |x|)**2 at 0 and at infinity. Source: TF softsign_op.h.
softsign = rule(lambda x: x / (1 + lax.abs(x)), lambda dx, y, x: dx / lax.square(1 + abs(x)))


def extreme(x: Any, axis: Any, keepdims: bool, largest: bool) -> Any:
    """Largest or smallest over `axis`; the lowest or highest number of nothing.

    Ties share the gradient, as in JAX; where the result is NaN it is NaN. JAX: 0.
    Source: TF math_grad.py, _MinOrMaxGrad.
    """
    ends = (-jnp.inf, jnp.inf) if _floating(x) else (jnp.iinfo(x.dtype).min, jnp.iinfo(x.dtype).max)

    def function(x: Any) -> Any:
        initial = None if less(0, x.size) else ends[0 if largest else 1]
        reduce = jnp.max if largest else jnp.min
        return reduce(x, axis=axis, keepdims=True, initial=initial)

    def partial(dx: Any, out: Any, x: Any) -> Any:
        chosen = (x == out).astype(x.dtype)
        count = jnp.sum(chosen, axis=axis, keepdims=True)
        share = jnp.where(count == 0, jnp.nan, chosen / jnp.where(count == 0, 1, count))
        return jnp.sum(dx * share, axis=axis, keepdims=True)

    out = rule(function, partial)(x)
    return out if keepdims else jnp.squeeze(out, axis if axis is not None else tuple(range(x.ndim)))


def max_of_windows(x: Any, axes: tuple[int, ...]) -> Any:
    """Largest over `axes`; the first of equal ones takes the whole gradient, as TF's MaxPoolGrad.

    JAX would share it among them.
    """
    rest = tuple(i for i in range(x.ndim) if i not in axes)
    size = math.prod([x.shape[i] for i in axes])
    few = size <= MOST_SLICES

    def rows(array: Any) -> Any:
        return jnp.transpose(array, rest + axes).reshape(*(x.shape[i] for i in rest), size)

    def partial(dx: Any, out: Any, x: Any) -> Any:
        if few:
            first = _first_largest(_slices(x, axes))
        else:
            first = lax.argmax(rows(x), len(rest), np.int32)
        chosen = lax.broadcasted_iota(first.dtype, (*first.shape, size), len(rest))
        return jnp.sum(jnp.where(chosen == first[..., None], rows(dx), 0), -1)

    def function(x: Any) -> Any:
        return functools.reduce(jnp.maximum, _slices(x, axes)) if few else jnp.max(x, axes)

    return rule(function, partial)(x)


#: Windows of up to so many elements are compared element by element, for all windows at once. Of
#: 32 images 28 x 28 x 64 by windows of 2 x 2, value and derivative took 0.5 ms, by a reduction and
#: with places of 64 bits 1.8 (JAX 0.10).
MOST_SLICES = 16


def _slices(x: Any, axes: tuple[int, ...]) -> list[Any]:
    """For each element of the windows along `axes`, in order, those of all windows."""
    slices = []
    for offset in itertools.product(*[range(x.shape[i]) for i in axes]):
        part = x
        for axis, i in zip(axes, offset, strict=True):
            part = lax.slice_in_dim(part, i, i + 1, axis=axis)
        slices.append(lax.squeeze(part, axes))
    return slices


def _first_largest(slices: Sequence[Any]) -> Any:
    """Which of them is the first with the largest number, or with NaN, by places."""
    best, found = slices[0], jnp.zeros(slices[0].shape, np.uint8)
    for i, part in enumerate(slices[1:], 1):
        larger = (part > best) | ((part != part) & (best == best))
        best, found = jnp.where(larger, part, best), jnp.where(larger, np.uint8(i), found)
    return found


def max_along(x: Any, axis: int, size: int, stride: int, pads: tuple[int, int], first: bool) -> Any:
    """Largest of each window of `size` along `axis`, with `pads` of the lowest number around `x`.

    The first of equal ones takes the whole gradient, as in JAX and in TF's MaxPoolGrad, or without
    `first` each of them, as in TF's MaxPool3DGrad. JAX's scatter takes CPUs up to 50 times as long.
    """
    window, strides, padding = [1] * x.ndim, [1] * x.ndim, [(0, 0)] * x.ndim
    window[axis], strides[axis], padding[axis] = size, stride, pads

    def function(x: Any) -> Any:
        return lax.reduce_window(x, np.asarray(-np.inf, x.dtype), lax.max, window, strides, padding)

    def partial(dx: Any, out: Any, x: Any) -> Any:
        span = (out.shape[axis] - 1) * stride + 1

        def shifted(array: Any, fill: float) -> list[Any]:
            config = [(*pad, 0) for pad in padding]
            padded = lax.pad(array, np.asarray(fill, array.dtype), config)
            return [lax.slice_in_dim(padded, k, k + span, stride, axis=axis) for k in range(size)]

        values, tangents = shifted(x, -np.inf), shifted(dx, 0)
        if not first:
            return sum(jnp.where(v == out, t, 0) for v, t in zip(values, tangents, strict=True))
        # Of a window of nothing but the lowest number, the first that is not padding.
        place = lax.broadcasted_iota("int32", out.shape, axis)
        chosen, best = jnp.maximum(pads[0] - stride * place, 0), jnp.full_like(out, -np.inf)
        for k, value in enumerate(values):
            chosen, best = jnp.where(value > best, k, chosen), jnp.maximum(value, best)
        return sum(jnp.where(chosen == k, t, 0) for k, t in enumerate(tangents))

    return rule(function, partial)(x)
