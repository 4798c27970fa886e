"""Numbers rounded as quantization to a few bits would, with gradients that pass through."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import jax.numpy as jnp

from ..core.avals import Aval
from ..core.dimensions import differ
from ..core.dtypes import float32
from ..core.op import Op
from ..core.refuse import check_dtype_of, invalid
from ..values.convert import convert
from ..values.record import apply
from ..values.tensor import Tensor
from . import rules


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


def _fake(x: Any, low: Any, high: Any, bits: int, narrow: bool) -> Any:
    """Inside the range the gradient passes; outside it goes to the end that is passed.

    Source: TF fake_quant_ops_functor.h.
    """

    def inside(x: Any, low: Any, high: Any) -> tuple[Any, Any]:
        least, most, _ = _ends(low, high, bits, narrow)
        empty = (low == 0) & (high == 0)
        return (x < least) & ~empty, (x > most) & ~empty

    def partial(dx: Any, out: Any, x: Any, low: Any, high: Any) -> Any:
        below, above = inside(x, low, high)
        return jnp.where(below | above, 0, dx)

    def partial_low(dx: Any, out: Any, x: Any, low: Any, high: Any) -> Any:
        return jnp.where(inside(x, low, high)[0], dx, 0)

    def partial_high(dx: Any, out: Any, x: Any, low: Any, high: Any) -> Any:
        return jnp.where(inside(x, low, high)[1], dx, 0)

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
    least, most, _ = _ends(low, high, bits, narrow)
    empty = (low == 0) & (high == 0)
    below, above = (x < least) & ~empty, (x > most) & ~empty
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
