"""`tf.queue`: queues of tensors between threads. They are Python's, and live on the host."""

from __future__ import annotations

import heapq
import itertools
import threading
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core.dtypes import as_dtype, int64
from ..core.errors import (
    CancelledError,
    InvalidArgumentError,
    NeedsValue,
    OutOfRangeError,
    user_location,
)
from ..core.shapes import TensorShape
from ..core.state import LOCAL
from ..ops.arguments import as_size, untracked
from ..ops.joining import pad, stack, unstack
from ..values.convert import convert
from ..values.tensor import Tensor

_NUMBERS = itertools.count(1)
_Row = tuple[Tensor, ...]


class QueueBase:
    """The base of the queues; it holds rows of tensors, one for each of `dtypes`.

    A call waits until it can be done: `enqueue` for room, `dequeue` for rows. A `tf.function` with
    one runs its Python at each call.

    >>> import tape_compat as tf
    >>> queue = tf.queue.FIFOQueue(3, [tf.int32, tf.float32], shapes=[[], [2]])
    >>> queue.enqueue([7, [1.0, 2.0]])
    >>> int(queue.size()), [x.numpy().tolist() for x in queue.dequeue()]
    (1, [7, [1.0, 2.0]])
    """

    _KIND = "Queue"
    _PARTIAL = False

    def __init__(
        self,
        dtypes: Any,
        shapes: Any,
        names: Any,
        queue_ref: Any = None,
        *,
        capacity: int = -1,
        name: str = "",
    ):
        if queue_ref is not None:
            raise NotImplementedError("QueueBase: `queue_ref`: there are no resources to refer to.")
        self._dtypes = [as_dtype(d) for d in _list(dtypes)]
        self._known = shapes is not None
        self._shapes = self._shapes_of(shapes)
        self._names = self._names_of(names)
        self._capacity = capacity
        self._name = name or self._KIND
        self._number = next(_NUMBERS)
        self._closed = self._cancelled = False
        self._changed = threading.Condition()
        self._rows: list[Any] = []

    def _shapes_of(self, shapes: Any) -> list[TensorShape]:
        count = len(self._dtypes)
        if shapes is None:
            return [TensorShape(None)] * count
        found = _shape_list(shapes)
        if not self._PARTIAL and not all(shape.is_fully_defined() for shape in found):
            raise ValueError(f"All shapes must be fully defined: {found}")
        if len(found) != count:
            kinds = ", ".join(d.name for d in self._dtypes)
            raise self._invalid(
                f"Different number of component types.  Types: {kinds}, Shapes: "
                f"{[shape.as_list() for shape in found if shape.rank is not None]}"
            )
        return found

    def _names_of(self, names: Any) -> list[str] | None:
        if names is None:
            return None
        found = _list(names)
        if len(found) != len(self._dtypes):
            raise ValueError(
                "List of names must have the same length as the list of dtypes, received "
                f"len(names)={len(found)},len(dtypes)={len(self._dtypes)}"
            )
        return found

    # -- what it is -----------------------------------------------------------------------------

    @property
    def name(self) -> str:
        """Its name."""
        return self._name

    @property
    def dtypes(self) -> list[Any]:
        """The dtype of each component."""
        return self._dtypes

    @property
    def shapes(self) -> list[TensorShape]:
        """The shape of each component."""
        return self._shapes

    @property
    def names(self) -> list[str] | None:
        """The name of each component, None if they have none."""
        return self._names

    @property
    def queue_ref(self) -> Any:
        """Refused: there is no resource."""
        raise NotImplementedError("QueueBase.queue_ref: there are no resources to refer to.")

    @staticmethod
    def from_list(index: Any, queues: Sequence[QueueBase]) -> QueueBase:
        """The queue of number `index` in a list.

        Raises: TypeError for what is no list of queues of the same dtypes.
        """
        if not queues or not isinstance(queues, list):
            raise TypeError("A list of queues expected")
        if not all(isinstance(queue, QueueBase) for queue in queues):
            raise TypeError("A list of queues expected")
        first = queues[0]
        if any(queue.dtypes != first.dtypes for queue in queues):
            raise TypeError("Queues do not have matching component dtypes.")
        if any(queue.names != first.names for queue in queues):
            raise TypeError("Queues do not have matching component names.")
        return queues[int(as_size(index))]

    # -- rows -----------------------------------------------------------------------------------

    def enqueue(self, vals: Any, name: str | None = None) -> None:
        """Put one row in: a tensor, a list of them, or a dict by the names of the components.

        Raises: ValueError, TypeError for what does not fit; CancelledError if it is closed.
        """
        self._put([tuple(self._row(vals))])

    def enqueue_many(self, vals: Any, name: str | None = None) -> None:
        """Put rows in: those of tensors with one more axis, the first. Raises: as `enqueue`."""
        parts = self._row(vals, many=True)
        counts = [part.shape[0] for part in parts]
        for count in counts[1:]:
            if count != counts[0]:
                raise ValueError(f"Dimensions {counts[0]} and {count} are not compatible")
        self._put(list(zip(*[unstack(part) for part in parts], strict=True)))

    def dequeue(self, name: str | None = None) -> Any:
        """Take one row out: a tensor, a list of them, or a dict by the names of the components.

        Raises: OutOfRangeError if it is closed and empty.
        """
        (row,) = self._take(1, 1)
        return self._given(list(row))

    def dequeue_many(self, n: Any, name: str | None = None) -> Any:
        """Take `n` rows out, stacked along a first axis.

        Raises: OutOfRangeError if it is closed and has fewer; InvalidArgumentError if it was not
          told the shapes.
        """
        return self._stacked(self._several(n))

    def dequeue_up_to(self, n: Any, name: str | None = None) -> Any:
        """As `dequeue_many`; of a queue that is closed what is left, if that is something."""
        return self._stacked(self._several(n, least=1))

    def size(self, name: str | None = None) -> Tensor:
        """How many rows it has, int32."""
        self._at_each_call("size")
        return convert(np.int32(len(self._rows)))

    def is_closed(self, name: str | None = None) -> Tensor:
        """Whether it is closed, a bool scalar."""
        self._at_each_call("is_closed")
        return convert(np.bool_(self._closed))

    def close(self, cancel_pending_enqueues: bool = False, name: str | None = None) -> None:
        """Let nothing more in; what it has can be taken out.

        cancel_pending_enqueues: whether threads that wait for room are told that it is closed.
        Raises: CancelledError if it is closed already.
        """
        self._at_each_call("close")
        with self._changed:
            if self._closed:
                raise CancelledError(None, None, f"Queue '{self._number}' is already closed.")
            self._closed = True
            self._cancelled = bool(cancel_pending_enqueues)
            self._changed.notify_all()

    def _row(self, vals: Any, many: bool = False) -> list[Tensor]:
        """The components, checked."""
        self._at_each_call("enqueue")
        if self._names is not None:
            if not isinstance(vals, dict):
                raise ValueError("You must enqueue a dictionary in a Queue with names")
            if sorted(self._names) != sorted(vals):
                raise ValueError(
                    "Keys in dictionary to enqueue do not match names of Queue.  Dictionary: "
                    f"{sorted(vals)},Queue: {sorted(self._names)}"
                )
            vals = [vals[name] for name in self._names]
        elif isinstance(vals, dict):
            raise ValueError("Queue must have names to enqueue a dictionary")
        given = vals if isinstance(vals, (list, tuple)) else [vals]
        if len(given) < len(self._dtypes):
            raise self._invalid(
                f"Expected {len(self._dtypes)} components, got {len(given)} (at {user_location()})"
            )
        row = [convert(value, dtype) for value, dtype in zip(given, self._dtypes)]
        for x, shape in zip(row, self._shapes):
            if many and x.shape.rank == 0:
                raise self._invalid(f"rows of a scalar cannot be put in (at {user_location()})")
            (x.shape[1:] if many else x.shape).assert_is_compatible_with(shape)
        return list(map(untracked, row))

    def _put(self, rows: list[_Row]) -> None:
        for row in rows:
            with self._changed:
                if self._closed:
                    raise CancelledError(None, None, f"{self._KIND} '{self._number}' is closed.")
                self._changed.wait_for(lambda: self._has_room() or self._cancelled)
                if not self._has_room():
                    raise CancelledError(None, None, "Enqueue operation was cancelled")
                self._keep(row)
                self._changed.notify_all()

    def _has_room(self) -> bool:
        return self._capacity < 0 or len(self._rows) < self._capacity

    def _several(self, n: Any, least: int | None = None) -> list[_Row]:
        if not self._known:
            raise self._invalid(
                f"{self._KIND}'s DequeueMany and DequeueUpTo require the components to have "
                "specified shapes."
            )
        count = int(as_size(n))
        if count < 0:
            raise self._invalid(f"DequeueManyOp requested {count} < 0 elements")
        return self._take(count, count if least is None else min(count, least))

    def _take(self, count: int, least: int) -> list[_Row]:
        """So many rows; fewer, but `least`, of a queue that is closed."""
        self._at_each_call("dequeue")
        with self._changed:
            self._changed.wait_for(lambda: self._closed or self._ready(count))
            if len(self._rows) < (least if self._closed else count):
                raise OutOfRangeError(
                    None,
                    None,
                    f"{self._KIND} '{self._number}' is closed and has insufficient elements "
                    f"(requested {count}, current size {len(self._rows)})",
                )
            rows = [self._next() for _ in range(min(count, len(self._rows)))]
            self._changed.notify_all()
            return rows

    def _ready(self, count: int) -> bool:
        return len(self._rows) >= count

    def _keep(self, row: _Row) -> None:
        self._rows.append(row)

    def _next(self) -> _Row:
        return self._rows.pop(0)

    def _stacked(self, rows: list[_Row]) -> Any:
        if not rows:
            empty = [
                convert(np.zeros((0, *[n or 0 for n in shape.as_list()]), dtype.as_numpy_dtype))
                for shape, dtype in zip(self._shapes, self._dtypes)
            ]
            return self._given(empty)
        return self._given([self._joined(column) for column in zip(*rows, strict=True)])

    def _joined(self, column: tuple[Tensor, ...]) -> Tensor:
        return stack(list(column))

    def _given(self, parts: list[Tensor]) -> Any:
        if self._names is not None:
            return dict(zip(self._names, parts, strict=True))
        return parts[0] if len(parts) == 1 else parts

    def _at_each_call(self, what: str) -> None:
        if LOCAL.state.capture is not None:
            raise NeedsValue(f"{what} of a queue needs its state (at {user_location()})")

    def _invalid(self, message: str) -> InvalidArgumentError:
        return InvalidArgumentError(None, None, message)


