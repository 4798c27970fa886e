"""TensorArray: a list of tensors of one dtype, for loops to write to and read from."""

from __future__ import annotations

from typing import Any

from ..core.dtypes import as_dtype
from ..core.shapes import TensorShape
from ..core.state import LOCAL
from ..values.tensor import Tensor
from .eager_array import EagerArray
from .recorded_array import RecordedArray


class TensorArray:
    """A list of tensors of one dtype, of a size that is given or grows.

    In eager code it is a Python list that its methods change. In a function that is being recorded
    it is a value like a tensor: `write` and its like give another array, which is to be used from
    then on (`ta = ta.write(i, x)`), and the elements lie in one buffer, so they are of one shape.

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
        make: Any = EagerArray if LOCAL.state.capture is None else RecordedArray.empty
        if handle is not None or (flow is not None and LOCAL.state.capture is not None):
            raise ValueError(
                "TensorArray handles are not supported when eager execution is enabled."
            )
        self._implementation: Any = make(
            dtype, size, dynamic_size, clear_after_read is not False, infer_shape, shape
        )

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

    def _with(self, implementation: Any) -> TensorArray:
        """It after a change: itself in eager code, another one elsewhere."""
        if implementation is self._implementation:
            return self
        array = TensorArray.__new__(TensorArray)
        array._implementation = implementation
        return array

    def returned(self, buffer: Tensor | None) -> TensorArray:
        """What it is to the caller of the function that it comes from, with its elements."""
        array = self._recorded()
        if LOCAL.state.capture is not None:
            return self if buffer is None else self._with(array.with_buffer(buffer))
        settings = array.dynamic_size, True, array.infer_shape, array.element_shape
        found = EagerArray(array.dtype, array.length if buffer is None else 0, *settings)
        return self._with(found if buffer is None else found.holding(buffer))

    @property
    def _here(self) -> Any:
        """What does the work: in a function, no array of eager code."""
        return self._implementation if LOCAL.state.capture is None else self._recorded()

    @property
    def flow(self) -> Tensor:
        """A tensor that stands for what was done to it; its value means nothing."""
        return self._implementation.flow

    @property
    def dtype(self) -> Any:
        """The dtype of the elements."""
        return self._implementation.dtype

    @property
    def handle(self) -> None:
        """None: there are no handles."""
        return None

    @property
    def element_shape(self) -> TensorShape:
        """What is known of the shape of the elements."""
        return self._implementation.element_shape

    @property
    def dynamic_size(self) -> bool:
        """Whether writes after the end make it larger."""
        return self._implementation.dynamic_size

    @property
    def _infer_shape(self) -> bool:
        return self._implementation.infer_shape

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
