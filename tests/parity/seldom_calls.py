"""Calls of kernels that few programs call, by `raw_ops` and `tf.constant`."""

import numpy as np

from tests.parity.kernel_inputs import FILTERS, IMAGES, LIKE, VOLUMES, X

POOL = {"ksize": [1, 2, 2, 1], "strides": [1, 2, 1, 1], "padding": "SAME"}
POOL3 = {"ksize": [1, 2, 2, 2, 1], "strides": [1, 2, 2, 2, 1], "padding": "SAME"}
#: Elements of a matrix of two rows.
PLACES = np.array([[0, 1], [1, 0]])
ROWS = [np.array([[b"x"], [b"y"]], object), np.array([[b"a", b"b"], [b"c", b"d"]], object)]
#: Where windows over 4 rows, and over 4 columns, begin and end.
ENDS = {"row_pooling_sequence": np.array([0, 1, 4]), "col_pooling_sequence": np.array([0, 1, 2, 4])}
#: A WebP file of four pixels.
WEBP = (
    b"RIFF(\x00\x00\x00WEBPVP8L\x1b\x00\x00\x00/\x01@\x00"
    b"\x00\x1fp\n\x9e\xe19\n\xcf\xfc\x07\xde\x1d\xc8\x06(S\x85YD\xffc\x07\x00"
)


def _between(c, *shape):
    """Numbers between 0 and 1, as gates have."""
    return 0.5 + 0.4 * LIKE(c, *shape)


def _weights(c):
    of_gates = {name: LIKE(c, 2) * scale for name, scale in zip(("wci", "wcf", "wco"), (1.0, 2, 3))}
    return {"w": LIKE(c, 5, 8), "b": LIKE(c, 8), **of_gates}


def _block(op):
    gates = ("i", "cs", "f", "o", "ci", "co", "h")
    return lambda r, c: getattr(r, op)(
        seq_len_max=np.int64(2),
        x=LIKE(c, 3, 2, 3),
        cs_prev=LIKE(c, 2, 2),
        h_prev=LIKE(c, 2, 2) * 2.0,
        cs_grad=LIKE(c, 3, 2, 2) * 0.1,
        h_grad=LIKE(c, 3, 2, 2) * 0.2,
        use_peephole=True,
        **_weights(c),
        **{name: _between(c, 3, 2, 2) / float(k + 1) for k, name in enumerate(gates)},
    )


def _largest(x):
    """What fractional pooling gives between the ends above, where windows share an edge."""
    rows, columns = ((0, 2), (1, 4)), ((0, 2), (1, 3), (2, 4))
    return np.array([[[n[i:j, k:m].max((0, 1)) for k, m in columns] for i, j in rows] for n in x])


def _moved(kernel, antialias):
    return lambda r, c: r.ScaleAndTranslate(
        images=IMAGES(c),
        size=[5, 3],
        scale=np.float32([1.7, 0.4]),
        translation=np.float32([-0.7, 1.1]),
        kernel_type=kernel,
        antialias=antialias,
    )


def _segments(op):
    return lambda r, c: getattr(r, op)(
        grad=LIKE(c, 2, 3), indices=[4, 1, 4], segment_ids=[0, 0, 1], dense_output_dim0=6
    )


def _pooled(r, c):
    return r.MaxPool(input=IMAGES(c), **POOL)


def _sparse(c):
    return {"sparse_indices": PLACES, "sparse_values": c([1.0, 2.0]), "sparse_shape": [2, 3]}


