"""Calls of further kernels, by `raw_ops` and `tf.constant`."""

import io
import wave

import numpy as np

from tests.parity.kernel_inputs import IMAGES, INTS, LIKE, POSITIVE, SQUARE, VOLUMES, X, Y

BOXES = [[0.1, 0.2, 0.9, 0.8], [0.0, 0.0, 1.0, 1.0], [0.05, 0.1, 0.95, 0.9], [0.5, 0.5, 0.8, 0.9]]
SCORES = [0.9, 0.75, 0.8, 0.3]
POOL = {"ksize": [1, 2, 2, 1], "strides": [1, 2, 2, 1], "padding": "SAME"}
PIXELS = np.arange(48, dtype=np.uint8).reshape(4, 4, 3) * 5
KEY = {
    "key": np.array([2**40 + 17], np.uint64),
    "counter": np.array([3, 5], np.uint64),
    "alg": 1,
}
#: A GIF of one pixel.
GIF = (
    b"GIF89a\x01\x00\x01\x00\x80\x00\x00\xff\x00\x00\x00\x00\x00!\xf9\x04\x00\x00\x00\x00\x00,"
    b"\x00\x00\x00\x00\x01\x00\x01\x00\x00\x02\x02D\x01\x00;"
)
#: A BMP of one blue pixel.
BMP = (
    b"BM:\x00\x00\x00\x00\x00\x00\x006\x00\x00\x00(\x00\x00\x00\x01\x00\x00\x00\x01\x00\x00\x00"
    b"\x01\x00\x18\x00\x00\x00\x00\x00\x04\x00\x00\x00" + bytes(16) + b"\xff\x00\x00\x00"
)


def _sound():
    file = io.BytesIO()
    with wave.open(file, "wb") as out:
        out.setparams((1, 2, 8000, 4, "NONE", ""))
        out.writeframes(np.array([0, 1000, -1000, 32767], np.int16).tobytes())
    return file.getvalue()


def _images(c):
    """Images of numbers in [0, 1], in three channels."""
    return c(np.abs(np.sin(np.arange(48.0))).reshape(1, 4, 4, 3))


def _suppressed(op, *, threshold=0.5, **more):
    return lambda r, c: getattr(r, op)(
        boxes=c(BOXES),
        scores=c(SCORES),
        max_output_size=3,
        iou_threshold=c(threshold),
        **{k: c(v) if isinstance(v, float) else v for k, v in more.items()},
    )


def _softly_suppressed(**more):
    return _suppressed("NonMaxSuppressionV5", threshold=1.0, soft_nms_sigma=0.5, **more)


