"""Calls of kernels of sparse tensors and of texts, by `raw_ops` and `tf.constant`."""

import zlib

import numpy as np

from tests.parity.kernel_inputs import LIKE, X

A = np.array([[0, 1], [1, 0], [1, 2]])
B = np.array([[0, 1], [0, 2], [1, 2]])
SHAPE = np.array([2, 3])
#: An example with two floats `x`, the integers 3, 4 and 5 as `i` and the texts a and b as `s`.
_EXAMPLE = (
    b"\n0\n\x0c\n\x01i\x12\x07\x1a\x05\n\x03\x03\x04\x05\n\r\n\x01s\x12\x08\n\x06\n\x01a\n\x01b"
    b"\n\x11\n\x01x\x12\x0c\x12\n\n\x08\x00\x00\x80?\x00\x00\x00@"
)
WORDS = [b"a b", b"\xc3\xa9", b"Cde"]


def _one(c, prefix="", values=(3.0, -1.0, 2.0), shape="shape"):
    return {f"{prefix}indices": A, f"{prefix}values": c(list(values)), f"{prefix}{shape}": SHAPE}


def _other(c, prefix="", values=(5.0, 7.0, -2.0), shape="shape"):
    return {f"{prefix}indices": B, f"{prefix}values": c(list(values)), f"{prefix}{shape}": SHAPE}


def _sets(c, which):
    return {
        f"set{which}_indices": A if which == 1 else B,
        f"set{which}_values": c([1, 2, 3] if which == 1 else [1, 4, 3]),
        f"set{which}_shape": SHAPE,
    }


