"""TensorFlow 2's GradientTape, Variable and ops on JAX: recorded now, run compiled later.

import tape_compat as tf
"""

import typing as _typing

from ._src.autodiff.arguments import UnconnectedGradients as UnconnectedGradients
from ._src.autodiff.custom import (
    custom_gradient as custom_gradient,
    grad_pass_through as grad_pass_through,
    stop_gradient as stop_gradient,
)
from ._src.autodiff.tape import GradientTape as GradientTape
from ._src.composites.ragged import RaggedTensorSpec as RaggedTensorSpec
from ._src.composites.sparse import SparseTensorSpec as SparseTensorSpec
from ._src.core.counters import COUNTERS as counters
from ._src.core.device_spec import DeviceSpec as DeviceSpec
from ._src.core.dtypes import (
    DType as DType,
    as_dtype as as_dtype,
    bfloat16 as bfloat16,
    bool as bool,
    complex64 as complex64,
    complex128 as complex128,
    double as double,
    float16 as float16,
    float32 as float32,
    float64 as float64,
    half as half,
    int8 as int8,
    int16 as int16,
    int32 as int32,
    int64 as int64,
    qint8 as qint8,
    qint16 as qint16,
    qint32 as qint32,
    quint8 as quint8,
    quint16 as quint16,
    resource as resource,
    string as string,
    uint8 as uint8,
    uint16 as uint16,
    uint32 as uint32,
    uint64 as uint64,
    variant as variant,
)
from ._src.core.shapes import TensorShape as TensorShape
from ._src.diagnostics.assertions import (
    Assert as Assert,
    assert_equal as assert_equal,
    assert_greater as assert_greater,
    assert_less as assert_less,
    assert_rank as assert_rank,
)
from ._src.function.function import function as function
from ._src.function.grouping import (
    Graph as Graph,
    group as group,
    no_op as no_op,
    tuple as tuple,
)
from ._src.function.tensor_array import (
    TensorArray as TensorArray,
    TensorArraySpec as TensorArraySpec,
)
from ._src.interop.jax import as_op as as_op
from ._src.interop.later import LATER as _LATER
from ._src.interop.names import face as _face
from ._src.library.module import Module as Module
from ._src.ops.arithmetic import (
    add as add,
    atan2 as atan2,
    divide as divide,
    maximum as maximum,
    minimum as minimum,
    multiply as multiply,
    pow as pow,
    subtract as subtract,
    truediv as truediv,
    truncatediv as truncatediv,
    truncatemod as truncatemod,
)
from ._src.ops.casting import bitcast as bitcast, cast as cast, saturate_cast as saturate_cast
from ._src.ops.comparison import (
    equal as equal,
    greater as greater,
    greater_equal as greater_equal,
    less as less,
    less_equal as less_equal,
    logical_and as logical_and,
    logical_not as logical_not,
    logical_or as logical_or,
    not_equal as not_equal,
)
from ._src.ops.creation import (
    constant as constant,
    convert_to_tensor as convert_to_tensor,
    eye as eye,
    fill as fill,
    get_static_value as get_static_value,
    is_tensor as is_tensor,
    linspace as linspace,
    one_hot as one_hot,
    ones as ones,
    ones_like as ones_like,
    range as range,
    sequence_mask as sequence_mask,
    zeros as zeros,
    zeros_like as zeros_like,
)
from ._src.ops.elementwise import (
    abs as abs,
    acos as acos,
    acosh as acosh,
    asin as asin,
    asinh as asinh,
    atan as atan,
    atanh as atanh,
    complex as complex,
    cos as cos,
    cosh as cosh,
    exp as exp,
    floor as floor,
    negative as negative,
    round as round,
    sigmoid as sigmoid,
    sign as sign,
    sin as sin,
    sinh as sinh,
    sqrt as sqrt,
    square as square,
    tan as tan,
    tanh as tanh,
)
from ._src.ops.gather_scatter import (
    gather as gather,
    gather_nd as gather_nd,
    scatter_nd as scatter_nd,
    tensor_scatter_nd_add as tensor_scatter_nd_add,
    tensor_scatter_nd_max as tensor_scatter_nd_max,
    tensor_scatter_nd_min as tensor_scatter_nd_min,
    tensor_scatter_nd_sub as tensor_scatter_nd_sub,
    tensor_scatter_nd_update as tensor_scatter_nd_update,
)
from ._src.ops.indexing import newaxis as newaxis
from ._src.ops.joining import (
    concat as concat,
    meshgrid as meshgrid,
    pad as pad,
    split as split,
    stack as stack,
    unstack as unstack,
)
from ._src.ops.products import einsum as einsum, matmul as matmul, tensordot as tensordot
from ._src.ops.ragged_products import RaggedTensor as RaggedTensor
from ._src.ops.reductions import (
    argmax as argmax,
    argmin as argmin,
    cumsum as cumsum,
    reduce_all as reduce_all,
    reduce_any as reduce_any,
    reduce_logsumexp as reduce_logsumexp,
    reduce_max as reduce_max,
    reduce_mean as reduce_mean,
    reduce_min as reduce_min,
    reduce_prod as reduce_prod,
    reduce_sum as reduce_sum,
)
from ._src.ops.repeating import broadcast_to as broadcast_to, repeat as repeat, tile as tile
from ._src.ops.selection import (
    boolean_mask as boolean_mask,
    dynamic_partition as dynamic_partition,
    dynamic_stitch as dynamic_stitch,
    unique as unique,
    unique_with_counts as unique_with_counts,
    unravel_index as unravel_index,
    where as where,
)
from ._src.ops.shapes import (
    broadcast_dynamic_shape as broadcast_dynamic_shape,
    broadcast_static_shape as broadcast_static_shape,
    ensure_shape as ensure_shape,
    expand_dims as expand_dims,
    guarantee_const as guarantee_const,
    identity as identity,
    identity_n as identity_n,
    rank as rank,
    reshape as reshape,
    shape as shape,
    shape_n as shape_n,
    size as size,
    squeeze as squeeze,
    transpose as transpose,
)
from ._src.ops.slicing import slice as slice, strided_slice as strided_slice
from ._src.ops.sparse_arithmetic import SparseTensor as SparseTensor
from ._src.ops.sums import add_n as add_n, scalar_mul as scalar_mul
from ._src.values.composite import TypeSpec as TypeSpec
from ._src.values.context import (
    control_dependencies as control_dependencies,
    device as device,
    executing_eagerly as executing_eagerly,
    init_scope as init_scope,
    inside_function as inside_function,
    is_symbolic_tensor as is_symbolic_tensor,
)
from ._src.values.conversions import (
    register_tensor_conversion_function as register_tensor_conversion_function,
)
from ._src.values.creators import variable_creator_scope as variable_creator_scope
from ._src.values.indexed_slices import (
    IndexedSlices as IndexedSlices,
    IndexedSlicesSpec as IndexedSlicesSpec,
)
from ._src.values.names import (
    get_current_name_scope as get_current_name_scope,
    name_scope as name_scope,
)
from ._src.values.operation import Operation as Operation
from ._src.values.spec import (
    NoneTensorSpec as NoneTensorSpec,
    TensorSpec as TensorSpec,
    type_spec_from_value as type_spec_from_value,
)
from ._src.values.tensor import Tensor as Tensor
from ._src.values.variable import (
    Variable as Variable,
    VariableAggregation as VariableAggregation,
    VariableSynchronization as VariableSynchronization,
)