class FIFOQueue(QueueBase):
    """A queue that gives first what came first.

    Args:
      capacity: how many rows it may have; negative for any number.
      dtypes: a dtype, or one for each component of a row.
      shapes: the shape of each component, fully known; None if they may differ.
      names: of the components; rows are then dicts.
      shared_name, name: `name` is its name; nothing is shared by one.
    """

    _KIND = "FIFOQueue"

    def __init__(
        self,
        capacity: int,
        dtypes: Any,
        shapes: Any = None,
        names: Any = None,
        shared_name: str | None = None,
        name: str = "fifo_queue",
    ):
        _check_shared(shared_name)
        super().__init__(dtypes, shapes, names, capacity=capacity, name=name)


class PaddingFIFOQueue(QueueBase):
    """A FIFOQueue whose shapes may have None: `dequeue_many` fills up with zeros.

    Args:
      shapes: the shape of each component, None for sizes that may differ.
      capacity, dtypes, names, shared_name, name: as of FIFOQueue.

    >>> import tape_compat as tf
    >>> queue = tf.queue.PaddingFIFOQueue(3, tf.int32, shapes=[[None]])
    >>> queue.enqueue(tf.constant([1]))
    >>> queue.enqueue(tf.constant([1, 2]))
    >>> queue.dequeue_many(2).numpy().tolist()
    [[1, 0], [1, 2]]
    """

    _KIND = "PaddingFIFOQueue"
    _PARTIAL = True

    def __init__(
        self,
        capacity: int,
        dtypes: Any,
        shapes: Any,
        names: Any = None,
        shared_name: str | None = None,
        name: str = "padding_fifo_queue",
    ):
        _check_shared(shared_name)
        partial = isinstance(shapes, (list, tuple)) and len(shapes) > 0
        if not partial or _is_shape(shapes):
            raise ValueError("When providing partial shapes, a list of shapes must be provided.")
        if len(shapes) != len(_list(dtypes)):
            raise ValueError(
                f"Shapes must be provided for all components, but received {len(_list(dtypes))} "
                f"dtypes and {len(shapes)} shapes."
            )
        super().__init__(dtypes, shapes, names, capacity=capacity, name=name)

    def _joined(self, column: tuple[Tensor, ...]) -> Tensor:
        sizes = np.max([x._aval.shape for x in column], axis=0).astype(int)
        padded = []
        for x in column:
            missing = [[0, int(n) - size] for n, size in zip(sizes, x._aval.shape)]
            padded.append(pad(x, missing) if missing else x)
        return stack(padded)


