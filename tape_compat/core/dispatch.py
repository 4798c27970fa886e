"""The way of every op call: run it now, or record it."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

import jax
import numpy as np

from . import executor, policy
from .avals import Aval, Packed
from .op import Closure, Op
from .program import Node, Program
from .state import LOCAL, MODE, ThreadState
from .tensor import Tensor, concrete, next_id

_ref = weakref.ref
_new = Tensor.__new__


def apply(closure: Closure, inputs: tuple[Tensor, ...]) -> Any:
    """Call a closure on tensors: a Tensor if it gives one array, else a tuple of Tensors.

    It is recorded while a recorder (a tape, an accumulator) or a capture is active, and when an
    input is pending; otherwise it runs now.
    """
    state = LOCAL.state
    if not state.deferring:
        for x in inputs:
            if x._array is None:
                break
        else:
            return _run_now(closure, inputs, state)
    if MODE.immediate and state.capture is None:
        return _run_now(closure, inputs, state)
    program = state.program
    if program is None:
        program = _fresh_program(state)
    with program.lock:
        log = program.log
        if log is None or state.program is not program:  # another thread has just run it
            return apply(closure, inputs)
        node = log[-1][0]
        key: list[Any] = [closure]
        leaves = None
        for x in inputs:
            at = x._at
            if at[0] is program:
                key.append(at[1])
            else:
                if leaves is None:
                    leaves = _Leaves(program, closure, inputs)
                    if leaves.on_host:
                        return _run_on_host(closure, inputs, state)
                key.append(leaves.add(x))
        child = node.children.get(tuple(key))
        if child is None:
            child = _extend(program, node, closure, tuple(key), leaves, inputs)
        if child.single:
            out = _new(Tensor)
            out._aval = child.aval  # type: ignore[assignment]
            out._array = None
            out._at = (program, child.first)
            out._id = next_id()
            outputs: tuple[Tensor, ...] = (out,)
            reference: Any = _ref(out)
        else:
            outputs = _outputs(child, program)
            reference = tuple(map(_ref, outputs))
        if leaves is None:
            log.append((child, (), (), reference))
        else:
            log.append((child, tuple(leaves.arrays), tuple(leaves.scalars), reference))
            leaves.placed(child.first_leaf)
    if child.depth >= policy.MAX_PENDING_INSTRUCTIONS or child.nbytes > policy.MAX_PENDING_BYTES:
        if not program.symbolic:
            executor.run(program)
    for recorder in state.recorders:
        recorder.record(closure, inputs, outputs)
    return outputs[0] if child.single else outputs


class _Leaves:
    """The concrete inputs that one instruction brings into a program."""

    __slots__ = ("program", "arrays", "scalars", "kinds", "tensors", "on_host")

    def __init__(self, program: Program, closure: Closure, inputs: tuple[Tensor, ...]):
        self.program = program
        self.arrays: list[Any] = []
        self.scalars: list[Any] = []
        self.kinds: list[Aval | Packed] = []
        self.tensors: list[Tensor] = []
        self.on_host = not program.symbolic and _host_only(inputs)

    def add(self, x: Tensor) -> Any:
        """What stands for `x` in the key: the leaf's kind, or its place if it came twice."""
        for i, seen in enumerate(self.tensors):
            if seen is x:
                return ("again", i)
        if self.program.symbolic:
            return self._add_captured(x)
        array = x._array
        if array is None:
            executor.run(x._at[0])
            array = x._value()
        known = x._aval
        if array.__class__ is np.ndarray:
            if known.packed is not None:
                self.scalars.append(array)
                self.tensors.append(x)
                self.kinds.append(known.packed)
                return known.packed
            if known.nbytes >= policy.MOVE_AT_FIRST_USE_BYTES or x._at[0] is not None:
                array = x._device_array()
        self.arrays.append(array)
        self.tensors.append(x)
        self.kinds.append(known)
        return known

    def _add_captured(self, x: Tensor) -> Any:
        known = self.program.leaves.get(id(x))  # type: ignore[attr-defined]
        if known is not None:
            return known[0]
        self.tensors.append(x)
        self.kinds.append(x._aval)
        return x._aval

    def placed(self, first: int) -> None:
        """Remember the slots, so that the next use of these tensors is not a new leaf."""
        program = self.program
        for slot, x in enumerate(self.tensors, first):
            if program.symbolic:
                program.leaves[id(x)] = (slot, x)  # type: ignore[attr-defined]
            else:
                x._at = (program, slot)


