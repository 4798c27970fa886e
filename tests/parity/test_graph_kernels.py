"""The kernels of TensorFlow's graphs, each in a function of a SavedModel that is read here."""

import inspect

import numpy as np
import pytest

import tape_compat
from tape_compat._src.library.raw.definitions import MISSING, definition
from tape_compat._src.library.raw.kernels import SERVED
from tape_compat._src.library.saved_model.messages import NodeDef
from tape_compat._src.library.saved_model.nodes import attributes
from tape_compat._src.library.saved_model.registry import KERNELS
from tests.oracle import tensorflow
from tests.parity import (
    further_calls,
    gradient_calls,
    recurrent_calls,
    seldom_calls,
    sparse_calls,
    store,
)
from tests.parity.kernel_inputs import (
    FILTERS,
    IMAGES,
    INTS,
    POSITIVE,
    SMALL,
    SQUARE,
    VOLUMES,
    WORDS,
    X,
    Y,
)
from tests.parity.saved_exchange import assert_near, numbers

pytestmark = pytest.mark.skipif(
    not store.installed(), reason="tensorflow, the oracle, is not installed (extra `parity`)"
)

#: Kernels of one input, by what they are given.
UNARY = {
    "X": (
        X,
        "Abs Atan Asinh Ceil Cos Cosh Elu Erf Erfc Exp Expm1 Floor Identity IsFinite IsInf IsNan "
        "L2Loss Neg OnesLike Relu Relu6 Rint Round Selu Sigmoid Sign Sin Sinh Snapshot Softplus "
        "Softsign Square StopGradient Tan Tanh ZerosLike LogSoftmax Softmax LeakyRelu Where "
        "Shape Size Rank Reciprocal Inv PreventGradient Lgamma",
    ),
    "POSITIVE": (POSITIVE, "Digamma Log Log1p Rsqrt Sqrt"),
    "SMALL": (SMALL, "Acos Asin Atanh Erfinv"),
    "ACOSH": ([1.5, 2.0], "Acosh"),
    "NDTRI": ([0.1, 0.5], "Ndtri"),
    "BOOL": ([True, False], "LogicalNot"),
    "INTS": (INTS, "Invert"),
    "PERMUTATION": ([2, 0, 1], "InvertPermutation"),
    "COMPLEX": ([1 + 2j, -3j], "Angle Conj Real Imag ComplexAbs"),
    "SQUARE": (SQUARE, "Cholesky MatrixDeterminant MatrixInverse DiagPart MatrixDiagPart"),
    "ROW": ([1.0, 2.0], "Diag MatrixDiag"),
    "TEXT": (WORDS, "StringStrip StringLower StringUpper"),
}
#: Kernels of two inputs `x` and `y`.
BINARY = {
    "XY": (
        (X, Y),
        "Add AddV2 Atan2 Complex Div DivNoNan Equal FloorDiv FloorMod Greater GreaterEqual Less "
        "LessEqual Maximum Minimum Mul MulNoNan NotEqual RealDiv SquaredDifference Sub Mod "
        "TruncateMod",
    ),
    "POSITIVE": ((POSITIVE, POSITIVE), "Pow Xdivy Xlogy Xlog1py NextAfter"),
    "INTS": ((INTS, [[2, 3, 4], [1, 2, 3]]), "BitwiseAnd BitwiseOr BitwiseXor TruncateDiv"),
    "SHIFT": ((INTS, [[2, 1, 0], [1, 2, 3]]), "LeftShift RightShift"),
    "BOOL": (([True, False], [True, True]), "LogicalAnd LogicalOr"),
}
#: The rest, by `raw_ops` and `tf.constant`.
OTHERS = {
    "AccumulateNV2": lambda r, c: r.AccumulateNV2(inputs=[c(X), c(Y)], shape=[2, 3]),
    "AddN": lambda r, c: r.AddN(inputs=[c(X), c(Y)]),
    "All": lambda r, c: r.All(input=c([[True, False]]), axis=[1], keep_dims=True),
    "Any": lambda r, c: r.Any(input=c([[True, False]]), axis=[1]),
    "ArgMax": lambda r, c: r.ArgMax(input=c(X), dimension=1, output_type=np.int32),
    "ArgMin": lambda r, c: r.ArgMin(input=c(X), dimension=0),
    "AsString": lambda r, c: r.AsString(input=c(X), precision=2, width=8, fill="0"),
    "AvgPool": lambda r, c: r.AvgPool(
        value=IMAGES(c), ksize=[1, 2, 2, 1], strides=[1, 2, 1, 1], padding="SAME"
    ),
    "AvgPool3D": lambda r, c: r.AvgPool3D(
        input=VOLUMES(c), ksize=[1, 2, 2, 2, 1], strides=[1, 1, 2, 1, 1], padding="VALID"
    ),
    "BatchMatMul": lambda r, c: r.BatchMatMul(x=c([SQUARE]), y=c([SQUARE]), adj_x=True),
    "BatchMatMulV2": lambda r, c: r.BatchMatMulV2(x=c([X]), y=c(SQUARE), adj_y=True),
    "BatchMatMulV3": lambda r, c: r.BatchMatMulV3(x=c([X]), y=c(SQUARE), Tout=np.float32),
    "BatchToSpaceND": lambda r, c: r.BatchToSpaceND(
        input=c(np.arange(16.0).reshape(4, 2, 2, 1)), block_shape=[2, 2], crops=[[0, 1], [0, 0]]
    ),
    "Betainc": lambda r, c: r.Betainc(a=c(POSITIVE), b=c(POSITIVE), x=c(np.abs(SMALL))),
    "BiasAdd": lambda r, c: r.BiasAdd(value=c(X), bias=c([1.0, 2.0, 3.0])),
    "BiasAddV1": lambda r, c: r.BiasAddV1(value=c(X), bias=c([1.0, 2.0, 3.0])),
    "Bitcast": lambda r, c: r.Bitcast(input=c(X), type=np.int32),
    "BroadcastArgs": lambda r, c: r.BroadcastArgs(s0=c([2, 1]), s1=c([3])),
    "BroadcastTo": lambda r, c: r.BroadcastTo(input=c([1.0, 2.0]), shape=c([3, 2])),
    "Bucketize": lambda r, c: r.Bucketize(input=c(X), boundaries=[0.0, 1.0]),
    "Cast": lambda r, c: r.Cast(x=c(X), DstT=np.int32),
    "ClipByValue": lambda r, c: r.ClipByValue(
        t=c(X), clip_value_min=c(-0.5), clip_value_max=c(0.5)
    ),
    "Concat": lambda r, c: r.Concat(concat_dim=1, values=[c(X), c(Y)]),
    "ConcatV2": lambda r, c: r.ConcatV2(values=[c(X), c(Y)], axis=-1),
    "ConjugateTranspose": lambda r, c: r.ConjugateTranspose(x=c([[1 + 2j, 3j]]), perm=[1, 0]),
    "Conv2D": lambda r, c: r.Conv2D(
        input=IMAGES(c),
        filter=FILTERS(c),
        strides=[1, 2, 1, 1],
        padding="EXPLICIT",
        explicit_paddings=[0, 0, 1, 0, 0, 2, 0, 0],
    ),
    "Conv2DBackpropInput": lambda r, c: r.Conv2DBackpropInput(
        input_sizes=[2, 8, 8, 2],
        filter=FILTERS(c),
        out_backprop=c(np.arange(96.0).reshape(2, 4, 4, 3)),
        strides=[1, 2, 2, 1],
        padding="SAME",
    ),
    "Conv3D": lambda r, c: r.Conv3D(
        input=VOLUMES(c),
        filter=c(np.arange(16.0).reshape(2, 2, 2, 1, 2)),
        strides=[1, 1, 1, 1, 1],
        padding="SAME",
    ),
    "Conv3DBackpropInputV2": lambda r, c: r.Conv3DBackpropInputV2(
        input_sizes=[1, 4, 4, 4, 1],
        filter=c(np.arange(16.0).reshape(2, 2, 2, 1, 2)),
        out_backprop=c(np.arange(16.0).reshape(1, 2, 2, 2, 2)),
        strides=[1, 2, 2, 2, 1],
        padding="SAME",
    ),
    "Cross": lambda r, c: r.Cross(a=c(X), b=c(Y)),
    "Cumprod": lambda r, c: r.Cumprod(x=c(X), axis=1, reverse=True),
    "Cumsum": lambda r, c: r.Cumsum(x=c(X), axis=0, exclusive=True),
    "DecodeRaw": lambda r, c: r.DecodeRaw(bytes=c([b"abcd"]), out_type=np.uint8),
    "DenseBincount": lambda r, c: r.DenseBincount(input=c([0, 2, 2]), size=4, weights=c([0.0])[:0]),
    "DepthToSpace": lambda r, c: r.DepthToSpace(
        input=c(np.arange(16.0).reshape(1, 2, 2, 4)), block_size=2
    ),
    "DepthwiseConv2dNative": lambda r, c: r.DepthwiseConv2dNative(
        input=IMAGES(c), filter=FILTERS(c), strides=[1, 1, 1, 1], padding="VALID"
    ),
    "DynamicPartition": lambda r, c: r.DynamicPartition(
        data=c(X), partitions=c([1, 0]), num_partitions=2
    ),
    "DynamicStitch": lambda r, c: r.DynamicStitch(
        indices=[c([0, 2]), c([1])], data=[c(X), c([[9.0, 9.0, 9.0]])]
    ),
    "Einsum": lambda r, c: r.Einsum(inputs=[c(X), c(SQUARE)], equation="ab,cb->ac"),
    "EnsureShape": lambda r, c: r.EnsureShape(input=c(X), shape=[2, None]),
    "EuclideanNorm": lambda r, c: r.EuclideanNorm(input=c(X), axis=[0]),
    "ExpandDims": lambda r, c: r.ExpandDims(input=c(X), axis=1),
    "Fill": lambda r, c: r.Fill(dims=[2, 2], value=c(3.0)),
    "FusedBatchNormV3": lambda r, c: r.FusedBatchNormV3(
        x=IMAGES(c),
        scale=c([1.0, 2.0]),
        offset=c([0.5, 0.0]),
        mean=c([1.0, 0.0]),
        variance=c([2.0, 1.0]),
        is_training=False,
    )[:3],
    "FusedBatchNorm": lambda r, c: r.FusedBatchNorm(
        x=IMAGES(c),
        scale=c([1.0, 2.0]),
        offset=c([0.5, 0.0]),
        mean=c([])[:0],
        variance=c([])[:0],
    )[:3],
    "FusedBatchNormV2": lambda r, c: r.FusedBatchNormV2(
        x=IMAGES(c),
        scale=c([1.0, 2.0]),
        offset=c([0.5, 0.0]),
        mean=c([1.0, 0.0]),
        variance=c([2.0, 1.0]),
        exponential_avg_factor=0.5,
    )[:3],
    "Gather": lambda r, c: r.Gather(params=c(X), indices=[1, 0]),
    "GatherNd": lambda r, c: r.GatherNd(params=c(X), indices=[[1, 0], [0, 2]]),
    "GatherV2": lambda r, c: r.GatherV2(
        params=c(X), indices=[[1, 0], [2, 2]], axis=1, batch_dims=1
    ),
    "ImageProjectiveTransformV2": lambda r, c: r.ImageProjectiveTransformV2(
        images=IMAGES(c),
        transforms=c([[1.0, 0.3, -1.6, 0.2, 1.0, 0.3, 0.05, 0.1]]),
        output_shape=[3, 5],
        interpolation="BILINEAR",
        fill_mode="REFLECT",
    ),
    "ImageProjectiveTransformV3": lambda r, c: r.ImageProjectiveTransformV3(
        images=IMAGES(c),
        transforms=c([[1.0, 0.3, -1.6, 0.2, 1.0, 0.3, 0.05, 0.1]]),
        output_shape=[3, 5],
        fill_value=c(7.0),
        interpolation="NEAREST",
    ),
    "IdentityN": lambda r, c: r.IdentityN(input=[c(X), c(INTS)]),
    "Igamma": lambda r, c: r.Igamma(a=c(POSITIVE), x=c(POSITIVE)),
    "Igammac": lambda r, c: r.Igammac(a=c(POSITIVE), x=c(POSITIVE)),
    "InTopKV2": lambda r, c: r.InTopKV2(predictions=c(X), targets=[2, 1], k=1),
    "LRN": lambda r, c: r.LRN(input=IMAGES(c), depth_radius=1, bias=2.0, alpha=0.5, beta=0.5),
    "LinSpace": lambda r, c: r.LinSpace(start=c(0.0), stop=c(1.0), num=5),
    "LowerBound": lambda r, c: r.LowerBound(sorted_inputs=c([[1.0, 2.0]]), values=c([[1.0, 3.0]])),
    "MatMul": lambda r, c: r.MatMul(a=c(X), b=c(X), transpose_b=True),
    "MatrixBandPart": lambda r, c: r.MatrixBandPart(input=c(SQUARE), num_lower=1, num_upper=0),
    "MatrixDiagPartV2": lambda r, c: r.MatrixDiagPartV2(input=c(SQUARE), k=1, padding_value=0.0),
    "MatrixDiagPartV3": lambda r, c: r.MatrixDiagPartV3(
        input=c(SQUARE), k=[-1, 1], padding_value=7.0
    ),
    "MatrixDiagV2": lambda r, c: r.MatrixDiagV2(
        diagonal=c([1.0, 2.0]), k=1, num_rows=-1, num_cols=-1, padding_value=0.0
    ),
    "MatrixDiagV3": lambda r, c: r.MatrixDiagV3(
        diagonal=c([1.0, 2.0]), k=-1, num_rows=3, num_cols=4, padding_value=9.0
    ),
    "MatrixSetDiag": lambda r, c: r.MatrixSetDiag(input=c(SQUARE), diagonal=c([1.0, 2.0, 3.0])),
    "MatrixSetDiagV2": lambda r, c: r.MatrixSetDiagV2(input=c(SQUARE), diagonal=c([1.0, 2.0]), k=1),
    "MatrixSetDiagV3": lambda r, c: r.MatrixSetDiagV3(
        input=c(SQUARE), diagonal=c([1.0, 2.0]), k=-1
    ),
    "MatrixSolve": lambda r, c: r.MatrixSolve(matrix=c(SQUARE), rhs=c(SQUARE), adjoint=True),
    "MatrixTriangularSolve": lambda r, c: r.MatrixTriangularSolve(
        matrix=c(SQUARE), rhs=c(SQUARE), lower=False
    ),
    "Max": lambda r, c: r.Max(input=c(X), axis=[1]),
    "MaxPool": lambda r, c: r.MaxPool(
        input=IMAGES(c), ksize=[1, 3, 2, 1], strides=[1, 1, 2, 1], padding="SAME"
    ),
    "MaxPool3D": lambda r, c: r.MaxPool3D(
        input=VOLUMES(c), ksize=[1, 2, 2, 2, 1], strides=[1, 2, 2, 2, 1], padding="SAME"
    ),
    "Mean": lambda r, c: r.Mean(input=c(X), axis=[0, 1]),
    "Min": lambda r, c: r.Min(input=c(X), axis=[0], keep_dims=True),
    "MirrorPad": lambda r, c: r.MirrorPad(input=c(X), paddings=[[1, 0], [2, 1]], mode="REFLECT"),
    "OneHot": lambda r, c: r.OneHot(indices=[0, 2], depth=3, on_value=c(5.0), off_value=c(-1.0)),
    "Pack": lambda r, c: r.Pack(values=[c(X), c(Y)], axis=1),
    "Pad": lambda r, c: r.Pad(input=c(X), paddings=[[1, 0], [0, 2]]),
    "PadV2": lambda r, c: r.PadV2(input=c(X), paddings=[[1, 0], [0, 2]], constant_values=c(4.0)),
    "ParallelDynamicStitch": lambda r, c: r.ParallelDynamicStitch(
        indices=[c([0]), c([1])], data=[c([X[0]]), c([X[1]])]
    ),
    "PlaceholderWithDefault": lambda r, c: r.PlaceholderWithDefault(input=c(X), shape=[2, 3]),
    "Polygamma": lambda r, c: r.Polygamma(a=c([1.0, 2.0]), x=c([0.5, 1.5])),
    "Prod": lambda r, c: r.Prod(input=c(X), axis=[1]),
    "Qr": lambda r, c: [abs(x) for x in r.Qr(input=c(SQUARE))],
    "RaggedTensorToTensor": lambda r, c: r.RaggedTensorToTensor(
        shape=c([2, -1]),
        values=c([1.0, 2.0, 3.0]),
        default_value=c(-1.0),
        row_partition_tensors=[[0, 1, 3]],
        row_partition_types=["ROW_SPLITS"],
    ),
    "Range": lambda r, c: r.Range(start=1, limit=10, delta=3),
    "RegexReplace": lambda r, c: r.RegexReplace(input=c(WORDS), pattern="[a-c]", rewrite="x"),
    "Reshape": lambda r, c: r.Reshape(tensor=c(X), shape=[3, -1]),
    "ResizeArea": lambda r, c: r.ResizeArea(images=IMAGES(c), size=[2, 3]),
    "ResizeBicubic": lambda r, c: r.ResizeBicubic(
        images=IMAGES(c), size=[6, 3], half_pixel_centers=True
    ),
    "ResizeBilinear": lambda r, c: r.ResizeBilinear(
        images=IMAGES(c), size=[6, 3], half_pixel_centers=True
    ),
    "ResizeNearestNeighbor": lambda r, c: r.ResizeNearestNeighbor(
        images=IMAGES(c), size=[6, 3], half_pixel_centers=True
    ),
    "ReverseSequence": lambda r, c: r.ReverseSequence(
        input=c(X), seq_lengths=[2, 3], seq_dim=1, batch_dim=0
    ),
    "ReverseV2": lambda r, c: r.ReverseV2(tensor=c(X), axis=[1]),
    "Roll": lambda r, c: r.Roll(input=c(X), shift=1, axis=1),
    "ScatterNd": lambda r, c: r.ScatterNd(indices=[[1], [3]], updates=c([5.0, 6.0]), shape=[4]),
    "SegmentMax": lambda r, c: r.SegmentMax(data=c(SQUARE), segment_ids=[0, 0, 1]),
    "SegmentMean": lambda r, c: r.SegmentMean(data=c(SQUARE), segment_ids=[0, 0, 1]),
    "SegmentMin": lambda r, c: r.SegmentMin(data=c(SQUARE), segment_ids=[0, 0, 1]),
    "SegmentProd": lambda r, c: r.SegmentProd(data=c(SQUARE), segment_ids=[0, 0, 1]),
    "SegmentSum": lambda r, c: r.SegmentSum(data=c(SQUARE), segment_ids=[0, 0, 1]),
    "Select": lambda r, c: r.Select(condition=[True, False], x=c(X), y=c(Y)),
    "SelectV2": lambda r, c: r.SelectV2(condition=[[True], [False]], t=c(X), e=c(Y)),
    "SelfAdjointEigV2": lambda r, c: r.SelfAdjointEigV2(input=c(SQUARE))[0],
    "ShapeN": lambda r, c: r.ShapeN(input=[c(X), c([1.0])], out_type=np.int64),
    "Slice": lambda r, c: r.Slice(input=c(X), begin=[0, 1], size=[2, -1]),
    "SoftmaxCrossEntropyWithLogits": lambda r, c: r.SoftmaxCrossEntropyWithLogits(
        features=c(X), labels=c([[0.2, 0.8, 0.0], [0.0, 0.0, 1.0]])
    ),
    "SpaceToBatchND": lambda r, c: r.SpaceToBatchND(
        input=IMAGES(c), block_shape=[2, 2], paddings=[[0, 0], [2, 0]]
    ),
    "SpaceToDepth": lambda r, c: r.SpaceToDepth(input=IMAGES(c), block_size=2),
    "SparseSoftmaxCrossEntropyWithLogits": lambda r, c: r.SparseSoftmaxCrossEntropyWithLogits(
        features=c(X), labels=[2, 0]
    ),
    "SparseToDense": lambda r, c: r.SparseToDense(
        sparse_indices=[[0, 1], [1, 2]],
        output_shape=[2, 3],
        sparse_values=c([1.0, 2.0]),
        default_value=c(-1.0),
    ),
    "Split": lambda r, c: r.Split(axis=1, value=c(X), num_split=3),
    "SplitV": lambda r, c: r.SplitV(value=c(X), size_splits=[1, 2], axis=1, num_split=2),
    "Squeeze": lambda r, c: r.Squeeze(input=c([[X]]), axis=[1]),
    "StatelessRandomNormal": lambda r, c: r.StatelessRandomNormal(shape=[3], seed=[1, 2]),
    "StatelessRandomUniform": lambda r, c: r.StatelessRandomUniform(shape=[3], seed=[1, 2]),
    "StaticRegexFullMatch": lambda r, c: r.StaticRegexFullMatch(input=c(WORDS), pattern="[a-b ]+"),
    "StaticRegexReplace": lambda r, c: r.StaticRegexReplace(
        input=c(WORDS), pattern=" ", rewrite="-", replace_global=False
    ),
    "StridedSlice": lambda r, c: c(X)[::-1, None, 1:],
    "StringJoin": lambda r, c: r.StringJoin(inputs=[c(WORDS), c(b"!")], separator=" "),
    "RegexFullMatch": lambda r, c: r.RegexFullMatch(input=c(WORDS), pattern="[a-b ]+"),
    "StringLength": lambda r, c: r.StringLength(input=c(WORDS)),
    "Substr": lambda r, c: r.Substr(input=c([b"abc", b"de"]), pos=1, len=1),
    "StringSplitV2": lambda r, c: r.StringSplitV2(input=c(WORDS), sep=""),
    "StringToHashBucketStrong": lambda r, c: r.StringToHashBucketStrong(
        input=c(WORDS), num_buckets=50, key=[1, 2]
    ),
    "StringToHashBucketFast": lambda r, c: r.StringToHashBucketFast(input=c(WORDS), num_buckets=50),
    "StringToNumber": lambda r, c: r.StringToNumber(string_tensor=c([b"1.5"]), out_type=np.float64),
    "Sum": lambda r, c: r.Sum(input=c(X), axis=[1], keep_dims=True),
    "Svd": lambda r, c: r.Svd(input=c(X))[0],
    "TensorScatterAdd": lambda r, c: r.TensorScatterAdd(
        tensor=c(X), indices=[[1], [1]], updates=c(Y)
    ),
    "TensorScatterMax": lambda r, c: r.TensorScatterMax(
        tensor=c(X), indices=[[1], [0]], updates=c(Y)
    ),
    "TensorScatterMin": lambda r, c: r.TensorScatterMin(
        tensor=c(X), indices=[[1], [0]], updates=c(Y)
    ),
    "TensorScatterSub": lambda r, c: r.TensorScatterSub(
        tensor=c(X), indices=[[1], [1]], updates=c(Y)
    ),
    "TensorScatterUpdate": lambda r, c: r.TensorScatterUpdate(
        tensor=c(X), indices=[[1], [0]], updates=c(Y)
    ),
    "Tile": lambda r, c: r.Tile(input=c(X), multiples=[2, 1]),
    "TopKV2": lambda r, c: r.TopKV2(input=c(X), k=2),
    "Transpose": lambda r, c: r.Transpose(x=c(X), perm=[1, 0]),
    "Unique": lambda r, c: r.Unique(x=c([3, 1, 3]), out_idx=np.int64),
    "UniqueWithCounts": lambda r, c: r.UniqueWithCounts(x=c([3, 1, 3])),
    "UniqueV2": lambda r, c: r.UniqueV2(x=c([[3, 1], [0, 1], [3, 1]]), axis=[0], out_idx=np.int64),
    "UniqueWithCountsV2": lambda r, c: r.UniqueWithCountsV2(x=c([3, 1, 3]), axis=[0]),
    "Unpack": lambda r, c: r.Unpack(value=c(X), num=3, axis=1),
    "UnsortedSegmentMax": lambda r, c: r.UnsortedSegmentMax(
        data=c(SQUARE), segment_ids=[1, 0, 1], num_segments=2
    ),
    "UnsortedSegmentMin": lambda r, c: r.UnsortedSegmentMin(
        data=c(SQUARE), segment_ids=[1, 0, 1], num_segments=2
    ),
    "UnsortedSegmentProd": lambda r, c: r.UnsortedSegmentProd(
        data=c(SQUARE), segment_ids=[1, 0, 1], num_segments=2
    ),
    "UnsortedSegmentSum": lambda r, c: r.UnsortedSegmentSum(
        data=c(SQUARE), segment_ids=[1, 0, 1], num_segments=3
    ),
    "UpperBound": lambda r, c: r.UpperBound(
        sorted_inputs=c([[1.0, 2.0]]), values=c([[1.0, 3.0]]), out_type=np.int64
    ),
    "Zeta": lambda r, c: r.Zeta(x=c([2.0, 3.0]), q=c([1.0, 0.5])),
}
#: Not compared by value: constants, what must be fed, what draws other numbers each time, and what
#: gives nothing.
APART = {"Const", "Placeholder", "Multinomial", "RandomStandardNormal", "RandomUniform"}
APART |= {"RandomUniformInt", "TruncatedNormal", "Assert", "NoOp", "PrintV2"}
APART |= further_calls.DRAWN.keys() | further_calls.COMPILED.keys()
APART |= sparse_calls.OF_FILES | recurrent_calls.DRAWN.keys() | seldom_calls.DRAWN.keys()
#: In graphs TensorFlow's kernel writes over an input that it reads again.
APART |= {"LSTMBlockCellGrad"}
#: What the real op is called where it has another argument.
ARGUMENT = {"L2Loss": "t", "LogSoftmax": "logits", "Softmax": "logits", "Cholesky": "input"}
for _name in "Softplus Softsign Elu Relu Relu6 Selu LeakyRelu".split():
    ARGUMENT[_name] = "features"
