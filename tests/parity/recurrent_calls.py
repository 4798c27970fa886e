"""Calls of kernels of recurrent and of other layers, by `raw_ops` and `tf.constant`."""

import numpy as np

from tests.parity.kernel_inputs import IMAGES, LIKE, X


def _weights(c):
    return {
        "w": LIKE(c, 5, 12),
        "wci": LIKE(c, 3),
        "wcf": c([0.3, -0.2, 0.5]),
        "wco": c([0.1, 0.2, -0.7]),
        "b": c(np.sin(np.arange(12.0))),
    }


def _states(c):
    return {"cs_prev": LIKE(c, 2, 3), "h_prev": c(0.5 * np.array(X))}


def _sequence(op, **more):
    return lambda r, c: getattr(r, op)(
        seq_len_max=np.int64(4), x=LIKE(c, 4, 2, 2), **_states(c), **_weights(c), **more
    )


POOL = {"ksize": [1, 2, 2, 1], "strides": [1, 2, 2, 1], "padding": "SAME"}

CALLS = {
    "BatchToSpace": lambda r, c: r.BatchToSpace(
        input=LIKE(c, 4, 2, 2, 1), crops=[[0, 1], [0, 0]], block_size=2
    ),
    "BlockLSTM": _sequence("BlockLSTM", cell_clip=0.5, use_peephole=True),
    "BlockLSTMV2": _sequence("BlockLSTMV2", use_peephole=True),
    "CTCBeamSearchDecoder": lambda r, c: r.CTCBeamSearchDecoder(
        inputs=LIKE(c, 5, 2, 4), sequence_length=[5, 3], beam_width=6, top_paths=2
    ),
    "Conv": lambda r, c: r.Conv(
        input=IMAGES(c), filter=LIKE(c, 2, 2, 2, 3), strides=[1, 2, 1, 1], padding="SAME"
    ),
    "DenseCountSparseOutput": lambda r, c: r.DenseCountSparseOutput(
        values=c([[1, 1, 3], [0, 2, 2]]), weights=c(np.zeros(0)), binary_output=False
    ),
    "GRUBlockCell": lambda r, c: r.GRUBlockCell(
        x=LIKE(c, 2, 2),
        h_prev=c(X),
        w_ru=LIKE(c, 5, 6),
        w_c=LIKE(c, 5, 3),
        b_ru=LIKE(c, 6),
        b_c=LIKE(c, 3),
    ),
    "LSTMBlockCell": lambda r, c: r.LSTMBlockCell(
        x=LIKE(c, 2, 2), **_states(c), **_weights(c), use_peephole=True, forget_bias=0.5
    ),
    "MaxPoolGradWithArgmax": lambda r, c: r.MaxPoolGradWithArgmax(
        input=IMAGES(c),
        grad=LIKE(c, 2, 2, 2, 2),
        argmax=r.MaxPoolWithArgmax(input=IMAGES(c), **POOL).argmax,
        **POOL,
    ),
    "RaggedGather": lambda r, c: r.RaggedGather(
        params_nested_splits=[np.array([0, 2, 2, 3])],
        params_dense_values=c([1.0, 2.0, 3.0]),
        indices=c([2, 0]),
        OUTPUT_RAGGED_RANK=1,
    ),
    "SpaceToBatch": lambda r, c: r.SpaceToBatch(
        input=IMAGES(c), paddings=[[0, 0], [1, 1]], block_size=2
    ),
}
#: What is compared by its shape and dtype only.
DRAWN = {
    "DrawBoundingBoxes": lambda r, c: r.DrawBoundingBoxes(
        images=c(np.ones([1, 4, 4, 3])), boxes=c([[[0.1, 0.2, 0.9, 0.8]]])
    ),
    "FractionalAvgPool": lambda r, c: r.FractionalAvgPool(
        value=IMAGES(c), pooling_ratio=[1.0, 1.4, 1.4, 1.0]
    ),
    "FractionalMaxPool": lambda r, c: r.FractionalMaxPool(
        value=IMAGES(c), pooling_ratio=[1.0, 1.4, 1.4, 1.0]
    ),
}