def _host_only(inputs: tuple[Tensor, ...]) -> bool:
    """Whether all inputs are small integer constants on the host: shapes, axes, sizes."""
    for x in inputs:
        known = x._aval
        if (
            x._array.__class__ is not np.ndarray
            or known.np_dtype.kind not in "iub"
            or known.size > policy.HOST_SIZE
        ):
            return False
    return True


def _fresh_program(state: ThreadState) -> Program:
    program = state.program = Program(state)
    program.origin = state.origin
    return program


def _outputs(node: Node, program: Program) -> tuple[Tensor, ...]:
    outputs = []
    for slot, known in enumerate(node.outputs, node.first):
        out = _new(Tensor)
        out._aval = known
        out._array = None
        out._at = (program, slot)
        out._id = next_id()
        outputs.append(out)
    return tuple(outputs)


def _extend(
    program: Program,
    node: Node,
    closure: Closure,
    key: tuple,
    leaves: _Leaves | None,
    inputs: tuple[Tensor, ...],
) -> Node:
    """A structure not seen before: work out shapes and dtypes, or raise at the user's line."""
    outputs, single = closure.infer(tuple(x._aval for x in inputs))
    kinds = tuple(leaves.kinds) if leaves is not None else ()
    slots = []
    new = node.end
    for part in key[1:]:
        if part.__class__ is int:
            slots.append(part)
        elif part.__class__ is tuple:
            slots.append(node.end + part[1])
        else:
            slots.append(new)
            new += 1
    child = Node(node, closure, tuple(slots), kinds, outputs, single)
    if program.tree.count > policy.MAX_NODES:
        program.tree.prune()
    return program.tree.extend(node, key, child)


# ---------------------------------------------------------------------------------------------
# Now.


def _run_now(closure: Closure, inputs: tuple[Tensor, ...], state: ThreadState) -> Any:
    arrays = [x._value() for x in inputs]
    avals, single = closure.infer(tuple(x._aval for x in inputs))
    if state.device is None:
        results = executor.run_now(closure, arrays)
    else:
        with jax.default_device(state.device):
            results = executor.run_now(closure, arrays)
    outputs = tuple(map(concrete, results, avals))
    for recorder in state.recorders:
        recorder.record(closure, inputs, outputs)
    return outputs[0] if single else outputs


def _run_on_host(closure: Closure, inputs: tuple[Tensor, ...], state: ThreadState) -> Any:
    """Integer constants in, integer constants out, on the CPU, whatever is pending."""
    avals, single = closure.infer(tuple(x._aval for x in inputs))
    with jax.default_device(_host_device()):
        results = executor.run_now(closure, [x._array for x in inputs])
    small = all(known.size <= policy.HOST_SIZE for known in avals)
    arrays = map(np.asarray, results) if small else results
    outputs = tuple(map(concrete, arrays, avals))
    for recorder in state.recorders:
        recorder.record(closure, inputs, outputs)
    return outputs[0] if single else outputs


def _host_device() -> Any:
    global _HOST_DEVICE
    if _HOST_DEVICE is None:
        _HOST_DEVICE = jax.local_devices(backend="cpu")[0]
    return _HOST_DEVICE


_HOST_DEVICE: Any = None


# ---------------------------------------------------------------------------------------------
# The two ops that the core itself needs.


def _identity(x: Any) -> Any:
    return x


IDENTITY = Op(_identity, "Identity").bind()


def identity(x: Tensor) -> Tensor:
    """A tensor of its own with the value of `x`, connected to it on tapes."""
    return apply(IDENTITY, (x,))


def flush() -> None:
    """Send off this thread's pending work. Does not wait for it."""
    program = LOCAL.state.program
    if program is not None and not program.symbolic:
        executor.run(program)


