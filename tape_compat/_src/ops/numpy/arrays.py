"""Making tensors as NumPy makes arrays, and bringing several to one dtype."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core import dtypes
from ...core.dtypes import DType
from ...core.shapes import TensorShape
from ...values.convert import convert
from ...values.tensor import Tensor
from ...values.variable import Variable
from ..arguments import as_own_tensor
from ..casting import cast
from ..shapes import identity, reshape, size as size_of
from .dtypes import common_type, python_float, result_type, result_type_of

_MAX_NDMIN = 32


def converted(value: Any, dtype: DType) -> Tensor:
    """A value as a tensor of a dtype, cast if need be."""
    if value.__class__ is not Tensor:
        if isinstance(value, int) and value >= 2**63:
            value = convert(value, dtypes.uint64)
        else:
            value = _of_data(value, dtype)
    return value if value._aval.dtype is dtype else cast(value, dtype)


def _of_data(value: Any, dtype: DType) -> Tensor:
    """A value as a tensor, of `dtype` if it can be. Numbers of several kinds are mixed."""
    try:
        return convert(value, hint=dtype)
    except ValueError as error:
        try:
            mixed = np.asarray(value)
        except ValueError:
            raise error from None
        if mixed.dtype.kind not in "biufc":
            raise
        return convert(mixed.astype(dtype.np_dtype))


def as_array(value: Any) -> Tensor:
    """A value as a tensor of the dtype that NumPy gives it."""
    return value if value.__class__ is Tensor else converted(value, result_type_of(value))


def is_inexact(x: Tensor) -> bool:
    """Whether a tensor is of floats or complex numbers."""
    return x._aval.dtype.is_floating or x._aval.dtype.is_complex


def as_inexact(value: Any) -> Tensor:
    """A value as a tensor; integers and bools as floats."""
    x = as_array(value)
    return x if is_inexact(x) else cast(x, result_type(float))


def promoted(*values: Any) -> Sequence[Tensor]:
    """Values as tensors of the dtype they have in common."""
    if values and values[0].__class__ is Tensor:
        dtype = values[0]._aval.dtype
        if all(x.__class__ is Tensor and x._aval.dtype is dtype for x in values):
            return values
    dtype = common_type(*values) if _is_pair(values) else result_type(*values)
    return [converted(value, dtype) for value in values]


def _is_pair(values: Sequence[Any]) -> bool:
    return len(values) == 2 and values[0].__class__ is Tensor


def array(val: Any, dtype: Any = None, copy: bool = True, ndmin: int = 0) -> Tensor:
    """`val` as a tensor, of `dtype` or of the one NumPy gives it, of at least `ndmin` axes.

    copy: tensors do not change, so that a copy is another handle on the same value.
    Raises: ValueError for nested lists of different lengths, and for more axes than 32.

    >>> import tape_compat as tf
    >>> tf.experimental.numpy.array([1, 2.5], ndmin=2)
    <tf.Tensor: shape=(1, 2), dtype=float64, numpy=array([[1. , 2.5]])>
    """
    if isinstance(val, Variable):
        val = as_own_tensor(val)
    if val.__class__ is not Tensor:
        x = converted(val, result_type_of(val, dtype or None))
    else:
        x = cast(val, result_type(dtype)) if dtype else val
        x = identity(x) if copy and x is val else x
    if ndmin > _MAX_NDMIN:
        raise ValueError(f"ndmin bigger than allowable number of dimensions: {_MAX_NDMIN}.")
    shape = x._aval.shape
    return reshape(x, [1] * (ndmin - len(shape)) + list(shape)) if ndmin > len(shape) else x


def asarray(a: Any, dtype: Any = None) -> Tensor:
    """`a` as a tensor: itself if it is one of that dtype.

    >>> import tape_compat as tf
    >>> tf.experimental.numpy.asarray([1, 2], tf.float32).numpy().tolist()
    [1.0, 2.0]
    """
    return array(a, dtype, copy=False)


def asanyarray(a: Any, dtype: Any = None) -> Tensor:
    """The same as `asarray`."""
    return asarray(a, dtype)


def ascontiguousarray(a: Any, dtype: Any = None) -> Tensor:
    """`a` as a tensor of at least one axis.

    >>> import tape_compat as tf
    >>> tf.experimental.numpy.ascontiguousarray(3).numpy().tolist()
    [3]
    """
    return array(a, dtype, ndmin=1)


def copy(a: Any) -> Tensor:
    """`a` as another tensor.

    >>> import tape_compat as tf
    >>> tf.experimental.numpy.copy([1, 2]).numpy().tolist()
    [1, 2]
    """
    return array(a, copy=True)


def shape(a: Any) -> TensorShape:
    """The shape of `a`, a TensorShape.

    >>> import tape_compat as tf
    >>> tf.experimental.numpy.shape([[1, 2]])
    TensorShape([1, 2])
    """
    return as_array(a).shape


def ndim(a: Any) -> int:
    """The number of axes of `a`.

    >>> import tape_compat as tf
    >>> tf.experimental.numpy.ndim([[1, 2]])
    2
    """
    return as_array(a).ndim


def size(x: Any, axis: Any = None) -> Any:
    """The number of elements of `x`: a number, or a tensor if it is not known.

    Raises: NotImplementedError for an `axis`, which TensorFlow does not take either.

    >>> import tape_compat as tf
    >>> int(tf.experimental.numpy.size([[1, 2]]))
    2
    """
    if axis is not None:
        raise NotImplementedError(
            "axis argument is not supported in the current `np.size` implementation"
        )
    if isinstance(x, (int, float, np.number)):
        return 1
    x = as_array(x)
    if x._aval.unknown:
        return size_of(x)
    return np.prod(x._aval.shape, dtype=int)


def isscalar(num: Any) -> bool:
    """Whether `num` has no axes.

    >>> import tape_compat as tf
    >>> tf.experimental.numpy.isscalar(tf.constant(3))
    True
    """
    return ndim(num) == 0


def default_dtype(dtype: Any) -> DType:
    """A dtype that was given, or that of Python's floats if None was."""
    return result_type(dtype) if dtype else python_float()
