"""The base class of linear operators: what is asked of each, and how it answers in general."""

from __future__ import annotations

import abc
import contextlib
from collections.abc import Iterator
from typing import Any

import numpy as np

from ...core.dtypes import DType, as_dtype
from ...core.shapes import TensorShape
from ...diagnostics.assertions import assert_equal, assert_less, assert_positive
from ...ops.casting import cast
from ...ops.creation import eye, zeros_like
from ...ops.decompositions import eigvalsh, svd
from ...ops.diagonals import diag_part
from ...ops.elementwise import abs as absolute, exp, log
from ...ops.products import adjoint as adjoint_of
from ...ops.reductions import reduce_max, reduce_min, reduce_sum
from ...ops.shapes import expand_dims, size, squeeze
from ...ops.solvers import cholesky, cholesky_solve, det, slogdet
from ...values import nest
from ...values.composite import CompositeTensor
from ...values.convert import convert
from ...values.names import name_scope
from ...values.tensor import Tensor
from ..module import Module
from ..version1.dimension import Dimension
from . import hints
from .slicing import batch_slice
from .spec import LinearOperatorSpec
from .support import (
    adjoint_if,
    check_dim,
    is_reference,
    sizes,
    solve_broadcast,
    static_dim,
    warn_slow,
)

#: The classes of operators by name, for those that are made of others and of which others are made.
CLASSES: dict[str, Any] = {}


def is_a(operator: Any, name: str) -> bool:
    """Whether an operator belongs to the class of this name."""
    return isinstance(operator, CLASSES[name])


def is_identity(operator: Any) -> bool:
    """Whether an operator leaves everything as it is, by its class."""
    return is_a(operator, "LinearOperatorIdentity")


