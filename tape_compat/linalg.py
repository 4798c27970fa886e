"""Linear algebra: products, norms, diagonals, solvers and decompositions of (batches of) matrices.

Where TensorFlow finds out from the values that a matrix is singular and raises, these give inf or
NaN: the values are not known when an op is called.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from .array import dims
from .array import eye as eye
from .autodiff import rules
from .clip_ops import global_norm as global_norm
from .core import dtypes, errors, operators
from .core.avals import Aval, aval
from .core.convert import convert
from .core.declare import allowed, check_same_dtype, invalid, matching, name_ops, op, tf_dtype_name
from .core.dispatch import apply, apply2
from .core.dtypes import as_dtype
from .core.op import Op
from .core.tensor import Tensor
from .core.variable import Variable
from .math import l2_normalize as l2_normalize


def _tensor(value: Any) -> Tensor:
    return value if value.__class__ is Tensor else convert(value)


def _dims(shape: Sequence[int]) -> str:
    return "[" + ",".join(map(str, shape)) + "]"


def _adjoint(x: Any) -> Any:
    x = jnp.swapaxes(x, -1, -2)
    return jnp.conj(x) if jnp.issubdtype(x.dtype, jnp.complexfloating) else x


# ---------------------------------------------------------------------------------------------
# Products.

_MATMUL_DTYPES = allowed("float complex integer") - {"int8", "int16"}


def _matmul(
    a: Any,
    b: Any,
    ta: bool = False,
    tb: bool = False,
    aa: bool = False,
    ab: bool = False,
    to: Any = None,
) -> Any:
    a = _adjoint(a) if aa else jnp.swapaxes(a, -1, -2) if ta else a
    b = _adjoint(b) if ab else jnp.swapaxes(b, -1, -2) if tb else b
    if to is not None:
        return jnp.matmul(a, b, preferred_element_type=to.np_dtype)
    return jnp.matmul(a, b)


def _check_matmul(
    avals: tuple[Aval, ...],
    ta: bool = False,
    tb: bool = False,
    aa: bool = False,
    ab: bool = False,
    to: Any = None,
) -> None:
    a, b = (known.shape for known in avals)
    kernel = "BatchMatMulV2" if len(a) > 2 or len(b) > 2 else "MatMul"
    if to is None:
        check_same_dtype(avals, kernel)
        if avals[0].dtype.name not in _MATMUL_DTYPES:
            raise invalid(
                f"Value for attr 'T' of {tf_dtype_name(avals[0].dtype)} is not in the list of "
                f"allowed values: {', '.join(sorted(_MATMUL_DTYPES))}\n\t; "
                f"NodeDef: {{{{node {kernel}}}}}",
                kernel,
            )
    both = f"In[0]: {_dims(a)}, In[1]: {_dims(b)}"
    if kernel == "MatMul":
        if len(a) != len(b):
            raise invalid(f"In[0] and In[1] has different ndims: {_dims(a)} vs. {_dims(b)}", kernel)
        if len(a) != 2:
            raise invalid(f"In[0] and In[1] ndims must be == 2: {len(a)}", kernel)
    elif min(len(a), len(b)) < 2:
        which, n = (0, len(a)) if len(a) < 2 else (1, len(b))
        raise invalid(f"In[{which}] ndims must be >= 2: {n}", kernel)
    if a[-2 if ta or aa else -1] != b[-1 if tb or ab else -2]:
        raise invalid(f"Matrix size-incompatible: {both}", kernel)
    try:
        np.broadcast_shapes(a[:-2], b[:-2])
    except ValueError:
        raise invalid(
            f"In[0] and In[1] must have compatible batch dimensions: {_dims(a)} vs. {_dims(b)}",
            kernel,
        ) from None


_MATMUL = Op(_matmul, "MatMul", check=_check_matmul)
_PLAIN_MATMUL = _MATMUL.bind()


def matmul(
    a: Any,
    b: Any,
    transpose_a: bool = False,
    transpose_b: bool = False,
    adjoint_a: bool = False,
    adjoint_b: bool = False,
    a_is_sparse: bool = False,
    b_is_sparse: bool = False,
    output_type: Any = None,
    grad_a: bool = False,
    grad_b: bool = False,
    name: str | None = None,
) -> Tensor:
    """Matrix product of `a` [..., n, k] and `b` [..., k, m], batch axes broadcast.

    Args:
      transpose_a, transpose_b, adjoint_a, adjoint_b: use the transposed or adjoint matrix.
      a_is_sparse, b_is_sparse: accepted; the product is dense.
      output_type: int32 for int8 inputs.
    Raises: InvalidArgumentError if ranks, sizes or dtypes do not fit; ValueError if a matrix is to
      be both transposed and adjoint.

    >>> import tape_compat as tf
    >>> tf.matmul([[1.0, 2.0]], [[3.0, 4.0]], transpose_b=True).numpy().tolist()
    [[11.0]]
    """
    if a.__class__ is not Tensor or b.__class__ is not Tensor:
        if a.__class__ is Tensor and b.__class__ is Variable:
            b = b._as_tensor()
        else:
            a, b = matching((a, b))
    if not (transpose_a or transpose_b or adjoint_a or adjoint_b or output_type is not None):
        return apply2(_PLAIN_MATMUL, a, b)
    for which, transposed, adjointed in (
        ("a", transpose_a, adjoint_a),
        ("b", transpose_b, adjoint_b),
    ):
        if transposed and adjointed:
            raise ValueError(
                f"Only one of `transpose_{which}` and `adjoint_{which}` can be True. Received "
                f"`transpose_{which}`={transposed}, `adjoint_{which}`={adjointed}."
            )
    closure = _MATMUL.bind(
        ta=bool(transpose_a),
        tb=bool(transpose_b),
        aa=bool(adjoint_a),
        ab=bool(adjoint_b),
        to=None if output_type is None else as_dtype(output_type),
    )
    return apply(closure, (a, b))


def _check_matvec(avals: tuple[Aval, ...], ta: bool, aa: bool) -> None:
    a, b = avals
    _check_matmul((a, aval((*b.shape, 1), b.dtype)), ta=ta, aa=aa)


_MATVEC = Op(
    lambda a, b, ta, aa: jnp.squeeze(_matmul(a, jnp.expand_dims(b, -1), ta=ta, aa=aa), -1),
    "MatMul",
    check=_check_matvec,
)


def matvec(
    a: Any,
    b: Any,
    transpose_a: bool = False,
    adjoint_a: bool = False,
    a_is_sparse: bool = False,
    b_is_sparse: bool = False,
    name: str | None = None,
) -> Tensor:
    """Product of the matrix `a` [..., n, k] and the vector `b` [..., k], batch axes broadcast.

    >>> import tape_compat as tf
    >>> tf.linalg.matvec([[1.0, 2.0], [3.0, 4.0]], [1.0, 1.0]).numpy().tolist()
    [3.0, 7.0]
    """
    closure = _MATVEC.bind(ta=bool(transpose_a), aa=bool(adjoint_a))
    return apply(closure, tuple(matching((a, b))))


def _check_tensordot(avals: tuple[Aval, ...], a_axes: tuple, b_axes: tuple) -> None:
    check_same_dtype(avals, "MatMul")
    a, b = (known.shape for known in avals)
    ka, kb = (int(np.prod([s[i] for i in axes])) for s, axes in ((a, a_axes), (b, b_axes)))
    if ka != kb or [a[i] for i in a_axes] != [b[i] for i in b_axes]:
        rows, columns = avals[0].size // max(ka, 1), avals[1].size // max(kb, 1)
        raise invalid(
            f"Matrix size-incompatible: In[0]: [{rows},{ka}], In[1]: [{kb},{columns}]", "MatMul"
        )


_TENSORDOT = Op(
    lambda a, b, a_axes, b_axes: jnp.tensordot(a, b, axes=(a_axes, b_axes)),
    "MatMul",
    check=_check_tensordot,
)


def _contracted(axes: Any, a_rank: int, b_rank: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    if isinstance(axes, (Tensor, np.ndarray)):
        axes = np.asarray(axes).tolist()
    if isinstance(axes, (int, np.integer)):
        if axes < 0:
            raise ValueError(f"`axes` must be at least 0. Received: {axes}.")
        if axes > a_rank:
            raise ValueError(
                f"`axes` must not be larger than the number of dimensions of tensor a. "
                f"Received {axes}, vs tensor dimensions {a_rank}."
            )
        return tuple(range(a_rank - axes, a_rank)), tuple(range(axes))
    if len(axes) != 2:
        raise ValueError(f"`axes` must be an integer or have length 2. Received {axes}.")
    a_axes, b_axes = (dims(x) for x in axes)
    if len(a_axes) != len(b_axes):
        raise ValueError(
            f"Different number of contraction axes `a` and `b`, {len(a_axes)} != {len(b_axes)}."
        )
    for given, n in ((a_axes, a_rank), (b_axes, b_rank)):
        for i in given:
            if not -n <= i < n:
                raise IndexError(f"list index out of range: axis {i} of a tensor of rank {n}")
    return tuple(i % a_rank for i in a_axes), tuple(i % b_rank for i in b_axes)


def tensordot(a: Any, b: Any, axes: Any, name: str | None = None) -> Tensor:
    """Sum of products of `a` and `b` over `axes`: the remaining axes of `a`, then those of `b`.

    `axes`: n, for the last n of `a` and the first n of `b`; or a pair of lists.

    >>> import tape_compat as tf
    >>> tf.tensordot([[1.0, 2.0]], [3.0, 4.0], 1).numpy().tolist()
    [11.0]
    """
    a, b = matching((a, b))
    a_axes, b_axes = _contracted(axes, len(a._aval.shape), len(b._aval.shape))
    return apply(_TENSORDOT.bind(a_axes=a_axes, b_axes=b_axes), (a, b))


def _check_einsum(avals: tuple[Aval, ...], equation: str) -> None:
    check_same_dtype(avals, "Einsum")
    terms, _, output = equation.partition("->")
    labels = terms.split(",")
    if len(labels) != len(avals):
        raise ValueError(
            f'Got {len(avals)} inputs for equation "{equation}", expecting {len(labels)}'
        )
    for label in output.replace(".", ""):
        if label not in terms:
            raise ValueError(
                f"Output subscripts contain the label {label} not present in the input subscripts."
            )
    sizes: dict[str, int] = {}
    for i, (term, known) in enumerate(zip(labels, avals)):
        before, dots, after = term.partition("...")
        n = len(before) + len(after)
        if len(known.shape) < n or (not dots and len(known.shape) != n):
            raise invalid(
                f"Expected input {i} to have rank {n} but got: {len(known.shape)} (its subscripts "
                f"are {term!r})",
                "Einsum",
            )
        places = [*enumerate(before), *enumerate(after, len(known.shape) - len(after))]
        for axis, label in places:
            n = sizes.setdefault(label, known.shape[axis])
            if known.shape[axis] != n:
                raise invalid(
                    f"Expected dimension {n} at axis {axis} of the input shaped "
                    f"{_dims(known.shape)} but got dimension {known.shape[axis]}",
                    "Einsum",
                )


_EINSUM = Op(lambda *xs, equation: jnp.einsum(equation, *xs), "Einsum", check=_check_einsum)


def einsum(equation: str, *inputs: Any, **kwargs: Any) -> Tensor:
    """Sum of products of tensors, as `equation` names their axes: "ij,jk->ik" is a matrix product.

    `...` stands for axes that broadcast. Keyword arguments: `name`, and `optimize`, which is
    accepted: the order of contraction is chosen anyway.

    >>> import tape_compat as tf
    >>> tf.einsum("ij->j", [[1.0, 2.0], [3.0, 4.0]]).numpy().tolist()
    [4.0, 6.0]
    """
    unknown = set(kwargs) - {"name", "optimize"}
    if unknown:
        raise TypeError(
            f"Invalid keyword arguments for einsum: {', '.join(sorted(unknown))}. Valid arguments "
            "are: optimize, name."
        )
    equation = equation.replace(" ", "")
    tensors = matching(inputs)
    return apply(_EINSUM.bind(equation=equation), tuple(tensors))


def _check_cross(avals: tuple[Aval, ...]) -> None:
    a, b = avals
    check_same_dtype(avals, "Cross")
    if a.shape != b.shape:
        raise invalid(
            f"Both inputs must be of same shape: {_dims(a.shape)} vs. {_dims(b.shape)}", "Cross"
        )
    if not a.shape or a.shape[-1] != 3:
        raise errors.FailedPreconditionError(
            None,
            None,
            "Cross-products are only defined for 3-element vectors. [Op:Cross] "
            f"(at {errors.user_location()})",
        )


@op(kernel="Cross", dtypes="float integer", check=_check_cross)
def cross(a, b, name=None):
    """Cross product of the vectors `a` and `b` [..., 3].

    >>> import tape_compat as tf
    >>> tf.linalg.cross([1.0, 0.0, 0.0], [0.0, 1.0, 0.0]).numpy().tolist()
    [0.0, 0.0, 1.0]
    """
    return jnp.cross(a, b)


# ---------------------------------------------------------------------------------------------
# Transposes.


def _check_matrix(a: Tensor) -> None:
    if len(a._aval.shape) < 2:
        raise ValueError(
            f"Argument `a` should be a (batch) matrix with rank >= 2.  Received `a` = {a} with "
            f"shape: {a.shape}"
        )


_ADJOINT = Op(_adjoint, "Transpose").bind()
_MATRIX_TRANSPOSE = Op(lambda a: jnp.swapaxes(a, -1, -2), "Transpose").bind()


def matrix_transpose(a: Any, name: str = "matrix_transpose", conjugate: bool = False) -> Tensor:
    """`a` [..., n, m] with its last two axes exchanged; `conjugate` takes the conjugate too.

    Raises: ValueError if the rank is below 2.

    >>> import tape_compat as tf
    >>> tf.linalg.matrix_transpose([[1, 2]]).numpy().tolist()
    [[1], [2]]
    """
    a = _tensor(a)
    _check_matrix(a)
    return apply(_ADJOINT if conjugate else _MATRIX_TRANSPOSE, (a,))


def adjoint(matrix: Any, name: str | None = None) -> Tensor:
    """The conjugate transpose of `matrix` [..., n, m].

    >>> import tape_compat as tf
    >>> tf.linalg.adjoint([[1 + 2j]]).numpy().tolist()
    [[(1-2j)]]
    """
    return matrix_transpose(matrix, conjugate=True)


# ---------------------------------------------------------------------------------------------
# Norms.


def _size(x: Any) -> Any:
    """The absolute value, real, with derivative 0 at 0."""
    return rules.abs(x)


def _norm(x: Any, ord: Any, axis: Any, keepdims: bool) -> Any:
    if ord in ("fro", "euclidean") or (ord == 2 and not isinstance(axis, tuple)):
        # TensorFlow keeps the complex dtype, and its gradient at 0 is NaN: inf times 0.
        return jnp.sqrt(jnp.sum(x * jnp.conj(x), axis=axis, keepdims=keepdims))
    if isinstance(axis, tuple):
        if ord == 2:
            first, second = (i % x.ndim for i in axis)
            s = _singular_values(jnp.moveaxis(x, (first, second), (-2, -1)))
            largest = jnp.max(s, axis=-1)
            return jnp.expand_dims(largest, (first, second)) if keepdims else largest
        summed, maximal = axis if ord == 1 else axis[::-1]
        sums = jnp.sum(_size(x), axis=summed, keepdims=True)
        largest = jnp.max(sums, axis=maximal, keepdims=True)
        return largest if keepdims else jnp.squeeze(largest, axis)
    if ord == np.inf:
        return jnp.max(_size(x), axis=axis, keepdims=keepdims)
    if ord == 1:
        return jnp.sum(_size(x), axis=axis, keepdims=keepdims)
    total = jnp.sum(jnp.power(_size(x), ord), axis=axis, keepdims=keepdims)
    return jnp.power(total, 1.0 / ord)


def _norm_arguments(ord: Any, axis: Any) -> tuple[Any, Any]:
    if isinstance(axis, (list, tuple)):
        axis = tuple(int(a) for a in axis)
        if len(axis) != 2 or axis[0] == axis[1]:
            raise ValueError(
                "'axis' must be None, an integer, or a tuple of 2 unique integers, got "
                f"{list(axis)}"
            )
        if ord not in ("euclidean", "fro", 1, 2, np.inf):
            raise ValueError(
                "'ord' must be a supported matrix norm in ['euclidean', 'fro', 1, 2, inf], "
                f"got {ord}"
            )
    else:
        axis = None if axis is None else int(axis)
        if ord != "euclidean" and (isinstance(ord, str) or not np.isreal(ord) or ord <= 0):
            raise ValueError(f"'ord' must be a supported vector norm, got {ord}")
    return ord if isinstance(ord, str) else float(ord), axis


def _check_norm(avals: tuple[Aval, ...], ord: Any, axis: Any, keepdims: bool) -> None:
    if not avals[0].trainable:
        raise invalid(
            f"Value for attr 'T' of {tf_dtype_name(avals[0].dtype)} is not in the list of allowed "
            "values: bfloat16, half, float, double, complex64, complex128\n\t; "
            "NodeDef: {{node Sqrt}}",
            "Sqrt",
        )
    n = len(avals[0].shape)
    for i in axis if isinstance(axis, tuple) else () if axis is None else (axis,):
        if not -n <= i < n:
            raise invalid(
                f"Invalid reduction dimension ({i} for input with {n} dimension(s)", "Sum"
            )


_NORM = Op(_norm, "Norm", check=_check_norm)


def norm(
    tensor: Any,
    ord: Any = "euclidean",
    axis: Any = None,
    keepdims: bool | None = None,
    name: str | None = None,
) -> Tensor:
    """Norm of vectors along `axis` (of all elements by default), or of matrices along two axes.

    Args:
      ord: "euclidean"; for vectors a positive number or inf; for matrices "fro", 1, 2 or inf.
      keepdims: leave the axes, with size 1.
    The gradient of the Euclidean norm at 0 is NaN, as in TensorFlow.
    Raises: ValueError for an `ord` or `axis` that is none.

    >>> import tape_compat as tf
    >>> float(tf.norm([3.0, 4.0]))
    5.0
    """
    ord, axis = _norm_arguments(ord, axis)
    return apply(_NORM.bind(ord=ord, axis=axis, keepdims=bool(keepdims)), (_tensor(tensor),))


def _normalized(x: Any, ord: Any, axis: Any, keepdims: bool) -> Any:
    length = _norm(x, ord, axis, True)
    return x / length, length


_NORMALIZE = Op(_normalized, "RealDiv", check=_check_norm)


def normalize(
    tensor: Any, ord: Any = "euclidean", axis: Any = None, name: str | None = None
) -> tuple[Tensor, Tensor]:
    """`tensor` divided by its norm along `axis`, and that norm with its axes left at size 1.

    >>> import tape_compat as tf
    >>> unit, length = tf.linalg.normalize([3.0, 4.0])
    >>> float(length[0])
    5.0
    """
    ord, axis = _norm_arguments(ord, axis)
    return apply(_NORMALIZE.bind(ord=ord, axis=axis, keepdims=True), (_tensor(tensor),))


# ---------------------------------------------------------------------------------------------
# Diagonals. A band of diagonals k = (low, high) is an array [..., high - low + 1, longest], the
# highest diagonal first; `align` says at which end the shorter ones stand.


class _Band(NamedTuple):
    """Where each entry of a packed band stands in the matrix, and the reverse."""

    rows: np.ndarray  # [diagonals, longest]
    columns: np.ndarray
    valid: np.ndarray
    diagonal: np.ndarray  # [rows, columns]: which diagonal, and the place in it
    place: np.ndarray
    inside: np.ndarray


def _band(rows: int, columns: int, low: int, high: int, align: str) -> _Band:
    left_above, left_below = (side == "LEFT" for side in align.split("_"))
    count = high - low + 1
    longest = min(rows + min(high, 0), columns - max(low, 0))
    band = _Band(
        *(np.zeros((count, longest), dtype) for dtype in (int, int, bool)),
        *(np.zeros((rows, columns), dtype) for dtype in (int, int, bool)),
    )
    for which, k in enumerate(range(high, low - 1, -1)):
        length = min(rows + min(k, 0), columns - max(k, 0))
        at_left = (k >= 0 and left_above) or (k <= 0 and left_below)
        start = 0 if at_left else longest - length
        for i in range(length):
            row, column = i - min(k, 0), i + max(k, 0)
            band.rows[which, start + i], band.columns[which, start + i] = row, column
            band.valid[which, start + i] = True
            band.diagonal[row, column], band.place[row, column] = which, start + i
            band.inside[row, column] = True
    return band


def _range_of(k: Any) -> tuple[int, int]:
    known = dims(k)
    low, high = (known[0], known[0]) if len(known) == 1 else known
    if low > high:
        raise invalid(
            f"lower_diag_index must not be larger than upper_diag_index: {low} > {high}",
            "MatrixDiagPartV3",
        )
    return low, high


_ALIGN = ("RIGHT_LEFT", "LEFT_RIGHT", "LEFT_LEFT", "RIGHT_RIGHT")


def _check_align(align: str) -> None:
    if align not in _ALIGN:
        raise invalid(
            f"Value for attr 'align' of \"{align}\" is not in the list of allowed values: "
            + ", ".join(f'"{a}"' for a in _ALIGN),
            "MatrixDiagPartV3",
        )


def _diag_part(x: Any, padding: Any, k: tuple[int, int], align: str) -> Any:
    band = _band(x.shape[-2], x.shape[-1], *k, align)
    found = x[..., band.rows, band.columns]
    if not band.valid.all():
        found = jnp.where(band.valid, found, padding)
    return found[..., 0, :] if k[0] == k[1] else found


def _check_rank(avals: tuple[Aval, ...], kernel: str) -> None:
    if len(avals[0].shape) < 2:
        raise invalid(
            f"input must be at least 2-dim, received shape: {_dims(avals[0].shape)}", kernel
        )


def _check_range(rows: int, columns: int, k: tuple[int, int], kernel: str) -> None:
    for which, i in zip(("lower_diag_index", "upper_diag_index"), k):
        if not (-rows < i < columns or i == 0):
            raise invalid(
                f"{which} is out of bound: {i}. It must be between {-rows} and {columns}", kernel
            )


def _check_diag_part(avals: tuple[Aval, ...], k: tuple[int, int], align: str) -> None:
    _check_rank(avals, "MatrixDiagPartV3")
    _check_align(align)
    _check_range(avals[0].shape[-2], avals[0].shape[-1], k, "MatrixDiagPartV3")


_DIAG_PART = Op(_diag_part, "MatrixDiagPartV3", check=_check_diag_part)


def diag_part(
    input: Any,
    name: str = "diag_part",
    k: Any = 0,
    padding_value: Any = 0,
    align: str = "RIGHT_LEFT",
) -> Tensor:
    """The k-th diagonal of `input` [..., n, m], or the band of diagonals k = (low, high).

    Args:
      padding_value: fills up the shorter diagonals of a band.
      align: "RIGHT_LEFT": those above the main one stand at the right, those below at the left;
        or "LEFT_RIGHT", "LEFT_LEFT", "RIGHT_RIGHT".
    Returns: [..., length], or [..., high - low + 1, longest] from the highest diagonal down.

    >>> import tape_compat as tf
    >>> tf.linalg.diag_part([[1, 2], [3, 4]]).numpy().tolist()
    [1, 4]
    """
    x = _tensor(input)
    padding = convert(padding_value, x.dtype)
    return apply(_DIAG_PART.bind(k=_range_of(k), align=align), (x, padding))


def _diag(x: Any, padding: Any, k: tuple[int, int], rows: int, columns: int, align: str) -> Any:
    packed = jnp.expand_dims(x, -2) if k[0] == k[1] else x
    rows, columns = _diag_size(packed.shape[-1], k, rows, columns)
    band = _band(rows, columns, *k, align)
    return jnp.where(band.inside, packed[..., band.diagonal, band.place], padding)


def _diag_size(longest: int, k: tuple[int, int], rows: int, columns: int) -> tuple[int, int]:
    least_rows, least_columns = longest - min(k[1], 0), longest + max(k[0], 0)
    if rows == -1 and columns == -1:
        rows = columns = max(least_rows, least_columns)
    return least_rows if rows == -1 else rows, least_columns if columns == -1 else columns


def _check_diag(
    avals: tuple[Aval, ...], k: tuple[int, int], rows: int, columns: int, align: str
) -> None:
    have = avals[0].shape
    _check_align(align)
    if not have:
        raise invalid("diagonal must be at least 1-dim, received shape: []", "MatrixDiagV3")
    count = k[1] - k[0] + 1
    if count > 1 and (len(have) < 2 or have[-2] != count):
        raise invalid(
            "The number of diagonals provided in the input does not match the lower_diag_index "
            f"and upper_diag_index range: {_dims(have)}, {count}",
            "MatrixDiagV3",
        )
    least = _diag_size(have[-1], k, -1, -1)
    given = _diag_size(have[-1], k, rows, columns)
    low_rows, low_columns = have[-1] - min(k[1], 0), have[-1] + max(k[0], 0)
    if given[0] < low_rows or given[1] < low_columns:
        which = "rows" if given[0] < low_rows else "columns"
        raise invalid(
            f"The number of {which} is too small: {given}, at least {least}", "MatrixDiagV3"
        )
    if given[0] != low_rows and given[1] != low_columns:
        raise invalid(
            "The number of rows or columns is not consistent with the specified d_lower, d_upper, "
            "and diagonal.",
            "MatrixDiagV3",
        )


_DIAG = Op(_diag, "MatrixDiagV3", check=_check_diag)


def diag(
    diagonal: Any,
    name: str = "diag",
    k: Any = 0,
    num_rows: Any = -1,
    num_cols: Any = -1,
    padding_value: Any = 0,
    align: str = "RIGHT_LEFT",
) -> Tensor:
    """Matrices with `diagonal` [..., n] as their k-th diagonal, or a band k = (low, high) of them.

    Args:
      num_rows, num_cols: size of the matrices; by default square and as small as can be.
      padding_value: what stands elsewhere.
      align: see `diag_part`.

    >>> import tape_compat as tf
    >>> tf.linalg.diag([1, 2]).numpy().tolist()
    [[1, 0], [0, 2]]
    """
    x = _tensor(diagonal)
    closure = _DIAG.bind(k=_range_of(k), rows=int(num_rows), columns=int(num_cols), align=align)
    return apply(closure, (x, convert(padding_value, x.dtype)))


def _set_diag(x: Any, diagonal: Any, k: tuple[int, int], align: str) -> Any:
    packed = jnp.expand_dims(diagonal, -2) if k[0] == k[1] else diagonal
    band = _band(x.shape[-2], x.shape[-1], *k, align)
    return jnp.where(band.inside, packed[..., band.diagonal, band.place], x)


def _check_set_diag(avals: tuple[Aval, ...], k: tuple[int, int], align: str) -> None:
    kernel = "MatrixSetDiagV3"
    check_same_dtype(avals, kernel)
    _check_rank(avals, kernel)
    _check_align(align)
    x, diagonal = (known.shape for known in avals)
    _check_range(x[-2], x[-1], k, kernel)
    longest = min(x[-2] + min(k[1], 0), x[-1] - max(k[0], 0))
    count = k[1] - k[0] + 1
    wanted = (*x[:-2], *((count,) if count > 1 else ()), longest)
    if diagonal != wanted:
        raise invalid(
            "Either first dimensions of diagonal don't match input.shape[:-2], or "
            "diagonal.shape[:-1] is not equal to the longests diagonal in range "
            "[lower_diag_index:upper_diag_index]. "
            f"Input shape: {_dims(x)}, diagonal shape: {_dims(diagonal)}, wanted {_dims(wanted)}",
            kernel,
        )


_SET_DIAG = Op(_set_diag, "MatrixSetDiagV3", check=_check_set_diag)


def set_diag(
    input: Any, diagonal: Any, name: str = "set_diag", k: Any = 0, align: str = "RIGHT_LEFT"
) -> Tensor:
    """`input` [..., n, m] with its k-th diagonal, or a band k = (low, high), replaced.

    >>> import tape_compat as tf
    >>> tf.linalg.set_diag([[1, 2], [3, 4]], [0, 0]).numpy().tolist()
    [[0, 2], [3, 0]]
    """
    closure = _SET_DIAG.bind(k=_range_of(k), align=align)
    return apply(closure, tuple(matching((input, diagonal))))


def _band_part(x: Any, lower: int, upper: int) -> Any:
    rows, columns = x.shape[-2:]
    distance = np.arange(rows)[:, None] - np.arange(columns)
    kept = ((lower < 0) | (distance <= lower)) & ((upper < 0) | (-distance <= upper))
    return jnp.where(kept, x, jnp.zeros((), x.dtype))


def _check_band_part(avals: tuple[Aval, ...], lower: int, upper: int) -> None:
    _check_rank(avals, "MatrixBandPart")
    for which, what, n, given in zip(
        ("lower", "upper"), ("rows", "columns"), avals[0].shape[-2:], (lower, upper)
    ):
        if given > n:
            raise invalid(
                f"num_{which} must be negative or less or equal to number of {what} ({n}) "
                f"got: {given}",
                "MatrixBandPart",
            )


_BAND_PART = Op(_band_part, "MatrixBandPart", check=_check_band_part)


def band_part(input: Any, num_lower: Any, num_upper: Any, name: str | None = None) -> Tensor:
    """`input` [..., n, m] with zeros outside a band around the main diagonal.

    `num_lower` diagonals below and `num_upper` above are kept, all of them if negative.

    >>> import tape_compat as tf
    >>> tf.linalg.band_part([[1, 2], [3, 4]], 0, -1).numpy().tolist()
    [[1, 2], [0, 4]]
    """
    return apply(_BAND_PART.bind(lower=int(num_lower), upper=int(num_upper)), (_tensor(input),))


def _check_trace(avals: tuple[Aval, ...]) -> None:
    _check_rank(avals, "MatrixDiagPartV3")


@op(kernel="Sum", dtypes="float complex integer", check=_check_trace)
def trace(x, name=None):
    """The sum of the main diagonal of `x` [..., n, m].

    >>> import tape_compat as tf
    >>> float(tf.linalg.trace([[1.0, 2.0], [3.0, 4.0]]))
    5.0
    """
    return jnp.sum(jnp.diagonal(x, axis1=-2, axis2=-1), -1, dtype=x.dtype)


@op(kernel="Diag")
def tensor_diag(diagonal, name=None):
    """A tensor [*shape, *shape] with `diagonal` where both halves of the index are equal.

    >>> import tape_compat as tf
    >>> tf.linalg.tensor_diag([1, 2]).numpy().tolist()
    [[1, 0], [0, 2]]
    """
    return jnp.diag(diagonal.reshape(-1)).reshape(diagonal.shape * 2)


def _check_tensor_diag_part(avals: tuple[Aval, ...]) -> None:
    have = avals[0].shape
    half = len(have) // 2
    if len(have) % 2 or not have or have[:half] != have[half:]:
        raise invalid(
            f"The rank of the tensor should be even and positive, and its halves equal, got shape "
            f"{_dims(have)}",
            "DiagPart",
        )


@op(kernel="DiagPart", check=_check_tensor_diag_part)
def tensor_diag_part(input, name=None):
    """What stands in `input` [*shape, *shape] where both halves of the index are equal.

    >>> import tape_compat as tf
    >>> tf.linalg.tensor_diag_part([[1, 2], [3, 4]]).numpy().tolist()
    [1, 4]
    """
    half = input.shape[: input.ndim // 2]
    n = int(np.prod(half))
    return jnp.diagonal(input.reshape(n, n)).reshape(half)


# ---------------------------------------------------------------------------------------------
# Solving.


def _check_square(kernel: str, words: str = "Input matrix must be square.") -> Any:
    def check(avals: tuple[Aval, ...], **_: Any) -> None:
        have = avals[0].shape
        if len(have) < 2:
            raise invalid(f"Input tensor 0 must have rank >= 2, got {len(have)}", kernel)
        if have[-1] != have[-2]:
            raise invalid(words, kernel)

    return check


@jax.custom_jvp
def _inverse(a: Any) -> Any:
    return jnp.linalg.inv(a)


@_inverse.defjvp
def _inverse_jvp(primals: Any, tangents: Any) -> Any:
    """-inv da inv: two products, where JAX solves again."""
    out = _inverse(primals[0])
    return out, -out @ tangents[0] @ out


@op(arrays=1, kernel="MatrixInverse", dtypes="float complex", check=_check_square("MatrixInverse"))
def inv(input, adjoint=False, name=None):
    """The inverse of square matrices [..., n, n], or of their adjoints. A singular one gives inf.

    >>> import tape_compat as tf
    >>> tf.linalg.inv([[2.0, 0.0], [0.0, 4.0]]).numpy().tolist()
    [[0.5, 0.0], [0.0, 0.25]]
    """
    return _inverse(_adjoint(input) if adjoint else input)


@op(kernel="MatrixDeterminant", dtypes="float complex", check=_check_square("MatrixDeterminant"))
def det(input, name=None):
    """The determinant of square matrices [..., n, n].

    >>> import tape_compat as tf
    >>> float(tf.linalg.det([[2.0, 0.0], [0.0, 4.0]]))
    8.0
    """
    return jnp.linalg.det(input)


class LogMatrixDeterminant(NamedTuple):
    """Sign of a determinant, and the logarithm of its absolute value."""

    sign: Tensor
    log_abs_determinant: Tensor


_SLOGDET = Op(
    lambda a: tuple(jnp.linalg.slogdet(a)),
    "LogMatrixDeterminant",
    check=_check_square("LogMatrixDeterminant"),
).bind()


def slogdet(input: Any, name: str | None = None) -> LogMatrixDeterminant:
    """Sign and logarithm of the absolute value of the determinant of matrices [..., n, n].

    >>> import tape_compat as tf
    >>> float(tf.linalg.slogdet([[-1.0, 0.0], [0.0, 1.0]]).sign)
    -1.0
    """
    return LogMatrixDeterminant(*apply(_SLOGDET, (_tensor(input),)))


@jax.custom_jvp
def _cholesky(a: Any) -> Any:
    return lax.linalg.cholesky(a, symmetrize_input=False)


@_cholesky.defjvp
def _cholesky_jvp(primals: Any, tangents: Any) -> Any:
    """Only the lower triangle is read, and yet the gradient is symmetric.

    Source: TF linalg_grad.py, _CholeskyGrad. JAX averages the input and its transpose first.
    """
    out = _cholesky(primals[0])
    change = (tangents[0] + _adjoint(tangents[0])) / 2
    half = _solve_lower(out, _adjoint(_solve_lower(out, change)))
    return out, out @ _half_lower(_adjoint(half))


def _solve_lower(lower: Any, b: Any) -> Any:
    return lax.linalg.triangular_solve(lower, b, left_side=True, lower=True)


def _half_lower(x: Any) -> Any:
    """The lower triangle with half the diagonal."""
    n = x.shape[-1]
    return x * jnp.asarray(np.tril(np.ones((n, n))) - np.eye(n) / 2, x.dtype)


@op(
    kernel="Cholesky",
    dtypes="float complex",
    check=_check_square("Cholesky", "Input matrix must be square."),
)
def cholesky(input, name=None):
    """The lower triangular L with L L^H = `input` [..., n, n], whose lower triangle is read.

    NaN where `input` is not positive definite.

    >>> import tape_compat as tf
    >>> tf.linalg.cholesky([[4.0, 0.0], [0.0, 9.0]]).numpy().tolist()
    [[2.0, 0.0], [0.0, 3.0]]
    """
    return jnp.tril(_cholesky(input))


@op(kernel="Cholesky", dtypes="float complex", check=_check_square("Cholesky"))
def logdet(matrix, name=None):
    """The logarithm of the determinant of positive definite matrices [..., n, n], real.

    >>> import tape_compat as tf
    >>> round(float(tf.linalg.logdet([[2.0, 0.0], [0.0, 4.0]])), 4)
    2.0794
    """
    diagonal = jnp.diagonal(_cholesky(matrix), axis1=-2, axis2=-1)
    return 2.0 * jnp.sum(jnp.log(jnp.real(diagonal)), -1)


def _triangular(matrix: Any, rhs: Any, lower: bool, adjoint: bool) -> Any:
    batch = np.broadcast_shapes(matrix.shape[:-2], rhs.shape[:-2])
    return lax.linalg.triangular_solve(
        jnp.broadcast_to(matrix, (*batch, *matrix.shape[-2:])),
        jnp.broadcast_to(rhs, (*batch, *rhs.shape[-2:])),
        left_side=True,
        lower=lower,
        transpose_a=adjoint,
        conjugate_a=adjoint,
    )


def _check_solve(kernel: str, broadcast: bool) -> Any:
    def check(avals: tuple[Aval, ...], **_: Any) -> None:
        a, b = (known.shape for known in avals)
        check_same_dtype(avals, kernel)
        if broadcast and min(len(a), len(b)) < 2:
            which, n = (0, len(a)) if len(a) < 2 else (1, len(b))
            raise invalid(f"In[{which}] ndims must be >= 2: {n}", kernel)
        if not broadcast and len(a) != len(b):
            raise invalid("All input tensors must have the same rank.", kernel)
        _check_square(kernel)(avals)
        if a[-1] != b[-2]:
            raise invalid(
                "Input matrix and right-hand side must have the same number of rows: "
                f"{_dims(a)} vs. {_dims(b)}",
                kernel,
            )
        if not broadcast and a[:-2] != b[:-2]:
            raise invalid(
                f"All input tensors must have the same outer dimensions: {_dims(a)} vs. {_dims(b)}",
                kernel,
            )
        try:
            np.broadcast_shapes(a[:-2], b[:-2])
        except ValueError:
            raise invalid(
                f"In[0] and In[1] must have compatible batch dimensions: {_dims(a)} vs. {_dims(b)}",
                kernel,
            ) from None

    return check


@op(
    arrays=2,
    kernel="MatrixTriangularSolve",
    dtypes="float complex",
    check=_check_solve("MatrixTriangularSolve", True),
)
def triangular_solve(matrix, rhs, lower=True, adjoint=False, name=None):
    """X [..., n, m] with `matrix` X = `rhs`, for triangular `matrix` [..., n, n].

    Args:
      lower: whether the lower triangle is read, or the upper.
      adjoint: solve with the adjoint of `matrix`.

    >>> import tape_compat as tf
    >>> tf.linalg.triangular_solve([[2.0, 0.0], [0.0, 4.0]], [[2.0], [2.0]]).numpy().tolist()
    [[1.0], [0.5]]
    """
    return _triangular(matrix, rhs, bool(lower), bool(adjoint))


@op(
    arrays=2,
    kernel="CholeskySolve",
    dtypes="float complex",
    check=_check_solve("CholeskySolve", True),
)
def cholesky_solve(chol, rhs, name=None):
    """X [..., n, m] with A X = `rhs`, for `chol`, the Cholesky factor of A [..., n, n].

    >>> import tape_compat as tf
    >>> tf.linalg.cholesky_solve([[2.0, 0.0], [0.0, 1.0]], [[4.0], [2.0]]).numpy().tolist()
    [[1.0], [2.0]]
    """
    return _triangular(chol, _triangular(chol, rhs, True, False), True, True)


@op(
    arrays=2, kernel="MatrixSolve", dtypes="float complex", check=_check_solve("MatrixSolve", False)
)
def solve(matrix, rhs, adjoint=False, name=None):
    """X [..., n, m] with `matrix` X = `rhs`, for square `matrix` [..., n, n] or its adjoint.

    Raises: InvalidArgumentError if the shapes do not fit. A singular matrix gives inf or NaN.

    >>> import tape_compat as tf
    >>> tf.linalg.solve([[2.0, 0.0], [0.0, 4.0]], [[2.0], [2.0]]).numpy().tolist()
    [[1.0], [0.5]]
    """
    return jnp.linalg.solve(_adjoint(matrix) if adjoint else matrix, rhs)


def _lstsq(a: Any, b: Any, regularizer: float, fast: bool) -> Any:
    if not fast:
        return jnp.matmul(_pinv(a, None), b)
    rows, columns = a.shape[-2:]
    h = _adjoint(a)
    gram = jnp.matmul(h, a) if rows >= columns else jnp.matmul(a, h)
    n = gram.shape[-1]
    factor = _cholesky(gram + regularizer * jnp.eye(n, dtype=a.dtype))

    def apart(rhs: Any) -> Any:
        return _triangular(factor, _triangular(factor, rhs, True, False), True, True)

    return apart(jnp.matmul(h, b)) if rows >= columns else jnp.matmul(h, apart(b))


def _check_lstsq(avals: tuple[Aval, ...], **_: Any) -> None:
    a, b = avals
    check_same_dtype(avals, "MatrixSolveLs")
    _check_matmul((a, b), ta=True)


_LSTSQ = Op(_lstsq, "MatrixSolveLs", check=_check_lstsq)


def lstsq(
    matrix: Any, rhs: Any, l2_regularizer: Any = 0.0, fast: bool = True, name: str | None = None
) -> Tensor:
    """X [..., n, k] that minimizes |`matrix` X - `rhs`|^2 + `l2_regularizer` |X|^2.

    Args:
      matrix: [..., m, n]; with m < n, the X of least norm that solves it.
      rhs: [..., m, k].
      fast: by the normal equations; otherwise by the pseudo-inverse, which takes any rank (and then
        no regularizer).

    >>> import tape_compat as tf
    >>> round(float(tf.linalg.lstsq([[1.0], [1.0]], [[1.0], [3.0]])[0, 0]), 4)
    2.0
    """
    closure = _LSTSQ.bind(regularizer=float(l2_regularizer), fast=bool(fast))
    return apply(closure, tuple(matching((matrix, rhs))))


# ---------------------------------------------------------------------------------------------
# Decompositions.


def _safe_reciprocal(x: Any) -> Any:
    """1 / x, and 0 at 0. Source: TF linalg_grad.py, _SafeReciprocal."""
    return jnp.conj(x) / (x * jnp.conj(x) + 1e-20)


def _gaps(x: Any, squared: bool = False) -> Any:
    """1 / (x[j] - x[i]), or of their squares, and 0 on the diagonal and where they are equal."""
    row, column = x[..., None, :], x[..., :, None]
    gaps = (row - column) * (row + column) if squared else row - column
    same = np.eye(x.shape[-1], dtype=bool)
    return jnp.where(same, 0, _safe_reciprocal(jnp.where(same, 1, gaps)))


class Qr(NamedTuple):
    """Q and R of a QR decomposition."""

    q: Tensor
    r: Tensor


def _qr(x: Any, full: bool) -> Any:
    rows, columns = x.shape[-2:]
    if rows >= columns:
        return tuple(jnp.linalg.qr(x, mode="complete" if full else "reduced"))
    # A wide matrix: JAX has no derivative for it, but has one for its square part.
    q, r = jnp.linalg.qr(x[..., :rows])
    return q, jnp.concatenate([r, jnp.matmul(_adjoint(q), x[..., rows:])], -1)


def _check_decomposed(kernel: str) -> Any:
    def check(avals: tuple[Aval, ...], **_: Any) -> None:
        if not avals[0].trainable:
            raise invalid(
                f"Value for attr 'T' of {tf_dtype_name(avals[0].dtype)} is not in the list of "
                "allowed values: double, float, half, complex64, complex128\n\t; "
                f"NodeDef: {{{{node {kernel}}}}}",
                kernel,
            )
        if len(avals[0].shape) < 2:
            raise invalid(f"Input tensor 0 must have rank >= 2, got {len(avals[0].shape)}", kernel)

    return check


_QR = Op(_qr, "Qr", check=_check_decomposed("Qr"))


def qr(input: Any, full_matrices: bool = False, name: str | None = None) -> Qr:
    """`input` [..., m, n] as Q R, with orthonormal columns in Q and upper triangular R.

    With p = min(m, n): Q is [..., m, p] and R is [..., p, n]; `full_matrices`: m in place of p.

    >>> import tape_compat as tf
    >>> q, r = tf.linalg.qr([[3.0], [4.0]])
    >>> round(abs(float(r[0, 0])), 4)
    5.0
    """
    return Qr(*apply(_QR.bind(full=bool(full_matrices)), (_tensor(input),)))


class Lu(NamedTuple):
    """L and U in one matrix, and the permutation of rows."""

    lu: Tensor
    p: Tensor


def _lu(a: Any, dtype: str) -> Any:
    factors, _, permutation = lax.linalg.lu(a)
    return factors, permutation.astype(dtype)


_LU = Op(_lu, "Lu", check=_check_square("Lu"))


def lu(input: Any, output_idx_type: Any = dtypes.int32, name: str | None = None) -> Lu:
    """Square matrices [..., n, n], rows permuted by `p`, as L U in one matrix (L has ones there).

    >>> import tape_compat as tf
    >>> tf.linalg.lu([[2.0, 1.0], [4.0, 3.0]]).p.numpy().tolist()
    [1, 0]
    """
    return Lu(*apply(_LU.bind(dtype=as_dtype(output_idx_type).name), (_tensor(input),)))


@jax.custom_jvp
def _singular_values(a: Any) -> Any:
    return jnp.linalg.svd(a, compute_uv=False)


@_singular_values.defjvp
def _singular_values_jvp(primals: Any, tangents: Any) -> Any:
    u, s, v = _thin_svd(primals[0])
    return s, _diagonal_of(_adjoint(u) @ tangents[0] @ v)


def _diagonal_of(x: Any) -> Any:
    return jnp.real(jnp.diagonal(x, axis1=-2, axis2=-1))


@jax.custom_jvp
def _thin_svd(a: Any) -> Any:
    u, s, vh = jnp.linalg.svd(a, full_matrices=False)
    return u, s, _adjoint(vh)


@_thin_svd.defjvp
def _thin_svd_jvp(primals: Any, tangents: Any) -> Any:
    """Equal singular values give a finite gradient; JAX divides by their difference.

    Source: TF linalg_grad.py, _SvdGrad, with its safe reciprocal.
    """
    (a,), (da,) = primals, tangents
    u, s, v = _thin_svd(a)
    core = _adjoint(u) @ da @ v
    row, column = s[..., None, :], s[..., :, None]
    gaps = _gaps(s, squared=True).astype(a.dtype)
    du = u @ (gaps * (core * row + column * _adjoint(core)))
    dv = v @ (gaps * (column * core + _adjoint(core) * row))
    inverse = _safe_reciprocal(row).astype(a.dtype)
    if jnp.issubdtype(a.dtype, jnp.complexfloating):
        # The phase that a real decomposition does not have goes to u.
        n = s.shape[-1]
        phase = jnp.imag(core) * np.eye(n, dtype=s.dtype) * 1j
        du = du + u @ (phase * inverse)
    m, n = a.shape[-2:]
    if m > n:
        turned = da @ v * inverse
        du = du + turned - u @ (_adjoint(u) @ turned)
    if n > m:
        turned = _adjoint(da) @ u * inverse
        dv = dv + turned - v @ (_adjoint(v) @ turned)
    return (u, s, v), (du, _diagonal_of(core), dv)


def _svd(a: Any, full: bool, vectors: bool) -> Any:
    if not vectors:
        return _singular_values(a)
    if full and a.shape[-1] != a.shape[-2]:
        u, s, vh = jnp.linalg.svd(a, full_matrices=True)
        return s, u, _adjoint(vh)
    u, s, v = _thin_svd(a)
    return s, u, v


_SVD = Op(_svd, "Svd", check=_check_decomposed("Svd"))


def svd(
    tensor: Any, full_matrices: bool = False, compute_uv: bool = True, name: str | None = None
) -> Any:
    """Singular values and vectors of `tensor` [..., m, n] = U diag(s) V^H.

    Returns: s, U, V in this order, with p = min(m, n): [..., p] descending, [..., m, p] and
      [..., n, p]; `full_matrices`: [..., m, m] and [..., n, n]. Without `compute_uv`: s alone. The
      gradient of the vectors is finite where values are equal, as TensorFlow's is; non-square full
      matrices have none.

    >>> import tape_compat as tf
    >>> s, u, v = tf.linalg.svd([[3.0, 0.0], [0.0, 4.0]])
    >>> s.numpy().tolist()
    [4.0, 3.0]
    """
    return apply(_SVD.bind(full=bool(full_matrices), vectors=bool(compute_uv)), (_tensor(tensor),))


@jax.custom_jvp
def _hermitian_eigen(a: Any) -> Any:
    v, w = lax.linalg.eigh(a, symmetrize_input=False)
    return w, v


@_hermitian_eigen.defjvp
def _hermitian_eigen_jvp(primals: Any, tangents: Any) -> Any:
    """Equal eigenvalues give a finite gradient; JAX divides by their difference.

    Source: TF linalg_grad.py, _SelfAdjointEigV2Grad.
    """
    w, v = _hermitian_eigen(primals[0])
    turned = _adjoint(v) @ tangents[0] @ v
    return (w, v), (_diagonal_of(turned), v @ (_gaps(w).astype(v.dtype) * turned))


def _eigh(a: Any, vectors: bool) -> Any:
    """Of the lower triangle, mirrored: TensorFlow's gradient is in the lower triangle, too."""
    lower = jnp.tril(a, -1)
    diagonal = jnp.tril(jnp.triu(a))
    w, v = _hermitian_eigen(lower + _adjoint(lower) + (diagonal + _adjoint(diagonal)) / 2)
    return (w, v) if vectors else w


