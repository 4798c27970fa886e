"""`tf.gradients`: derivatives in a function that is being recorded, without a tape around it."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..autodiff.arguments import UnconnectedGradients
from ..autodiff.tape import GradientTape
from ..core.dtypes import as_dtype
from ..core.errors import NeedsValue, user_location
from ..core.program import Node
from ..core.state import LOCAL
from ..core.steps import needed
from ..ops.creation import ones_like
from ..ops.joining import stack
from ..ops.shapes import reshape
from ..values import nest
from ..values.capture import SymbolicProgram
from ..values.context import inside_function
from ..values.convert import convert
from ..values.host_steps import PythonStep
from ..values.indexed_slices import IndexedSlices
from ..values.record import notify
from ..values.tensor import Tensor, pending
from ..values.variable import Variable


class AggregationMethod:
    """How `tf.gradients` may be told to sum gradients. XLA plans that, so they do the same.

    >>> import tape_compat as tf
    >>> tf.AggregationMethod.EXPERIMENTAL_TREE
    1
    """

    ADD_N = 0
    DEFAULT = ADD_N
    EXPERIMENTAL_TREE = 1
    EXPERIMENTAL_ACCUMULATE_N = 2


def gradients(
    ys: Any,
    xs: Any,
    grad_ys: Any = None,
    name: str = "gradients",
    gate_gradients: bool = False,
    aggregation_method: int | None = None,
    stop_gradients: Any = None,
    unconnected_gradients: UnconnectedGradients = UnconnectedGradients.NONE,
) -> list[Any]:
    """Derivatives of the sum of `ys` by each of `xs`, inside a `tf.function`.

    Args:
      ys: a tensor, or a list of them.
      xs: a tensor or Variable, or a list of them; of tensors those that `ys` were computed from.
      grad_ys: what the derivative of each of `ys` is weighted with, None for ones.
      aggregation_method: one of `tf.AggregationMethod`. Without effect, as `gate_gradients`: XLA
        sums and orders.
      stop_gradients: tensors that count as constants.
      unconnected_gradients: what an x gives that no y depends on: None, or zeros.
    Returns: a list with a Tensor, IndexedSlices or None for each of `xs`.
    Raises: RuntimeError in eager code, where `tf.GradientTape` does it; ValueError if `grad_ys` are
      not as many as `ys`; NotImplementedError after a `tf.py_function` that gives something.

    A tape is shown what the record has between `xs` and `ys`.

    >>> import tape_compat as tf
    >>> @tf.function
    ... def slope(x):
    ...     return tf.gradients(x * x * x, x)[0]
    >>> slope(tf.constant(2.0)).numpy().item()
    12.0
    """
    if not inside_function():
        raise RuntimeError(
            "tf.gradients is not supported when eager execution is enabled. Use tf.GradientTape "
            f"instead. At {user_location()}."
        )
    if aggregation_method not in (None, 0, 1, 2):
        raise ValueError(
            f"Invalid `aggregation_method` specified {aggregation_method}. Accepted values are "
            f"[0, 1, 2]. At {user_location()}."
        )
    targets = [_dense(y) for y in nest.flatten(ys)]
    sources = list(xs) if isinstance(xs, (list, tuple)) else [xs]
    if any(isinstance(x, (list, tuple, dict)) for x in sources):
        raise TypeError(f"`xs` is to be a tensor or a flat list of them. At {user_location()}.")
    sources = [x if isinstance(x, (Tensor, Variable)) else convert(x) for x in sources]
    weights = _weights(grad_ys, len(targets))
    stops = [] if stop_gradients is None else nest.flatten(stop_gradients)
    stops = [convert(x) for x in stops if not isinstance(x, Variable)]
    with GradientTape(watch_accessed_variables=False) as tape:
        shown = _Shown(LOCAL.state.capture, tape, sources, stops)
        targets = shown.run(targets)
        if weights is not None:
            weights = [ones_like(y) if w is None else w for w, y in zip(weights, targets)]
            _check_dtypes(weights, targets)
    return tape.gradient(targets, shown.sources, weights, unconnected_gradients)


def hessians(
    ys: Any,
    xs: Any,
    gate_gradients: bool = False,
    aggregation_method: int | None = None,
    name: str = "hessians",
) -> list[Tensor]:
    """Second derivatives of the sum of `ys` by each of `xs`, inside a `tf.function`.

    Args:
      ys, xs, gate_gradients, aggregation_method: as of `tf.gradients`.
    Returns: for each of `xs` a Tensor of its shape twice over.
    Raises: RuntimeError in eager code; ValueError where a first or second derivative is None.

    >>> import tape_compat as tf
    >>> @tf.function
    ... def curvature(x):
    ...     return tf.hessians(tf.reduce_sum(x**3), x)[0]
    >>> curvature(tf.constant([1.0, 2.0])).numpy().tolist()
    [[6.0, 0.0], [0.0, 12.0]]
    """
    sources = list(xs) if isinstance(xs, (list, tuple)) else [xs]
    slopes = gradients(ys, sources, aggregation_method=aggregation_method)
    return [_hessian(slope, x) for slope, x in zip(slopes, sources, strict=True)]


def _hessian(slope: Any, source: Any) -> Tensor:
    if slope is None:
        raise _no_value()
    with GradientTape(persistent=True, watch_accessed_variables=False) as tape:
        shown = _Shown(LOCAL.state.capture, tape, [source], [])
        (slope,) = shown.run([_dense(slope)])
    try:
        found = tape.jacobian(slope, shown.sources[0])
    except NeedsValue:  # of a step of the host, which gives gradients only
        found = _row_by_row(tape, slope, shown.sources[0])
    if found is None:
        raise _no_value()
    return found


def _row_by_row(tape: GradientTape, slope: Tensor, source: Any) -> Tensor | None:
    """The derivative of each element of a slope in turn."""
    shape = [operator.index(n) for n in slope._aval.shape]  # raises for an unknown size
    weights = np.eye(math.prod(shape), dtype=slope.dtype.np_dtype)
    if not len(weights):
        return None
    rows = [tape.gradient(slope, source, convert(w.reshape(shape))) for w in weights]
    return None if rows[0] is None else reshape(stack([*map(_dense, rows)]), [*shape, *shape])


def _no_value() -> ValueError:
    return ValueError(
        f"None values not supported. A derivative that tf.hessians needs is not connected (at "
        f"{user_location()})."
    )


def _check_dtypes(weights: list[Any], targets: list[Tensor]) -> None:
    for i, (weight, target) in enumerate(zip(weights, targets, strict=True)):
        dtype = getattr(weight, "dtype", target.dtype)
        if dtype != target.dtype:
            raise TypeError(
                f"`grad_ys[{i}]` has type {as_dtype(dtype).name}, and `ys[{i}]` has type "
                f"{target.dtype.name}. At {user_location()}."
            )


def _dense(y: Any) -> Tensor:
    return y._as_tensor() if isinstance(y, IndexedSlices) else convert(y)


def _weights(grad_ys: Any, count: int) -> list[Any] | None:
    if grad_ys is None:
        return None
    weights = list(grad_ys) if isinstance(grad_ys, (list, tuple)) else [grad_ys]
    if len(weights) != count:
        raise ValueError(
            f"Length mismatch. Passed {len(weights)} grad_ys for {count} ys. At {user_location()}."
        )
    return weights


class _Shown:
    """Shows who records, as a tape, what depends on the sources.

    sources: of one slot one tensor.
    """

    def __init__(
        self, program: SymbolicProgram, tape: GradientTape, sources: list[Any], stops: list[Tensor]
    ):
        self._program = program
        self._stops = {program.slot_of(x) for x in stops}
        #: What depends on the sources, by slot.
        self._known: dict[int, Tensor] = {}
        self.sources = [self._source(x) for x in sources]
        for x in self.sources:
            if x.dtype.is_floating or x.dtype.is_complex:
                tape.watch(x)

    def _source(self, x: Any) -> Any:
        if isinstance(x, Variable):
            symbol = self._program.symbols.get(x._handle)
            if symbol is not None:
                self._known[symbol._at[1]] = symbol
            return x
        slot = self._program.slot_of(x)
        return x if slot is None else self._known.setdefault(slot, x)

    def run(self, targets: list[Tensor]) -> list[Tensor]:
        """The targets as they are shown."""
        slots = [self._target(y) for y in targets]
        for node in needed(self._program.node.path(), [s for s in slots if s is not None]):
            if not any(slot in self._known for slot in node.inputs):
                continue
            step, given = node.closure, self._tensors(node.inputs)
            outputs = self._tensors(range(node.first, node.end), node)
            if isinstance(step, PythonStep):
                shown = step.followed(given, outputs, self._behind(node.inputs[0]))
            else:
                shown = not step.effect
                if shown:
                    notify(LOCAL.state.recorders, step, given, outputs, None)
            if shown:
                made = zip(range(node.first, node.end), outputs, strict=True)
                self._known.update({slot: x for slot, x in made if slot not in self._stops})
        return [y if s is None else self._known.get(s, y) for s, y in zip(slots, targets)]

    def _target(self, y: Tensor) -> int | None:
        slot = self._program.slot_of(y)
        if slot is None and y._is_symbolic() and all(y is not x for x in self.sources):
            raise NotImplementedError(
                f"tf.gradients of {y!r}, which was computed outside of the branch or loop that is "
                f"being recorded: call it there, or use tf.GradientTape. At {user_location()}."
            )
        return slot

    def _tensors(self, slots: Sequence[int], node: Node | None = None) -> tuple[Tensor, ...]:
        """Those in some slots; the outputs of a node, if that gives them, as new ones where a
        gradient is to stop."""
        return tuple([self._tensor(slot, node) for slot in slots])

    def _tensor(self, slot: int, node: Node | None) -> Tensor:
        if slot in self._known and (node is None or slot not in self._stops):
            return self._known[slot]
        if node is None:
            return self._program.tensor_at(slot)
        return pending(node.outputs[slot - node.first], self._program, slot)

    def _behind(self, slot: int) -> tuple[Tensor, ...]:
        """The inputs of the instruction that made a slot."""
        path = self._program.node.path()
        made = [node.inputs for node in path if node.first <= slot < node.end]
        return self._tensors(made[0]) if made else ()