class LinearOperator(Module, CompositeTensor, metaclass=abc.ABCMeta):
    """The base class of matrices [..., m, n] that are known by what they do.

    A subclass defines `_shape` and `_matmul`, and passes its arguments as `parameters`; the other
    methods follow from these by way of the dense matrix. A subclass that knows a better way defines
    the method with an underscore in front: `_solve`, `_determinant`, `_to_dense`, `_diag_part`, ...
    Its Variables are read at each use, so tapes see them.

    Args:
      dtype: of the matrix, and of what it is applied to.
      graph_parents: a list of tensors; kept, and used for nothing.
      is_non_singular, is_self_adjoint, is_positive_definite, is_square: what is promised of the
        matrix. True, False, or None for no promise; nothing checks it.
      name: default is the name of the class.
      parameters: dict of what the operator was made with.
    Raises: ValueError if the hints contradict each other.

    >>> import tape_compat as tf
    >>> class Difference(tf.linalg.LinearOperator):
    ...     def __init__(self, n):
    ...         self.n = n
    ...         super().__init__(tf.float32, parameters={"n": n})
    ...
    ...     def _shape(self):
    ...         return tf.TensorShape([self.n - 1, self.n])
    ...
    ...     def _matmul(self, x, adjoint=False, adjoint_arg=False):
    ...         x = tf.linalg.adjoint(x) if adjoint_arg else x
    ...         if adjoint:
    ...             return tf.pad(x, [[1, 0], [0, 0]]) - tf.pad(x, [[0, 1], [0, 0]])
    ...         return x[1:] - x[:-1]
    >>> operator = Difference(3)
    >>> operator.matvec([1.0, 3.0, 9.0]).numpy().tolist()
    [2.0, 6.0]
    >>> operator.to_dense().numpy().tolist()
    [[-1.0, 1.0, 0.0], [0.0, -1.0, 1.0]]
    """

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        members = {"__slots__": (), "_operators": cls, "__module__": cls.__module__}
        cls._spec_class = type(f"{cls.__name__}Spec", (LinearOperatorSpec,), members)

    _spec_class: Any = None

    def __init__(
        self,
        dtype: Any,
        graph_parents: Any = None,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str | None = None,
        parameters: dict[str, Any] | None = None,
    ) -> None:
        if is_positive_definite:
            if is_non_singular is False:
                raise ValueError("A positive definite matrix is always non-singular.")
            is_non_singular = True
        if is_non_singular:
            if is_square is False:
                raise ValueError("A non-singular matrix is always square.")
            is_square = True
        if is_self_adjoint:
            if is_square is False:
                raise ValueError("A self-adjoint matrix is always square.")
            is_square = True
        self._is_square_set_or_implied_by_hints = is_square
        self._set_graph_parents(graph_parents)
        self._dtype = as_dtype(dtype) if dtype else dtype
        self._is_non_singular = is_non_singular
        self._is_self_adjoint = is_self_adjoint
        self._is_positive_definite = is_positive_definite
        self._parameters = self._no_dependency(parameters)
        self._name = name or type(self).__name__

    def _set_graph_parents(self, graph_parents: Any) -> None:
        parents = [] if graph_parents is None else graph_parents
        for i, parent in enumerate(parents):
            if not (isinstance(parent, Tensor) or is_reference(parent)):
                raise ValueError(f"Graph parent item {i} is not a Tensor; {parent}.")
        self._graph_parents = parents

    @contextlib.contextmanager
    def _name_scope(self, name: str | None = None) -> Iterator[str]:  # type: ignore[override]
        """A scope for what a method of a subclass creates."""
        with name_scope(self.name if name is None else f"{self.name}/{name}") as scope:
            yield scope

    # What it is.

    @property
    def parameters(self) -> dict[str, Any]:
        """What the operator was made with, by name."""
        return dict(self._parameters)  # type: ignore[call-overload]

    @property
    def dtype(self) -> DType:
        """The dtype of the matrix, and of what it is applied to."""
        return self._dtype

    @property
    def name(self) -> str:
        """The name given, or that of the class."""
        return self._name

    @property
    def graph_parents(self) -> list[Any]:
        """The list given as `graph_parents`."""
        return self._graph_parents

    @property
    def is_non_singular(self) -> bool | None:
        """Whether the matrix is promised to have an inverse."""
        return self._is_non_singular

    @property
    def is_self_adjoint(self) -> bool | None:
        """Whether the matrix is promised to be its own conjugate transpose."""
        return self._is_self_adjoint

    @property
    def is_positive_definite(self) -> bool | None:
        """Whether x^H A x is promised to have a positive real part for all x but 0."""
        return self._is_positive_definite

    @property
    def is_square(self) -> bool | None:
        """Whether the matrix is square: by the hints, else by the shape.

        Raises: ValueError if it was promised not to be, and is.
        """
        found = self.domain_dimension == self.range_dimension
        hint = self._is_square_set_or_implied_by_hints
        if hint is False and found:
            raise ValueError("User set is_square hint to False, but the operator was square.")
        return found if hint is None else hint

    @abc.abstractmethod
    def _shape(self) -> TensorShape:
        raise NotImplementedError("_shape is not implemented.")

    @property
    def shape(self) -> TensorShape:
        """The TensorShape [..., m, n] of the matrix."""
        return self._shape()

    def _shape_tensor(self) -> Tensor:
        raise NotImplementedError("_shape_tensor is not implemented.")

    def shape_tensor(self, name: str = "shape_tensor") -> Tensor:
        """The shape [..., m, n] of the matrix as a tensor of int32."""
        if self.shape.is_fully_defined():
            return sizes(self.shape)
        return self._shape_tensor()

    @property
    def batch_shape(self) -> TensorShape:
        """The TensorShape of the batch axes."""
        return self.shape[:-2]

    def batch_shape_tensor(self, name: str = "batch_shape_tensor") -> Tensor:
        """The shape of the batch axes as a tensor of int32."""
        return self._batch_shape_tensor()

    def _batch_shape_tensor(self, shape: Any = None) -> Tensor:
        if self.batch_shape.is_fully_defined():
            return sizes(self.batch_shape)
        return (self.shape_tensor() if shape is None else shape)[:-2]

    @property
    def tensor_rank(self) -> int | None:
        """The number of axes of the matrix, those of the batch among them."""
        return self.shape.rank

    def tensor_rank_tensor(self, name: str = "tensor_rank_tensor") -> Tensor:
        """The number of axes of the matrix as a tensor."""
        return self._tensor_rank_tensor()

    def _tensor_rank_tensor(self, shape: Any = None) -> Tensor:
        if self.tensor_rank is not None:
            return convert(self.tensor_rank)
        return size(self.shape_tensor() if shape is None else shape)

    @property
    def domain_dimension(self) -> Dimension:
        """The Dimension of the vectors that the operator takes: n."""
        return Dimension(static_dim(self.shape, -1))

    def domain_dimension_tensor(self, name: str = "domain_dimension_tensor") -> Tensor:
        """The size of the vectors that the operator takes, as a tensor."""
        return self._domain_dimension_tensor()

    def _domain_dimension_tensor(self, shape: Any = None) -> Tensor:
        known = self.domain_dimension.value
        if known is not None:
            return convert(known)
        return (self.shape_tensor() if shape is None else shape)[-1]

    @property
    def range_dimension(self) -> Dimension:
        """The Dimension of the vectors that the operator gives: m."""
        return Dimension(static_dim(self.shape, -2))

    def range_dimension_tensor(self, name: str = "range_dimension_tensor") -> Tensor:
        """The size of the vectors that the operator gives, as a tensor."""
        return self._range_dimension_tensor()

    def _range_dimension_tensor(self, shape: Any = None) -> Tensor:
        known = self.range_dimension.value
        if known is not None:
            return convert(known)
        return (self.shape_tensor() if shape is None else shape)[-2]

    # Assertions.

    def _can_use_cholesky(self) -> bool | None:
        return self.is_self_adjoint and self.is_positive_definite

    def assert_non_singular(self, name: str = "assert_non_singular") -> Any:
        """Raises: InvalidArgumentError if the matrix is singular, or nearly so."""
        return self._assert_non_singular()

    def _assert_non_singular(self) -> Any:
        warn_slow("assert_non_singular")
        if self._can_use_cholesky():
            return self.assert_positive_definite()
        values = svd(self.to_dense(), compute_uv=False)
        return assert_less(
            reduce_max(values, axis=-1) / reduce_min(values, axis=-1),
            self._max_condition_number_to_be_non_singular(),
            message="Singular matrix up to precision epsilon.",
        )

    def _max_condition_number_to_be_non_singular(self) -> Any:
        real = self.dtype.real_dtype
        most = reduce_max(
            [
                cast(100.0, real),
                cast(self.range_dimension_tensor(), real),
                cast(self.domain_dimension_tensor(), real),
            ]
        )
        return 1.0 / (most * float(np.finfo(real.as_numpy_dtype).eps))

    def assert_positive_definite(self, name: str = "assert_positive_definite") -> Any:
        """Raises: InvalidArgumentError if x^H A x has no positive real part for some x.

        NotImplementedError for an operator that is not promised to be self-adjoint and has no way
        of its own.
        """
        return self._assert_positive_definite()

    def _assert_positive_definite(self) -> Any:
        warn_slow("assert_positive_definite")
        if self.is_self_adjoint:
            factor = diag_part(cholesky(self.to_dense()))
            return assert_positive(factor, message="Matrix was not positive definite.")
        raise NotImplementedError("assert_positive_definite is not implemented.")

    def assert_self_adjoint(self, name: str = "assert_self_adjoint") -> Any:
        """Raises: InvalidArgumentError if the matrix is not its own conjugate transpose."""
        return self._assert_self_adjoint()

    def _assert_self_adjoint(self) -> Any:
        warn_slow("assert_self_adjoint", "Requires conversion to a dense matrix.")
        dense = self.to_dense()
        message = "Matrix was not equal to its adjoint."
        return assert_equal(dense, adjoint_of(dense), message=message)

    def _check_input_dtype(self, arg: Any) -> None:
        if arg.dtype != self.dtype:
            raise TypeError(
                f"Expected argument to have dtype {self.dtype!r}.  Found: {arg.dtype!r} in tensor "
                f"{arg}"
            )

    def _argument(self, value: Any, size: Dimension, axis: int) -> Tensor:
        """What an operator is applied to, if its dtype and its size along an axis fit."""
        x = convert(value)
        self._check_input_dtype(x)
        check_dim(size, static_dim(x.shape, axis))
        return x

    def _operands(self, other: Any, adjoint: bool, adjoint_arg: bool, name: str) -> tuple[Any, Any]:
        """Both sides of a product of operators. Raises: ValueError if their sizes do not fit."""
        left, right = self.adjoint() if adjoint else self, other.adjoint() if adjoint_arg else other
        if right.range_dimension != left.domain_dimension:
            if None not in (right.range_dimension.value, left.domain_dimension.value):
                raise ValueError(
                    f"Operators are incompatible. Expected `{name}` to have dimension "
                    f"{left.domain_dimension} but got {right.range_dimension}."
                )
        return left, right

    # Products.

    @abc.abstractmethod
    def _matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        raise NotImplementedError("_matmul is not implemented.")

    def matmul(
        self, x: Any, adjoint: bool = False, adjoint_arg: bool = False, name: str = "matmul"
    ) -> Any:
        """The product of the operator and `x`.

        Args:
          x: matrices [..., n, r] of the operator's dtype, or another operator.
          adjoint: use the conjugate transpose of the operator.
          adjoint_arg: use that of `x`.
        Returns: [..., m, r], batch axes broadcast; an operator if `x` is one.
        Raises: TypeError for another dtype, ValueError if sizes do not fit.
        """
        if isinstance(x, LinearOperator):
            return self._linop_matmul(*self._operands(x, adjoint, adjoint_arg, "x"))
        size = self.range_dimension if adjoint else self.domain_dimension
        x = self._argument(x, size, -1 if adjoint_arg else -2)
        return self._matmul(x, adjoint=adjoint, adjoint_arg=adjoint_arg)

    def _linop_matmul(self, left_operator: Any, right_operator: Any) -> LinearOperator:
        if is_identity(right_operator):
            return left_operator
        if is_a(right_operator, "LinearOperatorZeros"):
            if not right_operator.is_square or not left_operator.is_square:
                raise ValueError(
                    "Matmul with non-square `LinearOperator`s or non-square `LinearOperatorZeros` "
                    "not supported at this time."
                )
            return right_operator
        return CLASSES["LinearOperatorComposition"](
            [left_operator, right_operator], **hints.of_product(left_operator, right_operator)
        )

    def __matmul__(self, other: Any) -> Any:
        return self.matmul(other)

    def matvec(self, x: Any, adjoint: bool = False, name: str = "matvec") -> Any:
        """The product of the operator and the vectors `x` [..., n]: [..., m]."""
        size = self.range_dimension if adjoint else self.domain_dimension
        return self._matvec(self._argument(x, size, -1), adjoint=adjoint)

    def _matvec(self, x: Any, adjoint: bool = False) -> Any:
        return squeeze(self.matmul(expand_dims(x, -1), adjoint=adjoint), -1)

    # Solutions.

    def solve(
        self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False, name: str = "solve"
    ) -> Any:
        """X with A X = `rhs`, for the matrix A of the operator.

        Args:
          rhs: matrices [..., m, r] of the operator's dtype, or another operator.
          adjoint: use the conjugate transpose of the operator.
          adjoint_arg: use that of `rhs`.
        Raises: NotImplementedError if the operator is promised to be singular, or is not square;
          otherwise as `matmul`.
        """
        self._check_solvable()
        if isinstance(rhs, LinearOperator):
            return self._linop_solve(*self._operands(rhs, adjoint, adjoint_arg, "rhs"))
        size = self.domain_dimension if adjoint else self.range_dimension
        rhs = self._argument(rhs, size, -1 if adjoint_arg else -2)
        return self._solve(rhs, adjoint=adjoint, adjoint_arg=adjoint_arg)

    def _check_solvable(self) -> None:
        for hint, words in (
            (self.is_non_singular, "be singular"),
            (self.is_square, "not be square"),
        ):
            if hint is False:
                raise NotImplementedError(
                    f"Exact solve not implemented for an operator that is expected to {words}."
                )

    def _solve(self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        warn_slow("solve")
        return self._dense_solve(rhs, adjoint=adjoint, adjoint_arg=adjoint_arg)

    def _dense_solve(self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        if self.is_square is False:
            raise NotImplementedError("Solve is not yet implemented for non-square operators.")
        rhs = adjoint_if(rhs, adjoint_arg)
        if self._can_use_cholesky():
            return cholesky_solve(cholesky(self.to_dense()), rhs)
        return solve_broadcast(self.to_dense(), rhs, adjoint=adjoint)

    def _linop_solve(self, left_operator: Any, right_operator: Any) -> LinearOperator:
        if is_identity(right_operator):
            return left_operator.inverse()
        return CLASSES["LinearOperatorComposition"](
            [CLASSES["LinearOperatorInversion"](left_operator), right_operator],
            **hints.of_product(left_operator, right_operator),
        )

    def solvevec(self, rhs: Any, adjoint: bool = False, name: str = "solve") -> Any:
        """The vectors x [..., n] with A x = `rhs` [..., m], for the matrix A of the operator."""
        size = self.domain_dimension if adjoint else self.range_dimension
        return self._solvevec(self._argument(rhs, size, -1), adjoint=adjoint)

    def _solvevec(self, rhs: Any, adjoint: bool = False) -> Any:
        return squeeze(self.solve(expand_dims(rhs, -1), adjoint=adjoint), -1)

    # Other operators.

    def adjoint(self, name: str = "adjoint") -> LinearOperator:
        """The operator of the conjugate transpose; itself if it is promised to be self-adjoint."""
        return self if self.is_self_adjoint is True else self._linop_adjoint()

    H = property(adjoint)

    def _linop_adjoint(self) -> LinearOperator:
        return CLASSES["LinearOperatorAdjoint"](self, **hints.hints_of(self))

    def inverse(self, name: str = "inverse") -> LinearOperator:
        """The operator of the inverse. Raises: ValueError if it is known to have none."""
        for hint, kind in ((self.is_square, "non square"), (self.is_non_singular, "singular")):
            if hint is False:
                raise ValueError(
                    f"Cannot take the Inverse: This operator represents a {kind} matrix."
                )
        return self._linop_inverse()

    def _linop_inverse(self) -> LinearOperator:
        return CLASSES["LinearOperatorInversion"](self, **hints.hints_of(self))

    def cholesky(self, name: str = "cholesky") -> LinearOperator:
        """The lower triangular operator L with L L^H equal to this one.

        Raises: ValueError unless this is promised to be self-adjoint and positive definite.
        """
        if not self._can_use_cholesky():
            raise ValueError(
                "Cannot take the Cholesky decomposition: Not a positive definite self adjoint "
                "matrix."
            )
        return self._linop_cholesky()

    def _linop_cholesky(self) -> LinearOperator:
        return CLASSES["LinearOperatorLowerTriangular"](
            cholesky(self.to_dense()), is_non_singular=True, is_self_adjoint=False, is_square=True
        )

    # Numbers.

    def _check_determinant(self) -> None:
        if self.is_square is False:
            raise NotImplementedError(
                "Determinant not implemented for an operator that is expected to not be square."
            )

    def determinant(self, name: str = "det") -> Any:
        """The determinant [...]. Raises: NotImplementedError if the operator is not square."""
        self._check_determinant()
        return self._determinant()

    def _determinant(self) -> Any:
        warn_slow("determinant")
        if self._can_use_cholesky():
            return exp(self.log_abs_determinant())
        return det(self.to_dense())

    def log_abs_determinant(self, name: str = "log_abs_det") -> Any:
        """The logarithm of the absolute value of the determinant [...]."""
        self._check_determinant()
        return self._log_abs_determinant()

    def _log_abs_determinant(self) -> Any:
        warn_slow("determinant")
        if self._can_use_cholesky():
            return 2 * reduce_sum(log(diag_part(cholesky(self.to_dense()))), axis=[-1])
        return slogdet(self.to_dense()).log_abs_determinant

    def to_dense(self, name: str = "to_dense") -> Any:
        """The matrix [..., m, n] as a tensor."""
        return self._to_dense()

    def _to_dense(self) -> Any:
        batch: Any = self.batch_shape
        if not batch.is_fully_defined():
            batch = self.batch_shape_tensor()
        n = self.domain_dimension.value
        n = self.domain_dimension_tensor() if n is None else n
        return self.matmul(eye(n, batch_shape=batch, dtype=self.dtype))

    def diag_part(self, name: str = "diag_part") -> Any:
        """The main diagonal [..., min(m, n)]."""
        return self._diag_part()

    def _diag_part(self) -> Any:
        return diag_part(self.to_dense())

    def trace(self, name: str = "trace") -> Any:
        """The sum of the main diagonal [...]."""
        return self._trace()

    def _trace(self) -> Any:
        return reduce_sum(self.diag_part(), axis=-1)

    def add_to_tensor(self, x: Any, name: str = "add_to_tensor") -> Any:
        """The sum of the matrix and `x` [..., m, n], as a tensor."""
        x = convert(x)
        self._check_input_dtype(x)
        return self._add_to_tensor(x)

    def _add_to_tensor(self, x: Any) -> Any:
        return self.to_dense() + x

    def eigvals(self, name: str = "eigvals") -> Any:
        """The eigenvalues [..., n], in no particular order.

        Raises: NotImplementedError unless the operator is promised to be self-adjoint.
        """
        if not self.is_self_adjoint:
            raise NotImplementedError("Only self-adjoint matrices are supported.")
        return self._eigvals()

    def _eigvals(self) -> Any:
        return eigvalsh(self.to_dense())

    def cond(self, name: str = "cond") -> Any:
        """The condition number [...]: the largest singular value by the smallest."""
        return self._cond()

    def _cond(self) -> Any:
        if self.is_self_adjoint:
            values = absolute(self._eigvals())
        else:
            values = svd(self.to_dense(), compute_uv=False)
        return reduce_max(values, axis=-1) / reduce_min(values, axis=-1)

    # Parts.

    #: The names of the parameters that an operator is made again of, but for the hints.
    _composite_tensor_fields: Any = ()
    #: Those of the names whose values are a part of the spec where they are known.
    _composite_tensor_prefer_static_fields: Any = ()
    #: How many axes of each parameter belong to the matrix; the others are batch axes.
    _experimental_parameter_ndims_to_matrix_ndims: Any = {}

    @property
    def _type_spec(self) -> LinearOperatorSpec:
        return vars(self).get("_held_spec") or self._spec_class.from_operator(self)

    def _gradient_parts(self) -> list[Any]:
        """The parameters: what a tape differentiates it by."""
        return nest.flatten(self, expand_composites=True)

    def _of_gradients(self, gradients: list[Any]) -> LinearOperator | None:
        """The operator of gradients by the parameters, for a tape; None if there are none."""
        if all(gradient is None for gradient in gradients):
            return None
        found = [
            zeros_like(x) if gradient is None else convert(gradient)
            for x, gradient in zip(self._gradient_parts(), gradients)
        ]
        return nest.pack_sequence_as(self, found, expand_composites=True)

    def __getitem__(self, slices: Any) -> LinearOperator:
        return batch_slice(self, slices)


def public(cls: Any) -> Any:
    """Decorate a class of operators that users see: others find it by its name."""
    CLASSES[cls.__name__] = cls
    return cls