_EIGH = Op(_eigh, "SelfAdjointEigV2", check=_check_square("SelfAdjointEigV2"))


def eigh(tensor: Any, name: str | None = None) -> tuple[Tensor, Tensor]:
    """Eigenvalues [..., n], ascending, and eigenvectors (columns of [..., n, n]) of `tensor`.

    It is Hermitian: its lower triangle is read. The eigenvalues have the dtype of `tensor`.

    >>> import tape_compat as tf
    >>> tf.linalg.eigh([[2.0, 0.0], [0.0, 1.0]])[0].numpy().tolist()
    [1.0, 2.0]
    """
    return apply(_EIGH.bind(vectors=True), (_tensor(tensor),))


def eigvalsh(tensor: Any, name: str | None = None) -> Tensor:
    """Eigenvalues [..., n] (ascending) of Hermitian matrices [..., n, n].

    >>> import tape_compat as tf
    >>> tf.linalg.eigvalsh([[2.0, 0.0], [0.0, 1.0]]).numpy().tolist()
    [1.0, 2.0]
    """
    return apply(_EIGH.bind(vectors=False), (_tensor(tensor),))


@jax.custom_jvp
def _eigen(a: Any) -> Any:
    return tuple(jnp.linalg.eig(a))


@_eigen.defjvp
def _eigen_jvp(primals: Any, tangents: Any) -> Any:
    """Vectors stay of unit length; equal eigenvalues give a finite gradient.

    Source: TF linalg_grad.py, _EigGrad. JAX refuses the derivative of the vectors.
    """
    w, v = _eigen(primals[0])
    turned = jnp.linalg.solve(v, tangents[0].astype(v.dtype) @ v)
    dv = v @ (_gaps(w) * turned)
    stretch = jnp.real(jnp.sum(jnp.conj(v) * dv, -2, keepdims=True))
    return (w, v), (jnp.diagonal(turned, axis1=-2, axis2=-1), dv - v * stretch)