for _name in "Identity StopGradient PreventGradient Snapshot DiagPart MatrixDiagPart Conj".split():
    ARGUMENT[_name] = "input"
for _name in "Angle Real Imag Shape Size Rank MatrixDeterminant MatrixInverse StringStrip".split():
    ARGUMENT[_name] = "input"
for _name in "StringLower StringUpper".split():
    ARGUMENT[_name] = "input"
ARGUMENT |= {"Where": "condition", "Diag": "diagonal", "MatrixDiag": "diagonal"}


def narrow(tf, value):
    """A constant, of numbers of half as many bits as NumPy's."""
    x = tf.constant(value if isinstance(value, bytes) else np.asarray(value))
    less = {tf.float64: tf.float32, tf.int64: tf.int32, tf.complex128: tf.complex64}
    return tf.cast(x, less.get(x.dtype, x.dtype))


def kernel_calls():
    """A call of each kernel, by `raw_ops` and what makes tensors."""
    calls = {
        **OTHERS,
        **gradient_calls.CALLS,
        **further_calls.CALLS,
        **sparse_calls.CALLS,
        **recurrent_calls.CALLS,
        **seldom_calls.CALLS,
    }
    for value, names in UNARY.values():
        for name in names.split():
            given = ARGUMENT.get(name, "x")
            calls[name] = lambda r, c, n=name, g=given, v=value: getattr(r, n)(**{g: c(v)})
    for (x, y), names in BINARY.values():
        for name in names.split():
            given = {"Complex": ("real", "imag"), "Atan2": ("y", "x"), "NextAfter": ("x1", "x2")}
            one, two = given.get(name, ("x", "y"))
            calls[name] = lambda r, c, n=name, a=one, b=two, x=x, y=y: getattr(r, n)(
                **{a: c(x), b: c(y)}
            )
    return calls