class PriorityQueue(QueueBase):
    """A queue that gives first the row whose first component, an int64, is lowest.

    Args:
      types: the dtype of each further component.
      shapes: their shapes, fully known; None if they may differ.
      capacity, names, shared_name, name: as of FIFOQueue.

    >>> import tape_compat as tf
    >>> queue = tf.queue.PriorityQueue(3, tf.string)
    >>> queue.enqueue((tf.constant(2, tf.int64), "later"))
    >>> queue.enqueue((tf.constant(1, tf.int64), "now"))
    >>> queue.dequeue()[1].numpy()
    b'now'
    """

    _KIND = "PriorityQueue"

    def __init__(
        self,
        capacity: int,
        types: Any,
        shapes: Any = None,
        names: Any = None,
        shared_name: str | None = None,
        name: str = "priority_queue",
    ):
        _check_shared(shared_name)
        dtypes = [int64, *_list(types)]
        full = None if shapes is None else [TensorShape([]), *_shape_list(shapes)]
        super().__init__(dtypes, full, names, capacity=capacity, name=name)
        self._arrivals = itertools.count()

    def _keep(self, row: _Row) -> None:
        heapq.heappush(self._rows, (int(row[0]), next(self._arrivals), row))

    def _next(self) -> _Row:
        return heapq.heappop(self._rows)[2]