if _typing.TYPE_CHECKING:  # imported when they are first used
    from . import (
        audio as audio,
        autodiff as autodiff,
        autograph as autograph,
        bitwise as bitwise,
        compat as compat,
        config as config,
        data as data,
        debugging as debugging,
        distribute as distribute,
        dtypes as dtypes,
        engine as engine,
        errors as errors,
        experimental as experimental,
        feature_column as feature_column,
        graph_util as graph_util,
        image as image,
        initializers as initializers,
        io as io,
        keras as keras,
        linalg as linalg,
        lookup as lookup,
        losses as losses,
        math as math,
        metrics as metrics,
        nest as nest,
        nn as nn,
        optimizers as optimizers,
        profiler as profiler,
        quantization as quantization,
        queue as queue,
        ragged as ragged,
        random as random,
        raw_ops as raw_ops,
        saved_model as saved_model,
        sets as sets,
        signal as signal,
        sparse as sparse,
        strings as strings,
        summary as summary,
        test as test,
        tpu as tpu,
        train as train,
        types as types,
        version as version,
        xla as xla,
    )
    from ._src.autodiff.recompute import recompute_grad as recompute_grad
    from ._src.data.io.tensors import (
        make_ndarray as make_ndarray,
        make_tensor_proto as make_tensor_proto,
    )
    from ._src.data.optional import OptionalSpec as OptionalSpec
    from ._src.function.control_flow import (
        case as case,
        cond as cond,
        switch_case as switch_case,
        while_loop as while_loop,
    )
    from ._src.function.functional_ops import (
        foldl as foldl,
        foldr as foldr,
        map_fn as map_fn,
        scan as scan,
    )
    from ._src.function.gradients import (
        AggregationMethod as AggregationMethod,
        gradients as gradients,
        hessians as hessians,
    )
    from ._src.function.python_calls import (
        numpy_function as numpy_function,
        py_function as py_function,
    )
    from ._src.function.vectorized_map import vectorized_map as vectorized_map
    from ._src.interop.functional import functional as functional
    from ._src.interop.own_gradients import (
        RegisterGradient as RegisterGradient,
        no_gradient as no_gradient,
    )
    from ._src.library.config import get_logger as get_logger
    from ._src.library.critical_section import CriticalSection as CriticalSection
    from ._src.library.initializers import (
        Constant as constant_initializer,
        Ones as ones_initializer,
        RandomNormal as random_normal_initializer,
        RandomUniform as random_uniform_initializer,
        Zeros as zeros_initializer,
    )
    from ._src.library.machine import timestamp as timestamp
    from ._src.library.saved_model.import_graph import import_graph_def as import_graph_def
    from ._src.ops.blocks import (
        batch_to_space as batch_to_space,
        required_space_to_batch_paddings as required_space_to_batch_paddings,
        space_to_batch as space_to_batch,
        space_to_batch as space_to_batch_nd,
    )
    from ._src.ops.clipping import (
        clip_by_global_norm as clip_by_global_norm,
        clip_by_norm as clip_by_norm,
        clip_by_value as clip_by_value,
    )
    from ._src.ops.decompositions import (
        eig as eig,
        eigvals as eigvals,
        sqrtm as matrix_square_root,
    )
    from ._src.ops.edit_distances import edit_distance as edit_distance
    from ._src.ops.fingerprints import fingerprint as fingerprint
    from ._src.ops.histograms import (
        histogram_fixed_width as histogram_fixed_width,
        histogram_fixed_width_bins as histogram_fixed_width_bins,
    )
    from ._src.ops.images.patches import extract_volume_patches as extract_volume_patches
    from ._src.ops.index_shuffle import random_index_shuffle as random_index_shuffle
    from ._src.ops.norms import norm as norm
    from ._src.ops.ordering import (
        argsort as argsort,
        reverse as reverse,
        reverse_sequence as reverse_sequence,
        roll as roll,
        searchsorted as searchsorted,
        sort as sort,
    )
    from ._src.ops.plain_kernels import (
        approx_top_k as approx_top_k,
        conv as conv,
        parallel_stack as parallel_stack,
        ragged_fill_empty_rows as ragged_fill_empty_rows,
        ragged_fill_empty_rows_grad as ragged_fill_empty_rows_grad,
        realdiv as realdiv,
    )
    from ._src.ops.printing import print as print
    from ._src.ops.strings import as_string as as_string
    from ._src.standin.install import install_as_tensorflow as install_as_tensorflow

__version__ = "0.1.0"

_face(__name__, _LATER)
