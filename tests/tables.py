"""One row an op: arguments, a NumPy reference, special points. The checks are in `test_rules.py`.

    Row(math.acosh, args=[uniform(1.1, 4.0)], reference=np.arccosh, special=[(1.0, 0.5, INF)])

Arguments are float64 so that derivatives can be compared with central differences. `special` lists
points whose values and gradients TensorFlow has written down in `goldens/*.json`.
"""

import dataclasses
import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import scipy.special as sp

import tape_compat as tf
from tape_compat import bitwise, math, nn
from tape_compat._src.ops import clipping as clip_ops

INF, NAN = np.inf, np.nan

#: Special points of functions of one argument.
POINTS = (-INF, -2.0, -1.0, -0.5, -0.0, 0.0, 0.5, 1.0, 2.0, 6.0, INF, NAN)
#: Special points of functions of two: all pairs.
PAIRS = tuple(itertools.product((-2.0, -1.0, -0.0, 0.0, 0.5, 1.0, 2.0, INF, NAN), repeat=2))
FINITE = tuple(p for p in POINTS if np.isfinite(p))
FINITE_PAIRS = tuple(p for p in PAIRS if np.isfinite(p).all())


@dataclasses.dataclass(frozen=True)
class Row:
    """What is known of one op.

    Attributes:
      op: the function under test.
      args: tensors to call it with; those of float64 or complex128 are differentiated.
      reference: a NumPy function of the same arguments and options.
      options: keyword arguments.
      gradient: whether it has one; False means that TensorFlow's is None.
      special: points for the goldens, one tuple of arguments each (numbers for one argument).
      orders: how many derivatives are compared with central differences.
      label: tells rows of one op apart.
    """

    op: Callable[..., Any]
    args: Sequence[Any]
    reference: Callable[..., Any]
    options: dict[str, Any] = dataclasses.field(default_factory=dict)
    gradient: bool = True
    special: Sequence[Any] = ()
    orders: int = 2
    label: str = ""

    @property
    def path(self) -> str:
        """Where the op is found below `tf`: math.sin, nn.relu, clip_by_value."""
        for space in (math, nn):
            if vars(space).get(self.op.__name__) is self.op:
                return f"{space.__name__.rpartition('.')[2]}.{self.op.__name__}"
        return self.op.__name__

    @property
    def id(self) -> str:
        return f"{self.path}-{self.label}" if self.label else self.path

    def points(self) -> list[np.ndarray]:
        """The special points, one array an argument."""
        rows = [p if isinstance(p, tuple) else (p,) for p in self.special]
        return [np.array(column, np.float64) for column in zip(*rows, strict=True)]


_RANDOM = np.random.default_rng(7)


def uniform(low: float, high: float, shape: tuple[int, ...] = (2, 3)) -> np.ndarray:
    """Numbers in (low, high), the same in every run."""
    return _RANDOM.uniform(low, high, shape)


def normal(*shape: int) -> np.ndarray:
    """Numbers on both sides of 0, none of them close to it."""
    values = _RANDOM.normal(size=shape)
    return values + np.copysign(0.1, values)


def distinct(*shape: int) -> np.ndarray:
    """Numbers that differ by at least 0.1, so that maxima are not near ties."""
    size = int(np.prod(shape))
    return (_RANDOM.permutation(size) * 0.3 - 0.11 * size).reshape(shape)


def unary(
    op: Callable[..., Any], reference: Callable[..., Any], args: Any = None, **more: Any
) -> Row:
    more.setdefault("special", POINTS)
    return Row(op, [normal(2, 3) if args is None else args], reference, **more)


def binary(op: Callable[..., Any], reference: Callable[..., Any], *args: Any, **more: Any) -> Row:
    return Row(op, args or [normal(3, 1), normal(1, 4)], reference, **more)


# -- references ------------------------------------------------------------------------------------


def _softmax(x: Any, axis: int = -1) -> Any:
    e = np.exp(x - x.max(axis, keepdims=True))
    return e / e.sum(axis, keepdims=True)