@jax.custom_jvp
def _eigenvalues(a: Any) -> Any:
    return jnp.linalg.eigvals(a)


@_eigenvalues.defjvp
def _eigenvalues_jvp(primals: Any, tangents: Any) -> Any:
    w, v = _eigen(primals[0])
    turned = jnp.linalg.solve(v, tangents[0].astype(v.dtype) @ v)
    return w, jnp.diagonal(turned, axis1=-2, axis2=-1)


_EIG = Op(
    lambda a, vectors: _eigen(a) if vectors else _eigenvalues(a), "Eig", check=_check_square("Eig")
)


def eig(tensor: Any, name: str | None = None) -> tuple[Tensor, Tensor]:
    """Eigenvalues [..., n] and eigenvectors [..., n, n], complex, of square matrices. CPU only.

    >>> import tape_compat as tf
    >>> tf.linalg.eig([[2.0, 0.0], [0.0, 1.0]])[0].dtype
    tf.complex64
    """
    return apply(_EIG.bind(vectors=True), (_tensor(tensor),))


def eigvals(tensor: Any, name: str | None = None) -> Tensor:
    """Eigenvalues [..., n], complex, of square matrices [..., n, n]. CPU only.

    >>> import tape_compat as tf
    >>> tf.linalg.eigvals([[2.0]]).numpy().tolist()
    [(2+0j)]
    """
    return apply(_EIG.bind(vectors=False), (_tensor(tensor),))


