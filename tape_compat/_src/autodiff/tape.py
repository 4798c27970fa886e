"""GradientTape: checks arguments, flattens, asks `reverse` and `jacobians`, packs the answer."""

from __future__ import annotations

import contextlib
import logging
import os
import sys
from collections.abc import Iterator, Mapping
from types import CodeType, MappingProxyType
from typing import Any

from ..core import limits
from ..core.errors import user_location
from ..core.native import native, native_calls, provide
from ..core.state import LOCAL, seen_by
from ..values import nest
from ..values.context import executing_eagerly
from ..values.convert import convert
from ..values.indexed_slices import IndexedSlices
from ..values.record import begin_step
from ..values.tensor import Tensor, next_id
from ..values.variable import Variable, current, own_variable
from . import jacobians, reverse, unconnected
from .arguments import (
    UnconnectedGradients,
    cotangents,
    flat_leaves,
    gives_zeros,
    in_parts,
    one_target,
    parts_of,
    source_identity,
    target_tensors,
)
from .missed import Shown, missed
from .record import Record
from .remember import remembered

LOGGER = logging.getLogger("tape_compat")


_ONE_SET = (
    "A non-persistent GradientTape can only be used to compute one set of gradients (or jacobians)"
)


#: Of a tape that has no record. Nothing is put into them.
_NO_IDS: set[int] = set()
_NO_READS: dict[int, Tensor] = {}

provide(begin_step=begin_step, no_ids=_NO_IDS, no_reads=_NO_READS)