class RandomShuffleQueue(QueueBase):
    """A queue that gives any of its rows.

    Args:
      min_after_dequeue: how many rows must be left, until it is closed.
      seed: the same rows come in the same order for the same seed.
      capacity, dtypes, shapes, names, shared_name, name: as of FIFOQueue.
    """

    _KIND = "RandomShuffleQueue"

    def __init__(
        self,
        capacity: int,
        min_after_dequeue: int,
        dtypes: Any,
        shapes: Any = None,
        names: Any = None,
        seed: int | None = None,
        shared_name: str | None = None,
        name: str = "random_shuffle_queue",
    ):
        _check_shared(shared_name)
        super().__init__(dtypes, shapes, names, capacity=capacity, name=name)
        self._left = min_after_dequeue
        self._random = np.random.default_rng(seed)

    def _ready(self, count: int) -> bool:
        return len(self._rows) >= count + self._left

    def _next(self) -> _Row:
        place = int(self._random.integers(len(self._rows)))
        self._rows[place], self._rows[-1] = self._rows[-1], self._rows[place]
        return self._rows.pop()


def _is_shape(shapes: Any) -> bool:
    """Whether it is one shape, not several."""
    if isinstance(shapes, TensorShape):
        return True
    if not isinstance(shapes, (list, tuple)):
        raise TypeError(
            "Shapes must be a TensorShape or a list or tuple of TensorShapes, got "
            f"{type(shapes)} instead."
        )
    return all(size is None or isinstance(size, int) for size in shapes)


def _shape_list(shapes: Any) -> list[TensorShape]:
    """The shapes of all components, given as a list or as the shape of the only one."""
    return list(map(TensorShape, [shapes] if _is_shape(shapes) else shapes))


def _list(value: Any) -> list[Any]:
    return list(value) if isinstance(value, (list, tuple)) else [value]


def _check_shared(shared_name: str | None) -> None:
    if shared_name is not None:
        raise NotImplementedError("`shared_name`: queues are objects of Python, share those.")
