"""Arrays and their sums as in TensorFlow 1: one row a function that differs in its parameters."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...composites.ragged import RaggedTensor
from ...composites.sparse import SparseTensor
from ...core import dtypes
from ...diagnostics.assertions import check_numerics
from ...function.gradients import hessians as hessians_v2
from ...function.grouping import tuple as tuple_v2
from ...function.python_calls import numpy_function
from ...ops import arithmetic, blocks, casting, counting, creation, norms, reductions, shapes
from ...ops.elementwise import square
from ...ops.gather_scatter import gather
from ...ops.ordering import reverse_sequence as reverse_sequence_v2
from ...ops.printing import print as print_v2
from ...ops.random_keys import set_seed
from ...ops.random_stateful import categorical, poisson
from ...ops.random_stateless import stateless_categorical
from ...values.convert import convert
from ...values.indexed_slices import IndexedSlices
from ...values.tensor import Tensor
from ..raw.calls import raw_op
from .renamed import renamed

# -- reductions ----------------------------------------------------------------------------------

_REDUCTION = (
    "input_tensor axis=None keepdims=None name=None reduction_indices:axis keep_dims:keepdims"
)
reduce_all = renamed(reductions.reduce_all, _REDUCTION)
reduce_any = renamed(reductions.reduce_any, _REDUCTION)
reduce_logsumexp = renamed(reductions.reduce_logsumexp, _REDUCTION)
reduce_max = renamed(reductions.reduce_max, _REDUCTION)
reduce_mean = renamed(reductions.reduce_mean, _REDUCTION)
reduce_min = renamed(reductions.reduce_min, _REDUCTION)
reduce_prod = renamed(reductions.reduce_prod, _REDUCTION)
reduce_sum = renamed(reductions.reduce_sum, _REDUCTION)
count_nonzero = renamed(
    reductions.count_nonzero,
    "input_tensor:input axis=None keepdims=None dtype=None name=None reduction_indices:axis "
    "keep_dims:keepdims input=None",
)
_ARGUMENT = "input axis=None name=None dimension:axis output_type=None"
argmax = renamed(reductions.argmax, _ARGUMENT)
argmin = renamed(reductions.argmin, _ARGUMENT)
arg_max = renamed(reductions.argmax, "input dimension>axis output_type=None name=None", "arg_max")
arg_min = renamed(reductions.argmin, "input dimension>axis output_type=None name=None", "arg_min")
norm = renamed(
    norms.norm, "tensor ord='euclidean' axis=None keepdims=None name=None keep_dims:keepdims"
)
bincount = renamed(counting.bincount, "arr weights=None minlength=None maxlength=None dtype=None")
confusion_matrix = renamed(
    counting.confusion_matrix,
    "labels predictions num_classes=None dtype=None name=None weights=None",
)
hessians = renamed(
    hessians_v2,
    "ys xs name='hessians' ~colocate_gradients_with_ops=False gate_gradients=False "
    "aggregation_method=None",
)

# -- shapes --------------------------------------------------------------------------------------

constant = renamed(
    creation.constant, "value dtype=None shape=None name='Const' ~verify_shape=False"
)
convert_to_tensor = renamed(
    creation.convert_to_tensor,
    "value dtype=None name=None preferred_dtype:dtype_hint dtype_hint=None",
)
ones_like = renamed(creation.ones_like, "tensor>input dtype=None name=None ~optimize=True")
zeros_like = renamed(creation.zeros_like, "tensor>input dtype=None name=None ~optimize=True")
shape = renamed(shapes.shape, "input name=None out_type=None")
size = renamed(shapes.size, "input name=None out_type=None")
transpose = renamed(shapes.transpose, "a perm=None name='transpose' conjugate=False")
reverse_sequence = renamed(
    reverse_sequence_v2,
    "input seq_lengths seq_axis=None batch_axis=None name=None seq_dim:seq_axis "
    "batch_dim:batch_axis",
)
tuple = renamed(tuple_v2, "tensors name=None control_inputs=None")
space_to_depth = renamed(blocks.space_to_depth, "input block_size name=None data_format='NHWC'")
depth_to_space = renamed(blocks.depth_to_space, "input block_size name=None data_format='NHWC'")
_expand_dims = renamed(shapes.expand_dims, "input axis=None name=None dim:axis")
_squeeze = renamed(shapes.squeeze, "input axis=None name=None squeeze_dims:axis")


def expand_dims(input: Any, axis: Any = None, name: str | None = None, dim: Any = None) -> Tensor:
    """See `tf.expand_dims`. Raises: ValueError without an axis.

    >>> import tape_compat as tf
    >>> tf.compat.v1.expand_dims([1, 2], dim=0).shape
    TensorShape([1, 2])
    """
    if axis is None and dim is None:
        raise ValueError("Must specify an axis argument to tf.expand_dims()")
    return _expand_dims(input, axis, dim=dim)


def squeeze(
    input: Any, axis: Any = None, name: str | None = None, squeeze_dims: Any = None
) -> Tensor:
    """See `tf.squeeze`; `squeeze_dims` is an older name of `axis`."""
    return _squeeze(input, axis, squeeze_dims=squeeze_dims)


def _block(block_size: Any, block_shape: Any) -> Any:
    if block_size is not None and block_shape is not None:
        raise ValueError("Cannot specify both 'block_size' and 'block_shape'.")
    block: Any = block_shape if block_size is None else block_size
    return [block, block] if np.ndim(block) == 0 else block


def space_to_batch(
    input: Any,
    paddings: Any,
    block_size: Any = None,
    name: str | None = None,
    block_shape: Any = None,
) -> Tensor:
    """See `tf.space_to_batch`, with one size of blocks for height and width."""
    return blocks.space_to_batch(input, _block(block_size, block_shape), paddings)


def batch_to_space(
    input: Any, crops: Any, block_size: Any, name: str | None = None, block_shape: Any = None
) -> Tensor:
    """See `tf.batch_to_space`, with one size of blocks for height and width."""
    return blocks.batch_to_space(input, _block(block_size, block_shape), crops)


def batch_to_space_nd(input: Any, block_shape: Any, crops: Any, name: str | None = None) -> Tensor:
    """See `tf.batch_to_space`."""
    return blocks.batch_to_space(input, block_shape, crops)


def batch_gather(params: Any, indices: Any, name: str | None = None) -> Tensor:
    """`tf.gather` along the last axis of `indices`, with the axes before as batches."""
    indices = indices if isinstance(indices, RaggedTensor) else convert(indices)
    return gather(params, indices, batch_dims=len(indices.shape) - 1)


def setdiff1d(x: Any, y: Any, index_dtype: Any = dtypes.int32, name: str | None = None) -> Any:
    """The elements of `x` that are not in `y`, and where they stand in `x`; values must be known.

    >>> import tape_compat as tf
    >>> tf.compat.v1.setdiff1d([1, 2, 3], [2]).idx.numpy().tolist()
    [0, 2]
    """
    return raw_op("ListDiff")(x=x, y=y, out_idx=index_dtype)


def sparse_to_dense(
    sparse_indices: Any,
    output_shape: Any,
    sparse_values: Any,
    default_value: Any = 0,
    validate_indices: bool = True,
    name: str | None = None,
) -> Tensor:
    """An array of `default_value` with values at indices: one, some, or rows of them."""
    return raw_op("SparseToDense")(
        sparse_indices=sparse_indices,
        output_shape=output_shape,
        sparse_values=sparse_values,
        default_value=default_value,
        validate_indices=validate_indices,
    )


def convert_to_tensor_or_indexed_slices(
    value: Any, dtype: Any = None, name: str | None = None
) -> Any:
    """IndexedSlices as they are, anything else as a tensor."""
    return value if isinstance(value, IndexedSlices) else convert(value, dtype)


def convert_to_tensor_or_sparse_tensor(
    value: Any, dtype: Any = None, name: str | None = None
) -> Any:
    """A SparseTensor as it is, anything else as a tensor."""
    return value if isinstance(value, SparseTensor) else convert(value, dtype)


# -- numbers -------------------------------------------------------------------------------------


def div(x: Any, y: Any, name: str | None = None) -> Tensor:
    """x / y of floats, rounded down for integers.

    >>> import tape_compat as tf
    >>> int(tf.compat.v1.div(-7, 2)), float(tf.compat.v1.div(7.0, 2.0))
    (-4, 3.5)
    """
    x = x if isinstance(x, RaggedTensor) else convert(x)
    y = y if isinstance(y, RaggedTensor) else convert(y, x.dtype)
    floats = x.dtype.is_floating or x.dtype.is_complex
    return arithmetic.truediv(x, y) if floats else arithmetic.floordiv(x, y)


def floor_div(x: Any, y: Any, name: str | None = None) -> Tensor:
    """x / y rounded down."""
    return arithmetic.floordiv(x, y)


def _to(dtype: dtypes.DType, name: str) -> Any:
    def to(x: Any, name: str = name) -> Any:
        return casting.cast(x, dtype)

    to.__name__ = to.__qualname__ = f"to_{dtype.name}"
    to.__doc__ = f"`tf.cast` to {dtype.name}."
    return to


to_bfloat16 = _to(dtypes.bfloat16, "ToBFloat16")
to_complex128 = _to(dtypes.complex128, "ToComplex128")
to_complex64 = _to(dtypes.complex64, "ToComplex64")
to_double = _to(dtypes.float64, "ToDouble")
to_float = _to(dtypes.float32, "ToFloat")
to_int32 = _to(dtypes.int32, "ToInt32")
to_int64 = _to(dtypes.int64, "ToInt64")


def clip_by_average_norm(t: Any, clip_norm: Any, name: str | None = None) -> Tensor:
    """`t` scaled down to at most this 2-norm per element."""
    t = convert(t)
    total = reductions.reduce_sum(square(t))
    count = casting.cast(shapes.size(t), t.dtype)
    average = arithmetic.pow(total, 0.5) / count
    return t * clip_norm / arithmetic.maximum(average, convert(clip_norm, t.dtype))


def verify_tensor_all_finite(
    t: Any = None, msg: Any = None, name: str | None = None, x: Any = None, message: Any = None
) -> Tensor:
    """`x`, if all of it is finite. Raises: InvalidArgumentError if not."""
    return check_numerics(x if t is None else t, message if msg is None else msg)


assert_all_finite = verify_tensor_all_finite
py_func = renamed(numpy_function, "func inp Tout stateful=True name=None", "py_func")


def Print(
    input_: Any,
    data: Any,
    message: str | None = None,
    first_n: int | None = None,
    summarize: int | None = None,
    name: str | None = None,
) -> Any:
    """`input_`; prints tensors after a message."""
    print_v2(message or "", *data, summarize=summarize or 3, sep="")
    return input_


# -- random numbers ------------------------------------------------------------------------------

multinomial = renamed(
    categorical, "logits num_samples seed=None name=None output_dtype>dtype=None", "multinomial"
)
stateless_multinomial = renamed(
    stateless_categorical,
    "logits num_samples seed output_dtype>dtype=None name=None",
    "stateless_multinomial",
)
random_poisson = renamed(poisson, "lam shape dtype=None seed=None name=None", "random_poisson")


def set_random_seed(seed: Any) -> None:
    """See `tf.random.set_seed`."""
    set_seed(seed)
