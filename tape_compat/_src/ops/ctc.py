"""The loss of connectionist temporal classification: labels without known places in time.

Source of the recursions: Graves et al., "Connectionist Temporal Classification" (2006). As in
TensorFlow what is impossible has the probability 1e-307, so that the loss stays finite.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from ..core.avals import Aval
from ..core.dimensions import Size, differ
from ..core.dtypes import float32
from ..core.op import Op
from ..core.refuse import invalid, shown, wrong_dtype
from ..values.convert import convert
from ..values.record import apply
from ..values.tensor import Tensor

_IMPOSSIBLE = float(np.log(1e-307))


def _sum_of(*logs: Any) -> Any:
    found = logs[0]
    for other in logs[1:]:
        found = jnp.logaddexp(found, other)
    return found


def _moved(x: Any, places: int) -> Any:
    """States `places` further on (or back), -inf where there are none."""
    states, none = x.shape[-1], jnp.full_like(x[..., : abs(places)], -jnp.inf)
    if places > 0:
        return jnp.concatenate([none, x], -1)[..., :states]
    return jnp.concatenate([x, none], -1)[..., -states:]


def _total(x: Any, keepdims: bool = True) -> Any:
    return jax.nn.logsumexp(x, axis=-1, keepdims=keepdims)


def _forward(seen: Any, skips: Any) -> Any:
    """Logarithms [time, batch, states] of the states after each time, up to a factor."""
    states = seen.shape[-1]
    first = jnp.where(jnp.arange(states) < 2, 0.0, -jnp.inf).astype(seen.dtype)

    def step(carry: tuple[Any, Any], now: Any) -> tuple[tuple[Any, Any], Any]:
        state, start = carry
        two = jnp.where(skips, _moved(state, 2), -jnp.inf)
        found = _sum_of(state, _moved(state, 1), two, start) + now
        found = found - _total(found)
        return (found, jnp.full_like(start, -jnp.inf)), found

    before = jnp.full(seen.shape[1:], _IMPOSSIBLE, seen.dtype)
    _, found = lax.scan(step, (before, jnp.broadcast_to(first, before.shape)), seen)
    return found


def _backward(seen: Any, skips: Any, final: Any, final_start: Any, mask: Any) -> Any:
    """Logarithms of what comes after each time, up to a factor, and of the whole."""

    def step(carry: tuple[Any, Any, Any], now: Any) -> tuple[tuple[Any, Any, Any], Any]:
        state, _, total = carry
        observed, inside = now
        new = state + observed
        two = _moved(jnp.where(skips, new, -jnp.inf), -2)
        found = _sum_of(new, _moved(new, -1), two)
        begin = jnp.logaddexp(new[..., :1], new[..., 1:2]) if new.shape[-1] > 1 else new
        factor = _total(found)
        kept = inside[:, None]
        out = jnp.where(kept, found - factor, final)
        start = jnp.where(kept, begin - factor, final_start)
        total = total + jnp.where(kept, factor, 0)
        return (out, start, total), state

    zero = jnp.zeros_like(final_start)
    (_, start, total), found = lax.scan(
        step, (final, final_start, zero), (seen, mask), reverse=True
    )
    return found, (start + total)[:, 0]


def _loss_and_slope(
    logits: Any, labels: Any, label_length: Any, logit_length: Any
) -> tuple[Any, Any]:
    """The loss [batch], and its gradient by the logits [time, batch, classes]; blank is class 0."""
    time, batch, classes = logits.shape
    count = labels.shape[1]
    logs = jax.nn.log_softmax(logits)
    # Blank, first label, blank, ..., last label, blank.
    states = jnp.zeros((batch, 2 * count + 1), labels.dtype).at[:, 1::2].set(labels)
    place = jnp.arange(2 * count + 1)
    label = place % 2 == 1
    skips = label & (place > 1) & (states != jnp.roll(states, 2, axis=1))
    valid = (states >= 0) & (states < classes)
    at = jnp.broadcast_to(jnp.clip(states, 0, classes - 1), (time, *states.shape))
    seen = jnp.where(valid, jnp.take_along_axis(logs, at, axis=2), 0)
    ends = label_length[:, None]
    final = jnp.where((place == 2 * ends) | (place == 2 * ends - 1), 0.0, _IMPOSSIBLE)
    final_start = jnp.where(ends == 0, 0.0, _IMPOSSIBLE)
    mask = jnp.arange(time)[:, None] < logit_length
    final, final_start = final.astype(logs.dtype), final_start.astype(logs.dtype)
    after, whole = _backward(seen, skips, final, final_start, mask)
    both = _forward(seen, skips) + after
    share = jnp.exp(both - _total(both))
    # The states of labels that fill up a row stand for no class.
    share = jnp.where(label & (states == 0), 0, share)
    index = (jnp.arange(time)[:, None, None], jnp.arange(batch)[:, None], states)
    found = jnp.zeros_like(logs).at[index].add(share, mode="drop")
    slope = jnp.where(mask[:, :, None], jnp.exp(logs) - found, 0)
    return -whole, slope


def _only_loss(*inputs: Any) -> Any:
    return _loss_and_slope(*inputs)[0]


def _loss_backward(slope: Any, dy: Any) -> tuple[Any, None, None, None]:
    return dy[None, :, None] * slope, None, None, None


_loss: Any = jax.custom_vjp(_only_loss)
_loss.defvjp(_loss_and_slope, _loss_backward)


def _ctc_loss(
    logits: Any, labels: Any, label_length: Any, logit_length: Any, time_major: bool, blank: int
) -> Any:
    wide = logits.astype(jnp.float32)
    if not time_major:
        wide = jnp.swapaxes(wide, 0, 1)
    if blank:
        blank = blank % wide.shape[2]
        wide = jnp.concatenate(
            [wide[..., blank : blank + 1], wide[..., :blank], wide[..., blank + 1 :]], -1
        )
        labels = jnp.where(labels < blank, labels + 1, labels)
    found = _loss(wide, labels, label_length, logit_length)
    return found.astype(logits.dtype)


def _check(avals: tuple[Aval, ...], time_major: bool, **_: Any) -> None:
    logits, labels, label_length, logit_length = avals
    if len(logits.shape) != 3:
        raise invalid(f"logits must be of rank 3, got {shown(logits.shape)}", "CTCLoss")
    if logits.dtype.name not in ("float32", "float16", "bfloat16"):
        raise wrong_dtype(float32, 1, logits.dtype, "Mul")
    batch = logits.shape[1 if time_major else 0]
    for aval in (labels, label_length, logit_length):
        if aval.shape and differ(aval.shape[0], batch):
            raise invalid(
                f"Incompatible shapes: {shown((batch,))} vs. {shown(aval.shape[:1])}", "Mul"
            )


def _shape(avals: tuple[Aval, ...], time_major: bool, **_: Any) -> Aval:
    batch: Size = avals[0].shape[1 if time_major else 0]
    return Aval.of((batch,), avals[0].dtype)


_CTC = Op(_ctc_loss, "CTCLoss", check=_check, shapes=_shape, through=(0,))


def dense_loss(
    labels: Any, logits: Any, label_length: Any, logit_length: Any, time_major: bool, blank: int
) -> Tensor:
    """The loss [batch] of labels [batch, n], of which `label_length` count."""
    inputs = (logits, labels, label_length, logit_length)
    closure = _CTC.bind(time_major=bool(time_major), blank=int(blank))
    return apply(closure, tuple(map(convert, inputs)))
