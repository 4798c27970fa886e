"""Products of matrices and tensors, and transposes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np

from ..core import errors
from ..core.avals import Aval
from ..core.dimensions import Size, broadcast, differ, fit, is_symbolic, product
from ..core.dtypes import as_dtype
from ..core.native import native_calls
from ..core.op import Op
from ..core.refuse import invalid, not_allowed, shown
from ..values import operators
from ..values.dispatch import CompositeOperand, called, takes_composites
from ..values.record import apply
from ..values.tensor import Tensor
from ..values.variable import Variable, read
from . import small_products
from .arguments import as_tensor, dims, is_text, move_text
from .declare import allowed, check_same_dtype, matching, name_ops, op
from .matrices import adjoint_of

_MATMUL_DTYPES = allowed("float complex integer") - {"int8", "int16"}
_BATCH_MATMUL_DTYPES = _MATMUL_DTYPES | {"int16"}


def _matmul(
    a: Any,
    b: Any,
    ta: bool = False,
    tb: bool = False,
    aa: bool = False,
    ab: bool = False,
    to: Any = None,
) -> Any:
    a = adjoint_of(a) if aa else jnp.swapaxes(a, -1, -2) if ta else a
    b = adjoint_of(b) if ab else jnp.swapaxes(b, -1, -2) if tb else b
    if to is not None:
        return jnp.matmul(a, b, preferred_element_type=to.np_dtype)
    return small_products.product(a, b)


def check_matmul(
    avals: tuple[Aval, ...],
    ta: bool = False,
    tb: bool = False,
    aa: bool = False,
    ab: bool = False,
    to: Any = None,
) -> None:
    """Refuse shapes and dtypes that do not multiply."""
    a, b = (aval.shape for aval in avals)
    kernel = "BatchMatMulV2" if len(a) > 2 or len(b) > 2 else "MatMul"
    if to is None:
        check_same_dtype(avals, kernel)
        names = _MATMUL_DTYPES if kernel == "MatMul" else _BATCH_MATMUL_DTYPES
        if avals[0].dtype.name not in names:
            raise not_allowed(avals[0].dtype, names, kernel)
    both = f"In[0]: {shown(a)}, In[1]: {shown(b)}"
    if kernel == "MatMul":
        if len(a) != len(b):
            raise invalid(f"In[0] and In[1] has different ndims: {shown(a)} vs. {shown(b)}", kernel)
        if len(a) != 2:
            raise invalid(f"In[0] and In[1] ndims must be == 2: {len(a)}", kernel)
    elif min(len(a), len(b)) < 2:
        which, n = (0, len(a)) if len(a) < 2 else (1, len(b))
        raise invalid(f"In[{which}] ndims must be >= 2: {n}", kernel)
    if differ(a[-2 if ta or aa else -1], b[-1 if tb or ab else -2]):
        raise invalid(f"Matrix size-incompatible: {both}", kernel)
    if broadcast((a[:-2], b[:-2])) is None:
        raise invalid(
            f"In[0] and In[1] must have compatible batch dimensions: {shown(a)} vs. {shown(b)}",
            kernel,
        )


_MATMUL = Op(_matmul, "MatMul", check=check_matmul, kernels=True)
_PLAIN_MATMUL = _MATMUL.bind()


@native_calls("op", _PLAIN_MATMUL, 2)
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
      a_is_sparse, b_is_sparse, grad_a, grad_b: hints, which change no result; XLA uses none.
      output_type: int32 for int8 inputs.
    Raises: InvalidArgumentError if ranks, sizes or dtypes do not fit; ValueError if a matrix is to
      be both transposed and adjoint.

    >>> import tape_compat as tf
    >>> tf.matmul([[1.0, 2.0]], [[3.0, 4.0]], transpose_b=True).numpy().tolist()
    [[11.0]]
    """
    if a.__class__ is not Tensor or b.__class__ is not Tensor:
        if a.__class__ is Tensor and b.__class__ is Variable:
            b = read(b)
        else:
            try:
                a, b = matching((a, b))
            except CompositeOperand:
                options = (a_is_sparse, b_is_sparse, output_type)
                return _of_composites(
                    a, b, transpose_a, transpose_b, adjoint_a, adjoint_b, *options
                )
    if not (transpose_a or transpose_b or adjoint_a or adjoint_b or output_type is not None):
        return apply(_PLAIN_MATMUL, (a, b))
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


