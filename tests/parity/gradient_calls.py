"""Calls of kernels of gradients, by `raw_ops` and `tf.constant`."""

import numpy as np

from tests.parity.kernel_inputs import FILTERS, IMAGES, LIKE, POSITIVE, SQUARE, VOLUMES, X, Y

POOL = {"ksize": [1, 2, 2, 1], "strides": [1, 2, 1, 1], "padding": "SAME"}
POOL3 = {"ksize": [1, 2, 2, 2, 1], "strides": [1, 2, 2, 2, 1], "padding": "SAME"}
BOXES = [[0.1, 0.2, 0.9, 0.8], [0.0, 0.0, 1.0, 1.0]]


#: The moments of the images, which these gradients take.
_NUMBERS = IMAGES(np.asarray)
MEAN, VARIANCE = _NUMBERS.mean((0, 1, 2)), _NUMBERS.var((0, 1, 2))


def _normalized(op, **more):
    return lambda r, c: getattr(r, op)(
        y_backprop=LIKE(c, 2, 4, 4, 2),
        x=IMAGES(c),
        scale=c([1.0, 2.0]),
        reserve_space_1=c(MEAN),
        reserve_space_2=c(VARIANCE),
        epsilon=0.01,
        **{name: c(value) if name.startswith("res") else value for name, value in more.items()},
    )[:3]