CALLS = {
    # special functions
    "ApproximateEqual": lambda r, c: r.ApproximateEqual(x=c(X), y=c(Y), tolerance=1.6),
    "CheckNumerics": lambda r, c: r.CheckNumerics(tensor=c(X), message="x"),
    "CheckNumericsV2": lambda r, c: r.CheckNumericsV2(tensor=c(X), message="x"),
    "CumulativeLogsumexp": lambda r, c: r.CumulativeLogsumexp(x=c(X), axis=1, reverse=True),
    "DeepCopy": lambda r, c: r.DeepCopy(x=c(X)),
    "GuaranteeConst": lambda r, c: r.GuaranteeConst(input=c(X)),
    "PopulationCount": lambda r, c: r.PopulationCount(x=c(INTS)),
    "ToBool": lambda r, c: [r.ToBool(input=c(2.0)), r.ToBool(input=c([0.0]))],
    # counts and elements
    "ApproxTopK": lambda r, c: r.ApproxTopK(input=c([1.0, 3.0, 2.0]), k=2),
    "Bincount": lambda r, c: r.Bincount(
        arr=c([[1, 1], [0, 3]]), size=5, weights=c(LIKE(np.asarray, 2, 2))
    ),
    "ConcatOffset": lambda r, c: r.ConcatOffset(concat_dim=1, shape=[[2, 3], [2, 4], [2, 5]]),
    "Empty": lambda r, c: r.Empty(shape=[2, 3], dtype=np.float32, init=True),
    "HistogramFixedWidth": lambda r, c: r.HistogramFixedWidth(
        values=c(X), value_range=c([-1.0, 2.0]), nbins=4
    ),
    "InTopK": lambda r, c: r.InTopK(predictions=c(X), targets=[2, 1], k=1),
    "InplaceAdd": lambda r, c: r.InplaceAdd(x=c(X), i=[1, 0], v=c(Y)),
    "InplaceSub": lambda r, c: r.InplaceSub(x=c(X), i=[1, 0], v=c(Y)),
    "InplaceUpdate": lambda r, c: r.InplaceUpdate(x=c(X), i=[1], v=c(Y[:1])),
    "ListDiff": lambda r, c: r.ListDiff(x=[1, 2, 3, 4, 2], y=[2, 5], out_idx=np.int64),
    "NthElement": lambda r, c: r.NthElement(input=c(X), n=1, reverse=True),
    "ParallelConcat": lambda r, c: r.ParallelConcat(values=[c(X[:1]), c(Y[:1])], shape=[2, 3]),
    "Reverse": lambda r, c: r.Reverse(tensor=c(X), dims=[False, True]),
    "ScatterNdNonAliasingAdd": lambda r, c: r.ScatterNdNonAliasingAdd(
        input=c([1.0, 2.0]), indices=[[1], [1]], updates=c([3.0, 4.0])
    ),
    "TensorStridedSliceUpdate": lambda r, c: r.TensorStridedSliceUpdate(
        input=c(X), begin=[0, 1], end=[2, 3], strides=[1, 1], value=c([[7.0, 8.0], [5.0, 6.0]])
    ),
    "UnravelIndex": lambda r, c: r.UnravelIndex(indices=[5, 1], dims=[2, 3]),
    # matrices
    "BandedTriangularSolve": lambda r, c: r.BandedTriangularSolve(
        matrix=c([[2.0, 3.0, 4.0], [0.0, 1.0, -1.0]]), rhs=c(SQUARE)
    ),
    "LogMatrixDeterminant": lambda r, c: r.LogMatrixDeterminant(input=c(SQUARE)),
    "Lu": lambda r, c: r.Lu(input=c(SQUARE)),
    "MatrixLogarithm": lambda r, c: r.MatrixLogarithm(input=c([[1.0, 1.0 + 0j], [0.0, 1.0]])),
    "MatrixSolveLs": lambda r, c: r.MatrixSolveLs(
        matrix=c(SQUARE), rhs=c(SQUARE), l2_regularizer=0.1
    ),
    "MatrixSquareRoot": lambda r, c: r.MatrixSquareRoot(input=c(SQUARE)),
    "SparseMatMul": lambda r, c: r.SparseMatMul(a=c(X), b=c(Y), transpose_b=True),
    "TridiagonalMatMul": lambda r, c: r.TridiagonalMatMul(
        superdiag=c([[1.0, 2.0, 0.0]]),
        maindiag=c([[3.0, 4.0, 5.0]]),
        subdiag=c([[0.0, 6.0, 7.0]]),
        rhs=c(SQUARE),
    ),
    "TridiagonalSolve": lambda r, c: r.TridiagonalSolve(
        diagonals=c([[1.0, 2.0, 0.0], [3.0, 4.0, 5.0], [0.0, 1.0, 2.0]]), rhs=c(SQUARE)
    ),
    # layers
    "DataFormatDimMap": lambda r, c: r.DataFormatDimMap(x=c([0, 1, -1])),
    "DataFormatVecPermute": lambda r, c: r.DataFormatVecPermute(
        x=c([[1, 2], [3, 4], [5, 6], [7, 8]]), src_format="NHWC", dst_format="NCHW"
    ),
    "Dilation2D": lambda r, c: r.Dilation2D(
        input=IMAGES(c),
        filter=LIKE(c, 2, 2, 2),
        strides=[1, 2, 1, 1],
        rates=[1, 1, 1, 1],
        padding="SAME",
    ),
    "IsotonicRegression": lambda r, c: r.IsotonicRegression(input=c(X)),
    "MaxPoolV2": lambda r, c: r.MaxPoolV2(input=IMAGES(c), **POOL),
    "MaxPoolWithArgmax": lambda r, c: r.MaxPoolWithArgmax(
        input=IMAGES(c), include_batch_in_index=True, **POOL
    ),
    # quantized numbers
    "FakeQuantWithMinMaxArgs": lambda r, c: r.FakeQuantWithMinMaxArgs(
        inputs=c(X), min=-1.0, max=1.0
    ),
    "FakeQuantWithMinMaxArgsGradient": lambda r, c: r.FakeQuantWithMinMaxArgsGradient(
        gradients=c(Y), inputs=c(X), min=-1.0, max=1.0
    ),
    "FakeQuantWithMinMaxVars": lambda r, c: r.FakeQuantWithMinMaxVars(
        inputs=c(X), min=c(-1.0), max=c(1.0), num_bits=4
    ),
    "FakeQuantWithMinMaxVarsGradient": lambda r, c: r.FakeQuantWithMinMaxVarsGradient(
        gradients=c(Y), inputs=c(X), min=c(-1.0), max=c(1.0)
    ),
    "FakeQuantWithMinMaxVarsPerChannel": lambda r, c: r.FakeQuantWithMinMaxVarsPerChannel(
        inputs=c(X), min=c([-1.0, -2.0, -0.5]), max=c([1.0, 1.0, 2.0])
    ),
    "FakeQuantWithMinMaxVarsPerChannelGradient": lambda r, c: (
        r.FakeQuantWithMinMaxVarsPerChannelGradient(
            gradients=c(Y), inputs=c(X), min=c([-1.0, -2.0, -0.5]), max=c([1.0, 1.0, 2.0])
        )
    ),
    "QuantizeAndDequantizeV2": lambda r, c: r.QuantizeAndDequantizeV2(
        input=c(X), input_min=c(-1.0), input_max=c(1.0), num_bits=4, range_given=True
    ),
    "QuantizeAndDequantizeV3": lambda r, c: r.QuantizeAndDequantizeV3(
        input=c(X), input_min=c(-1.0), input_max=c(1.0), num_bits=4
    ),
    "QuantizeAndDequantizeV4": lambda r, c: r.QuantizeAndDequantizeV4(
        input=c(X), input_min=c(-1.0), input_max=c(1.0), round_mode="HALF_UP"
    ),
    # signals
    "DecodeWav": lambda r, c: r.DecodeWav(contents=c(_sound())),
    "EncodeWav": lambda r, c: r.EncodeWav(audio=c([[0.1], [-0.5]]), sample_rate=8000),
    # images
    "AdjustContrastv2": lambda r, c: r.AdjustContrastv2(images=_images(c), contrast_factor=c(1.5)),
    "AdjustHue": lambda r, c: r.AdjustHue(images=_images(c), delta=c(0.2)),
    "AdjustSaturation": lambda r, c: r.AdjustSaturation(images=_images(c), scale=c(0.5)),
    "CombinedNonMaxSuppression": lambda r, c: r.CombinedNonMaxSuppression(
        boxes=c(np.array(BOXES)[None, :, None]),
        scores=c(np.array(SCORES)[None, :, None]),
        max_output_size_per_class=3,
        max_total_size=3,
        iou_threshold=c(0.5),
        score_threshold=c(0.1),
    ),
    "CropAndResize": lambda r, c: r.CropAndResize(
        image=IMAGES(c), boxes=c(BOXES[:2]), box_ind=[1, 0], crop_size=[3, 2]
    ),
    "DecodeBmp": lambda r, c: r.DecodeBmp(contents=c(BMP)),
    "DecodeGif": lambda r, c: r.DecodeGif(contents=c(GIF)),
    "DecodeImage": lambda r, c: r.DecodeImage(contents=c(GIF), expand_animations=False),
    "DecodeJpeg": lambda r, c: r.ShapeN(input=[r.DecodeJpeg(contents=r.EncodeJpeg(image=PIXELS))]),
    "DecodePng": lambda r, c: r.DecodePng(contents=r.EncodePng(image=PIXELS), channels=3),
    "DrawBoundingBoxesV2": lambda r, c: r.DrawBoundingBoxesV2(
        images=_images(c), boxes=c([BOXES[:2]]), colors=c([[1.0, 0.0, 0.5]])
    ),
    "ExtractGlimpse": lambda r, c: r.ExtractGlimpse(
        input=IMAGES(c), size=[2, 2], offsets=c([[0.0, 0.0], [0.2, -0.2]])
    ),
    "ExtractGlimpseV2": lambda r, c: r.ExtractGlimpseV2(
        input=IMAGES(c), size=[2, 2], offsets=c([[0.0, 0.0], [0.2, -0.2]])
    ),
    "ExtractImagePatches": lambda r, c: r.ExtractImagePatches(
        images=IMAGES(c),
        ksizes=[1, 2, 2, 1],
        strides=[1, 2, 1, 1],
        rates=[1, 1, 1, 1],
        padding="VALID",
    ),
    "ExtractJpegShape": lambda r, c: r.ExtractJpegShape(contents=r.EncodeJpeg(image=PIXELS)),
    "ExtractVolumePatches": lambda r, c: r.ExtractVolumePatches(
        input=VOLUMES(c), ksizes=[1, 2, 2, 2, 1], strides=[1, 2, 2, 2, 1], padding="VALID"
    ),
    "HSVToRGB": lambda r, c: r.HSVToRGB(images=_images(c)),
    "NonMaxSuppression": lambda r, c: r.NonMaxSuppression(
        boxes=c(BOXES), scores=c(SCORES), max_output_size=3, iou_threshold=0.6
    ),
    "NonMaxSuppressionV2": _suppressed("NonMaxSuppressionV2"),
    "NonMaxSuppressionV3": _suppressed("NonMaxSuppressionV3", score_threshold=0.4),
    "NonMaxSuppressionV4": _suppressed(
        "NonMaxSuppressionV4", score_threshold=0.1, pad_to_max_output_size=True
    ),
    "NonMaxSuppressionV5": lambda r, c: [
        _softly_suppressed(score_threshold=0.1)(r, c),
        _softly_suppressed(score_threshold=0.4, pad_to_max_output_size=True)(r, c),
    ],
    "NonMaxSuppressionWithOverlaps": lambda r, c: r.NonMaxSuppressionWithOverlaps(
        overlaps=c(SQUARE),
        scores=c(SCORES[:3]),
        max_output_size=3,
        overlap_threshold=c(0.3),
        score_threshold=c(0.1),
    ),
    "RGBToHSV": lambda r, c: r.RGBToHSV(images=_images(c)),
    # random numbers
    "ComputeAccidentalHits": lambda r, c: r.ComputeAccidentalHits(
        true_classes=np.array([[1, 2], [3, 4]]), sampled_candidates=np.array([4, 1]), num_true=2
    ),
    "StatelessMultinomial": lambda r, c: r.StatelessMultinomial(
        logits=c([[0.5, 0.5, 0.1]]), num_samples=4, seed=[1, 2]
    ),
    "StatelessParameterizedTruncatedNormal": lambda r, c: (
        r.StatelessParameterizedTruncatedNormal(
            shape=[3],
            seed=[1, 2],
            means=c(0.0),
            stddevs=c(1.0),
            minvals=c(5.0),
            maxvals=c(5.0 + 1e-6),
        )
        > 4
    ),
    "StatelessRandomBinomial": lambda r, c: r.StatelessRandomBinomial(
        shape=[2], seed=[1, 2], counts=c([7.0, 3.0]), probs=c([0.0, 1.0]), dtype=np.int32
    ),
    "StatelessRandomGammaV2": lambda r, c: r.StatelessRandomGammaV2(
        shape=[3], seed=[1, 2], alpha=c(1.5)
    ),
    "StatelessRandomGammaV3": lambda r, c: r.StatelessRandomGammaV3(shape=[3], alpha=c(1.5), **KEY),
    "StatelessRandomGetAlg": lambda r, c: r.StatelessRandomGetAlg(),
    "StatelessRandomGetKeyCounter": lambda r, c: r.StatelessRandomGetKeyCounter(seed=[1, 2]),
    "StatelessRandomGetKeyCounterAlg": lambda r, c: r.StatelessRandomGetKeyCounterAlg(seed=[1, 2]),
    "StatelessRandomNormalV2": lambda r, c: r.StatelessRandomNormalV2(shape=[3], **KEY),
    "StatelessRandomPoisson": lambda r, c: r.StatelessRandomPoisson(
        shape=[3], seed=[1, 2], lam=c(4.0), dtype=np.int32
    ),
    "StatelessRandomUniformFullInt": lambda r, c: r.StatelessRandomUniformFullInt(
        shape=[3], seed=[1, 2], dtype=np.uint32
    ),
    "StatelessRandomUniformFullIntV2": lambda r, c: r.StatelessRandomUniformFullIntV2(
        shape=[3], **KEY
    ),
    "StatelessRandomUniformInt": lambda r, c: r.StatelessRandomUniformInt(
        shape=[3], seed=[1, 2], minval=c(-5), maxval=c(100)
    ),
    "StatelessRandomUniformIntV2": lambda r, c: r.StatelessRandomUniformIntV2(
        shape=[3], minval=c(-5), maxval=c(100), **KEY
    ),
    "StatelessRandomUniformV2": lambda r, c: r.StatelessRandomUniformV2(shape=[3], **KEY),
    "RandomIndexShuffle": lambda r, c: r.RandomIndexShuffle(
        index=c([1, 3, 0]), seed=c([1, 2, 3]), max_index=c(70000), rounds=6
    ),
    "SobolSample": lambda r, c: r.SobolSample(dim=2, num_results=5, skip=3),
    "StatelessShuffle": lambda r, c: r.StatelessShuffle(value=c([1, 2, 3, 4]), **KEY),
    "StatelessTruncatedNormal": lambda r, c: r.StatelessTruncatedNormal(shape=[3], seed=[1, 2]),
    "StatelessTruncatedNormalV2": lambda r, c: r.StatelessTruncatedNormalV2(shape=[3], **KEY),
}
for _name in (
    "BesselI0 BesselI0e BesselI1 BesselI1e BesselJ0 BesselJ1 Dawsn FresnelCos FresnelSin"
).split():
    CALLS[_name] = lambda r, c, n=_name: getattr(r, n)(x=c(X))