def _pinv(a: Any, rcond: float | None) -> Any:
    return jnp.linalg.pinv(a) if rcond is None else jnp.linalg.pinv(a, rtol=rcond)


_PINV = Op(_pinv, "Pinv", check=_check_decomposed("Pinv"))


def pinv(a: Any, rcond: Any = None, validate_args: bool = False, name: str | None = None) -> Tensor:
    """The pseudo-inverse [..., n, m] of `a` [..., m, n].

    `rcond`: singular values up to this part of the largest count as 0; default 10 max(m, n) times
    the dtype's epsilon.

    >>> import tape_compat as tf
    >>> tf.linalg.pinv([[2.0], [0.0]]).numpy().tolist()
    [[0.5, 0.0]]
    """
    closure = _PINV.bind(rcond=None if rcond is None else float(rcond))
    return apply(closure, (_tensor(a),))


def _matrix_rank(a: Any, tol: float | None) -> Any:
    s = jnp.linalg.svd(a, compute_uv=False)
    if tol is None:
        bound = max(a.shape[-2:]) * jnp.max(s, -1, keepdims=True) * jnp.finfo(s.dtype).eps
    else:
        bound = jnp.asarray(tol, s.dtype)
    return jnp.sum(s > bound, -1, dtype=jnp.int32)