CALLS = {
    "AvgPool3DGrad": lambda r, c: r.AvgPool3DGrad(
        orig_input_shape=[1, 4, 4, 4, 1], grad=LIKE(c, 1, 2, 2, 2, 1), **POOL3
    ),
    "AvgPoolGrad": lambda r, c: r.AvgPoolGrad(
        orig_input_shape=[2, 4, 4, 2], grad=LIKE(c, 2, 2, 4, 2), **POOL
    ),
    "BiasAddGrad": lambda r, c: r.BiasAddGrad(out_backprop=IMAGES(c), data_format="NCHW"),
    "BroadcastGradientArgs": lambda r, c: r.BroadcastGradientArgs(
        s0=c([3, 1, 1]), s1=c([2, 3, 4, 1])
    ),
    "CholeskyGrad": lambda r, c: r.CholeskyGrad(l=r.Cholesky(input=c(SQUARE)), grad=LIKE(c, 3, 3)),
    "Conv2DBackpropFilter": lambda r, c: r.Conv2DBackpropFilter(
        input=IMAGES(c),
        filter_sizes=[2, 2, 2, 3],
        out_backprop=LIKE(c, 2, 2, 4, 3),
        strides=[1, 2, 1, 1],
        padding="SAME",
    ),
    "Conv3DBackpropFilterV2": lambda r, c: r.Conv3DBackpropFilterV2(
        input=VOLUMES(c),
        filter_sizes=[2, 2, 2, 1, 2],
        out_backprop=LIKE(c, 1, 4, 4, 4, 2),
        strides=[1, 1, 1, 1, 1],
        padding="SAME",
    ),
    "CropAndResizeGradBoxes": lambda r, c: r.CropAndResizeGradBoxes(
        grads=LIKE(c, 2, 3, 2, 2), image=IMAGES(c), boxes=c(BOXES), box_ind=[1, 0]
    ),
    "CropAndResizeGradImage": lambda r, c: r.CropAndResizeGradImage(
        grads=LIKE(c, 2, 3, 2, 2),
        boxes=c(BOXES),
        box_ind=[1, 0],
        image_size=[2, 4, 4, 2],
        T=np.float32,
    ),
    "DepthwiseConv2dNativeBackpropFilter": lambda r, c: r.DepthwiseConv2dNativeBackpropFilter(
        input=IMAGES(c),
        filter_sizes=[2, 2, 2, 3],
        out_backprop=LIKE(c, 2, 4, 4, 6),
        strides=[1, 1, 1, 1],
        padding="SAME",
    ),
    "DepthwiseConv2dNativeBackpropInput": lambda r, c: r.DepthwiseConv2dNativeBackpropInput(
        input_sizes=[2, 4, 4, 2],
        filter=FILTERS(c),
        out_backprop=LIKE(c, 2, 3, 3, 6),
        strides=[1, 1, 1, 1],
        padding="VALID",
    ),
    "Dilation2DBackpropFilter": lambda r, c: r.Dilation2DBackpropFilter(
        input=IMAGES(c),
        filter=LIKE(c, 2, 2, 2),
        out_backprop=LIKE(c, 2, 4, 4, 2),
        strides=[1, 1, 1, 1],
        rates=[1, 1, 1, 1],
        padding="SAME",
    ),
    "Dilation2DBackpropInput": lambda r, c: r.Dilation2DBackpropInput(
        input=IMAGES(c),
        filter=LIKE(c, 2, 2, 2),
        out_backprop=LIKE(c, 2, 3, 3, 2),
        strides=[1, 1, 1, 1],
        rates=[1, 1, 1, 1],
        padding="VALID",
    ),
    "EluGrad": lambda r, c: r.EluGrad(gradients=c(X), outputs=c(Y)),
    "FusedBatchNormGrad": _normalized("FusedBatchNormGrad"),
    "FusedBatchNormGradV2": _normalized("FusedBatchNormGradV2", is_training=False),
    "FusedBatchNormGradV3": _normalized("FusedBatchNormGradV3", reserve_space_3=[0.0]),
    "IgammaGradA": lambda r, c: r.IgammaGradA(a=c(POSITIVE), x=c(np.abs(Y))),
    "InvGrad": lambda r, c: r.InvGrad(y=c(X), dy=c(Y)),
    "LRNGrad": lambda r, c: r.LRNGrad(
        input_grads=LIKE(c, 2, 4, 4, 2),
        input_image=IMAGES(c),
        output_image=r.LRN(input=IMAGES(c), depth_radius=1, bias=2.0, alpha=0.5),
        depth_radius=1,
        bias=2.0,
        alpha=0.5,
    ),
    "LeakyReluGrad": lambda r, c: r.LeakyReluGrad(gradients=c(Y), features=c(X), alpha=0.3),
    "MaxPool3DGrad": lambda r, c: r.MaxPool3DGrad(
        orig_input=VOLUMES(c),
        orig_output=r.MaxPool3D(input=VOLUMES(c), **POOL3),
        grad=LIKE(c, 1, 2, 2, 2, 1),
        **POOL3,
    ),
    "MaxPoolGrad": lambda r, c: r.MaxPoolGrad(
        orig_input=IMAGES(c),
        orig_output=r.MaxPool(input=IMAGES(c), **POOL),
        grad=LIKE(c, 2, 2, 4, 2),
        **POOL,
    ),
    "MaxPoolGradV2": lambda r, c: r.MaxPoolGradV2(
        orig_input=IMAGES(c),
        orig_output=r.MaxPool(input=IMAGES(c), **POOL),
        grad=LIKE(c, 2, 2, 4, 2),
        **POOL,
    ),
    "MirrorPadGrad": lambda r, c: r.MirrorPadGrad(
        input=LIKE(c, 4, 5), paddings=[[1, 0], [2, 1]], mode="SYMMETRIC"
    ),
    "RandomGammaGrad": lambda r, c: r.RandomGammaGrad(alpha=c(POSITIVE), sample=c(np.abs(Y))),
    "ReciprocalGrad": lambda r, c: r.ReciprocalGrad(y=c([1 + 2j, 3j]), dy=c([2 - 1j, 1 + 0j])),
    "Relu6Grad": lambda r, c: r.Relu6Grad(
        gradients=c(Y), features=c([[0.0, 7.0, 6.0], [1.0, -1.0, 2.0]])
    ),
    "ReluGrad": lambda r, c: r.ReluGrad(gradients=c(Y), features=c(X)),
    "ResizeBicubicGrad": lambda r, c: r.ResizeBicubicGrad(
        grads=LIKE(c, 2, 6, 3, 2), original_image=IMAGES(c)
    ),
    "ResizeBilinearGrad": lambda r, c: r.ResizeBilinearGrad(
        grads=LIKE(c, 2, 6, 3, 2), original_image=IMAGES(c), align_corners=True
    ),
    "ResizeNearestNeighborGrad": lambda r, c: r.ResizeNearestNeighborGrad(
        grads=LIKE(c, 2, 6, 3, 2), size=[4, 4], half_pixel_centers=True
    ),
    "RsqrtGrad": lambda r, c: r.RsqrtGrad(y=c([0.2 + 1j]), dy=c([1 + 2j])),
    "SeluGrad": lambda r, c: r.SeluGrad(gradients=c(X), outputs=c(Y)),
    "SigmoidGrad": lambda r, c: r.SigmoidGrad(y=c([0.2 + 1j]), dy=c([1 + 2j])),
    "SoftplusGrad": lambda r, c: r.SoftplusGrad(gradients=c(Y), features=c(X)),
    "SoftsignGrad": lambda r, c: r.SoftsignGrad(gradients=c(Y), features=c(X)),
    "SqrtGrad": lambda r, c: r.SqrtGrad(y=c([0.2 + 1j]), dy=c([1 + 2j])),
    "StridedSliceGrad": lambda r, c: r.StridedSliceGrad(
        shape=[3, 4],
        begin=[0, 1],
        end=[3, 0],
        strides=[2, 1],
        dy=c([1.0, 2.0]),
        end_mask=0,
        shrink_axis_mask=2,
    ),
    "TanhGrad": lambda r, c: r.TanhGrad(y=c([0.2 + 1j]), dy=c([1 + 2j])),
}
for _name in ("SparseSegmentMeanGrad", "SparseSegmentSqrtNGrad", "SparseSegmentSumGrad"):
    CALLS[_name] = lambda r, c, n=_name: getattr(r, n)(
        grad=LIKE(c, 2, 3), indices=[0, 3, 1], segment_ids=[0, 0, 1], output_dim0=4
    )
