"""Forward mode: Jacobian-vector products, computed beside the ops as they are recorded."""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable, Sequence
from typing import Any

from ..core.derivative import Jvp, jvp
from ..core.op import Closure
from ..core.state import LOCAL, Recorder, seen_by
from ..values import nest
from ..values.convert import convert
from ..values.indexed_slices import IndexedSlices
from ..values.record import apply
from ..values.tensor import Tensor
from ..values.variable import Variable
from . import reverse
from .arguments import UnconnectedGradients
from .tape import LOGGER, GradientTape


def _forget(accumulator: weakref.ref[ForwardAccumulator], identity: int, primal: Any) -> None:
    """Drop the tangent of a primal that is gone."""
    owner = accumulator()
    if owner is not None and owner._primals.get(identity) is primal:
        del owner._primals[identity]
        owner._tangents.pop(identity, None)


def _transposed(rule: Any, tangents: Sequence[Tensor | None]) -> list[Tensor]:
    """The tangents of the results of a call by those of its inputs: its gradient is linear, and
    this is the transpose of it."""
    with GradientTape(watch_accessed_variables=False) as tape:
        given = [reverse.filled(aval, 1) for aval in rule.results]
        tape.watch([x for x in given if x._aval.trainable])
        gradients = rule.gradients(given)
    pairs = [
        (gradient, tangent)
        for gradient, tangent in zip(gradients, tangents, strict=True)
        if gradient is not None and tangent is not None
    ]
    return tape.gradient(
        [gradient for gradient, _ in pairs],
        given,
        [tangent for _, tangent in pairs],
        UnconnectedGradients.ZERO,
    )


