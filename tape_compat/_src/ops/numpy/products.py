"""Products of vectors, matrices and tensors."""

from __future__ import annotations

from typing import Any

from ...core import errors
from ...core.dimensions import is_unknown
from ...values.tensor import Tensor
from .. import products as _of
from ..elementwise import conj
from ..indexing import at
from ..joining import pad, unstack
from ..repeating import broadcast_to
from ..shapes import reshape
from ..sums import polyval as _polyval
from .arithmetic import multiply
from .arrays import as_array, promoted
from .shapes import broadcast_arrays, moveaxis, ravel


def dot(a: Any, b: Any) -> Tensor:
    """Sum of products over the last axis of `a` and the last but one of `b`, or its only one.

    Scalars multiply.

    >>> import tape_compat as tf
    >>> int(tf.experimental.numpy.dot([1, 2], [3, 4]))
    11
    """
    a, b = promoted(a, b)
    if not a.ndim or not b.ndim:
        return multiply(a, b)
    return _of.tensordot(a, b, [[-1], [-1 if b.ndim == 1 else -2]])


def inner(a: Any, b: Any) -> Tensor:
    """Sum of products over the last axis of both. Scalars multiply.

    >>> import tape_compat as tf
    >>> int(tf.experimental.numpy.inner([1, 2], [3, 4]))
    11
    """
    a, b = promoted(a, b)
    if not a.ndim or not b.ndim:
        return multiply(a, b)
    return _of.tensordot(a, b, [[-1], [-1]])


def vdot(a: Any, b: Any) -> Tensor:
    """`dot` of both flattened, the first conjugated.

    >>> import tape_compat as tf
    >>> tf.experimental.numpy.vdot([1j, 2], [1j, 3]).numpy().item()
    (7+0j)
    """
    a, b = map(ravel, promoted(a, b))
    return dot(conj(a) if a.dtype.is_complex else a, b)


def outer(a: Any, b: Any) -> Tensor:
    """The products of each element of `a` with each of `b`: a matrix.

    >>> import tape_compat as tf
    >>> tf.experimental.numpy.outer([1, 2], [3, 4]).numpy().tolist()
    [[3, 4], [6, 8]]
    """
    a, b = promoted(a, b)
    return multiply(reshape(a, [-1, 1]), reshape(b, [-1]))


def matmul(x1: Any, x2: Any) -> Tensor:
    """Matrix product of [..., n, k] and [..., k, m], batch axes broadcast; vectors at either side.

    Raises: ValueError if sizes do not fit.

    >>> import tape_compat as tf
    >>> tf.experimental.numpy.matmul([[1, 2]], [3, 4]).numpy().tolist()
    [11]
    """
    x1, x2 = promoted(x1, x2)
    try:
        if x2.ndim == 1:
            return _of.tensordot(x1, x2, 1)
        if x1.ndim == 1:
            return _of.tensordot(x1, x2, [[0], [-2]])
        return _of.matmul(x1, x2)
    except errors.InvalidArgumentError as error:
        raise ValueError(str(error)) from error


def tensordot(a: Any, b: Any, axes: Any = 2) -> Tensor:
    """Sum of products over the last `axes` axes of `a` and first of `b`, or over pairs of axes.

    >>> import tape_compat as tf
    >>> int(tf.experimental.numpy.tensordot([[1, 2]], [[3, 4]]))
    11
    """
    a, b = promoted(a, b)
    return _of.tensordot(a, b, axes)


def kron(a: Any, b: Any) -> Tensor:
    """The Kronecker product: `b` as often as `a` has elements, times each of them.

    >>> import tape_compat as tf
    >>> tf.experimental.numpy.kron([1, 10], [1, 2]).numpy().tolist()
    [1, 2, 10, 20]
    """
    a, b = promoted(a, b)
    n = max(a.ndim, b.ndim)
    rows, inside = ([1] * (n - x.ndim) + list(x._aval.shape) for x in (a, b))
    spread = reshape(a, [size for row in rows for size in (row, 1)])
    tiles = reshape(b, [size for row in inside for size in (1, row)])
    return reshape(multiply(spread, tiles), [x * y for x, y in zip(rows, inside)])


def cross(
    a: Any, b: Any, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: int | None = None
) -> Tensor:
    """The product of vectors of 2 or 3 elements that is normal to both; a number if both have 2.

    Args:
      axisa, axisb, axisc: where the vectors are in `a`, `b` and the result; `axis`: in all three.

    >>> import tape_compat as tf
    >>> tf.experimental.numpy.cross([1, 0, 0], [0, 1, 0]).numpy().tolist()
    [0, 0, 1]
    """
    if axis is not None:
        axisa = axisb = axisc = axis
    a, b = promoted(a, b)
    a, b = moveaxis(a, axisa, -1), moveaxis(b, axisb, -1)
    if is_unknown((a._aval.shape[-1], b._aval.shape[-1])):
        raise errors.NeedsValue(f"Whether vectors of {a!s} and {b!s} have 3 elements is not known")
    flat = a._aval.shape[-1] == 2 and b._aval.shape[-1] == 2
    found = _of.cross(*broadcast_arrays(_in_space(a), _in_space(b)))
    if flat:
        return at(found, (Ellipsis, 2), ())
    return moveaxis(found, -1, axisc)


def _in_space(x: Tensor) -> Tensor:
    """Vectors of 2 elements with a 0 as the third."""
    return pad(x, [[0, 0]] * (x.ndim - 1) + [[0, 1]]) if x._aval.shape[-1] == 2 else x


def einsum(subscripts: str, *operands: Any, **kwargs: Any) -> Tensor:
    """Sum of products, as `subscripts` names the axes: "ij,jk->ik" is a matrix product.

    Keyword arguments: `casting`, "safe" (operands are brought to one dtype) or "no"; `optimize`,
    False, True, "greedy" or "optimal": the order of contraction is chosen anyway.
    Raises: ValueError for another value of these.

    >>> import tape_compat as tf
    >>> tf.experimental.numpy.einsum("ij,j->i", [[1, 2], [3, 4]], [1.0, 1.0]).numpy().tolist()
    [3.0, 7.0]
    """
    casting, optimize = kwargs.pop("casting", "safe"), kwargs.pop("optimize", False)
    if kwargs:
        raise TypeError(f"einsum() got an unexpected keyword argument {min(kwargs)!r}")
    if casting not in ("safe", "no"):
        raise ValueError(
            "Invalid value for argument `casting`. "
            f'Expected casting="safe" or casting="no". Received: casting={casting}'
        )
    if optimize and optimize not in (True, "greedy", "optimal"):
        raise ValueError(
            "Invalid value for argument `optimize`. "
            f'Expected one of {{True, "greedy", "optimal"}}. Received: optimize={optimize}'
        )
    arrays = promoted(*operands) if casting == "safe" else [as_array(x) for x in operands]
    return _of.einsum(subscripts, *arrays)


def polyval(p: Any, x: Any) -> Tensor:
    """The polynomial with the coefficients `p`, the highest power's first, at `x`.

    >>> import tape_compat as tf
    >>> float(tf.experimental.numpy.polyval([1, 2, 3], 2.0))
    11.0
    """
    p, x = promoted(p, x)
    coefficients = unstack(reshape(p, [1]) if not p.ndim else p)
    found = _polyval(coefficients, x)
    return broadcast_to(found, x._aval.shape) if len(coefficients) == 1 else found