for _name in "BesselK0 BesselK0e BesselK1 BesselK1e BesselY0 BesselY1 Expint Spence".split():
    CALLS[_name] = lambda r, c, n=_name: getattr(r, n)(x=c(POSITIVE))
for _name in ("FFT", "FFT2D", "FFT3D", "IFFT", "IFFT2D", "IFFT3D"):
    CALLS[_name] = lambda r, c, n=_name: getattr(r, n)(
        input=c(np.array(LIKE(np.asarray, 2, 3, 4)) * (1 + 2j))
    )
for _rank, _name in enumerate(("RFFT", "RFFT2D", "RFFT3D")):
    CALLS[_name] = lambda r, c, n=_name, k=_rank: getattr(r, n)(
        input=LIKE(c, 2, 3, 4), fft_length=[2, 3, 4][2 - k :]
    )
    CALLS[f"I{_name}"] = lambda r, c, n=f"I{_name}", k=_rank: getattr(r, n)(
        input=c(np.array(LIKE(np.asarray, 2, 3, 3)) * (1 + 2j)), fft_length=[2, 3, 4][2 - k :]
    )
#: Kernels that TensorFlow has in compiled functions only.
COMPILED = {}
for _name in "SegmentMaxV2 SegmentMinV2 SegmentProdV2 SegmentSumV2".split():
    COMPILED[_name] = lambda r, c, n=_name: getattr(r, n)(
        data=c(SQUARE), segment_ids=[0, 0, 1], num_segments=2
    )