def _scan(function: Callable[..., Any], identity: float) -> Callable[..., Any]:
    def reference(x: Any, axis: int = 0, exclusive: bool = False, reverse: bool = False) -> Any:
        x = np.moveaxis(x, axis, 0)
        x = x[::-1] if reverse else x
        out = function(x, axis=0)
        if exclusive:
            out = np.concatenate([np.full_like(out[:1], identity), out[:-1]])
        return np.moveaxis(out[::-1] if reverse else out, 0, axis)

    return reference


def _segments(function: Callable[..., Any], empty: float) -> Callable[..., Any]:
    def reference(data: Any, ids: Any, num_segments: int | None = None) -> Any:
        count = int(ids.max()) + 1 if num_segments is None else num_segments
        rows = [data[ids == i] for i in range(count)]
        return np.stack(
            [function(r, axis=0) if len(r) else np.full(data.shape[1:], empty) for r in rows]
        )

    return reference


def _pads(size: int, window: int, stride: int, dilation: int, padding: str) -> tuple[int, int]:
    if padding == "VALID":
        return 0, 0
    reach = (window - 1) * dilation + 1
    total = max((-(-size // stride) - 1) * stride + reach - size, 0)
    return total // 2, total - total // 2


def _patches(
    x: Any, window: Sequence[int], strides: int, padding: str, dilations: int = 1, fill: float = 0.0
) -> Any:
    """Windows of x [n, ..., c]: [n, positions..., c, window...]."""
    rank = len(window)
    pads = [_pads(x.shape[1 + i], window[i], strides, dilations, padding) for i in range(rank)]
    x = np.pad(x, [(0, 0), *pads, (0, 0)], constant_values=fill)
    reach = [(w - 1) * dilations + 1 for w in window]
    view = np.lib.stride_tricks.sliding_window_view(x, reach, tuple(range(1, rank + 1)))
    steps = (slice(None), *(slice(None, None, strides),) * rank, slice(None))
    return view[(*steps, *(slice(None, None, dilations),) * rank)]


def _conv(x: Any, f: Any, strides: int = 1, padding: str = "VALID", dilations: int = 1) -> Any:
    rank = f.ndim - 2
    patches = _patches(x, f.shape[:rank], strides, padding, dilations)
    taken = tuple(range(rank + 2, 2 * rank + 2)) + (rank + 1,)
    return np.tensordot(patches, f, (taken, tuple(range(rank + 1))))


def _depthwise(x: Any, f: Any, strides: Any, padding: str) -> Any:
    patches = _patches(x, f.shape[:2], strides[1], padding)
    out = np.einsum("nyxcij,ijcm->nyxcm", patches, f)
    return out.reshape(*out.shape[:3], -1)


def _conv_transpose(y: Any, f: Any, shape: Any, strides: int) -> Any:
    out = np.zeros(shape)
    for at in np.ndindex(*shape):
        unit = np.zeros(shape)
        unit[at] = 1
        out[at] = np.sum(_conv(unit, f, strides, "SAME") * y)
    return out


def _max_pool(x: Any, ksize: int, strides: int, padding: str) -> Any:
    rank = x.ndim - 2
    patches = _patches(x, [ksize] * rank, strides, padding, fill=-INF)
    return patches.max(tuple(range(rank + 2, 2 * rank + 2)))


def _avg_pool(x: Any, ksize: int, strides: int, padding: str) -> Any:
    rank = x.ndim - 2
    patches = _patches(x, [ksize] * rank, strides, padding, fill=NAN)
    return np.nanmean(patches, tuple(range(rank + 2, 2 * rank + 2)))


def _moments(x: Any, axes: Any, keepdims: bool = False) -> Any:
    axes = tuple(axes)
    return x.mean(axes, keepdims=keepdims), x.var(axes, keepdims=keepdims)


def _weighted_moments(x: Any, axes: Any, w: Any) -> Any:
    w = np.broadcast_to(w, x.shape)
    mean = np.average(x, tuple(axes), w)
    return mean, np.average(x * x, tuple(axes), w) - mean * mean


def _top_k(x: Any, k: int) -> Any:
    order = np.argsort(-x, kind="stable")[..., :k]
    return np.take_along_axis(x, order, -1), order


def _confusion(labels: Any, predictions: Any) -> Any:
    out = np.zeros((3, 3), int)
    np.add.at(out, (labels, predictions), 1)
    return out


def _weighted_loss(labels: Any, logits: Any, weight: float) -> Any:
    p = sp.expit(logits)
    return -weight * labels * np.log(p) - (1 - labels) * np.log(1 - p)


def _clip_by_norm(x: Any, norm: float, axes: Any = None) -> Any:
    axes = None if axes is None else tuple(axes)
    return x * norm / np.maximum(np.sqrt((x * x).sum(axes, keepdims=True)), norm)


_GELU_CUBE = float(np.float32(0.044715))


def _gelu(x: Any, approximate: bool = False) -> Any:
    if approximate:
        return 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + _GELU_CUBE * x**3)))
    return 0.5 * x * (1 + sp.erf(x * float(np.float32(np.sqrt(0.5)))))


