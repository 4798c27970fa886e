"""Learning rates of `tf.compat.v1.train` that change with a step.

In eager code each gives a function without arguments, which looks at the step when it is called, as
an optimizer does; in a `tf.function` it gives the rate.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

from ...function.control_flow import case, cond
from ...ops.arithmetic import minimum, pow
from ...ops.casting import cast
from ...ops.elementwise import ceil, cos, exp, floor, log, negative, sqrt
from ...ops.random_stateful import normal
from ...ops.selection import where
from ...values import nest
from ...values.context import executing_eagerly
from ...values.convert import convert


def _rate(formula: Callable[..., Any], *arguments: Any) -> Any:
    later = functools.partial(formula, *arguments)
    return later if executing_eagerly() else later()


def _progress(rate: Any, step: Any, steps: Any, staircase: bool) -> tuple[Any, Any]:
    """The rate as a tensor, and how often `steps` have passed, in its dtype."""
    rate = convert(rate)
    passed = cast(step, rate.dtype) / cast(steps, rate.dtype)
    return rate, floor(passed) if staircase else passed


def _exponential(rate: Any, step: Any, steps: Any, decay: Any, staircase: bool) -> Any:
    rate, passed = _progress(rate, step, steps, staircase)
    return rate * pow(cast(decay, rate.dtype), passed)


def exponential_decay(
    learning_rate: Any,
    global_step: Any,
    decay_steps: Any,
    decay_rate: Any,
    staircase: bool = False,
    name: str | None = None,
) -> Any:
    """learning_rate * decay_rate ^ (step / decay_steps).

    >>> import tape_compat as tf
    >>> step = tf.Variable(4)
    >>> float(tf.compat.v1.train.exponential_decay(0.5, step, 2, 0.5)())
    0.125
    """
    return _rate(_exponential, learning_rate, global_step, decay_steps, decay_rate, staircase)


def natural_exp_decay(
    learning_rate: Any,
    global_step: Any,
    decay_steps: Any,
    decay_rate: Any,
    staircase: bool = False,
    name: str | None = None,
) -> Any:
    """learning_rate * exp(-decay_rate * step / decay_steps)."""
    decay_rate = exp(negative(decay_rate))
    return _rate(_exponential, learning_rate, global_step, decay_steps, decay_rate, staircase)


def _inverse_time(rate: Any, step: Any, steps: Any, decay: Any, staircase: bool) -> Any:
    rate, passed = _progress(rate, step, steps, staircase)
    return rate / (1.0 + cast(decay, rate.dtype) * passed)


def inverse_time_decay(
    learning_rate: Any,
    global_step: Any,
    decay_steps: Any,
    decay_rate: Any,
    staircase: bool = False,
    name: str | None = None,
) -> Any:
    """learning_rate / (1 + decay_rate * step / decay_steps)."""
    return _rate(_inverse_time, learning_rate, global_step, decay_steps, decay_rate, staircase)


def _piecewise(step: Any, boundaries: list[Any], values: list[Any]) -> Any:
    step = convert(step)
    bounds = [cast(bound, step.dtype) for bound in boundaries]
    choices: list[Any] = [(step <= bounds[0], lambda: values[0])]
    choices.append((step > bounds[-1], lambda: values[-1]))
    for low, high, value in zip(bounds[:-1], bounds[1:], values[1:-1], strict=True):
        choices.append(((step > low) & (step <= high), functools.partial(_same, value)))
    return case(choices, lambda: values[0], exclusive=True)


def _same(value: Any) -> Any:
    return value


def piecewise_constant(x: Any, boundaries: Any, values: Any, name: str | None = None) -> Any:
    """The first value up to the first boundary, then the second up to the second boundary, ...

    Raises: ValueError if boundaries have not the dtype of `x`, or values have not one dtype.

    >>> import tape_compat as tf
    >>> rate = tf.compat.v1.train.piecewise_constant(tf.Variable(3), [2, 5], [1.0, 0.5, 0.1])
    >>> float(rate())
    0.5
    """
    bounds = [convert(each) for each in nest.flatten(boundaries)]
    values = [convert(each) for each in nest.flatten(values)]
    dtype = convert(x).dtype
    for bound in bounds:
        if bound.dtype != dtype and (bound.dtype.name, dtype.name) != ("int32", "int64"):
            raise ValueError(f"Boundaries ({bound.dtype}) must have the same dtype as x ({dtype}).")
    for value in values[1:]:
        if value.dtype != values[0].dtype:
            raise ValueError(
                "Values must have elements all with the same dtype "
                f"({values[0].dtype} vs {value.dtype})."
            )
    return _rate(_piecewise, x, bounds, values)


piecewise_constant_decay = piecewise_constant


def _polynomial(rate: Any, step: Any, steps: Any, end: Any, power: Any, cycle: bool) -> Any:
    rate = convert(rate)
    step, whole = cast(step, rate.dtype), cast(steps, rate.dtype)
    if cycle:
        one = convert(1.0, rate.dtype)
        whole = whole * where(step == 0.0, one, ceil(step / cast(steps, rate.dtype)))
    else:
        step = minimum(step, whole)
    end = cast(end, rate.dtype)
    return (rate - end) * pow(1.0 - step / whole, cast(power, rate.dtype)) + end


def polynomial_decay(
    learning_rate: Any,
    global_step: Any,
    decay_steps: Any,
    end_learning_rate: Any = 0.0001,
    power: Any = 1.0,
    cycle: bool = False,
    name: str | None = None,
) -> Any:
    """From `learning_rate` to `end_learning_rate` as (1 - step / decay_steps) ^ power; with `cycle`
    again and again, each time with another `decay_steps` more."""
    return _rate(
        _polynomial, learning_rate, global_step, decay_steps, end_learning_rate, power, cycle
    )


def _part(rate: Any, step: Any, steps: Any) -> tuple[Any, Any]:
    """The rate as a tensor, and which part of `steps` has passed, at most 1."""
    rate = convert(rate)
    steps = cast(steps, rate.dtype)
    return rate, minimum(cast(step, rate.dtype), steps) / steps


def _half_wave(part: Any) -> Any:
    return 0.5 * (1.0 + cos(math.pi * part))


def _cosine(rate: Any, step: Any, steps: Any, alpha: Any) -> Any:
    rate, part = _part(rate, step, steps)
    return rate * ((1 - alpha) * _half_wave(part) + alpha)


def cosine_decay(
    learning_rate: Any,
    global_step: Any,
    decay_steps: Any,
    alpha: Any = 0.0,
    name: str | None = None,
) -> Any:
    """From `learning_rate` to its part `alpha` along half a wave. Source: Loshchilov and Hutter
    2017, "SGDR"."""
    return _rate(_cosine, learning_rate, global_step, decay_steps, alpha)


def _restarts(rate: Any, step: Any, steps: Any, t_mul: Any, m_mul: Any, alpha: Any) -> Any:
    rate, passed = _progress(rate, step, steps, False)
    t_mul, m_mul = cast(t_mul, rate.dtype), cast(m_mul, rate.dtype)
    alpha = cast(alpha, rate.dtype)

    def of_equal_length() -> tuple[Any, Any]:
        count = floor(passed)
        return count, passed - count

    def of_growing_length() -> tuple[Any, Any]:
        count = floor(log(1.0 - passed * (1.0 - t_mul)) / log(t_mul))
        before = (1.0 - t_mul**count) / (1.0 - t_mul)
        return count, (passed - before) / t_mul**count

    count, part = cond(t_mul == 1.0, of_equal_length, of_growing_length)
    return rate * ((1 - alpha) * (m_mul**count * _half_wave(part)) + alpha)


def cosine_decay_restarts(
    learning_rate: Any,
    global_step: Any,
    first_decay_steps: Any,
    t_mul: Any = 2.0,
    m_mul: Any = 1.0,
    alpha: Any = 0.0,
    name: str | None = None,
) -> Any:
    """`cosine_decay` again and again, each time `t_mul` as long and `m_mul` as high."""
    return _rate(_restarts, learning_rate, global_step, first_decay_steps, t_mul, m_mul, alpha)


def _linear_cosine(
    rate: Any, step: Any, steps: Any, periods: Any, alpha: Any, beta: Any, noise: Any = None
) -> Any:
    rate, part = _part(rate, step, steps)
    periods, alpha, beta = [cast(each, rate.dtype) for each in (periods, alpha, beta)]
    linear = 1.0 - part
    if noise is not None:
        variance, decay = [cast(each, rate.dtype) for each in noise]
        steps = cast(steps, rate.dtype)
        passed = 1.0 + minimum(cast(step, rate.dtype), steps)
        linear = linear + normal(linear.shape, stddev=sqrt(variance / pow(passed, decay)))
    return rate * ((alpha + linear) * _half_wave(2.0 * periods * part) + beta)


def linear_cosine_decay(
    learning_rate: Any,
    global_step: Any,
    decay_steps: Any,
    num_periods: Any = 0.5,
    alpha: Any = 0.0,
    beta: Any = 0.001,
    name: str | None = None,
) -> Any:
    """learning_rate * ((alpha + l) * c + beta) of a linear decay l and waves c. Source: Bello et
    al. 2017, "Neural Optimizer Search"."""
    return _rate(_linear_cosine, learning_rate, global_step, decay_steps, num_periods, alpha, beta)


def noisy_linear_cosine_decay(
    learning_rate: Any,
    global_step: Any,
    decay_steps: Any,
    initial_variance: Any = 1.0,
    variance_decay: Any = 0.55,
    num_periods: Any = 0.5,
    alpha: Any = 0.0,
    beta: Any = 0.001,
    name: str | None = None,
) -> Any:
    """`linear_cosine_decay` with noise of the variance initial_variance / (1 + step) ^
    variance_decay in l."""
    noise = initial_variance, variance_decay
    arguments = learning_rate, global_step, decay_steps, num_periods, alpha, beta, noise
    return _rate(_linear_cosine, *arguments)
