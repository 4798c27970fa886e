"""`tf.map_fn`, `tf.scan`, `tf.foldl` and `tf.foldr`: loops over the rows of tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..composites.extension_type import BatchableExtensionType
from ..composites.ragged import RaggedTensor
from ..core.dimensions import differ, is_symbolic
from ..core.dtypes import as_dtype
from ..core.errors import user_location
from ..ops.shapes import set_sizes
from ..values import nest
from ..values.convert import convert
from ..values.spec import TensorSpec
from ..values.tensor import Tensor
from .autograph.entry import convert_in_context
from .control_flow import while_loop
from .extension_rows import has_encodings, over_encodings
from .ragged_loops import is_recorded, map_recorded
from .ragged_rows import has_rows, map_ragged
from .recording import tensor_of
from .tensor_array import TensorArray


def map_fn(
    fn: Callable[[Any], Any],
    elems: Any,
    dtype: Any = None,
    parallel_iterations: int | None = None,
    back_prop: bool = True,
    swap_memory: bool = False,
    infer_shape: bool = True,
    name: str | None = None,
    fn_output_signature: Any = None,
) -> Any:
    """`fn` of each row of `elems`, stacked.

    Args:
      fn: takes a nest of rows like `elems`, gives a nest of tensors.
      elems: nest of tensors [n, ...]; ragged and sparse ones are gone through by Python.
      dtype, fn_output_signature: dtypes or specs of what `fn` gives, in its structure; default
        those of `elems`.
      parallel_iterations, swap_memory, name: change nothing.
      back_prop: whether gradients go through it, in a function.
      infer_shape: whether all results must have one shape.
    Raises: TypeError if `fn` is not callable or gives another dtype; ValueError for scalars, or for
      another structure.

    >>> import tape_compat as tf
    >>> tf.map_fn(lambda row: tf.reduce_sum(row), tf.constant([[1.0, 2.0], [3.0, 4.0]]))
    <tf.Tensor: shape=(2,), dtype=float32, numpy=array([3., 7.], dtype=float32)>
    """
    _check_callable(fn)
    fn = convert_in_context(fn)
    if fn_output_signature is None:
        fn_output_signature = dtype
    if has_encodings(elems) or has_encodings(fn_output_signature):
        return _map_encodings(fn, elems, fn_output_signature, infer_shape)
    if has_rows(elems) or has_rows(fn_output_signature):
        if is_recorded(elems, fn_output_signature):
            return map_recorded(fn, elems, fn_output_signature)
        return map_ragged(fn, elems, fn_output_signature)
    rows = _Rows(elems)
    like = elems if fn_output_signature is None else fn_output_signature
    if fn_output_signature is None:
        specs = [(x.dtype, None) for x in rows.tensors]
    else:
        specs = [_spec(spec) for spec in nest.flatten(fn_output_signature)]
    arrays = [
        TensorArray(kind, size=rows.count, infer_shape=infer_shape, element_shape=shape)
        for kind, shape in specs
    ]

    def iteration(i: Any, arrays: Any) -> Any:
        result = fn(rows.read(i))
        nest.assert_same_structure(like, result)
        leaves = [convert(x) for x in map(tensor_of, nest.flatten(result))]
        return i + 1, [array.write(i, x) for array, x in zip(arrays, leaves, strict=True)]

    count = rows.count
    _, arrays = while_loop(
        lambda i, _: i < count, iteration, (convert(0), arrays), back_prop=back_prop
    )
    return nest.pack_sequence_as(like, [array.stack() for array in arrays])


def _map_encodings(fn: Callable[[Any], Any], elems: Any, signature: Any, infer_shape: bool) -> Any:
    def mapped(of_rows: Callable[[Any], Any], rows: Any, given: Any) -> Any:
        return map_fn(of_rows, rows, infer_shape=infer_shape, fn_output_signature=given)

    if signature is None:
        signature = nest.map_structure(_row_signature, elems)
    return over_encodings(mapped, fn, elems, signature)


def row_tensor(x: Any) -> Tensor:
    """What is mapped, as a tensor. Raises ValueError for None."""
    return convert(x) if x is None else tensor_of(x)


def _row_signature(x: Any) -> Any:
    """What `map_fn` takes for results that are like the rows of a value."""
    if isinstance(x, BatchableExtensionType):
        return x._type_spec._unbatch()
    return x if isinstance(x, RaggedTensor) else row_tensor(x).dtype


def _check_callable(fn: Any) -> None:
    if not callable(fn):
        raise TypeError(f"{fn.__name__} is not callable. Please provide a callable function.")


def _spec(spec: Any) -> tuple[Any, Any]:
    return (spec.dtype, spec.shape) if isinstance(spec, TensorSpec) else (as_dtype(spec), None)


class _Rows:
    """The rows of a nest of tensors."""

    def __init__(self, elems: Any):
        self._elems = elems
        self.tensors: list[Tensor] = [row_tensor(x) for x in nest.flatten(elems)]
        if not self.tensors:
            raise ValueError(
                "elems must be a Tensor or (possibly nested) sequence of Tensors. Got "
                f"{elems}, which does not contain any Tensors."
            )
        for x in self.tensors:
            if not x._aval.shape:
                raise ValueError(
                    "Elements in elems must be 1+ dimensional Tensors, not scalars (at "
                    f"{user_location()})"
                )
        counts = [x._aval.shape[0] for x in self.tensors]
        #: How many there are.
        self.count = next((n for n in counts if not is_symbolic(n)), counts[0])
        for i, (x, count) in enumerate(zip(self.tensors, counts, strict=True)):
            if differ(count, self.count):
                raise ValueError(f"Dimensions {self.count} and {count} are not compatible")
            if count != self.count:  # as many, which the call shows
                self.tensors[i] = set_sizes(x, (self.count, *[None] * (len(x._aval.shape) - 1)))
        self._arrays = [
            TensorArray(x.dtype, size=self.count, clear_after_read=False).unstack(x)
            for x in self.tensors
        ]

    def read(self, i: Any) -> Any:
        """The rows of one number, in the structure of the tensors."""
        return nest.pack_sequence_as(self._elems, [array.read(i) for array in self._arrays])


def foldl(
    fn: Callable[[Any, Any], Any],
    elems: Any,
    initializer: Any = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    name: str | None = None,
) -> Any:
    """`fn(... fn(fn(initializer, row 0), row 1) ..., last row)`.

    Args:
      fn: takes what it gave before and a nest of rows.
      elems: nest of tensors [n, ...].
      initializer: what to begin with; default the first rows.
      parallel_iterations, swap_memory, name: change nothing.
      back_prop: whether gradients go through it, in a function.
    Raises: TypeError if `fn` is not callable or its result has another dtype.

    >>> import tape_compat as tf
    >>> tf.foldl(lambda total, x: total + x, tf.constant([1, 2, 3]))
    <tf.Tensor: shape=(), dtype=int32, numpy=6>
    """
    return _folded(fn, elems, initializer, back_prop, 1)


def _folded(fn: Callable[..., Any], elems: Any, initializer: Any, back_prop: bool, by: int) -> Any:
    """What those two give. by: 1, or -1 from the last row to the first."""
    _check_callable(fn)
    rows = _Rows(elems)
    first = convert(0 if by > 0 else rows.count - 1, "int32")
    start = initializer
    if initializer is None:
        first, start = first + by, rows.read(first)
    return while_loop(
        lambda i, _: i < rows.count if by > 0 else i >= 0,
        lambda i, a: [i + by, fn(a, rows.read(i))],
        [first, start],
        back_prop=back_prop,
    )[1]


def foldr(
    fn: Callable[[Any, Any], Any],
    elems: Any,
    initializer: Any = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    name: str | None = None,
) -> Any:
    """`foldl` from the last row to the first.

    >>> import tape_compat as tf
    >>> tf.foldr(lambda total, x: total * 10 + x, tf.constant([1, 2, 3]))
    <tf.Tensor: shape=(), dtype=int32, numpy=321>
    """
    return _folded(fn, elems, initializer, back_prop, -1)


def scan(
    fn: Callable[[Any, Any], Any],
    elems: Any,
    initializer: Any = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    infer_shape: bool = True,
    reverse: bool = False,
    name: str | None = None,
) -> Any:
    """All that `foldl` gives on its way, stacked: [n, ...].

    Args:
      fn: takes what it gave before and a nest of rows like `elems`, and gives a nest like
        `initializer`.
      elems: nest of tensors [n, ...].
      initializer: what to begin with; default the first rows.
      infer_shape: whether all results must have one shape.
      reverse: whether to go from the last row to the first.
      parallel_iterations, swap_memory, name: change nothing.
      back_prop: whether gradients go through it, in a function.
    Raises: TypeError if `fn` is not callable or its result has another dtype; ValueError for
      another structure.

    >>> import tape_compat as tf
    >>> tf.scan(lambda total, x: total + x, tf.constant([1, 2, 3, 4]))
    <tf.Tensor: shape=(4,), dtype=int32, numpy=array([ 1,  3,  6, 10], dtype=int32)>
    """
    _check_callable(fn)
    rows = _Rows(elems)
    like = elems if initializer is None else initializer
    end = convert(rows.count, "int32") - 1
    first = end if reverse else convert(0)
    by = -1 if reverse else 1
    given = rows.read(first) if initializer is None else initializer
    start: list[Tensor] = [convert(tensor_of(x)) for x in nest.flatten(given)]
    arrays = [
        TensorArray(
            x.dtype,
            size=rows.count,
            infer_shape=infer_shape,
            element_shape=x.shape if infer_shape else None,
        )
        for x in start
    ]
    if initializer is None:
        arrays = [array.write(first, x) for array, x in zip(arrays, start, strict=True)]
        first = first + by

    def iteration(i: Any, before: Any, arrays: Any) -> Any:
        result = fn(nest.pack_sequence_as(like, before), rows.read(i))
        nest.assert_same_structure(like, result)
        leaves = [tensor_of(x) for x in nest.flatten(result)]
        written = [array.write(i, x) for array, x in zip(arrays, leaves, strict=True)]
        return i + by, leaves, written

    def goes_on(i: Any, *_: Any) -> Any:
        return i >= 0 if reverse else i < rows.count

    arrays = while_loop(goes_on, iteration, (first, start, arrays), back_prop=back_prop)[2]
    return nest.pack_sequence_as(like, [array.stack() for array in arrays])