BOOLS = (np.array([True, True, False, False]), np.array([True, False, True, False]))
BITS = (np.array([12, 7, -8], np.int32), np.array([10, 2, 3], np.int32))
IDS = np.array([0, 0, 2, 2, 2], np.int32)
NO_GAP = np.array([2, 0, 1, 2, 1], np.int32)
LABELS = np.array([[0.2, 0.5, 0.3], [1.0, 0.0, 0.0]])
IMAGE, FILTER = normal(1, 5, 4, 2), normal(3, 2, 2, 3)
COMPLEX = normal(3) + 1j * normal(3)

# -- rows ------------------------------------------------------------------------------------------

MATH = [
    binary(math.add, np.add, special=PAIRS),
    binary(math.subtract, np.subtract, special=PAIRS),
    binary(math.multiply, np.multiply, special=PAIRS),
    binary(math.truediv, np.divide, special=PAIRS),
    binary(math.divide_no_nan, np.divide, special=PAIRS),
    binary(math.multiply_no_nan, np.multiply, special=PAIRS),
    binary(math.floordiv, np.floor_divide, gradient=False, special=FINITE_PAIRS),
    binary(math.floormod, np.mod, special=FINITE_PAIRS),
    binary(tf.truncatediv, lambda x, y: np.trunc(x / y), gradient=False),
    binary(tf.truncatemod, np.fmod, orders=0),
    binary(math.maximum, np.maximum, special=PAIRS),
    binary(math.minimum, np.minimum, special=PAIRS),
    binary(math.squared_difference, lambda x, y: (x - y) ** 2, special=PAIRS),
    binary(math.atan2, np.arctan2, special=FINITE_PAIRS),
    binary(math.nextafter, np.nextafter),
    binary(math.xdivy, lambda x, y: x / y, special=PAIRS),
    binary(math.xlogy, sp.xlogy, normal(3, 1), uniform(0.2, 3, (1, 4)), special=PAIRS),
    binary(math.xlog1py, sp.xlog1py, normal(3, 1), uniform(-0.5, 3, (1, 4)), special=PAIRS),
    binary(math.pow, np.power, uniform(0.3, 2, (3, 1)), normal(1, 4), special=PAIRS),
    *(
        unary(
            math.pow, lambda x, y: np.power(x, y), uniform(0.5, 2), options={"y": y}, label=str(y)
        )
        for y in (0, 1, 2, 3, -1, -2, 0.5, 2.0, 1.7)
    ),
    unary(math.negative, np.negative),
    unary(math.abs, np.abs),
    unary(math.sign, np.sign),
    unary(math.square, np.square),
    unary(math.sqrt, np.sqrt, uniform(0.2, 4)),
    unary(math.rsqrt, lambda x: x**-0.5, uniform(0.2, 4)),
    unary(math.exp, np.exp),
    unary(math.expm1, np.expm1),
    unary(math.log, np.log, uniform(0.2, 4)),
    unary(math.log1p, np.log1p, uniform(-0.8, 4)),
    unary(math.sin, np.sin),
    unary(math.cos, np.cos),
    unary(math.tan, np.tan, uniform(-1, 1)),
    unary(math.asin, np.arcsin, uniform(-0.9, 0.9)),
    unary(math.acos, np.arccos, uniform(-0.9, 0.9)),
    unary(math.atan, np.arctan),
    unary(math.sinh, np.sinh),
    unary(math.cosh, np.cosh),
    unary(math.tanh, np.tanh),
    unary(math.asinh, np.arcsinh),
    unary(math.acosh, np.arccosh, uniform(1.1, 4)),
    unary(math.atanh, np.arctanh, uniform(-0.9, 0.9)),
    unary(math.sigmoid, sp.expit),
    unary(math.log_sigmoid, sp.log_expit),
    unary(math.softplus, lambda x: np.logaddexp(x, 0)),
    unary(math.softsign, lambda x: x / (1 + np.abs(x)), special=FINITE),
    unary(math.erf, sp.erf, special=FINITE),
    unary(math.erfc, sp.erfc),
    unary(math.erfinv, sp.erfinv, uniform(-0.8, 0.8), special=FINITE),
    unary(math.erfcinv, sp.erfcinv, uniform(0.3, 1.7), special=()),
    unary(math.ndtri, sp.ndtri, uniform(0.1, 0.9), special=(0.0, 0.5)),
    unary(math.lgamma, sp.gammaln, uniform(0.2, 4), special=(0.5, 1.0, 2.0, 6.0)),
    unary(math.digamma, sp.digamma, uniform(0.2, 4), special=(0.5, 1.0, 2.0), orders=1),
    unary(math.bessel_i0, sp.i0, special=FINITE),
    unary(math.bessel_i0e, sp.i0e, special=FINITE),
    unary(math.bessel_i1, sp.i1, special=(-1.0, 0.5, 2.0), orders=1),
    unary(math.bessel_i1e, sp.i1e, special=(-1.0, 0.5, 2.0), orders=1),
    unary(math.reciprocal, np.reciprocal),
    unary(math.reciprocal_no_nan, np.reciprocal),
    *(
        unary(op, reference, gradient=False)
        for op, reference in (
            (math.floor, np.floor),
            (math.ceil, np.ceil),
            (math.rint, np.rint),
            (math.round, np.round),
        )
    ),
    *(
        unary(op, reference, gradient=False, special=())
        for op, reference in (
            (math.is_nan, np.isnan),
            (math.is_inf, np.isinf),
            (math.is_finite, np.isfinite),
        )
    ),
    *(
        Row(op, [COMPLEX], reference, orders=0)
        for op, reference in (
            (math.real, np.real),
            (math.imag, np.imag),
            (math.conj, np.conj),
            (math.angle, np.angle),
        )
    ),
    binary(tf.complex, lambda x, y: x + 1j * y, normal(3), normal(3)),
    *(
        binary(op, reference, gradient=False)
        for op, reference in (
            (math.less, np.less),
            (math.less_equal, np.less_equal),
            (math.greater, np.greater),
            (math.greater_equal, np.greater_equal),
            (math.equal, np.equal),
            (math.not_equal, np.not_equal),
        )
    ),
    binary(math.logical_and, np.logical_and, *BOOLS, gradient=False),
    binary(math.logical_or, np.logical_or, *BOOLS, gradient=False),
    binary(math.logical_xor, np.logical_xor, *BOOLS, gradient=False),
    Row(math.logical_not, [BOOLS[0]], np.logical_not, gradient=False),
    binary(bitwise.bitwise_and, np.bitwise_and, *BITS, gradient=False),
    binary(bitwise.bitwise_or, np.bitwise_or, *BITS, gradient=False),
    binary(bitwise.bitwise_xor, np.bitwise_xor, *BITS, gradient=False),
    binary(bitwise.left_shift, np.left_shift, *BITS, gradient=False),
    binary(bitwise.right_shift, np.right_shift, *BITS, gradient=False),
    Row(bitwise.invert, [BITS[0]], np.invert, gradient=False),
    *(
        Row(op, [args], reference, options=options, label=label)
        for op, reference, args in (
            (math.reduce_sum, np.sum, normal(2, 3)),
            (math.reduce_mean, np.mean, normal(2, 3)),
            (math.reduce_max, np.max, distinct(2, 3)),
            (math.reduce_min, np.min, distinct(2, 3)),
            (math.reduce_prod, np.prod, normal(2, 3)),
            (math.reduce_logsumexp, sp.logsumexp, normal(2, 3)),
            (math.reduce_std, np.std, normal(2, 3)),
            (math.reduce_variance, np.var, normal(2, 3)),
            (math.reduce_euclidean_norm, lambda x, **k: np.sqrt(np.sum(x * x, **k)), normal(2, 3)),
        )
        for label, options in (("", {}), ("axis", {"axis": -1, "keepdims": True}))
    ),
    Row(math.reduce_any, [BOOLS[0]], np.any, gradient=False),
    Row(math.reduce_all, [BOOLS[0]], np.all, gradient=False),
    Row(math.argmax, [distinct(3, 4)], np.argmax, {"axis": 1}, gradient=False),
    Row(math.argmin, [distinct(3, 4)], np.argmin, {"axis": 0}, gradient=False),
    Row(math.count_nonzero, [np.array([0.0, 1.0, 2.0])], np.count_nonzero, gradient=False),
    Row(math.zero_fraction, [np.array([0.0, 1.0])], lambda x: np.mean(x == 0), gradient=False),
    *(
        Row(op, [normal(3, 2)], _scan(function, identity), options=options, label=label)
        for op, function, identity in (
            (math.cumsum, np.cumsum, 0.0),
            (math.cumprod, np.cumprod, 1.0),
            (math.cumulative_logsumexp, np.logaddexp.accumulate, -INF),
        )
        for label, options in (
            ("", {}),
            ("reverse", {"axis": 1, "reverse": True}),
            *((("exclusive", {"exclusive": True}),) if identity != -INF else ()),
        )
    ),
    Row(math.add_n, [[normal(2), normal(2), normal(2)]], lambda xs: sum(xs)),
    Row(math.accumulate_n, [[normal(2), normal(2)]], lambda xs: sum(xs)),
    binary(math.scalar_mul, np.multiply, np.float64(1.7), normal(3)),
    Row(
        math.polyval, [[np.float64(2.0), np.float64(-1.0)], normal(3)], lambda c, x: c[0] * x + c[1]
    ),
    Row(math.l2_normalize, [normal(2, 3)], lambda x: x / np.linalg.norm(x)),
    Row(math.top_k, [distinct(2, 4)], _top_k, {"k": 2}),
    Row(
        math.in_top_k,
        [np.array([0, 1], np.int32), np.array([[1.0, 2.0], [3.0, 4.0]], np.float32)],
        lambda t, p, k: p.argmax(1) == t,
        {"k": 1},
        gradient=False,
    ),
    Row(math.bincount, [np.array([1, 1, 3], np.int32)], np.bincount, gradient=False),
    Row(
        math.confusion_matrix,
        [np.array([0, 1, 2, 1]), np.array([0, 2, 2, 1])],
        _confusion,
        gradient=False,
    ),
    *(
        Row(op, [distinct(5, 2), IDS], _segments(function, empty))
        for op, function, empty in (
            (math.segment_sum, np.sum, 0.0),
            (math.segment_prod, np.prod, 1.0),
            (math.segment_mean, np.mean, 0.0),
            (math.segment_max, np.max, 0.0),
            (math.segment_min, np.min, 0.0),
        )
    ),
    *(
        Row(op, [distinct(5, 2), IDS], _segments(function, empty), {"num_segments": 4})
        for op, function, empty in (
            (math.unsorted_segment_sum, np.sum, 0.0),
            (math.unsorted_segment_prod, np.prod, 1.0),
            (math.unsorted_segment_mean, np.mean, 0.0),
            (
                math.unsorted_segment_sqrt_n,
                lambda r, axis: r.sum(axis) / np.sqrt(len(r)),
                0.0,
            ),
        )
    ),
    *(
        Row(op, [distinct(5, 2), NO_GAP], _segments(function, 0.0), {"num_segments": 3})
        for op, function in (
            (math.unsorted_segment_max, np.max),
            (math.unsorted_segment_min, np.min),
        )
    ),
    Row(math.invert_permutation, [np.array([2, 0, 1], np.int32)], np.argsort, gradient=False),
    Row(math.is_non_decreasing, [np.array([1.0, 1.0])], lambda x: True, gradient=False),
    Row(math.is_strictly_increasing, [np.array([1.0, 1.0])], lambda x: False, gradient=False),
    Row(math.lbeta, [uniform(0.5, 3)], lambda x: sp.gammaln(x).sum(-1) - sp.gammaln(x.sum(-1))),
    binary(math.igamma, sp.gammainc, uniform(0.5, 2, (3,)), uniform(0.5, 2, (3,)), orders=1),
    binary(math.igammac, sp.gammaincc, uniform(0.5, 2, (3,)), uniform(0.5, 2, (3,)), orders=1),
    binary(math.zeta, sp.zeta, uniform(2, 4, (3,)), uniform(1, 2, (3,)), orders=0),
    binary(math.polygamma, sp.polygamma, np.array([1.0, 2.0]), uniform(1, 2, (2,)), orders=0),
    Row(math.softmax, [normal(2, 3)], _softmax),
    Row(math.softmax, [normal(2, 3)], _softmax, {"axis": 0}, label="axis"),
    Row(math.log_softmax, [normal(2, 3)], lambda x: np.log(_softmax(x))),
]

