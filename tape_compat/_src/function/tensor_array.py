"""TensorArray: a list of tensors of one dtype, for loops to write to and read from."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..core.dtypes import as_dtype, float32
from ..core.errors import user_location
from ..core.forwards import forwards
from ..core.shapes import TensorShape
from ..core.state import LOCAL
from ..values.composite import TypeSpec
from ..values.spec import TensorSpec
from ..values.spec_registry import register
from ..values.tensor import Tensor
from .eager_array import EagerArray, PythonArray
from .elements import runs_as_python
from .recorded_array import RecordedArray


class TensorArray:
    """A list of tensors of one dtype, of a size that is given or grows.

    In eager code it is a Python list that its methods change. In a function that is being recorded
    it is a value like a tensor: `write` and its like give another array, which is to be used from
    then on (`ta = ta.write(i, x)`), and the elements lie in one buffer, so they are of one shape; a
    function with others runs as Python, where it is such a value too.

    Args:
      dtype: of the elements.
      size: int or int32 scalar Tensor: the number of elements.
      dynamic_size: whether writes after the end make it larger (default False).
      clear_after_read: whether an element can be read once only (default True); in eager code.
      tensor_array_name, colocate_with_first_write_call, name: change nothing.
      handle, flow: refused; there are none to be had.
      infer_shape: whether all elements must have the shape of the first (default True).
      element_shape: what is known of the shape of the elements.
    Raises: ValueError if `size` is missing, or if `handle` or `flow` is given.

    >>> import tape_compat as tf
    >>> ta = tf.TensorArray(tf.float32, size=0, dynamic_size=True)
    >>> for i in range(3):
    ...     ta = ta.write(i, [i, i * i])
    >>> ta.stack().numpy().tolist()
    [[0.0, 0.0], [1.0, 1.0], [2.0, 4.0]]
    """

    __slots__ = ("__weakref__", "_implementation")

    def __init__(
        self,
        dtype: Any,
        size: Any = None,
        dynamic_size: bool | None = None,
        clear_after_read: bool | None = None,
        tensor_array_name: str | None = None,
        handle: Any = None,
        flow: Any = None,
        infer_shape: bool = True,
        element_shape: Any = None,
        colocate_with_first_write_call: bool = True,
        name: str | None = None,
    ):
        dtype, shape = as_dtype(dtype), TensorShape(element_shape)
        make: Any = RecordedArray.empty
        if LOCAL.state.capture is None:
            make = PythonArray if runs_as_python() else EagerArray
        if handle is not None or (flow is not None and LOCAL.state.capture is not None):
            raise ValueError(
                "TensorArray handles are not supported when eager execution is enabled."
            )
        clears = clear_after_read is not False and make is not PythonArray
        self._implementation: Any = make(dtype, size, dynamic_size, clears, infer_shape, shape)

    def _recorded(self) -> RecordedArray:
        """What it is in a function that is being recorded."""
        if isinstance(self._implementation, EagerArray):
            raise NotImplementedError(
                "Attempting to build a graph-mode TF2-style TensorArray from either an eager-mode "
                "TensorArray or a TF1-style TensorArray.  This is not currently supported.  You "
                "may be attempting to capture a TensorArray inside a tf.function or tf.data map "
                "function. Instead, construct a new TensorArray inside the function."
            )
        return self._implementation

    @staticmethod
    def _of(implementation: Any) -> TensorArray:
        array = TensorArray.__new__(TensorArray)
        array._implementation = implementation
        return array

    def _with(self, implementation: Any) -> TensorArray:
        """It after a change: itself in eager code, another one elsewhere."""
        return self if implementation is self._implementation else self._of(implementation)

    def returned(self, buffer: Tensor | None) -> TensorArray:
        """What it is to the caller of the function that it comes from, with its elements."""
        array = self._recorded()
        if LOCAL.state.capture is not None:
            return self if buffer is None else self._with(array.with_buffer(buffer))
        settings = array.dynamic_size, True, array.infer_shape, array.element_shape
        found = EagerArray(array.dtype, array.length if buffer is None else 0, *settings)
        return self._with(found if buffer is None else found.holding(buffer))

    @property
    def _type_spec(self) -> TensorArraySpec:
        return TensorArraySpec(
            self.element_shape, self.dtype, bool(self.dynamic_size), self._infer_shape
        )

    def _as_buffer(self) -> Tensor | None:
        """The elements as one tensor, as which an array is given to a function; None if there are
        none, and their shape is not known."""
        array = self._implementation
        if isinstance(array, RecordedArray):
            return array.buffer
        if array.holds_nothing() and not array.element_shape.is_fully_defined():
            return None
        return array.stack()

    def _as_argument(self, tensors: Callable[[Any], Any]) -> Any:
        """What a function is given, with what `tensors` makes of the elements."""
        buffer = self._as_buffer()
        found = None if buffer is None else tensors(buffer)
        if isinstance(found, TensorSpec):
            return self._type_spec
        if LOCAL.state.capture is None or isinstance(self._implementation, RecordedArray):
            return self if found is None else self._with(self._implementation)
        if found is not None:
            return self._type_spec._from_components(found)
        settings = self.dynamic_size, True, self._infer_shape, self.element_shape
        return self._of(RecordedArray.empty(self.dtype, self.size(), *settings))

    @property
    def _here(self) -> Any:
        """What does the work: in a function, no array of eager code."""
        return self._implementation if LOCAL.state.capture is None else self._recorded()

    flow: Tensor = forwards(
        "_implementation.flow", "It stands for what was done to it; its value means nothing."
    )
    dtype: Any = forwards("_implementation.dtype", "The dtype of the elements.")
    element_shape: TensorShape = forwards(
        "_implementation.element_shape", "What is known of the shape of the elements."
    )
    dynamic_size: bool = forwards(
        "_implementation.dynamic_size", "Whether writes after the end make it larger."
    )
    _infer_shape: bool = forwards("_implementation.infer_shape")

    @property
    def handle(self) -> None:
        """None: there are no handles."""
        return None

    def identity(self) -> TensorArray:
        """An array of the same content."""
        return self._with(self._here.identity())

    def grad(self, source: str, flow: Any = None, name: str | None = None) -> Any:
        """Refused: tapes need no such thing."""
        raise NotImplementedError(
            "TensorArray.grad is not supported when executing eagerly; eager's gradient "
            "implementation does not use/need this function to compute gradients of operations "
            "that use TensorArrays."
        )

    def read(self, index: Any, name: str | None = None) -> Tensor:
        """Element `index`.

        Raises: OutOfRangeError for an index that is not there; InvalidArgumentError if it was
          cleared by a read before.
        """
        return self._here.read(index)

    def write(self, index: Any, value: Any, name: str | None = None) -> TensorArray:
        """The array with `value` as element `index`.

        Raises: OutOfRangeError for an index after the end of an array that does not grow;
          InvalidArgumentError for another dtype; ValueError for another shape.
        """
        return self._with(self._here.write(index, value))

    def stack(self, name: str | None = None) -> Tensor:
        """All elements as one tensor [size, ...]; zeros for those never written."""
        return self._here.stack()

    def gather(self, indices: Any, name: str | None = None) -> Tensor:
        """The elements `indices` [n] as one tensor [n, ...]."""
        return self._here.gather(indices)

    def concat(self, name: str | None = None) -> Tensor:
        """All elements, one after the other along their first axis."""
        return self._here.concat()

    def unstack(self, value: Any, name: str | None = None) -> TensorArray:
        """An array of the rows of `value` [n, ...].

        Raises: ValueError if there are more than fit.
        """
        return self._with(self._here.unstack(value))

    def scatter(self, indices: Any, value: Any, name: str | None = None) -> TensorArray:
        """The array with the rows of `value` [n, ...] as the elements `indices` [n]."""
        return self._with(self._here.scatter(indices, value))

    def split(self, value: Any, lengths: Any, name: str | None = None) -> TensorArray:
        """An array of parts of `value`, of these lengths along its first axis.

        Raises: InvalidArgumentError if the lengths do not fit.
        """
        return self._with(self._here.split(value, lengths))

    def size(self, name: str | None = None) -> Tensor:
        """The number of elements, int32."""
        return self._here.size()

    def close(self, name: str | None = None) -> None:
        """Forget the elements."""
        self._here.close()


@register("tf.TensorArraySpec")
class TensorArraySpec(TypeSpec):
    """What is known of a TensorArray beforehand.

    Args:
      element_shape: the shape of the elements, None for any.
      dtype: of the elements.
      dynamic_size: whether writes after the end make it larger.
      infer_shape: whether all elements must have one shape.

    >>> import tape_compat as tf
    >>> @tf.function(input_signature=[tf.TensorArraySpec([2], tf.float32)])
    ... def total(array):
    ...     return tf.reduce_sum(array.stack())
    >>> array = tf.TensorArray(tf.float32, size=3, element_shape=[2])
    >>> total(array.unstack(tf.ones([3, 2]))).numpy().item()
    6.0
    """

    __slots__ = ("_dtype", "_dynamic_size", "_element_shape", "_infer_shape")
    _is_leaf = True

    def __init__(
        self,
        element_shape: Any = None,
        dtype: Any = float32,
        dynamic_size: bool = False,
        infer_shape: bool = True,
    ):
        self._element_shape = TensorShape(element_shape)
        self._dtype = as_dtype(dtype)
        self._dynamic_size = dynamic_size
        self._infer_shape = infer_shape

    @staticmethod
    def from_value(value: TensorArray) -> TensorArraySpec:
        """The spec of an array. Raises TypeError for another value."""
        if not isinstance(value, TensorArray):
            raise TypeError(
                f"Expected value to be a TensorArray, but got: `{type(value)}` (at "
                f"{user_location()})."
            )
        return value._type_spec

    @property
    def value_type(self) -> type:
        """TensorArray."""
        return TensorArray

    def _serialize(self) -> tuple[Any, ...]:
        return self._element_shape, self._dtype, self._dynamic_size, self._infer_shape

    def is_compatible_with(self, spec_or_value: Any) -> bool:
        """Whether a TensorArray, or what another spec describes, fits this spec."""
        if isinstance(spec_or_value, TensorArray):
            spec_or_value = spec_or_value._type_spec
        return super().is_compatible_with(spec_or_value)

    def is_subtype_of(self, other: Any) -> bool:
        """Whether every array of this spec fits `other` too, whatever its elements."""
        return type(other) is type(self) and self._serialize()[1:] == other._serialize()[1:]

    def most_specific_common_supertype(self, others: Any) -> Any:
        """This spec, if the others differ from it in the shape of the elements only; else None."""
        return self if all(map(self.is_subtype_of, others)) else None

    @property
    def _component_specs(self) -> TensorSpec:
        shape = self._element_shape
        rows = TensorShape(None) if shape.rank is None else TensorShape([None, *shape])
        return TensorSpec(rows, self._dtype)

    def _to_components(self, value: TensorArray) -> Tensor | None:
        return value._as_buffer()

    def _from_components(self, components: Any) -> Any:
        if isinstance(components, TensorSpec):
            return self
        array = RecordedArray(self._dtype, self._dynamic_size, self._infer_shape)
        array._shape = [self._element_shape.merge_with(components.shape[1:])]
        return TensorArray._of(array.with_buffer(components))
