"""`tf.map_fn` over the rows of ragged tensors, or to such, where the rows are known only when the
function that is being recorded is called: a loop that is recorded."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..composites.ragged import RaggedTensor, RaggedTensorSpec
from ..composites.sparse import SparseTensor, SparseTensorSpec
from ..core.dtypes import as_dtype, int32
from ..core.errors import NeedsValue
from ..core.shapes import TensorShape
from ..core.state import LOCAL
from ..ops import joining
from ..ops.casting import cast
from ..ops.creation import zeros
from ..ops.ragged_places import are_unknown, row
from ..ops.shapes import reshape
from ..values import nest, operators
from ..values.convert import convert
from ..values.spec import TensorSpec
from ..values.tensor import Tensor
from .control_flow import while_loop
from .ragged_rows import check_row
from .tensor_array import TensorArray


def is_recorded(elems: Any, signature: Any) -> bool:
    """Whether the rows are known only when the function that is being recorded is called."""
    leaves = nest.flatten(elems)
    results = [] if signature is None else nest.flatten(signature)
    if LOCAL.state.capture is None:
        return False
    if any(isinstance(x, (SparseTensor, SparseTensorSpec)) for x in (*leaves, *results)):
        return False
    dense = [convert(x) for x in leaves if not isinstance(x, RaggedTensor)]
    if len(dense) == len(leaves):
        return any(x._is_symbolic() for x in dense)
    return are_unknown(*leaves) or any(x.shape.rank and x.shape[0] is None for x in dense)


class _Grown:
    """The results of one kind, as loop variables that grow: arrays of dense ones, the values and
    the lengths of rows of ragged ones."""

    def __init__(self, spec: Any):
        inner = TensorShape([])
        if isinstance(spec, RaggedTensor):
            inner = spec.flat_values.shape[1:]
            spec = RaggedTensorSpec(None, spec.dtype, spec.ragged_rank - 1, spec.row_splits.dtype)
        elif isinstance(spec, RaggedTensorSpec) and spec.shape.rank:
            inner = spec.shape[spec.ragged_rank + 1 :]
        self.spec = spec
        if not isinstance(spec, RaggedTensorSpec):
            dtype = spec.dtype if hasattr(spec, "dtype") else as_dtype(spec)
            shape = spec.shape if isinstance(spec, TensorSpec) else None
            array = TensorArray(dtype, 0, dynamic_size=True, element_shape=shape)
            self.variables, self.shapes = [array], [None]
            return
        if not inner.is_fully_defined():
            raise NeedsValue(f"the inner shape {inner} of what tf.map_fn gives is not known")
        self._inner = inner.as_list()
        lengths = [zeros([0], spec.row_splits_dtype) for _ in range(spec.ragged_rank + 1)]
        self.variables = [zeros([0, *self._inner], spec.dtype), *lengths]
        self.shapes = [TensorShape([None, *self._inner]), *[TensorShape([None])] * len(lengths)]

    def with_row(self, grown: list[Any], i: Tensor, row: Any) -> list[Any]:
        """The loop variables with one more result."""
        spec = self.spec
        if not isinstance(spec, RaggedTensorSpec):
            return [grown[0].write(i, convert(row, grown[0].dtype))]
        row = row if isinstance(row, RaggedTensor) else convert(row)
        check_row(row, spec)
        flat = row.flat_values if isinstance(row, RaggedTensor) else row
        count = operators.call("count_of_rows", row)
        inner = row.nested_row_lengths() if isinstance(row, RaggedTensor) else ()
        parts = [flat, *[cast(x, spec.row_splits_dtype) for x in (reshape(count, [1]), *inner)]]
        return [joining.concat([x, part], 0) for x, part in zip(grown, parts, strict=True)]

    def result(self, grown: list[Any]) -> Any:
        """The results, stacked."""
        if not isinstance(self.spec, RaggedTensorSpec):
            return grown[0].stack()
        return RaggedTensor.from_nested_row_lengths(grown[0], grown[1:], validate=False)


def map_recorded(fn: Callable[[Any], Any], elems: Any, signature: Any) -> Any:
    """`map_ragged` as a loop that is recorded."""
    leaves = [x if isinstance(x, RaggedTensor) else convert(x) for x in nest.flatten(elems)]
    like = elems if signature is None else signature
    count = cast(operators.call("count_of_rows", leaves[0]), int32)
    kinds = [_Grown(spec) for spec in (leaves if signature is None else nest.flatten(signature))]

    def iteration(i: Tensor, *grown: list[Any]) -> list[Any]:
        found = fn(nest.pack_sequence_as(elems, [row(x, i) for x in leaves]))
        nest.assert_same_structure(like, found)
        results = nest.flatten(found)
        longer = [
            kind.with_row(x, i, result)
            for kind, x, result in zip(kinds, grown, results, strict=True)
        ]
        return [i + 1, *longer]

    _, *grown = while_loop(
        lambda i, *_: i < count,
        iteration,
        [convert(0), *[kind.variables for kind in kinds]],
        shape_invariants=[TensorShape([]), *[kind.shapes for kind in kinds]],
    )
    results = [kind.result(x) for kind, x in zip(kinds, grown, strict=True)]
    return nest.pack_sequence_as(like, results)