NN = [
    unary(nn.relu, lambda x: np.maximum(x, 0)),
    unary(nn.relu6, lambda x: np.clip(x, 0, 6)),
    unary(nn.leaky_relu, lambda x: np.where(x > 0, x, float(np.float32(0.2)) * x)),
    unary(nn.elu, lambda x: np.where(x > 0, x, np.expm1(x))),
    unary(
        nn.selu, lambda x: 1.0507009873554805 * np.where(x > 0, x, 1.6732632423543772 * np.expm1(x))
    ),
    unary(nn.gelu, _gelu, special=FINITE),
    unary(nn.gelu, _gelu, options={"approximate": True}, special=FINITE, label="approximate"),
    unary(nn.silu, lambda x: x * sp.expit(x), special=FINITE),
    Row(nn.crelu, [normal(2, 3)], lambda x: np.maximum(np.concatenate([x, -x], -1), 0)),
    Row(
        nn.softmax_cross_entropy_with_logits,
        [LABELS, normal(2, 3)],
        lambda labels, x: -np.sum(labels * np.log(_softmax(x)), -1),
        orders=1,
    ),
    Row(
        nn.sparse_softmax_cross_entropy_with_logits,
        [np.array([0, 2], np.int32), normal(2, 3)],
        lambda labels, x: -np.log(_softmax(x))[np.arange(2), labels],
    ),
    Row(
        nn.sigmoid_cross_entropy_with_logits,
        [LABELS, normal(2, 3)],
        lambda labels, x: _weighted_loss(labels, x, 1.0),
        special=tuple(itertools.product((0.0, 0.5, 1.0), FINITE)),
    ),
    Row(
        nn.weighted_cross_entropy_with_logits,
        [LABELS, normal(2, 3)],
        lambda labels, x, pos_weight: _weighted_loss(labels, x, pos_weight),
        {"pos_weight": 3.0},
    ),
    binary(nn.log_poisson_loss, lambda z, c: np.exp(c) - c * z, uniform(0.5, 3, (4,)), normal(4)),
    Row(nn.l2_loss, [normal(2, 3)], lambda x: np.sum(x * x) / 2),
    Row(nn.compute_average_loss, [normal(4)], np.mean),
    Row(nn.bias_add, [normal(2, 3), normal(3)], np.add),
    Row(nn.moments, [normal(3, 2)], _moments, {"axes": [0]}, orders=1),
    Row(nn.weighted_moments, [normal(3, 2), [0], uniform(1, 3, (3, 1))], _weighted_moments),
    Row(
        nn.batch_normalization,
        [normal(3, 2), normal(2), uniform(0.5, 2, (2,)), normal(2), normal(2), 1e-3],
        lambda x, m, v, o, s, e: (x - m) / np.sqrt(v + e) * s + o,
    ),
    *(
        Row(nn.conv2d, [IMAGE, FILTER], _conv, options, label=" ".join(map(str, options.values())))
        for options in (
            {"strides": 1, "padding": "VALID"},
            {"strides": 2, "padding": "SAME"},
            {"strides": 1, "padding": "SAME", "dilations": 2},
        )
    ),
    Row(
        nn.conv1d,
        [normal(2, 5, 2), normal(2, 2, 3)],
        lambda x, f, stride, padding: _conv(x, f, stride, padding),
        {"stride": 2, "padding": "SAME"},
    ),
    Row(
        nn.conv3d,
        [normal(1, 3, 3, 2, 1), normal(2, 2, 2, 1, 2)],
        _conv,
        {"strides": 1, "padding": "VALID"},
    ),
    Row(nn.convolution, [IMAGE, FILTER], _conv),
    Row(
        nn.conv2d_transpose,
        [normal(1, 2, 2, 2), normal(2, 2, 1, 2), (1, 4, 3, 1), 2],
        _conv_transpose,
    ),
    Row(
        nn.depthwise_conv2d,
        [IMAGE, normal(2, 2, 2, 2)],
        _depthwise,
        {"strides": [1, 1, 1, 1], "padding": "SAME"},
    ),
    Row(
        nn.separable_conv2d,
        [IMAGE, normal(2, 2, 2, 2), normal(1, 1, 4, 2)],
        lambda x, d, p, strides, padding: _conv(_depthwise(x, d, strides, padding), p),
        {"strides": [1, 1, 1, 1], "padding": "VALID"},
    ),
    *(
        Row(op, [distinct(1, *sizes, 2)], reference, options, label=label)
        for op, reference, sizes in (
            (nn.max_pool, _max_pool, (5, 4)),
            (nn.avg_pool, _avg_pool, (5, 4)),
            (nn.max_pool1d, _max_pool, (5,)),
            (nn.max_pool2d, _max_pool, (5, 4)),
            (nn.max_pool3d, _max_pool, (3, 2, 2)),
            (nn.avg_pool1d, _avg_pool, (5,)),
            (nn.avg_pool2d, _avg_pool, (5, 4)),
            (nn.avg_pool3d, _avg_pool, (3, 2, 2)),
        )
        for label, options in (
            ("tiles", {"ksize": 2, "strides": 2, "padding": "VALID"}),
            *(
                (("overlap", {"ksize": 2, "strides": 1, "padding": "SAME"}),)
                if op in (nn.max_pool, nn.avg_pool)
                else ()
            ),
        )
    ),
]

CLIP = [
    Row(
        clip_ops.clip_by_value,
        [normal(4), -0.5, 0.6],
        np.clip,
        special=tuple((x, -0.5, 0.5) for x in POINTS),
    ),
    Row(clip_ops.clip_by_norm, [normal(2, 3), 1.0], _clip_by_norm),
    Row(clip_ops.clip_by_norm, [normal(2, 3), 1.0], _clip_by_norm, {"axes": [1]}, label="axes"),
]

ROWS: list[Row] = [*MATH, *NN, *CLIP]

#: Public functions without a row, and why.
WITHOUT_ROW = {
    "dropout": "random; see test_nn.py",
    "embedding_lookup": "its gradient is IndexedSlices; see test_nn.py",
    "clip_by_global_norm": "takes a list with None in it; see test_nn.py",
    "global_norm": "takes a list with None in it; see test_nn.py",
}