@native
class GradientTape:
    """Records operations for automatic differentiation.

    Args:
      persistent: keep the record, so that `gradient` may be called more than once.
      watch_accessed_variables: watch trainable variables by themselves when they are read.

    >>> import tape_compat as tf
    >>> x = tf.constant(3.0)
    >>> with tf.GradientTape() as tape:
    ...     tape.watch(x)
    ...     y = x * x
    >>> tape.gradient(y, x)
    <tf.Tensor: shape=(), dtype=float32, numpy=6.0>
    """

    __slots__ = (
        "__dict__",
        "__weakref__",
        "_persistent",
        "_record",
        "_recording",
        "_used_at",
        "_warned",
        "_watch_accessed_variables",
        "_watched",
        "ids",
        "reads",
    )

    #: By a variable's identity, the one that a tensor had when the reads so far were forgotten.
    _forgotten: Mapping[int, int] = MappingProxyType({})

    @native_calls("init")
    def __init__(self, persistent: bool = False, watch_accessed_variables: bool = True):
        self._persistent = persistent
        self._watch_accessed_variables = watch_accessed_variables
        self._record: Record | None = None
        #: Identities of what the tape tracks.
        self.ids = _NO_IDS
        #: The tensor that each variable held when it was read, by the variable's identity.
        self.reads = _NO_READS
        self._recording = False
        self._watched: dict[int, Variable] = {}
        self._used_at: tuple[str, CodeType, int] | None = None
        self._warned = False

    # -- recording ------------------------------------------------------------------------------

    @native_calls("enter")
    def __enter__(self) -> GradientTape:
        state = LOCAL.state
        if self._recording:
            raise ValueError(
                "Tape is still recording, This can happen if you try to re-enter an "
                f"already-active tape. At {user_location()}."
            )
        if not state.deferring:
            begin_step()
            frame = sys._getframe(1)
            state.origin = (id(frame.f_code), frame.f_lasti)  # a code object is slow to hash
        try:
            self._push()
            return self
        except BaseException:  # an interrupt: the `with` block will not be entered
            self.__exit__()
            raise

    @native_calls("exit")
    def __exit__(self, *_: Any) -> None:
        try:
            if self._recording:
                self._pop()
        finally:  # again, if an interrupt came in between
            if self._recording:
                self._pop()

    def _push(self, seen: bool = True) -> None:
        """Record; `seen`: unless the recorders of this thread are suspended."""
        if self._recording:
            raise ValueError("Tape is still recording.")
        if self._record is None:
            self._record = Record()
            self.ids = set()
            self.reads = {}
        self._recording = True
        state = LOCAL.state
        state.set_recorders((*state.recorders, self) if seen else state.recorders)

    def _pop(self) -> bool:
        """Record no more. Gives whether the tape was among the recorders of this thread."""
        if not self._recording:
            raise ValueError("Tape is not recording.")
        state = LOCAL.state
        before = state.recorders
        state.set_recorders(tuple([r for r in before if r is not self]))
        self._recording = False
        return len(state.recorders) < len(before)

    def record(
        self, closure: Any, inputs: tuple[Tensor, ...], outputs: tuple[Tensor, ...], node: Any
    ) -> None:
        """Keep a call that depends on something tracked (called by the engine)."""
        record = self._record
        if record is None or closure.differentiable is False:
            return
        trainable = [out._id for out in outputs if out._aval.trainable]
        if trainable:
            if not record.calls:
                record.program = outputs[0]._at[0]
            self.ids.update(trainable)
            record.calls += (closure, inputs, tuple([out._id for out in outputs]), node)

    def variable_accessed(self, variable: Variable) -> None:
        """Watch a trainable variable that is read (called by the engine)."""
        handle = variable._handle
        key = handle.id
        reads = self.reads
        tensor, held = reads.get(key), current(handle)
        if tensor is held:
            return
        record = self._record
        if record is None:
            return
        if tensor is not None:
            record.reassigned = True
        elif key not in record.variables:
            if not (self._watch_accessed_variables and variable._trainable):
                return
            record.variables[key] = variable
            if held._aval.trainable:
                self.ids.add(key)
        reads[key] = held

    def _watch_variable(self, variable: Variable) -> None:
        record = self._record
        assert record is not None
        identity = variable._handle.id
        if identity not in self.ids and record.calls:
            record.forget(identity)
            self._forgotten = {**self._forgotten, identity: next_id()}
        record.variables.setdefault(identity, variable)
        if variable.dtype.trainable:
            self.ids.add(identity)

    def variables_since(self) -> dict[int, int]:
        """See `missed`: the variables tracked, and from which output of a call on it counts."""
        record = self._record
        if record is None:
            return {}
        return {k: self._forgotten.get(k, 0) for k in record.variables if k in self.ids}

    def escaped(self, tensor: Tensor) -> None:
        """Note that the value of a tensor was taken (called by the engine)."""
        record = self._record
        if record is not None and tensor._id in self.ids:
            record.escapes.append((tensor._id, user_location()))
            del record.escapes[: -limits.ESCAPES_KEPT]

    def escapes(self) -> tuple[str, ...]:
        """Where Python, NumPy or a JAX function took the value of a tensor that this tape tracks:
        lines "file.py:41".

        Such a value is a constant to the tape. `tape_compat.as_op` makes an op of a JAX function.

        >>> import jax.numpy as jnp
        >>> import tape_compat as tf
        >>> x = tf.Variable(0.5)
        >>> with tf.GradientTape() as tape:
        ...     y = tf.constant(jnp.sin(x + 0.0)) * x
        >>> len(tape.escapes())
        1
        """
        taken = () if self._record is None else dict.fromkeys(self._record.escapes)
        return tuple(where for _, where in taken)

    def watch(self, tensor: Any) -> None:
        """Track `tensor`: a Tensor, a Variable, or a nest of them.

        Raises: ValueError for anything else. A dtype that is not floating is warned of.
        """
        recording = any(isinstance(r, GradientTape) for r in LOCAL.state.recorders)
        for t in map(own_variable, nest.flatten(tensor, expand_composites=True)):
            if not isinstance(t, (Tensor, Variable)):
                raise ValueError(
                    f"Passed in object {t} of type {type(t).__name__!r}, not tf.Tensor or "
                    f"tf.Variable or ExtensionType."
                )
            if not t.dtype.trainable:
                LOGGER.warning(
                    "The dtype of the watched tensor must be floating (e.g. tf.float32), got %r",
                    t.dtype,
                )
            if self._record is None:
                raise AttributeError(
                    "'NoneType' object has no attribute 'watch': this tape is not recording. "
                    f"Call watch() inside `with tf.GradientTape() as tape:`. At {user_location()}."
                )
            if not recording:
                continue  # as in TensorFlow
            if isinstance(t, Variable):
                self._watch_variable(t)
            elif t.dtype.trainable:
                self.ids.add(t._id)

    @contextlib.contextmanager
    def stop_recording(self) -> Iterator[None]:
        """Leave out of this tape what is done inside the context.

        Raises: RuntimeError if the tape is not recording.
        """
        if self._record is None:
            raise RuntimeError("Trying to stop recording a tape which is not recording.")
        seen = self._pop()
        LOCAL.state.deferring = True
        try:
            yield
        finally:
            self._push(seen)

    def reset(self) -> None:
        """Forget everything recorded and watched, and go on recording."""
        seen = self._pop()
        self._record = None
        self._push(seen)

    def watched_variables(self) -> tuple[Variable, ...]:
        """The variables watched, in order of their creation; kept after `gradient`."""
        if self._record is not None:
            self._watched = self._record.variables
        # Identities are given in the order of creation.
        return tuple([self._watched[k] for k in sorted(self._watched)])

    # -- derivatives ----------------------------------------------------------------------------

    @native_calls("gradient")
    def gradient(
        self,
        target: Any,
        sources: Any,
        output_gradients: Any = None,
        unconnected_gradients: UnconnectedGradients | str = UnconnectedGradients.NONE,
    ) -> Any:
        """Gradient of the sum of `target` with respect to each of `sources`.

        Args:
          target: a Tensor or a nest of them, of floating or complex dtype.
          sources: a nest of Tensors and Variables that the tape tracked.
          output_gradients: cotangents, a nest like `target`; default ones.
          unconnected_gradients: `NONE` or `ZERO` for sources not connected to the target.
        Returns: a nest like `sources`: each of the source's shape and dtype, IndexedSlices for a
          source only gathered from, None (or zeros) if unconnected.
        Raises: RuntimeError at the second call on a tape that is not persistent; TypeError if
          `target` is None; ValueError for an unknown `unconnected_gradients`.
        Source: TF backprop.py, GradientTape.gradient.

        >>> import tape_compat as tf
        >>> w1, w2 = tf.Variable(5.0), tf.Variable(3.0)
        >>> with tf.GradientTape() as tape:
        ...     z = 3 * w1**2 + 2 * w1 * w2
        >>> [g.numpy().item() for g in tape.gradient(z, [w1, w2])]
        [36.0, 10.0]
        """
        record = self._record
        if record is None or self._recording:
            record = self._start("gradient")
        if target is None:
            raise TypeError(
                "Argument `target` should be a list or nested structure of Tensors, Variables or "
                "CompositeTensors to be differentiated, but received None."
            )
        targets = [target] if target.__class__ is Tensor else target_tensors(target)
        flat, rebuild = flat_leaves(sources), None
        for source in flat:
            if source.__class__ is not Variable and source.__class__ is not Tensor:
                if hasattr(source, "_of_gradients"):
                    flat, rebuild = in_parts(flat)
                    break
                source_identity(source)
        zero = gives_zeros(unconnected_gradients)
        seeds: list[Any] = [None] * len(targets)

        def compute(shown: Shown | None) -> list[Any]:
            ids = [s._id for s in flat]
            return reverse.gradients(record.calls, targets, ids, seeds, self.ids, shown)

        if output_gradients is None:
            answers = remembered(self, record, "gradient", targets, flat, compute)
        else:
            with reverse.deferring():
                seeds = cotangents(output_gradients, targets)
                answers = compute(missed(self, record.calls))
        if zero:
            with reverse.deferring():
                answers = [reverse.zeros_like(s) if a is None else a for a, s in zip(answers, flat)]
        else:
            self._tell_none("gradient", targets, flat, answers)
        self._finish("gradient")
        if flat is sources:
            return answers
        if rebuild is not None:
            answers = rebuild(answers)
        return nest.pack_sequence_as(sources, answers)

    def jacobian(
        self,
        target: Any,
        sources: Any,
        unconnected_gradients: UnconnectedGradients | str = UnconnectedGradients.NONE,
        parallel_iterations: int | None = None,
        experimental_use_pfor: bool = True,
    ) -> Any:
        """Jacobian of `target` with respect to each of `sources`.

        Args:
          target: Tensor [y...].
          sources: a nest of Tensors and Variables [x...].
          unconnected_gradients: `NONE` or `ZERO` for sources not connected to the target.
          parallel_iterations: rows computed at a time (default all): bounds the memory.
          experimental_use_pfor: False needs a persistent tape in eager code, as in TensorFlow, and
            computes one row at a time.
        Returns: a nest like `sources`, each [y..., x...]; always dense.
        Raises: RuntimeError as `gradient`; ValueError for an unknown `unconnected_gradients`.
        Source: TF backprop.py, GradientTape.jacobian.

        >>> import tape_compat as tf
        >>> x = tf.constant([1.0, 2.0])
        >>> with tf.GradientTape() as tape:
        ...     tape.watch(x)
        ...     y = x * x
        >>> tape.jacobian(y, x).numpy().tolist()
        [[2.0, 0.0], [0.0, 4.0]]
        """
        answers = self._jacobians(
            "jacobian",
            target,
            flat_leaves(sources),
            unconnected_gradients,
            parallel_iterations,
            experimental_use_pfor,
        )
        self._finish("jacobian")
        return nest.pack_sequence_as(sources, answers)

    def batch_jacobian(
        self,
        target: Any,
        source: Any,
        unconnected_gradients: UnconnectedGradients | str = UnconnectedGradients.NONE,
        parallel_iterations: int | None = None,
        experimental_use_pfor: bool = True,
    ) -> Tensor:
        """Jacobian of each row of `target` by the same row of `source`.

        Args:
          target: Tensor [b, y...]. Row i may depend on row i of `source` only.
          source: Tensor [b, x...].
          unconnected_gradients: accepted; unconnected gives zeros either way, as in TensorFlow.
          parallel_iterations: columns of `target` computed at a time (default all).
          experimental_use_pfor: as for `jacobian`.
        Returns: Tensor [b, y..., x...].
        Raises: ValueError if either rank is below 2 or the first dimensions differ; RuntimeError
          as `gradient`.
        Source: TF backprop.py, GradientTape.batch_jacobian.

        >>> import tape_compat as tf
        >>> x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
        >>> with tf.GradientTape() as tape:
        ...     tape.watch(x)
        ...     y = x * x
        >>> tape.batch_jacobian(y, x).numpy().tolist()
        [[[2.0, 0.0], [0.0, 4.0]], [[6.0, 0.0], [0.0, 8.0]]]
        """
        if self._record is None:
            raise RuntimeError(self._used_up())
        if not (
            target.shape.with_rank_at_least(2)
            and source.shape.with_rank_at_least(2)
            and target.shape[0] == source.shape[0]
        ):
            raise ValueError(
                f"Need first dimension of target shape ({target.shape}) and source shape "
                f"({source.shape}) to match. batch_jacobian() at {user_location()} pairs row i of "
                "one with row i of the other; if yours are not paired, use jacobian()."
            )
        gives_zeros(unconnected_gradients)
        (answer,) = self._jacobians(
            "batch_jacobian",
            target,
            [source],
            UnconnectedGradients.ZERO,
            parallel_iterations,
            experimental_use_pfor,
        )
        self._finish("batch_jacobian")
        return answer

    def _jacobians(
        self,
        what: str,
        target: Any,
        sources: list[Any],
        unconnected: UnconnectedGradients | str,
        rows: int | None,
        use_pfor: bool,
    ) -> list[Any]:
        record = self._start(what, use_pfor)
        paired = what == "batch_jacobian"
        with reverse.deferring():
            sparse = isinstance(target, IndexedSlices)
            target = self._dense(target) if sparse else one_target(target)
            zero = gives_zeros(unconnected)
            ids = [source_identity(s) for s in sources]
            rows = rows if use_pfor else rows or 1

            def compute(shown: Shown | None) -> list[Any]:
                return jacobians.jacobian(record.calls, target, ids, self.ids, rows, shown, paired)

            found = remembered(self, record, (what, rows), [target], sources, compute)
            if not zero:
                self._tell_none(what, [target], sources, found)
                return found
            return [
                jacobians.zeros(target, s, paired) if a is None else a
                for a, s in zip(found, sources)
            ]

    def why_none(self, target: Any, sources: Any) -> Any:
        """Why `gradient` gives None: by source the reason in words, None if there is a gradient.

        The tape is not used up by it: ask before `gradient`, or make the tape persistent. Where all
        gradients are None, `gradient` says this of itself, once for each place in the program.

        Args:
          target, sources: as of `gradient`.
        Returns: a nest like `sources`, of str and None.
        Raises: RuntimeError if the tape was used up or never entered; TypeError if `target` is
          None.

        >>> import tape_compat as tf
        >>> w = tf.Variable(2.0)
        >>> with tf.GradientTape() as tape:
        ...     y = tf.cast(tf.cast(3.0 * w, tf.int32), tf.float32)
        >>> print(tape.why_none(y, w))
        every way from it to the target goes through `Cast`, which gives int32, and only floating \
        and complex tensors have gradients
        """
        record = self._record
        if record is None:
            raise RuntimeError(self._used_up())
        if target is None:
            raise TypeError(
                "Argument `target` of why_none() is None; it is what was differentiated."
            )
        targets, each = target_tensors(target), list(map(parts_of, flat_leaves(sources)))
        flat = [part for parts in each for part in parts]
        ids, seeds = list(map(source_identity, flat)), [None] * len(targets)
        with reverse.deferring():  # what it records is given to nobody, so it is not computed
            answers = seen_by((), reverse.gradients, record.calls, targets, ids, seeds, self.ids)
        has = {part._id for part, answer in zip(flat, answers) if answer is not None}
        found = [
            None
            if any(part._id in has for part in parts)
            else unconnected.reason(self, targets, parts[0])
            for parts in each
        ]
        return nest.pack_sequence_as(sources, found)

    def _tell_none(
        self, what: str, targets: list[Tensor], sources: list[Any], answers: list[Any]
    ) -> None:
        """Say why, if all of these are None."""
        if answers and all(a is None for a in answers):
            said = unconnected.report(self, what, targets, sources)
            if said is not None:
                LOGGER.warning("%s", said)

    def _dense(self, slices: IndexedSlices) -> Tensor:
        """The tensor that slices are the rows of, as one that this tape has seen made."""
        if self._recording:
            return convert(slices)
        self._push()
        try:
            return convert(slices)
        finally:
            self._pop()

    # -- the life of the record -----------------------------------------------------------------

    def _start(self, what: str, use_pfor: bool = True) -> Record:
        if self._record is None:
            raise RuntimeError(self._used_up())
        if not use_pfor and not self._persistent and executing_eagerly():
            raise RuntimeError(
                "GradientTape must be created with persistent=True to compute the "
                f"{what} with eager execution enabled and with experimental_use_pfor set to False."
            )
        if self._recording:
            if not self._persistent:
                self._pop()
            elif not self._warned:
                self._warned = True
                LOGGER.warning(
                    "Calling GradientTape.%s on a persistent tape inside its context is "
                    "significantly less efficient than calling it outside the context (it causes "
                    "the gradient ops to be recorded on the tape, leading to increased memory "
                    "usage). Only call it inside the context if you actually want to trace the "
                    "gradient in order to compute higher order derivatives. At %s.",
                    what,
                    user_location(),
                )
        return self._record

    def _finish(self, what: str) -> None:
        record = self._record
        if not (self._persistent or record is None):
            self._watched = record.variables
            self._record = None
            self.ids = _NO_IDS
            self.reads = _NO_READS
            frame = sys._getframe(2)
            self._used_at = (what, frame.f_code, frame.f_lasti)

    def _used_up(self) -> str:
        if self._used_at is None:
            return (
                f"{_ONE_SET} -- this tape was never entered: use `with tf.GradientTape() as tape:`."
            )
        what, code, instruction = self._used_at
        file = os.path.basename(code.co_filename)
        lines = (line for start, end, line in code.co_lines() if start <= instruction < end)
        return (
            f"{_ONE_SET} -- this tape was used by {what}() at {file}:{next(lines, None)}. "
            "Create it with "
            "GradientTape(persistent=True) to use it again."
        )
