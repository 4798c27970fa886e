"""Float operations of the kernels that a function was recorded of, by TensorFlow's rules for them.

TensorFlow counts by the shapes of a node. Kernels without a rule count nothing there, the bodies of
loops and the functions that a function calls neither.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

from ...core.avals import Aval
from ...core.call import Call
from ...core.control import Batched, Structured
from ...core.op import Closure, Op
from ...core.program import Node


class Shapes(NamedTuple):
    """What a node reads and gives, and its attributes."""

    inputs: list[tuple[int, ...]]
    output: tuple[int, ...]
    attributes: dict[str, Any]

    @property
    def given(self) -> int:
        """How many elements it gives."""
        return math.prod(self.output)

    @property
    def read(self) -> int:
        """How many elements its first input has."""
        return math.prod(self.inputs[0])


#: The operations of a node; by kernels where it stands for several.
Rule = Callable[[Shapes], int]
Parts = Callable[[Shapes], list[tuple[str, int]]]


class NoRule(ValueError):
    """TensorFlow has no number for such a node, and leaves it out."""


def _each(times: int) -> Rule:
    """So many for each element that is given."""
    return lambda node: node.given * times


def _of_input(times: int) -> Rule:
    """So many for each element of the first input."""
    return lambda node: node.read * times


def _less(node: Shapes) -> int:
    """One for each element of the input but one of each result."""
    return node.read - node.given


def _softmax(node: Shapes) -> int:
    return 5 * node.read + _moving(node)


def _moving(node: Shapes) -> int:
    """The sums that tell where another axis than the last one goes."""
    axis, rank = node.attributes["axis"], len(node.output)
    if axis is None or axis % rank == rank - 1:
        return 0
    return 5 if axis < 0 else 2


def _product(node: Shapes) -> int:
    """Of stacks of matrices, TensorFlow takes the last size for that which is summed over."""
    turned = len(node.inputs[0]) == 2 and (node.attributes.get("ta") or node.attributes.get("aa"))
    return 2 * node.inputs[0][-2 if turned else -1] * node.given


def _convolution(node: Shapes) -> int:
    """Of `tf.nn.convolution` and `tf.nn.conv2d`, which differ in dilated ones: the first fills up
    blocks."""
    rates = node.attributes["dilations"]
    if node.given != _filled(node, rates):
        raise NotImplementedError(
            f"the float operations of a convolution with dilations {rates} and results of shape "
            f"{node.output}: TensorFlow counts those of tf.nn.conv2d and of layers differently, "
            "unless their sizes are multiples of the dilations"
        )
    return 2 * math.prod(node.inputs[1][:-1]) * node.given


def _depthwise(node: Shapes) -> int:
    return 2 * math.prod(node.inputs[1][:2]) * _filled(node, node.attributes["dilations"])


def _filled(node: Shapes, rates: tuple[int, ...]) -> int:
    """How many elements it gives if sizes are filled up to multiples of the dilations."""
    first = 1 if node.attributes["last"] else 2
    sizes = list(node.output)
    for axis, rate in enumerate(rates, first):
        sizes[axis] = -(-sizes[axis] // rate) * rate
    return math.prod(sizes)


def _convolution_back(node: Shapes) -> int:
    _refuse_channels_first(node)
    if set(node.attributes["dilations"]) != {1}:
        raise NotImplementedError("the float operations of a transposed convolution with dilations")
    steps = math.prod(node.attributes["strides"])
    return 2 * node.given * math.prod(node.inputs[1]) // (node.output[-1] * steps)


def _pool(node: Shapes) -> int:
    _refuse_channels_first(node)
    return math.prod(node.attributes["window"]) * node.given


def _refuse_channels_first(node: Shapes) -> None:
    if not node.attributes["last"]:
        raise NoRule


#: The rules, by kernel.
KERNELS: dict[str, Rule] = {
    **dict.fromkeys(("Reciprocal", "Square", "Log", "Neg", "BiasAdd"), _of_input(1)),
    "Rsqrt": _of_input(2),
    "Softmax": _softmax,
    "LogSoftmax": _moving,
    "L2Loss": lambda node: 3 * node.read - 1,
    **dict.fromkeys(
        "AddV2 Sub Mul RealDiv Maximum Minimum Pow GreaterEqual Greater LessEqual Less Equal "
        "NotEqual".split(),
        _each(1),
    ),
    "SquaredDifference": _each(2),
    "Mean": _of_input(1),
    **dict.fromkeys(("Sum", "ArgMax", "ArgMin"), _less),
    "AddN": lambda node: node.read * (len(node.inputs) - 1),
    "MatMul": _product,
    "Conv2D": _convolution,
    "Conv3D": _convolution,
    "DepthwiseConv2dNative": _depthwise,
    "Conv2DBackpropInput": _convolution_back,
    "Dilation2D": lambda node: 2 * math.prod(node.inputs[1][:2]) * node.given,
    "AvgPool": _pool,
    "MaxPool": _pool,
}


def _batch_normalization(node: Shapes) -> list[tuple[str, int]]:
    """x * (scale * rsqrt(variance + epsilon)) + (offset - mean * that)."""
    mean, variance = (math.prod(shape) for shape in node.inputs[1:3])
    found = [("AddV2", variance), ("Rsqrt", 2 * variance)]
    if node.attributes["has_scale"]:
        found.append(("Mul", variance))
    shift = "Sub" if node.attributes["has_offset"] else "Neg"
    return [*found, ("Mul", node.given), ("Mul", mean), (shift, mean), ("AddV2", node.given)]


def _moments(node: Shapes) -> list[tuple[str, int]]:
    return [("Mean", node.read), ("SquaredDifference", 2 * node.read), ("Mean", node.read)]


def _gelu(node: Shapes) -> list[tuple[str, int]]:
    n = node.given
    if node.attributes["approximate"]:
        return [("Mul", 4 * n), ("Pow", n), ("AddV2", 2 * n)]
    return [("Mul", 3 * n), ("Neg", n)]


def _tensor_product(node: Shapes) -> list[tuple[str, int]]:
    """Of matrices: the sizes that are summed over are in both inputs, the others in the result."""
    both = math.prod(map(math.prod, node.inputs))
    return [("MatMul", 2 * node.given * math.isqrt(both // max(node.given, 1)))]


def _variance(node: Shapes) -> list[tuple[str, int]]:
    n = node.read
    return [("Mean", n), ("Sub", n), ("Square", n), ("Mean", n)]


def _log_of_sum(node: Shapes) -> list[tuple[str, int]]:
    """Of what is left beside the largest."""
    return [("Sub", node.read), ("Sum", _less(node)), ("Log", node.given), ("AddV2", node.given)]


#: Ops of ours that are several of TensorFlow's kernels, and not counted yet: the kernel that each
#: is named after, and where its function is below `_src`.
_NOT_COUNTED = """
All ops.counting:is_non_decreasing
All ops.counting:is_strictly_increasing
Cholesky ops.solvers:logdet
DenseBincount ops.counting:_bincount
Floor ops.histograms:_bins
GatherNd ops.gather_scatter:_gather_nd
GatherV2 ops.repeating:_take
L2Loss ops.clipping:_global_norm
Less ops.creation:<lambda>
Lgamma ops.elementwise:lbeta
LinSpace ops.creation:_linspace
LuMatrixInverse ops.lu_factors:lu_matrix_inverse
LuReconstruct ops.lu_factors:lu_reconstruct
MatrixExponential ops.exponentials:exponential
MatrixSolveLs ops.solvers:_lstsq
MaxPool ops.pooling:_largest_of_channels
MaxPoolWithArgmax ops.pooling:_argmax
Mean ops.counting:zero_fraction
Mul ops.clipping:_scale_all
Mul ops.joining:_laid
Mul ops.losses:_log_poisson
Mul ops.losses:_sigmoid_cross_entropy
Mul ops.losses:_weighted_cross_entropy
Mul ops.sums:_l2_normalize
Mul ops.sums:_unit
Ndtri ops.elementwise:<lambda>
Norm ops.norms:_norm
Pinv ops.decompositions:pseudo_inverse
Polyval ops.sums:_polynomial
RealDiv ops.clipping:_clip_by_norm
RealDiv ops.embedding:_clip_rows
RealDiv ops.losses:_average_loss
RealDiv ops.norms:_normalized
SSIM ops.images.measures:_structure
ScatterNd ops.counting:_confusion
SoftmaxCrossEntropyWithLogits ops.losses:_softmax_cross_entropy
Sub ops.images.measures:_differences
Sum ops.decompositions:_matrix_rank
Sum ops.diagonals:trace
Sum ops.normalization:_weighted_moments
Sum ops.signals.framing:_added
TopKV2 ops.order_kernel:order
TopKV2 ops.ordering:_sort
UnravelIndex ops.selection:_unravel_index
UnsortedSegmentSum ops.segments:_segment_sqrt_n
UnsortedSegmentSum ops.segments:_unsorted_mean
"""

#: The rules of ops of ours that are several of TensorFlow's kernels; None where there is none yet.
SEVERAL: dict[str, Parts | None] = {
    **dict.fromkeys(_NOT_COUNTED.strip().splitlines()),
    "BroadcastTo ops.repeating:_repeat": lambda node: [("Mul", 1)],
    "Gelu ops.activations:_gelu": _gelu,
    "IsFinite ops.reductions:reduce_logsumexp": _log_of_sum,
    "MatMul ops.products:<lambda>": lambda node: [("MatMul", _product(node))],
    "MatMul ops.products:_tensordot": _tensor_product,
    "Maximum ops.clipping:_clip": lambda node: [("Minimum", node.given), ("Maximum", node.given)],
    "Mean ops.normalization:_moments": _moments,
    "Mean ops.reductions:<lambda>": _variance,
    "Mean ops.reductions:_variance": _variance,
    "Mul ops.normalization:_batch_normalization": _batch_normalization,
    "Relu ops.activations:crelu": lambda node: [("Neg", node.read)],
    "Sigmoid ops.activations:_silu": lambda node: [("Mul", 2 * node.given)],
    "Softplus nn.functions:log_sigmoid": lambda node: [("Neg", 2 * node.given)],
    "Sum ops.reductions:<lambda>": lambda node: [("NotEqual", node.read), ("Sum", _less(node))],
}


#: Where ops are from that hold programs of JAX and of files.
_FROM_ELSEWHERE = ("interop.jax:", "library.saved_model.program:")


def place_of(op: Op) -> str:
    """The kernel that an op is named after, and where its function is below `_src`:
    "Mul ops.sums:_unit"."""
    fn: Any = op.fn
    while hasattr(fn, "func"):
        fn = fn.func
    module = getattr(fn, "__module__", "").rpartition("._src.")[2]
    return f"{op.name} {module}:{getattr(fn, '__qualname__', '')}"


def _one_kernel(closure: Closure) -> bool:
    """Whether it is one of TensorFlow's nodes: no derivative, no program from elsewhere."""
    if isinstance(closure, (Call, Structured)):
        return not isinstance(closure, Batched)
    place = place_of(closure.op).partition(" ")[2]
    return type(closure) is Closure and not place.startswith(_FROM_ELSEWHERE)


def float_operations(node: Node, inputs: list[Aval]) -> list[tuple[str, int]] | None:
    """The float operations of a node, by kernels; None where its shapes do not tell.

    Raises: NotImplementedError for what is not counted yet, derivatives above all.
    """
    closure = node.closure
    place = place_of(closure.op)
    if not _one_kernel(closure) or (place in SEVERAL and SEVERAL[place] is None):
        what = place.partition(":")[2].rpartition(".")[2].strip("_")
        raise NotImplementedError(f"the float operations of {closure.name} ({what})")
    rule, parts = KERNELS.get(str(closure.name)), SEVERAL.get(place)
    if rule is None and parts is None:
        return []
    if any(aval.unknown for aval in (*inputs, node.outputs[0])):
        return None
    seen = Shapes([aval.shape for aval in inputs], node.outputs[0].shape, closure.attributes)
    if parts is not None:
        return parts(seen)
    assert rule is not None
    try:
        return [(str(closure.name), rule(seen))]
    except NoRule:
        return None