_MATRIX_RANK = Op(_matrix_rank, "Sum", differentiable=False, check=_check_decomposed("Svd"))


def matrix_rank(
    a: Any, tol: Any = None, validate_args: bool = False, name: str | None = None
) -> Tensor:
    """How many singular values of `a` [..., m, n] exceed `tol`: int32 [...].

    >>> import tape_compat as tf
    >>> int(tf.linalg.matrix_rank([[1.0, 1.0], [1.0, 1.0]]))
    1
    """
    return apply(_MATRIX_RANK.bind(tol=None if tol is None else float(tol)), (_tensor(a),))


@op(kernel="MatrixExponential", dtypes="float complex", check=_check_square("MatrixExponential"))
def expm(input, name=None):
    """The exponential of square matrices [..., n, n].

    >>> import tape_compat as tf
    >>> tf.linalg.expm([[0.0, 1.0], [0.0, 0.0]]).numpy().tolist()
    [[1.0, 1.0], [0.0, 1.0]]
    """
    return jax.scipy.linalg.expm(input)


@jax.custom_jvp
def _root(a: Any) -> Any:
    flat = a.reshape(-1, *a.shape[-2:])
    if not a.size:
        return a
    roots = jnp.stack([jax.scipy.linalg.sqrtm(matrix) for matrix in flat]).reshape(a.shape)
    if not jnp.issubdtype(a.dtype, jnp.complexfloating):
        roots = jnp.where(jnp.imag(roots) == 0, jnp.real(roots), jnp.nan)
    return roots.astype(a.dtype)


