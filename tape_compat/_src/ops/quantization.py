"""Numbers rounded as quantization to a few bits would, with gradients that pass through."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import jax.numpy as jnp

from ..core.avals import Aval
from ..core.dimensions import differ
from ..core.dtypes import float32
from ..core.op import Op
from ..core.refuse import check_dtype_of, invalid, not_allowed
from ..values.bounds import present_value
from ..values.convert import convert
from ..values.record import apply
from ..values.tensor import Tensor
from . import rules
from .arguments import untracked


def _ends(low: Any, high: Any, bits: int, narrow: bool) -> tuple[Any, Any, Any]:
    """The range moved so that 0 is one of its steps, and the step."""
    first, last = float(narrow), float(2**bits - 1)
    step = (high - low) / (last - first)
    safe = jnp.where(step == 0, 1, step)
    # Halves are rounded up here, as in the kernel; all numbers are positive.
    zero = jnp.floor(jnp.clip(first - low / safe, first, last) + 0.5)
    return (first - zero) * step, (last - zero) * step, step


def _quantized(x: Any, low: Any, high: Any, bits: int, narrow: bool) -> Any:
    least, most, step = _ends(low, high, bits, narrow)
    inverse = 1 / jnp.where(step == 0, 1, step)
    zero = jnp.floor(-least * inverse + 0.5)
    shifted = jnp.clip(x, least, most) - least
    found = jnp.floor(shifted * inverse - zero + 0.5) * step
    return jnp.where((low == 0) & (high == 0), 0, found)


def _outside(x: Any, low: Any, high: Any, bits: int, narrow: bool) -> tuple[Any, Any]:
    """What is below the range, and what above."""
    least, most, _ = _ends(low, high, bits, narrow)
    empty = (low == 0) & (high == 0)
    return (x < least) & ~empty, (x > most) & ~empty


def _fake(x: Any, low: Any, high: Any, bits: int, narrow: bool) -> Any:
    """Inside the range the gradient passes; outside it goes to the end that is passed.

    Source: TF fake_quant_ops_functor.h.
    """

    def partial(dx: Any, out: Any, x: Any, low: Any, high: Any) -> Any:
        below, above = _outside(x, low, high, bits, narrow)
        return jnp.where(below | above, 0, dx)

    def partial_low(dx: Any, out: Any, x: Any, low: Any, high: Any) -> Any:
        return jnp.where(_outside(x, low, high, bits, narrow)[0], dx, 0)

    def partial_high(dx: Any, out: Any, x: Any, low: Any, high: Any) -> Any:
        return jnp.where(_outside(x, low, high, bits, narrow)[1], dx, 0)

    def function(x: Any, low: Any, high: Any) -> Any:
        return _quantized(x, low, high, bits, narrow)

    return rules.rule(function, partial, partial_low, partial_high)(x, low, high)


def _fake_of_numbers(x: Any, low: float, high: float, bits: int, narrow: bool) -> Any:
    return _fake(x, jnp.asarray(low, x.dtype), jnp.asarray(high, x.dtype), bits, narrow)


def _check_bits(bits: int, kernel: str) -> None:
    if not 2 <= bits <= 16:
        raise invalid("num_bits must be between 2 and 16, inclusive", kernel)


def _check(kernel: str, rank: int) -> Callable[..., None]:
    def check(avals: tuple[Aval, ...], bits: int, **_: Any) -> None:
        _check_bits(bits, kernel)
        for i, aval in enumerate(avals):
            check_dtype_of(aval, i, float32, kernel)
        for aval, what in zip(avals[1:], ("min", "max"), strict=False):
            if len(aval.shape) != rank:
                raise invalid(f"`{what}` must be rank {rank} but is rank {len(aval.shape)}", kernel)
            if rank and differ(aval.shape[0], avals[0].shape[-1]):
                raise invalid(
                    f"{what} has incorrect size, expected {avals[0].shape[-1]} was {aval.shape[0]}",
                    kernel,
                )

    return check


_ARGS, _VARS, _CHANNELS = (
    f"FakeQuantWithMinMax{kind}" for kind in ("Args", "Vars", "VarsPerChannel")
)
_OF_NUMBERS = Op(_fake_of_numbers, _ARGS, check=_check(_ARGS, 0))
_OF_TENSORS = Op(_fake, _VARS, check=_check(_VARS, 0))
_OF_CHANNELS = Op(_fake, _CHANNELS, check=_check(_CHANNELS, 1))


def fake_quant_with_min_max_args(
    inputs: Any,
    min: float = -6,
    max: float = 6,
    num_bits: int = 8,
    narrow_range: bool = False,
    name: str | None = None,
) -> Tensor:
    """float32 `inputs` rounded to the 2**num_bits numbers of a range; the gradient passes inside.

    Args:
      min, max: of the range, which is moved so that 0 is one of the numbers.
      num_bits: 2 to 16.
      narrow_range: whether to leave out the lowest number.
    Raises: InvalidArgumentError for other bits, another dtype, or an empty range.

    >>> import tape_compat as tf
    >>> tf.quantization.fake_quant_with_min_max_args([-9.0, 0.4, 1.6], 0, 3, 2).numpy().tolist()
    [0.0, 0.0, 2.0]
    """
    _check_bits(num_bits, _ARGS)
    if min >= max:
        raise invalid(f"min has to be smaller than max, was: {min:g} >= {max:g}", _ARGS)
    closure = _OF_NUMBERS.bind(
        low=float(min), high=float(max), bits=int(num_bits), narrow=bool(narrow_range)
    )
    return apply(closure, (convert(inputs),))


def fake_quant_with_min_max_vars(
    inputs: Any,
    min: Any,
    max: Any,
    num_bits: int = 8,
    narrow_range: bool = False,
    name: str | None = None,
) -> Tensor:
    """As `fake_quant_with_min_max_args`, with a range of scalar tensors.

    Where `inputs` lie outside, the gradient goes to the end that they pass.
    """
    closure = _OF_TENSORS.bind(bits=int(num_bits), narrow=bool(narrow_range))
    return apply(closure, (convert(inputs), convert(min, float32), convert(max, float32)))


def fake_quant_with_min_max_vars_per_channel(
    inputs: Any,
    min: Any,
    max: Any,
    num_bits: int = 8,
    narrow_range: bool = False,
    name: str | None = None,
) -> Tensor:
    """As `fake_quant_with_min_max_vars`, with a range for each place of the last axis."""
    closure = _OF_CHANNELS.bind(bits=int(num_bits), narrow=bool(narrow_range))
    return apply(closure, (convert(inputs), convert(min, float32), convert(max, float32)))


class FakeQuantGradient(NamedTuple):
    """Gradients by the inputs and by both ends of the range."""

    backprops_wrt_input: Tensor
    backprop_wrt_min: Tensor
    backprop_wrt_max: Tensor


def _backward(dy: Any, x: Any, low: Any, high: Any, bits: int, narrow: bool) -> tuple:
    below, above = _outside(x, low, high, bits, narrow)
    axes = tuple(range(x.ndim - low.ndim))
    return (
        jnp.where(below | above, 0, dy),
        jnp.sum(jnp.where(below, dy, 0), axes),
        jnp.sum(jnp.where(above, dy, 0), axes),
    )


_BACKWARD = {
    kernel: Op(_backward, f"{kernel}Gradient", differentiable=False)
    for kernel in (_ARGS, _VARS, _CHANNELS)
}


def _gradients(kernel: str, *inputs: Any, bits: int, narrow: bool) -> Any:
    _check_bits(bits, f"{kernel}Gradient")
    closure = _BACKWARD[kernel].bind(bits=int(bits), narrow=bool(narrow))
    return apply(closure, tuple([convert(x, float32) for x in inputs]))


def fake_quant_with_min_max_args_gradient(
    gradients: Any,
    inputs: Any,
    min: float = -6,
    max: float = 6,
    num_bits: int = 8,
    narrow_range: bool = False,
    name: str | None = None,
) -> Tensor:
    """The gradient of `fake_quant_with_min_max_args` by its inputs."""
    given = (gradients, inputs, float(min), float(max))
    return _gradients(_ARGS, *given, bits=num_bits, narrow=narrow_range)[0]


def fake_quant_with_min_max_vars_gradient(
    gradients: Any,
    inputs: Any,
    min: Any,
    max: Any,
    num_bits: int = 8,
    narrow_range: bool = False,
    name: str | None = None,
) -> FakeQuantGradient:
    """The gradients of `fake_quant_with_min_max_vars` by its inputs and by its range."""
    given = (gradients, inputs, min, max)
    return FakeQuantGradient(*_gradients(_VARS, *given, bits=num_bits, narrow=narrow_range))


def fake_quant_with_min_max_vars_per_channel_gradient(
    gradients: Any,
    inputs: Any,
    min: Any,
    max: Any,
    num_bits: int = 8,
    narrow_range: bool = False,
    name: str | None = None,
) -> FakeQuantGradient:
    """The gradients of `fake_quant_with_min_max_vars_per_channel`."""
    given = (gradients, inputs, min, max)
    return FakeQuantGradient(*_gradients(_CHANNELS, *given, bits=num_bits, narrow=narrow_range))


# -- rounded to integers and back ------------------------------------------------------------------


def _fitted(low: Any, high: Any, signed: bool, bits: int, narrow: bool) -> tuple[Any, ...]:
    """The range that both ends reach by one step, with that step and its inverse."""
    least = (-(2 ** (bits - 1)) + narrow if signed else 0) * jnp.ones((), low.dtype)
    most = (2 ** (bits - 1) - 1 if signed else 2**bits - 1) * jnp.ones((), low.dtype)
    large = jnp.finfo(low.dtype).max
    by_low = jnp.where(least * low > 0, least / jnp.where(low == 0, 1, low), large)
    by_high = jnp.where(most * high > 0, most / jnp.where(high == 0, 1, high), large)
    first = by_low < by_high
    step = jnp.where(
        first, low / jnp.where(least == 0, 1, least), high / jnp.where(most == 0, 1, most)
    )
    step = jnp.where(~first & (most == 0), 0, step)
    return (
        jnp.where(first, low, least * step),
        jnp.where(first, most * step, high),
        jnp.where(first, by_low, by_high),
        step,
    )


def _there_and_back(
    x: Any, low: Any, high: Any, axis: int, given: bool, half_up: bool, **fit: Any
) -> Any:
    if not x.size:
        return x
    if not given:
        axes = tuple(i for i in range(x.ndim) if i != axis) if axis >= 0 else None
        low, high = jnp.min(x, axes), jnp.max(x, axes)
    if axis >= 0:
        shape = [1] * x.ndim
        shape[axis] = x.shape[axis]
        low, high = low.reshape(shape), high.reshape(shape)
    low, high, scale, step = _fitted(low, high, **fit)
    shifted = (jnp.clip(x, low, high) if given else x) * scale
    return (jnp.floor(shifted + 0.5) if half_up else jnp.round(shifted)) * step


def _passing(x: Any, low: Any, high: Any, **options: Any) -> Any:
    """The gradient passes everywhere."""

    def function(x: Any, low: Any, high: Any) -> Any:
        return _there_and_back(x, low, high, **options)

    return rules.rule(function, lambda dx, *_: dx, None, None)(x, low, high)


def _bounded(x: Any, low: Any, high: Any, axis: int, **options: Any) -> Any:
    """The gradient passes inside of the range that is given; by its ends it is 0.

    Source: TF quantize_and_dequantize_op.cc, QuantizeAndDequantizeV4Gradient.
    """

    def function(x: Any, low: Any, high: Any) -> Any:
        return _there_and_back(x, low, high, axis, **options)

    def partial(dx: Any, out: Any, x: Any, low: Any, high: Any) -> Any:
        if low.ndim:
            shape = [1] * x.ndim
            shape[axis] = low.shape[0]
            low, high = low.reshape(shape), high.reshape(shape)
        return jnp.where((x >= low) & (x <= high), dx, 0)

    def nothing(dx: Any, out: Any, x: Any, low: Any, high: Any) -> Any:
        return jnp.zeros_like(x)

    return rules.rule(function, partial, nothing, nothing)(x, low, high)


def _check_range(kernel: str) -> Callable[..., None]:
    def check(avals: tuple[Aval, ...], axis: int, given: bool, **_: Any) -> None:
        x, *ends = avals
        if not x.dtype.is_floating:
            raise not_allowed(x.dtype, "bfloat16, half, float, double", kernel)
        rank = len(x.shape)
        if axis >= rank:
            raise invalid(f"Shape must be at least rank {axis + 1} but is rank {rank}", kernel)
        for i, (aval, what) in enumerate(zip(ends, ("input_min", "input_max"), strict=True)):
            check_dtype_of(aval, i + 1, x.dtype, kernel)
            if axis < 0 and aval.shape:
                raise invalid(f"{what} must be a scalar.", kernel)
            if axis >= 0 and given and len(aval.shape) != 1:
                raise invalid(
                    f"Shape must be rank 1 for {what}_tensor when the axis is specified", kernel
                )
            if axis >= 0 and given and differ(aval.shape[0], x.shape[axis]):
                raise invalid(
                    f"{what} has incorrect size, expected {x.shape[axis]} was {aval.shape[0]}",
                    kernel,
                )

    return check


_V2, _V4 = "QuantizeAndDequantizeV2", "QuantizeAndDequantizeV4"
_ROUNDED = {
    _V2: Op(_passing, _V2, check=_check_range(_V2)),
    _V4: Op(_bounded, _V4, check=_check_range(_V4)),
}


def _rounded(
    kernel: str,
    input: Any,
    input_min: Any,
    input_max: Any,
    signed: bool,
    bits: int,
    given: bool,
    mode: str,
    narrow: bool,
    axis: int | None,
) -> Tensor:
    x = convert(input)
    low, high = (convert(end, hint=x.dtype) for end in (input_min, input_max))
    if mode not in ("HALF_TO_EVEN", "HALF_UP"):
        raise not_allowed(f'"{mode}"', '"HALF_TO_EVEN", "HALF_UP"', kernel, "round_mode")
    if not 0 < bits < (62 if signed else 63):
        raise invalid(f"num_bits is out of range: {bits} with signed_input_ {int(signed)}", kernel)
    least, most = present_value(low), present_value(high)
    if given and least is not None and most is not None and (least > most).any():
        raise invalid(f"Invalid range: input_min {least} > input_max {most}", kernel)
    place = -1 if axis is None else axis % len(x._aval.shape) if axis < 0 else axis
    closure = _ROUNDED[kernel].bind(
        axis=int(place),
        given=bool(given),
        half_up=mode == "HALF_UP",
        signed=bool(signed),
        bits=int(bits),
        narrow=bool(narrow),
    )
    if kernel == _V2:
        low, high = untracked(low), untracked(high)
    return apply(closure, (x, low, high))


def quantize_and_dequantize(
    input: Any,
    input_min: Any,
    input_max: Any,
    signed_input: bool = True,
    num_bits: int = 8,
    range_given: bool = False,
    round_mode: str = "HALF_TO_EVEN",
    name: str | None = None,
    narrow_range: bool = False,
    axis: int | None = None,
) -> Tensor:
    """`quantize_and_dequantize_v2`, whose gradient passes outside of the range too.

    >>> import tape_compat as tf
    >>> tf.quantization.quantize_and_dequantize([0.3, -1.0], -1.0, 1.0, num_bits=3).numpy().tolist()
    [0.25, -1.0]
    """
    return _rounded(
        *(_V2, input, input_min, input_max, signed_input, num_bits),
        *(range_given, round_mode, narrow_range, axis),
    )


def quantize_and_dequantize_v2(
    input: Any,
    input_min: Any,
    input_max: Any,
    signed_input: bool = True,
    num_bits: int = 8,
    range_given: bool = False,
    round_mode: str = "HALF_TO_EVEN",
    name: str | None = None,
    narrow_range: bool = False,
    axis: int | None = None,
) -> Tensor:
    """`input` rounded to integers of a range and back; the gradient passes in [min, max].

    Args:
      input_min, input_max: scalars, or one for each place of `axis`; one of them is moved so that
        0 is one of the numbers. Without `range_given` those of `input` are taken.
      signed_input: whether the integers are signed. num_bits: of them.
      range_given: whether the ends are those given; what lies outside is clipped to them.
      round_mode: "HALF_TO_EVEN" or "HALF_UP".
      narrow_range: whether to leave out the lowest integer.
      axis: along which each slice has a range of its own; None for one range.
    Raises: InvalidArgumentError for other dtypes, bits, modes, or an empty range.

    >>> import tape_compat as tf
    >>> x = tf.constant([0.3, -2.0])
    >>> tf.quantization.quantize_and_dequantize_v2(
    ...     x, -1.0, 1.0, num_bits=3, range_given=True, narrow_range=True
    ... ).numpy().round(2).tolist()
    [0.33000001311302185, -1.0]
    """
    return _rounded(
        *(_V4, input, input_min, input_max, signed_input, num_bits),
        *(range_given, round_mode, narrow_range, axis),
    )