def _of_composites(*args: Any) -> Any:
    """What `matmul` gives where an argument is a composite that has a form for it."""
    found = called(matmul, args, {})
    if found is NotImplemented:
        raise
    return found


def _check_matvec(avals: tuple[Aval, ...], ta: bool, aa: bool) -> None:
    a, b = avals
    check_matmul((a, Aval.of((*b.shape, 1), b.dtype)), ta=ta, aa=aa)


_MATVEC = Op(
    lambda a, b, ta, aa: jnp.squeeze(_matmul(a, jnp.expand_dims(b, -1), ta=ta, aa=aa), -1),
    "MatMul",
    check=_check_matvec,
)


@takes_composites
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

    `a_is_sparse`, `b_is_sparse`: hints, which change no result; XLA uses none.

    >>> import tape_compat as tf
    >>> tf.linalg.matvec([[1.0, 2.0], [3.0, 4.0]], [1.0, 1.0]).numpy().tolist()
    [3.0, 7.0]
    """
    closure = _MATVEC.bind(ta=bool(transpose_a), aa=bool(adjoint_a))
    return apply(closure, tuple(matching((a, b))))


def _check_tensordot(avals: tuple[Aval, ...], a_axes: tuple, b_axes: tuple) -> None:
    check_same_dtype(avals, "MatMul")
    a, b = (aval.shape for aval in avals)
    left, right = [a[i] for i in a_axes], [b[i] for i in b_axes]
    ka, kb = product(left), product(right)
    if differ(ka, kb):  # TensorFlow makes one axis of them
        rows, columns = (
            product([n for i, n in enumerate(shape) if i not in axes])
            for shape, axes in ((a, a_axes), (b, b_axes))
        )
        raise invalid(
            f"Matrix size-incompatible: In[0]: [{rows},{ka}], In[1]: [{kb},{columns}]", "MatMul"
        )


def _tensordot_aval(avals: tuple[Aval, ...], a_axes: tuple, b_axes: tuple) -> Aval:
    a, b = (aval.shape for aval in avals)
    left = [n for i, n in enumerate(a) if i not in a_axes]
    right = [n for i, n in enumerate(b) if i not in b_axes]
    return Aval.of((*left, *right), avals[0].dtype)


def _tensordot(a: Any, b: Any, a_axes: tuple[int, ...], b_axes: tuple[int, ...]) -> Any:
    if a_axes == (a.ndim - 1,) and b.ndim == 2:
        return small_products.product(a, b if b_axes == (0,) else b.T)
    if any(differ(a.shape[i], b.shape[j]) for i, j in zip(a_axes, b_axes)):
        a, b = _one_axis(a, a_axes), _one_axis(b, b_axes)
        a_axes = b_axes = (0,)
    return jnp.tensordot(a, b, axes=(a_axes, b_axes))


def _one_axis(x: Any, axes: tuple[int, ...]) -> Any:
    """Some axes, in their order, as one in front of the others."""
    moved = jnp.moveaxis(x, axes, range(len(axes)))
    return moved.reshape(product(moved.shape[: len(axes)]), *moved.shape[len(axes) :])


_TENSORDOT = Op(_tensordot, "MatMul", check=_check_tensordot, shapes=_tensordot_aval, kernels=True)


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
    for i, (term, aval) in enumerate(zip(labels, avals)):
        before, dots, after = term.partition("...")
        n = len(before) + len(after)
        if len(aval.shape) < n or (not dots and len(aval.shape) != n):
            raise invalid(
                f"Expected input {i} to have rank {n} but got: {len(aval.shape)} (its subscripts "
                f"are {term!r})",
                "Einsum",
            )
    broadcast_axes = max(
        (len(a.shape) - len(t) + 3 for t, a in zip(labels, avals) if "..." in t), default=0
    )
    if broadcast_axes and "->" in equation and "..." not in output:
        raise invalid(
            f"Output contains {broadcast_axes} broadcasting dimension(s) but no ellipsis (...) was "
            "found in the output subscripts.",
            "Einsum",
        )
    _sizes_of_labels(labels, avals)


def _sizes_of_labels(terms: Sequence[str], avals: Sequence[Aval]) -> dict[str, Size]:
    """How large the axes are that labels name. Refuses axes of one label that are not equal."""
    sizes: dict[str, Size] = {}
    for term, aval in zip(terms, avals, strict=True):
        before, _, after = term.partition("...")
        for axis, label in (*enumerate(before), *enumerate(after, len(aval.shape) - len(after))):
            size, known = aval.shape[axis], sizes.setdefault(label, aval.shape[axis])
            if differ(size, known):
                raise invalid(
                    f"Expected dimension {known} at axis {axis} of the input shaped "
                    f"{shown(aval.shape)} but got dimension {size}",
                    "Einsum",
                )
            if is_symbolic(known):
                sizes[label] = size
    return sizes


def _einsum_aval(avals: tuple[Aval, ...], equation: str) -> Aval:
    inputs, arrow, output = equation.partition("->")
    terms = inputs.split(",")
    sizes = _sizes_of_labels(terms, avals)
    if not arrow:
        once = sorted(label for label in sizes if inputs.count(label) == 1)
        output = ("..." if "..." in inputs else "") + "".join(once)
    rest = [
        aval.shape[len(term.split("...")[0]) : len(aval.shape) - len(term.split("...")[1])]
        for term, aval in zip(terms, avals, strict=True)
        if "..." in term
    ]
    together = broadcast(rest) if rest else ()
    if together is None:
        texts = " vs. ".join(map(shown, rest))
        raise invalid(f"Expected the axes of `...` to broadcast: {texts}", "Einsum")
    before, dots, after = output.partition("...")
    shape = (
        *(sizes[label] for label in before),
        *(together if dots else ()),
        *(sizes[label] for label in after),
    )
    return Aval.of(shape, avals[0].dtype)


_EINSUM = Op(
    lambda *xs, equation: jnp.einsum(equation, *xs),
    "Einsum",
    check=_check_einsum,
    shapes=_einsum_aval,
)


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
    if not fit(a.shape, b.shape):
        raise invalid(
            f"Both inputs must be of same shape: {shown(a.shape)} vs. {shown(b.shape)}", "Cross"
        )
    if not a.shape or differ(a.shape[-1], 3):
        raise errors.FailedPreconditionError(
            None,
            None,
            "Cross-products are only defined for 3-element vectors. [Op:Cross] "
            f"(at {errors.user_location()})",
        )


def _crossed(avals: tuple[Aval, ...]) -> Aval:
    a, b = avals
    sizes = [n if is_symbolic(m) else m for m, n in zip(a.shape, b.shape, strict=True)]
    return Aval.of((*sizes[:-1], 3), a.dtype)


@op(kernel="Cross", dtypes="float integer", check=_check_cross, shapes=_crossed)
def cross(a, b, name=None):
    """Cross product of the vectors `a` and `b` [..., 3].

    >>> import tape_compat as tf
    >>> tf.linalg.cross([1.0, 0.0, 0.0], [0.0, 1.0, 0.0]).numpy().tolist()
    [0.0, 0.0, 1.0]
    """
    return jnp.cross(a, b)


def _check_matrix(a: Tensor) -> None:
    if len(a._aval.shape) < 2:
        raise ValueError(
            f"Argument `a` should be a (batch) matrix with rank >= 2.  Received `a` = {a} with "
            f"shape: {a.shape}"
        )


_ADJOINT = Op(adjoint_of, "Transpose").bind()
_MATRIX_TRANSPOSE = Op(lambda a: jnp.swapaxes(a, -1, -2), "Transpose").bind()


def matrix_transpose(a: Any, name: str = "matrix_transpose", conjugate: bool = False) -> Tensor:
    """`a` [..., n, m] with its last two axes exchanged; `conjugate` takes the conjugate too.

    Raises: ValueError if the rank is below 2.

    >>> import tape_compat as tf
    >>> tf.linalg.matrix_transpose([[1, 2]]).numpy().tolist()
    [[1], [2]]
    """
    a = as_tensor(a)
    _check_matrix(a)
    if is_text(a):
        return move_text(matrix_transpose, a)
    return apply(_ADJOINT if conjugate else _MATRIX_TRANSPOSE, (a,))


@takes_composites
def adjoint(matrix: Any, name: str | None = None) -> Tensor:
    """The conjugate transpose of `matrix` [..., n, m].

    >>> import tape_compat as tf
    >>> tf.linalg.adjoint([[1 + 2j]]).numpy().tolist()
    [[(1-2j)]]
    """
    return matrix_transpose(matrix, conjugate=True)


operators.define(matmul=matmul)
name_ops(globals())
