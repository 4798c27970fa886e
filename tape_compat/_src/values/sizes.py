"""Values that a recording knows: sizes, and what is computed of them.

Where an op needs a number, as in `tf.zeros([tf.shape(x)[0], 4])`, the instructions that made it are
followed back to the shapes and constants that it comes from. What is unknown gives the dimension
expression that stands for it.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import Any

import numpy as np

from ..core.avals import Aval
from ..core.dimensions import Size, is_symbolic, is_unknown
from ..core.dtypes import string
from ..core.errors import NeedsValue, user_location
from ..core.op import Closure
from ..core.program import Node, Program, node_of
from ..core.state import LOCAL
from ..run import executor, policy
from .tensor import Tensor

_INTEGERS = "iu"

#: Of more numbers than these, none of them known, nothing is worked out: what is made of them is
#: unknown itself. JAX compares the maximum of n unknown sizes in a time of about 2.5 to the n.
_MAX_UNKNOWN = 4


def sizes_of(tensor: Tensor, sketch: bool = True) -> np.ndarray:
    """The value of a tensor: of numbers, or of objects if there are unknown sizes among them.

    sketch: whether an unknown size may stand for what is not known: where the shapes of results are
    all that is wanted of what is recorded, or a step of the host can tell it at each call.
    Raises: NeedsValue if it is known only when the function that is being recorded is called.
    """
    capture = LOCAL.state.capture
    if capture is None or (tensor._array is not None and capture.is_constant(tensor)):
        return np.asarray(tensor._value())
    if tensor._array is None:
        program, slot = tensor._at
        if not program.symbolic:
            return np.asarray(tensor._value())
        found = _Known(capture.sketch if sketch else None).of(program, slot)
        if found is not None:
            return found
    raise NeedsValue(
        f"The value of {tensor!s} is needed (at {user_location()}), and it is known only when the "
        "function that is being recorded is called. What must be known are shapes, sizes, axes and "
        "other options of ops; they may be computed from constants and from tf.shape(x)."
    )


def integer(x: Any) -> Size | None:
    """The value of an integer scalar: an int, or the expression of unknown sizes that it is. None
    if it depends on data."""
    if isinstance(x, (int, np.integer)):
        return int(x)
    if isinstance(x, np.ndarray) and not x.shape and x.dtype.kind in "iu":
        return int(x)
    if not isinstance(x, Tensor):
        return x if is_symbolic(x) else None
    if x._aval.shape or x._aval.np_dtype.kind not in "iu":
        return None
    try:
        found = sizes_of(x, sketch=False)[()]
    except NeedsValue:
        return None
    return found if is_symbolic(found) else int(found)


def number_of(tensor: Tensor) -> np.ndarray:
    """`sizes_of` where no size may be unknown."""
    found = sizes_of(tensor, sketch=False)
    if tensor._aval.dtype is string or found.dtype != object:
        return found
    if is_unknown(found.ravel().tolist()):
        raise NeedsValue(
            f"{tensor!s} (at {user_location()}) is computed from sizes that are known only when "
            "the function that is being recorded is called."
        )
    return found


def distance(one: Tensor, other: Tensor, sketch: Any) -> int | None:
    """How much less a scalar tensor is than another, whatever they are; None if that is not known.
    Where sizes and numbers are compared on the way it may be so for most values only.

    sketch: a new one, whose sizes stand for what is not known.
    """
    known = _Known(sketch)
    first, second = known.value(one), known.value(other)
    if first is None or second is None or first.size != 1 or second.size != 1:
        return None
    found = second.astype(object).item() - first.astype(object).item()
    return None if is_symbolic(found) else int(found)


def folded(tensor: Tensor) -> np.ndarray | None:
    """The value of a tensor of the record that is under way, worked out from constants and known
    sizes; None if it is not known whole, or is large."""
    found = _Known().value(tensor)
    return None if found is None or is_unknown(found.ravel().tolist()) else found


def partly_known(tensor: Tensor, sketch: Any) -> np.ndarray | None:
    """The value of a tensor, in which sizes of a new sketch stand for what is not known; None if
    nothing is."""
    return _Known(sketch).value(tensor)


class _Known:
    """Values of slots, each worked out once."""

    def __init__(self, sketch: Any = None) -> None:
        self._sketch = sketch
        self._found: dict[tuple[Program, int], np.ndarray | None] = {}

    def of(self, program: Any, slot: int) -> np.ndarray | None:
        key = (program, slot)
        if key not in self._found:
            self._found[key] = None
            found = self._work_out(program, slot)
            self._found[key] = self._sketched(program, slot) if found is None else found
        return self._found[key]

    def _sketched(self, program: Any, slot: int) -> np.ndarray | None:
        """What stands for a value that is not known, where shapes are all that is wanted."""
        node = _node_at(program, slot)
        if self._sketch is None or not program.symbolic or slot < node.first:
            return None
        aval = node.outputs[slot - node.first]
        if not _small(aval) or aval.np_dtype.kind not in _INTEGERS:
            return None
        return self._sketch.sizes(program, slot, aval.shape)

    def _is_one_of_many(self, program: Any, slot: int) -> bool:
        """Whether more unknown sizes than may be combined would stand for a value."""
        node = _node_at(program, slot)
        if self._sketch is None or slot < node.first:
            return False
        aval = node.outputs[slot - node.first]
        if not _small(aval) or aval.size <= _MAX_UNKNOWN:
            return False
        return _Known().of(program, slot) is None

    def value(self, tensor: Tensor) -> np.ndarray | None:
        """The value of a tensor of the record that is under way."""
        capture = LOCAL.state.capture
        if tensor._array is not None and (capture is None or capture.is_constant(tensor)):
            return np.asarray(tensor._value())
        program, slot = tensor._at
        return None if program is None or not program.symbolic else self.of(program, slot)

    def _tensor(self, tensor: Any) -> np.ndarray | None:
        if tensor.__class__ is not Tensor:  # a variable, the key of a draw
            return None
        if tensor._array is not None or not tensor._at[0].symbolic:
            return np.asarray(tensor._value())
        return self.of(*tensor._at)

    def _work_out(self, program: Any, slot: int) -> np.ndarray | None:
        node = _node_at(program, slot)
        if slot < node.first:
            return self._tensor(program.source_at(slot))
        aval = node.outputs[slot - node.first]
        if aval.size != 0 and not _small(aval):
            return None
        if node.closure.by_python:  # nor are sizes among its inputs to be told
            return None
        if any(self._is_one_of_many(program, i) for i in node.inputs):
            return None
        inputs = [self.of(program, i) for i in node.inputs]
        if any(x is None for x in inputs):
            return None
        return _computed(node.closure, inputs, aval, slot - node.first)


def _small(aval: Aval) -> bool:
    return not aval.unknown and aval.size <= policy.HOST_SIZE


def _computed(closure: Closure, inputs: list[Any], aval: Aval, place: int) -> np.ndarray | None:
    """Output number `place` of a closure, of values that are known."""
    rule = closure.op.of_sizes
    if rule is not None and aval.np_dtype.kind in _INTEGERS:
        wide = [x.astype(object) for x in inputs]
        try:
            found = rule(*wide, **closure.attributes)
        except ZeroDivisionError:
            return None
        return _settled(found[place] if isinstance(found, (tuple, list)) else found, aval)
    if closure.unknown or closure.effect or not inputs or any(x.dtype == object for x in inputs):
        return None
    kinds = tuple(map(Aval.of_array, inputs))
    return np.asarray(executor.run_on_host(closure, kinds, inputs)[place])


def _settled(found: Any, aval: Aval) -> np.ndarray:
    """An array of its dtype, if it holds numbers only."""
    array = np.array(found, object)
    if not is_unknown(array.ravel().tolist()):
        array = array.astype(aval.np_dtype)
    return array.reshape(aval.shape)


def _node_at(program: Program, slot: int) -> Node:
    """The instruction that made a slot or brought it in."""
    log = program.log
    node = node_of(log[bisect_right(log, slot, key=lambda entry: node_of(entry).end)])
    while slot < node.first_leaf:
        assert node.parent is not None
        node = node.parent
    return node