def kernel_functions(tf):
    """A function for each kernel, of one number that all it computes with is multiplied by: nothing
    is worked out when it is recorded. Recorded once: TensorFlow records one that is not concrete
    again when it saves it, and writes both."""

    def function(call):
        def constant(one):
            def made(value):
                x = narrow(tf, value)
                numbers = (tf.int32, tf.float32, tf.complex64)
                return x * tf.cast(one, x.dtype) if x.dtype in numbers else x

            return made

        return tf.function(
            lambda one: call(tf.raw_ops, constant(one)),
            input_signature=[tf.TensorSpec([], tf.float32)],
            autograph=False,
        ).get_concrete_function()

    return {name: function(call) for name, call in kernel_calls().items()}


def test_every_kernel(tmp_path):
    tf = tensorflow()
    made = tf.Module()
    made.functions = kernel_functions(tf)
    missing = KERNELS.keys() - made.functions.keys() - APART
    assert not missing, sorted(missing)
    for name, function in made.functions.items():
        setattr(made, name, function)
    tf.saved_model.save(made, str(tmp_path))
    loaded = tape_compat.saved_model.load(str(tmp_path))
    wrong = {}
    for name in made.functions.keys() - APART:
        function = made.functions[name]
        expected = numbers(function(tf.constant(1.0)))
        try:
            assert_near(numbers(getattr(loaded, name)(tape_compat.constant(1.0))), expected)
        except Exception as error:
            wrong[name] = f"{type(error).__name__}: {str(error)[:200]}"
    assert not wrong, wrong


def test_attributes_that_graphs_leave_out():
    """What TensorFlow has a default for is not saved: a kernel finds that default."""
    for name, function in KERNELS.items() & SERVED.items():
        defined = definition(name).attributes
        found = attributes(NodeDef(op=name))
        for parameter in inspect.signature(function).parameters.values():
            attribute = defined.get(parameter.name)
            if parameter.kind is parameter.KEYWORD_ONLY and attribute is None:
                assert parameter.default is not parameter.empty, (name, parameter.name)
            elif parameter.kind is parameter.KEYWORD_ONLY and attribute.default is not MISSING:
                assert parameter.name in found, (name, parameter.name)
    assert attributes(NodeDef(op="ArgMax")) == {"output_type": tape_compat.int64}
    assert attributes(NodeDef(op="Conv2D"))["dilations"] == [1, 1, 1, 1]