CALLS = {
    "CTCGreedyDecoder": lambda r, c: r.CTCGreedyDecoder(
        inputs=LIKE(c, 5, 2, 4), sequence_length=[5, 3], merge_repeated=True
    ),
    "DenseToDenseSetOperation": lambda r, c: r.DenseToDenseSetOperation(
        set1=c([[1, 2], [3, 3]]), set2=c([[2, 5], [3, 4]]), set_operation="a-b"
    ),
    "DenseToSparseSetOperation": lambda r, c: r.DenseToSparseSetOperation(
        set1=c([[1, 2], [3, 3]]), set_operation="union", **_sets(c, 2)
    ),
    "EditDistance": lambda r, c: r.EditDistance(
        hypothesis_indices=A,
        hypothesis_values=c([1, 2, 3]),
        hypothesis_shape=SHAPE,
        truth_indices=B,
        truth_values=c([1, 2, 3]),
        truth_shape=SHAPE,
    ),
    "RaggedRange": lambda r, c: r.RaggedRange(
        starts=c([0, 5]), limits=c([3, 1]), deltas=c([1, -2])
    ),
    "RaggedTensorToSparse": lambda r, c: r.RaggedTensorToSparse(
        rt_nested_splits=[np.array([0, 2, 2, 3])], rt_dense_values=c([1.0, 2.0, 3.0])
    ),
    "SetSize": lambda r, c: r.SetSize(set_indices=A, set_values=c([1, 2, 2]), set_shape=SHAPE),
    "SparseAdd": lambda r, c: r.SparseAdd(**_one(c, "a_"), **_other(c, "b_"), thresh=c(0.5)),
    "SparseConcat": lambda r, c: r.SparseConcat(
        indices=[A, B],
        values=[c([1.0, 2.0, 3.0]), c([4.0, 5.0, 6.0])],
        shapes=[SHAPE, SHAPE],
        concat_dim=1,
    ),
    "SparseFillEmptyRows": lambda r, c: r.SparseFillEmptyRows(
        indices=np.array([[0, 1], [3, 0], [2, 2]]),
        values=c([1.0, 2.0, 3.0]),
        dense_shape=np.array([5, 3]),
        default_value=c(9.0),
    ),
    "SparseFillEmptyRowsGrad": lambda r, c: r.SparseFillEmptyRowsGrad(
        reverse_index_map=np.array([0, 3, 2]), grad_values=c([1.0, 2.0, 3.0, 4.0, 5.0])
    ),
    "SparseReduceMax": lambda r, c: r.SparseReduceMax(**_one(c, "input_"), reduction_axes=[1]),
    "SparseReduceMaxSparse": lambda r, c: r.SparseReduceMaxSparse(
        **_one(c, "input_"), reduction_axes=[0]
    ),
    "SparseReduceSum": lambda r, c: r.SparseReduceSum(
        **_one(c, "input_"), reduction_axes=[0], keep_dims=True
    ),
    "SparseReduceSumSparse": lambda r, c: r.SparseReduceSumSparse(
        **_one(c, "input_"), reduction_axes=[1]
    ),
    "SparseReorder": lambda r, c: r.SparseReorder(
        input_indices=A[::-1].copy(), input_values=c([1.0, 2.0, 3.0]), input_shape=SHAPE
    ),
    "SparseReshape": lambda r, c: r.SparseReshape(
        input_indices=A, input_shape=SHAPE, new_shape=np.array([3, -1])
    ),
    "SparseSlice": lambda r, c: r.SparseSlice(
        **_one(c), start=np.array([0, 1]), size=np.array([2, 2])
    ),
    "SparseSoftmax": lambda r, c: r.SparseSoftmax(**_one(c, "sp_")),
    "SparseSparseMaximum": lambda r, c: r.SparseSparseMaximum(**_one(c, "a_"), **_other(c, "b_")),
    "SparseSparseMinimum": lambda r, c: r.SparseSparseMinimum(**_one(c, "a_"), **_other(c, "b_")),
    "SparseSplit": lambda r, c: r.SparseSplit(split_dim=np.int64(1), num_split=2, **_one(c)),
    "SparseTensorDenseAdd": lambda r, c: r.SparseTensorDenseAdd(**_one(c, "a_"), b=c(X)),
    "SparseTensorDenseMatMul": lambda r, c: r.SparseTensorDenseMatMul(
        **_one(c, "a_"), b=c(X), adjoint_b=True
    ),
    "SparseToSparseSetOperation": lambda r, c: r.SparseToSparseSetOperation(
        set_operation="intersection", **_sets(c, 1), **_sets(c, 2)
    ),
    # texts and files
    "DecodeBase64": lambda r, c: r.DecodeBase64(input=c([b"YWJj"])),
    "DecodeCSV": lambda r, c: r.DecodeCSV(
        records=c([b"1;a;2.5", b";b;3"]),
        record_defaults=[c([7]), c([b""]), c([0.5])],
        field_delim=";",
    ),
    "DecodeCompressed": lambda r, c: r.DecodeCompressed(
        bytes=c([zlib.compress(b"abc")]), compression_type="ZLIB"
    ),
    "DecodePaddedRaw": lambda r, c: r.DecodePaddedRaw(
        input_bytes=c([b"abcd", b"e"]), fixed_length=4, out_type=np.uint8
    ),
    "EncodeBase64": lambda r, c: r.EncodeBase64(input=c([b"abcd"]), pad=True),
    "MatchingFiles": lambda r, c: r.MatchingFiles(pattern=c(b"/no/such/place/*")),
    "ParseExampleV2": lambda r, c: r.ParseExampleV2(
        serialized=c([_EXAMPLE, b""]),
        names=[],
        sparse_keys=c([b"i"]),
        dense_keys=c([b"x", b"more"]),
        ragged_keys=c([b"s"]),
        dense_defaults=[np.array([0.5, 1.5], np.float32), np.array([7])],
        num_sparse=1,
        sparse_types=[np.int64],
        ragged_value_types=[np.str_],
        ragged_split_types=[np.int32],
        dense_shapes=[[2], [None]],
    ),
    "ParseTensor": lambda r, c: r.ParseTensor(
        serialized=r.SerializeTensor(tensor=c(X)), out_type=np.float32
    ),
    "ReduceJoin": lambda r, c: r.ReduceJoin(
        inputs=c([WORDS, WORDS]), reduction_indices=[0], separator="-"
    ),
    "SerializeTensor": lambda r, c: r.SerializeTensor(tensor=c([1, 2])),
    "StringFormat": lambda r, c: r.StringFormat(
        inputs=[c([1, 2]), c(b"x")], template="a %s b %s", placeholder="%s"
    ),
    "StringNGrams": lambda r, c: r.StringNGrams(
        data=c([b"a", b"b", b"c", b"d"]),
        data_splits=np.array([0, 3, 4]),
        separator="|",
        ngram_widths=[2, 3],
        left_pad="<",
        right_pad=">",
        pad_width=1,
        preserve_short_sequences=False,
    ),
    "StringToHashBucket": lambda r, c: r.StringToHashBucket(string_tensor=c(WORDS), num_buckets=50),
    "UnicodeDecode": lambda r, c: r.UnicodeDecode(input=c(WORDS), input_encoding="UTF-8"),
    "UnicodeDecodeWithOffsets": lambda r, c: r.UnicodeDecodeWithOffsets(
        input=c(WORDS), input_encoding="UTF-8"
    ),
    "UnicodeEncode": lambda r, c: r.UnicodeEncode(
        input_values=c([97, 233, 98]), input_splits=np.array([0, 2, 3]), output_encoding="UTF-8"
    ),
    "UnicodeTranscode": lambda r, c: r.UnicodeTranscode(
        input=c(WORDS), input_encoding="UTF-8", output_encoding="UTF-16-BE"
    ),
    "UnsortedSegmentJoin": lambda r, c: r.UnsortedSegmentJoin(
        inputs=c(WORDS), segment_ids=[1, 0, 1], num_segments=2, separator=","
    ),
}
for _name in ("SparseDenseCwiseAdd", "SparseDenseCwiseDiv", "SparseDenseCwiseMul"):
    CALLS[_name] = lambda r, c, n=_name: getattr(r, n)(**_one(c, "sp_"), dense=c([[2.0], [4.0]]))
for _name in ("SparseSegmentMean", "SparseSegmentSqrtN", "SparseSegmentSum"):
    CALLS[_name] = lambda r, c, n=_name: getattr(r, n)(
        data=LIKE(c, 4, 2), indices=[0, 3, 1], segment_ids=[0, 0, 1]
    )
    CALLS[f"{_name}WithNumSegments"] = lambda r, c, n=_name: getattr(r, f"{n}WithNumSegments")(
        data=LIKE(c, 4, 2), indices=[0, 3, 1], segment_ids=[0, 0, 2], num_segments=4
    )
#: Of files that are there: compared in a test of their own.
OF_FILES = {"ReadFile", "WriteFile"}
