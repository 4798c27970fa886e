"""Circulant operators, which a Fourier transform makes diagonal, and their nested blocks."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.dtypes import as_dtype, complex64
from ...core.shapes import TensorShape
from ...diagnostics.assertions import assert_less, assert_positive
from ...ops.casting import cast
from ...ops.creation import ones
from ...ops.elementwise import abs as absolute, conj, imag, log, real
from ...ops.joining import concat
from ...ops.reductions import reduce_max, reduce_min, reduce_prod, reduce_sum
from ...ops.shapes import expand_dims, reshape, shape, transpose
from ...ops.signals.fourier import fft, fft2d, fft3d, ifft, ifft2d, ifft3d
from ...values.convert import convert
from . import hints
from .base import LinearOperator, public
from .support import (
    adjoint_if,
    as_complex,
    assert_no_zeros,
    assert_real,
    kept,
    multiplied,
    same_batch,
    sizes,
)

_FORWARD = {1: fft, 2: fft2d, 3: fft3d}
_BACK = {1: ifft, 2: ifft2d, 3: ifft3d}


class _Circulant(LinearOperator):
    """What the circulant operators of all depths share."""

    _composite_tensor_fields = ("spectrum", "input_output_dtype")

    def _start(
        self,
        spectrum: Any,
        block_depth: int,
        input_output_dtype: Any,
        given: dict[str, Any],
        name: str,
    ) -> None:
        self._block_depth = block_depth
        self._spectrum = kept(spectrum)
        rank = self._spectrum.shape.rank
        if rank is not None and rank < block_depth:
            raise ValueError(
                f"Argument `spectrum` must have at least {block_depth} dimensions. Received: "
                f"{self._spectrum}."
            )
        is_self_adjoint = given["is_self_adjoint"]
        if not self._spectrum.dtype.is_complex:
            if is_self_adjoint is False:
                raise ValueError(
                    "A real spectrum always corresponds to a self-adjoint operator. Expected "
                    "argument `is_self_adjoint` to be True when `spectrum.dtype.is_complex` = True."
                    f" Received: {is_self_adjoint}."
                )
            is_self_adjoint = True
        if given["is_square"] is False:
            raise ValueError(
                "A [[nested] block] circulant operator is always square. Expected argument "
                f"`is_square` to be True. Received: {given['is_square']}."
            )
        LinearOperator.__init__(
            self,
            dtype=as_dtype(input_output_dtype),
            **{**given, "is_self_adjoint": is_self_adjoint, "is_square": True},
            parameters={
                "spectrum": spectrum,
                "input_output_dtype": input_output_dtype,
                **given,
                "name": name,
            },
            name=name,
        )

    # Shapes.

    @property
    def spectrum(self) -> Any:
        """The eigenvalues, as they were given."""
        return self._spectrum

    @property
    def block_depth(self) -> int:
        """How deep blocks are nested: as many axes of the spectrum belong to the matrix."""
        return self._block_depth

    @property
    def block_shape(self) -> TensorShape:
        """The TensorShape of those axes of the spectrum."""
        return self.spectrum.shape[-self.block_depth :]

    def block_shape_tensor(self) -> Any:
        """`block_shape` as a tensor of int32."""
        if self.block_shape.is_fully_defined():
            return sizes(self.block_shape)
        return shape(self.spectrum)[-self.block_depth :]

    def _shape(self) -> TensorShape:
        n = multiplied(self.block_shape.as_list())
        return self.spectrum.shape[: -self.block_depth].concatenate([n, n])

    def _shape_tensor(self) -> Any:
        n = reduce_prod(self.block_shape_tensor())
        return concat([shape(self.spectrum)[: -self.block_depth], [n, n]], 0)

    def _block_axes(self) -> list[int]:
        return [-(i + 1) for i in range(self.block_depth)]

    # Other operators.

    def _linop_adjoint(self) -> LinearOperator:
        spectrum = conj(self.spectrum) if self.spectrum.dtype.is_complex else self.spectrum
        cls: Any = type(self)
        return cls(spectrum, **hints.square_hints(self))

    def _linop_inverse(self) -> LinearOperator:
        cls: Any = type(self)
        known = hints.square_hints(self)
        return cls(1.0 / self.spectrum, input_output_dtype=self.dtype, **known)

    def _linop_matmul(self, left_operator: Any, right_operator: Any) -> LinearOperator:
        if not self._is_of_this_kind(left_operator, right_operator):
            return super()._linop_matmul(left_operator, right_operator)
        spectrum = left_operator.spectrum * right_operator.spectrum
        return type(right_operator)(spectrum, **hints.commuting(left_operator, right_operator))

    def _linop_solve(self, left_operator: Any, right_operator: Any) -> LinearOperator:
        if not self._is_of_this_kind(left_operator, right_operator):
            return super()._linop_solve(left_operator, right_operator)
        spectrum = right_operator.spectrum / left_operator.spectrum
        return type(right_operator)(spectrum, **hints.commuting(left_operator, right_operator))

    def _is_of_this_kind(self, left: Any, right: Any) -> bool:
        return isinstance(right, _Circulant) and isinstance(left, type(right))

    # Assertions.

    def assert_hermitian_spectrum(self, name: str = "assert_hermitian_spectrum") -> Any:
        """Raises: InvalidArgumentError if the matrix is not real."""
        eps = float(np.finfo(self.dtype.real_dtype.as_numpy_dtype).eps)
        kernel = imag(_BACK[self.block_depth](as_complex(self.spectrum)))
        most = cast(self.domain_dimension_tensor(), kernel.dtype) * eps
        return assert_less(absolute(kernel), most, message="Spectrum was not Hermitian")

    def _assert_non_singular(self) -> Any:
        assert_no_zeros(self.spectrum, "Singular operator:  Spectrum contained zero values.")

    def _assert_positive_definite(self) -> Any:
        message = "Not positive definite:  Real part of spectrum was not all positive."
        return assert_positive(real(self.spectrum), message=message)

    def _assert_self_adjoint(self) -> Any:
        message = "Not self-adjoint:  The spectrum contained non-zero imaginary part."
        assert_real(self.spectrum, message)

    # Products and solutions.

    def _result(self, x: Any) -> Any:
        """Complex numbers as ones of the operator's dtype, which have no imaginary part if real."""
        return cast(x if self.dtype.is_complex else real(x), self.dtype)

    def convolution_kernel(self, name: str = "convolution_kernel") -> Any:
        """The first column [..., *block_shape] of the matrix: the spectrum transformed back."""
        return self._result(_BACK[self.block_depth](as_complex(self.spectrum)))

    def _transformed(self, x: Any, adjoint: bool, solve: bool) -> Any:
        """`x` [..., n, r] as blocks [r, ..., *block_shape], multiplied or divided where a Fourier
        transform makes the matrix diagonal, and as [..., n, r] again."""
        spectrum = as_complex(self.spectrum)
        spectrum = conj(spectrum) if adjoint else spectrum
        x = cast(x, spectrum.dtype)
        block, batch = self.block_shape_tensor(), shape(spectrum)[: -self.block_depth]
        column = reshape(spectrum, concat([batch, [-1, 1]], 0))
        x, column = same_batch([x, column])
        spectrum = reshape(column, concat([shape(x)[:-2], block], 0))
        axes = list(range(x.shape.rank))
        vectors = transpose(x, [axes[-1], *axes[:-1]])
        blocks = reshape(vectors, concat([shape(vectors)[:-1], block], 0))
        found = _FORWARD[self.block_depth](blocks)
        found = found / spectrum if solve else spectrum * found
        flat = reshape(_BACK[self.block_depth](found), shape(vectors))
        return self._result(transpose(flat, [*axes[1:], 0]))

    def _matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return self._transformed(adjoint_if(x, adjoint_arg), adjoint, solve=False)

    def _solve(self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return self._transformed(adjoint_if(rhs, adjoint_arg), adjoint, solve=True)

    # Numbers.

    def _flat_spectrum(self) -> Any:
        batch = shape(self.spectrum)[: -self.block_depth]
        return reshape(convert(self.spectrum), concat([batch, [-1]], 0))

    def _cond(self) -> Any:
        values = absolute(self._flat_spectrum())
        return reduce_max(values, axis=-1) / reduce_min(values, axis=-1)

    def _eigvals(self) -> Any:
        return self._flat_spectrum()

    def _determinant(self) -> Any:
        found = reduce_prod(self.spectrum, axis=self._block_axes())
        return self._result(found) if found.dtype.is_complex else cast(found, self.dtype)

    def _log_abs_determinant(self) -> Any:
        return cast(reduce_sum(log(absolute(self.spectrum)), axis=self._block_axes()), self.dtype)

    def _trace(self) -> Any:
        found = reduce_sum(self.spectrum, axis=self._block_axes())
        if found.dtype.is_complex and (self.is_self_adjoint or not self.dtype.is_complex):
            found = real(found)
        return cast(found, self.dtype)

    def _diag_part(self) -> Any:
        entry = self.trace() / cast(self.domain_dimension_tensor(), self.dtype)
        return expand_dims(entry, -1) * ones([self.domain_dimension_tensor()], self.dtype)

    @property
    def _experimental_parameter_ndims_to_matrix_ndims(self) -> dict[str, int]:
        return {"spectrum": self.block_depth}


@public
class LinearOperatorCirculant(_Circulant):
    """The operator of a circulant matrix: each column is the one before it, moved down by one.

    Args:
      spectrum: [..., n], the eigenvalues: the Fourier transform of the first column. Real ones, or
        a Hermitian spectrum, make a matrix that is its own adjoint, or real.
      input_output_dtype: of the matrix, and of what it is applied to.
      is_non_singular, is_self_adjoint, is_positive_definite, is_square, name: see `LinearOperator`.
    Raises: ValueError for a rank that is too low, or hints that cannot be true.

    The adjoint, and products and solutions with another circulant operator, are circulant operators
    of the default dtype.

    >>> import tape_compat as tf
    >>> column = tf.constant([1.0, 2.0, 3.0])
    >>> spectrum = tf.signal.fft(tf.cast(column, tf.complex64))
    >>> operator = tf.linalg.LinearOperatorCirculant(spectrum, input_output_dtype=tf.float32)
    >>> tf.round(operator.to_dense()).numpy().tolist()
    [[1.0, 3.0, 2.0], [2.0, 1.0, 3.0], [3.0, 2.0, 1.0]]
    """

    def __init__(
        self,
        spectrum: Any,
        input_output_dtype: Any = complex64,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = True,
        name: str = "LinearOperatorCirculant",
    ) -> None:
        given = hints.named(is_non_singular, is_self_adjoint, is_positive_definite, is_square)
        self._start(spectrum, 1, input_output_dtype, given, name)


@public
class LinearOperatorCirculant2D(_Circulant):
    """The operator of a block circulant matrix: circulant blocks, moved as a circulant's entries.

    Args:
      spectrum: [..., n0, n1], the eigenvalues: the two-dimensional Fourier transform of the first
        column, as n0 blocks of n1.
      input_output_dtype: of the matrix [..., n0 n1, n0 n1], and of what it is applied to.
      is_non_singular, is_self_adjoint, is_positive_definite, is_square, name: see `LinearOperator`.
    Raises: as `LinearOperatorCirculant`.

    >>> import tape_compat as tf
    >>> operator = tf.linalg.LinearOperatorCirculant2D(tf.ones([2, 3]))
    >>> operator.shape, operator.block_shape
    (TensorShape([6, 6]), TensorShape([2, 3]))
    """

    def __init__(
        self,
        spectrum: Any,
        input_output_dtype: Any = complex64,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = True,
        name: str = "LinearOperatorCirculant2D",
    ) -> None:
        given = hints.named(is_non_singular, is_self_adjoint, is_positive_definite, is_square)
        self._start(spectrum, 2, input_output_dtype, given, name)


@public
class LinearOperatorCirculant3D(_Circulant):
    """The operator of a nested block circulant matrix: block circulant blocks, moved likewise.

    Args:
      spectrum: [..., n0, n1, n2], the eigenvalues: the three-dimensional Fourier transform of the
        first column, as n0 blocks of n1 blocks of n2.
      input_output_dtype: of the matrix [..., n0 n1 n2, n0 n1 n2], and of what it is applied to.
      is_non_singular, is_self_adjoint, is_positive_definite, is_square, name: see `LinearOperator`.
    Raises: as `LinearOperatorCirculant`.

    >>> import tape_compat as tf
    >>> tf.linalg.LinearOperatorCirculant3D(tf.ones([2, 3, 4])).shape
    TensorShape([24, 24])
    """

    def __init__(
        self,
        spectrum: Any,
        input_output_dtype: Any = complex64,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = True,
        name: str = "LinearOperatorCirculant3D",
    ) -> None:
        given = hints.named(is_non_singular, is_self_adjoint, is_positive_definite, is_square)
        self._start(spectrum, 3, input_output_dtype, given, name)