@_root.defjvp
def _root_jvp(primals: Any, tangents: Any) -> Any:
    """X dX + dX X = dA, solved as n^2 equations. JAX has no rule for the Schur form behind it."""
    x = _root(primals[0])
    n = x.shape[-1]
    unit = jnp.eye(n, dtype=x.dtype)
    both = jnp.einsum("...ik,jl->...ijkl", x, unit) + jnp.einsum("ik,...lj->...ijkl", unit, x)
    both = both.reshape(*x.shape[:-2], n * n, n * n)
    change = tangents[0].reshape(*x.shape[:-2], n * n, 1)
    return x, jnp.linalg.solve(both, change).reshape(x.shape)


@op(kernel="MatrixSquareRoot", dtypes="float complex", check=_check_square("MatrixSquareRoot"))
def sqrtm(input, name=None):
    """The principal square root of square matrices [..., n, n]. CPU only.

    NaN where a real matrix has none that is real.

    >>> import tape_compat as tf
    >>> tf.linalg.sqrtm([[4.0, 0.0], [0.0, 9.0]]).numpy().tolist()
    [[2.0, 0.0], [0.0, 3.0]]
    """
    return _root(input)


# ---------------------------------------------------------------------------------------------

operators.define(matmul=matmul)
name_ops(globals())