CALLS = {
    # pooling
    "FractionalAvgPoolGrad": lambda r, c: r.FractionalAvgPoolGrad(
        orig_input_tensor_shape=[2, 4, 4, 2], out_backprop=LIKE(c, 2, 2, 3, 2), **ENDS
    ),
    "FractionalMaxPoolGrad": lambda r, c: r.FractionalMaxPoolGrad(
        orig_input=IMAGES(c),
        orig_output=c(_largest(IMAGES(np.asarray))),
        out_backprop=LIKE(c, 2, 2, 3, 2),
        overlapping=True,
        **ENDS,
    ),
    "MaxPool3DGradGrad": lambda r, c: r.MaxPool3DGradGrad(
        orig_input=VOLUMES(c),
        orig_output=r.MaxPool3D(input=VOLUMES(c), **POOL3),
        grad=LIKE(c, 1, 4, 4, 4, 1),
        **POOL3,
    ),
    "MaxPoolGradGrad": lambda r, c: r.MaxPoolGradGrad(
        orig_input=IMAGES(c), orig_output=_pooled(r, c), grad=LIKE(c, 2, 4, 4, 2), **POOL
    ),
    "MaxPoolGradGradV2": lambda r, c: r.MaxPoolGradGradV2(
        orig_input=IMAGES(c), orig_output=_pooled(r, c), grad=LIKE(c, 2, 4, 4, 2), **POOL
    ),
    # recurrent layers
    "BlockLSTMGrad": _block("BlockLSTMGrad"),
    "BlockLSTMGradV2": _block("BlockLSTMGradV2"),
    "GRUBlockCellGrad": lambda r, c: r.GRUBlockCellGrad(
        x=LIKE(c, 2, 3),
        h_prev=LIKE(c, 2, 2),
        w_ru=LIKE(c, 5, 4),
        w_c=LIKE(c, 5, 2),
        b_ru=LIKE(c, 4),
        b_c=LIKE(c, 2),
        r=_between(c, 2, 2),
        u=_between(c, 2, 2) / 2.0,
        c=LIKE(c, 2, 2),
        d_h=LIKE(c, 2, 2),
    ),
    "LSTMBlockCellGrad": lambda r, c: r.LSTMBlockCellGrad(
        x=LIKE(c, 2, 3),
        cs_prev=LIKE(c, 2, 2),
        h_prev=LIKE(c, 2, 2),
        cs_grad=LIKE(c, 2, 2),
        h_grad=LIKE(c, 2, 2) * 3.0,
        use_peephole=True,
        **_weights(c),
        **{
            name: _between(c, 2, 2) / float(k + 1)
            for k, name in enumerate(("i", "cs", "f", "o", "ci", "co"))
        },
    ),
    # images and layers
    "FusedPadConv2D": lambda r, c: r.FusedPadConv2D(
        input=IMAGES(c)[:1],
        paddings=[[0, 0], [1, 1], [2, 0], [0, 0]],
        filter=FILTERS(c),
        mode="REFLECT",
        strides=[1, 2, 2, 1],
        padding="VALID",
    ),
    "FusedResizeAndPadConv2D": lambda r, c: r.FusedResizeAndPadConv2D(
        input=IMAGES(c)[:1],
        size=[6, 5],
        paddings=[[0, 0], [1, 1], [2, 0], [0, 0]],
        filter=FILTERS(c),
        mode="SYMMETRIC",
        strides=[1, 1, 1, 1],
        padding="VALID",
    ),
    "DecodeWebP": lambda r, c: r.DecodeWebP(contents=WEBP, channels=3),
    "ScaleAndTranslate": _moved("lanczos3", True),
    "ScaleAndTranslateGrad": lambda r, c: r.ScaleAndTranslateGrad(
        grads=LIKE(c, 2, 3, 5, 2),
        original_image=IMAGES(c),
        scale=np.float32([0.7, 1.4]),
        translation=np.float32([0.2, 0.1]),
    ),
    "CTCLoss": lambda r, c: r.CTCLoss(
        inputs=LIKE(c, 5, 2, 4),
        labels_indices=np.array([[0, 0], [0, 1], [1, 0]]),
        labels_values=[1, 1, 2],
        sequence_length=[5, 4],
    ),
    # sound
    "AudioSpectrogram": lambda r, c: r.AudioSpectrogram(
        input=LIKE(c, 20, 2), window_size=5, stride=3
    ),
    "Mfcc": lambda r, c: r.Mfcc(
        spectrogram=LIKE(c, 1, 3, 129) * LIKE(c, 1, 3, 129),
        sample_rate=16000,
        filterbank_channel_count=20,
        dct_coefficient_count=5,
    ),
    # sparse and ragged tensors
    "RaggedFillEmptyRows": lambda r, c: r.RaggedFillEmptyRows(
        value_rowids=np.array([0, 2, 2]),
        values=c([1.0, 2.0, 3.0]),
        nrows=np.int64(4),
        default_value=c(9.0),
    ),
    "RaggedFillEmptyRowsGrad": lambda r, c: r.RaggedFillEmptyRowsGrad(
        reverse_index_map=np.array([0, 2, 3]), grad_values=c([1.0, 2.0, 3.0, 4.0, 5.0])
    ),
    "SparseAddGrad": lambda r, c: r.SparseAddGrad(
        backprop_val_grad=c([1.0, 2.0]),
        a_indices=np.array([[0, 1]]),
        b_indices=np.array([[0, 0], [1, 0]]),
        sum_indices=PLACES,
    ),
    "SparseSegmentMeanGradV2": _segments("SparseSegmentMeanGradV2"),
    "SparseSegmentSqrtNGradV2": _segments("SparseSegmentSqrtNGradV2"),
    "SparseSegmentSumGradV2": _segments("SparseSegmentSumGradV2"),
    "SparseSliceGrad": lambda r, c: r.SparseSliceGrad(
        backprop_val_grad=c([5.0]),
        input_indices=PLACES,
        input_start=np.array([1, 0]),
        output_indices=np.array([[0, 0]]),
    ),
    "SerializeSparse": lambda r, c: r.SerializeSparse(**_sparse(c)),
    "SerializeManySparse": lambda r, c: r.SerializeManySparse(**_sparse(c)),
    "DeserializeSparse": lambda r, c: r.DeserializeSparse(
        serialized_sparse=r.SerializeSparse(**_sparse(c)), dtype=c([1.0]).dtype
    ),
    "DeserializeManySparse": lambda r, c: r.DeserializeManySparse(
        serialized_sparse=r.SerializeManySparse(**_sparse(c)), dtype=c([1.0]).dtype
    ),
    # counts and crosses
    "RaggedBincount": lambda r, c: r.RaggedBincount(
        splits=[0, 1, 4], values=[1, 0, 0, 5], size=3, weights=c([0.5, 1.5, 2.0, 7.0])
    ),
    "RaggedCountSparseOutput": lambda r, c: r.RaggedCountSparseOutput(
        splits=[0, 1, 3], values=[1, 0, 0], weights=c([0.5, 1.0, 2.0]), binary_output=False
    ),
    "SparseBincount": lambda r, c: r.SparseBincount(
        indices=PLACES, values=[1, 2], dense_shape=[2, 2], size=3, weights=c([0.0])[:0]
    ),
    "SparseCountSparseOutput": lambda r, c: r.SparseCountSparseOutput(
        indices=PLACES, values=[1, 2], dense_shape=[2, 2], weights=c([0.0])[:0], binary_output=True
    ),
    "SparseCross": lambda r, c: r.SparseCross(
        indices=[PLACES],
        values=[np.array([3, 4])],
        shapes=[[2, 2]],
        dense_inputs=ROWS,
        hashed_output=True,
        num_buckets=100,
        hash_key=7,
        out_type=np.int64,
        internal_type=np.int64,
    ),
    "SparseCrossV2": lambda r, c: r.SparseCrossV2(
        indices=[], values=[], shapes=[], dense_inputs=ROWS, sep="_"
    ),
    "RaggedCross": lambda r, c: r.RaggedCross(
        ragged_values=[np.array([1, 2])],
        ragged_row_splits=[np.array([0, 1, 2])],
        sparse_indices=[],
        sparse_values=[],
        sparse_shape=[],
        dense_inputs=ROWS[1:],
        input_order="DR",
        hashed_output=False,
        num_buckets=0,
        hash_key=1,
        out_values_type=np.bytes_,
        out_row_splits_type=np.int64,
    ),
    # texts
    "Fingerprint": lambda r, c: r.Fingerprint(data=c(X), method="farmhash64"),
    "ShardedFilename": lambda r, c: r.ShardedFilename(basename="a", shard=1, num_shards=30),
    "ShardedFilespec": lambda r, c: r.ShardedFilespec(basename="a", num_shards=30),
    "StringSplit": lambda r, c: r.StringSplit(input=[b"a b", b"c,,d"], delimiter=" ,"),
    "UnicodeScript": lambda r, c: r.UnicodeScript(input=[65, 1050]),
}
#: Other attributes of these.
VARIANTS = {
    f"ScaleAndTranslate {name} {wide}": _moved(name, wide)
    for name in "lanczos5 gaussian box triangle keyscubic mitchellcubic".split()
    for wide in (True, False)
} | {
    "RaggedBincount of none": lambda r, c: r.RaggedBincount(
        splits=[0, 1, 4], values=[1, 0, 0, 5], size=3, weights=c([0.0])[:0], binary_output=True
    ),
    "SparseBincount of a vector": lambda r, c: r.SparseBincount(
        indices=PLACES[:, :1], values=[1, 1], dense_shape=[2], size=3, weights=c([0.5, 2.0])
    ),
    "Fingerprint of texts": lambda r, c: r.Fingerprint(data=ROWS[1], method="farmhash64"),
    "Fingerprint by another method": lambda r, c: r.Fingerprint(
        data=c(X), method="md5 of the bytes of a row"
    ),
    "Fingerprint of a number": lambda r, c: r.Fingerprint(data=c(1.0), method="farmhash64"),
    "StringSplit with empty ones": lambda r, c: r.StringSplit(
        input=[b"a b", b"c,,d"], delimiter=",", skip_empty=False
    ),
}


def _candidates(op, **more):
    return lambda r, c: getattr(r, op)(
        true_classes=np.array([[1]]), num_true=1, num_sampled=2, unique=True, **more
    )


#: What is compared by its shape and dtype only.
DRAWN = {
    "AllCandidateSampler": _candidates("AllCandidateSampler"),
    "FixedUnigramCandidateSampler": _candidates(
        "FixedUnigramCandidateSampler", range_max=3, unigrams=[1.0, 2.0, 3.0]
    ),
    "NonDeterministicInts": lambda r, c: r.NonDeterministicInts(shape=[2, 3], dtype=np.int32),
    "ParameterizedTruncatedNormal": lambda r, c: r.ParameterizedTruncatedNormal(
        shape=[2, 3], means=c([0.0, 1.0]), stdevs=c(1.0), minvals=c(-1.0), maxvals=c(2.0)
    ),
    "SampleDistortedBoundingBox": lambda r, c: r.SampleDistortedBoundingBox(
        image_size=[5, 5, 3], bounding_boxes=c([[[0.1, 0.2, 0.9, 0.8]]])
    ),
    "ThreadUnsafeUnigramCandidateSampler": _candidates(
        "ThreadUnsafeUnigramCandidateSampler", range_max=3
    ),
}