#: What is compared by its shape and dtype only.
DRAWN = {
    "DecodeAndCropJpeg": lambda r, c: r.DecodeAndCropJpeg(
        contents=r.EncodeJpeg(image=PIXELS), crop_window=[1, 0, 2, 3]
    ),
    "StatelessSampleDistortedBoundingBox": lambda r, c: r.StatelessSampleDistortedBoundingBox(
        image_size=[20, 30, 3],
        bounding_boxes=c([BOXES[:1]]),
        min_object_covered=c(0.1),
        seed=[1, 2],
    ),
    "LearnedUnigramCandidateSampler": None,
    "LogUniformCandidateSampler": None,
    "RandomGamma": lambda r, c: r.RandomGamma(shape=[2], alpha=c([0.5, 1.5])),
    "RandomPoissonV2": lambda r, c: r.RandomPoissonV2(shape=[2], rate=c([0.5, 1.5])),
    "RandomShuffle": lambda r, c: r.RandomShuffle(value=c([1.0, 2.0])),
    "SampleDistortedBoundingBoxV2": lambda r, c: r.SampleDistortedBoundingBoxV2(
        image_size=[20, 30, 3], bounding_boxes=c([BOXES[:1]]), min_object_covered=c(0.1)
    ),
    "Timestamp": lambda r, c: r.Timestamp(),
    "UniformCandidateSampler": None,
    "EncodeJpeg": lambda r, c: r.EncodeJpeg(image=PIXELS, quality=80),
    "EncodeJpegVariableQuality": lambda r, c: r.EncodeJpegVariableQuality(
        images=PIXELS, quality=c(50)
    ),
    "EncodePng": lambda r, c: r.EncodePng(image=PIXELS),
    "Eig": lambda r, c: r.Eig(input=c(SQUARE), Tout=np.complex64),
    "MatrixExponential": lambda r, c: r.ZerosLike(x=c(SQUARE)),
}
for _name in [name for name, call in DRAWN.items() if call is None]:
    DRAWN[_name] = lambda r, c, n=_name: getattr(r, n)(
        true_classes=np.array([[1, 2]]), num_true=2, num_sampled=3, unique=False, range_max=9
    )