class ForwardAccumulator(Recorder):
    """Computes Jacobian-vector products with forward-mode differentiation.

    Args:
      primals: Tensor, Variable, or a nest of them.
      tangents: a nest like `primals`, each of its primal's shape and dtype.
    Raises: ValueError if a tangent's dtype or shape is not its primal's, or a primal comes twice.

    >>> import tape_compat as tf
    >>> x = tf.constant([2.0, 3.0])
    >>> with tf.autodiff.ForwardAccumulator(x, tf.constant([1.0, 0.0])) as acc:
    ...     y = tf.reduce_sum(x**3)
    >>> acc.jvp(y)
    <tf.Tensor: shape=(), dtype=float32, numpy=12.0>
    """

    #: Tangents by identity of their primals: of what the accumulator tracks.
    ids: dict[int, Tensor]

    def __init__(self, primals: Any, tangents: Any):
        self.ids = self._tangents = {}
        #: What there are tangents of, by identity: a tangent goes with its primal.
        self._primals: dict[int, weakref.ref] = {}
        self._recording = False
        self._variables: dict[int, int] = {}
        nest.assert_same_structure(primals, tangents)
        flat = nest.flatten(primals)
        for primal in flat:
            if sum(primal is other for other in flat) > 1:
                raise ValueError(
                    f"Tensor {primal} was watched more than once: each primal takes one tangent."
                )
        for primal, tangent in zip(flat, nest.flatten(tangents), strict=True):
            self._watch(primal, tangent)

    def _watch(self, primal: Any, tangent: Any) -> None:
        if not primal.dtype.is_floating and not primal.dtype.is_complex:
            LOGGER.warning(
                "The dtype of the watched primal must be floating (e.g. tf.float32), got %r",
                primal.dtype,
            )
        tangent = convert(tangent, primal.dtype)
        if not primal.shape.is_compatible_with(tangent.shape):
            raise ValueError(
                f"Expected the tangent's shape to match its primal's, {primal.shape}; "
                f"got {tangent.shape}."
            )
        held = primal._handle if isinstance(primal, Variable) else primal
        self._keep(held, primal._id, tangent)
        if isinstance(primal, Variable):
            self._variables[primal._id] = 0

    def _keep(self, primal: Any, identity: int, tangent: Tensor) -> None:
        """Keep the tangent of a tensor, or of a variable's handle, as long as that is alive."""
        self._tangents[identity] = tangent
        forget = functools.partial(_forget, weakref.ref(self), identity)
        self._primals[identity] = weakref.ref(primal, forget)

    def __enter__(self) -> ForwardAccumulator:
        if self._recording:
            raise ValueError("Accumulator is already recording.")
        try:
            self._recording = True
            state = LOCAL.state
            state.set_recorders((*state.recorders, self))
            return self
        except BaseException:  # an interrupt: the `with` block will not be entered
            self.__exit__()
            raise

    def __exit__(self, *_: Any) -> None:
        try:
            self._pop()
        finally:  # again, if an interrupt came in between
            if self._recording:
                self._pop()

    def _pop(self) -> None:
        state = LOCAL.state
        state.set_recorders(tuple([r for r in state.recorders if r is not self]))
        self._recording = False

    def variables_since(self) -> dict[int, int]:
        """The variables that it has tangents of; see `missed`."""
        return self._variables

    def record(
        self, call: Any, inputs: tuple[Tensor, ...], outputs: tuple[Tensor, ...], node: Any
    ) -> None:
        """Push the tangents through one call (called by the engine for every op)."""
        tangents = self._tangents
        if not call.differentiable:
            return
        have = tuple([i for i, x in enumerate(inputs) if x._id in tangents and x._aval.trainable])
        if not have:
            return
        if not isinstance(call, Closure):
            call, inputs = call.as_closure(inputs)
            have = tuple([i for i, x in enumerate(inputs) if x._id in tangents])
        moved = outputs
        if not isinstance(call, Jvp):  # a tangent counts as depending on all that its op reads
            moved = reverse.depending(call, inputs, have, outputs)
        if not moved:
            return
        given = tuple([tangents[inputs[i]._id] for i in have])
        pushed = self._seen_by_outer(apply, jvp(call, len(inputs), have), inputs + given)
        inexact = [out for out in outputs if out._aval.trainable]
        ids = {out._id for out in moved}
        for out, tangent in zip(inexact, pushed, strict=True):
            if out._id in ids:
                self._keep(out, out._id, tangent)

    def push_by_gradient(
        self, rule: Any, inputs: tuple[Tensor, ...], outputs: tuple[Tensor, ...]
    ) -> None:
        """Push the tangents through a call by its gradient alone, a `CustomRule`: unless ops have
        shown what they are, where its errors are raised as well."""
        tangents = [self._tangents.get(x._id) for x in inputs]
        if all(tangent is None for tangent in tangents):
            return
        if any(out._id in self._tangents for out in outputs):
            rule.try_out()
            return
        pushed = self._seen_by_outer(_transposed, rule, tangents)
        for out, tangent in zip(outputs, pushed, strict=True):
            if out._aval.trainable:
                self._keep(out, out._id, tangent)

    def _seen_by_outer(self, function: Callable[..., Any], *args: Any) -> Any:
        """Call a function as part of this accumulator's work: seen by tapes and accumulators that
        were entered before, so that derivatives nest."""
        recorders = LOCAL.state.recorders
        return seen_by(recorders[: recorders.index(self)], function, *args)

    def jvp(
        self,
        primals: Any,
        unconnected_gradients: UnconnectedGradients | str = UnconnectedGradients.NONE,
    ) -> Any:
        """The product of the Jacobian of `primals` with the tangents of the inputs.

        Args:
          primals: a nest of Tensors and Variables.
          unconnected_gradients: `NONE` or `ZERO` for what does not depend on the inputs.
        Returns: a nest like `primals`, each of its shape and dtype, or None.
        """
        zero = UnconnectedGradients(unconnected_gradients) is UnconnectedGradients.ZERO

        return nest.map_structure(lambda primal: self._tangent(primal, zero), primals)

    def _tangent(self, primal: Any, zero: bool) -> Any:
        if isinstance(primal, IndexedSlices):
            values = self._tangent(primal.values, zero)
            slices = IndexedSlices(values, primal.indices, primal.dense_shape)
            return None if values is None else slices
        tangent = self._tangents.get(primal._id)
        if tangent is None and zero:
            return reverse.zeros_like(primal)
        return tangent
