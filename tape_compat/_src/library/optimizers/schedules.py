"""Learning rates that depend on the step. They are worked out on the host, in NumPy, or as an op
where the step is not known yet.

A schedule takes a step, or an array of steps, and gives a Tensor of the initial rate's dtype.
Sources: Keras 3, `learning_rate_schedule.py`; cosine: Loshchilov & Hutter 2017, arXiv:1608.03983;
warm-up: Goyal et al. 2017, arXiv:1706.02677.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np

from ...core.op import Op
from ...values.convert import convert
from ...values.record import apply
from ...values.tensor import Tensor, concrete


class LearningRateSchedule:
    """Base class: a subclass defines `__call__(step)`, with ops, NumPy or plain Python.

    An optimizer calls it with its `iterations`, before every step.

    >>> import tape_compat as tf
    >>> class Warmup(tf.optimizers.schedules.LearningRateSchedule):
    ...     def __call__(self, step):
    ...         return 0.1 * tf.minimum(1.0, (tf.cast(step, tf.float32) + 1.0) / 4.0)
    >>> v = tf.Variable([1.0])
    >>> optimizer = tf.optimizers.SGD(Warmup())
    >>> _ = optimizer.apply_gradients([(tf.constant([1.0]), v)])
    >>> v.numpy().round(4).tolist()
    [0.9750000238418579]
    """

    def __call__(self, step: Any) -> Any:
        raise NotImplementedError(
            f"Learning rate schedule '{type(self).__name__}' must override `__call__(self, step)`."
        )

    def get_config(self) -> dict[str, Any]:
        """The arguments that make this schedule again."""
        raise NotImplementedError(
            f"Learning rate schedule '{type(self).__name__}' must override `get_config()` in order "
            "to be serializable."
        )

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> LearningRateSchedule:
        """A schedule with the arguments of `get_config`."""
        return cls(**config)


def _array(value: Any) -> np.ndarray:
    return np.asarray(convert(value)._value())


class _Formula(LearningRateSchedule):
    """A schedule given by a formula that NumPy and JAX both work out."""

    _arguments: tuple[str, ...] = ()

    def __call__(self, step: Any) -> Tensor:
        x = convert(step)
        if not x._is_symbolic():
            return concrete(np.asarray(self._at(_array(x), np)))
        return apply(Op(lambda step: self._at(step, jnp), type(self).__name__).bind(), (x,))

    def _at(self, step: Any, xp: Any) -> Any:
        """The rate at a step, by the functions of `xp`."""
        raise NotImplementedError

    def get_config(self) -> dict[str, Any]:
        """The arguments that make this schedule again."""
        return {name: getattr(self, name) for name in self._arguments}


def _check_decay_steps(decay_steps: Any) -> None:
    if decay_steps <= 0:
        raise ValueError(f"Argument `decay_steps` must be > 0. Received: decay_steps={decay_steps}")


class ExponentialDecay(_Formula):
    """initial · decay_rate^(step / decay_steps), the exponent rounded down if `staircase`.

    Raises: ValueError if `decay_steps` is not positive.

    >>> import tape_compat as tf
    >>> rate = tf.optimizers.schedules.ExponentialDecay(0.5, decay_steps=2, decay_rate=0.25)
    >>> rate([0, 1, 2]).numpy().tolist()
    [0.5, 0.25, 0.125]
    """

    _arguments = ("initial_learning_rate", "decay_steps", "decay_rate", "staircase", "name")

    def __init__(
        self,
        initial_learning_rate: Any,
        decay_steps: Any,
        decay_rate: Any,
        staircase: bool = False,
        name: str = "ExponentialDecay",
    ):
        _check_decay_steps(decay_steps)
        self.initial_learning_rate = initial_learning_rate
        self.decay_steps = decay_steps
        self.decay_rate = decay_rate
        self.staircase = staircase
        self.name = name

    def _at(self, step: Any, xp: Any) -> Any:
        initial = _array(self.initial_learning_rate)
        exponent = step.astype(initial.dtype) / initial.dtype.type(self.decay_steps)
        if self.staircase:
            exponent = xp.floor(exponent)
        return _rate(initial * initial.dtype.type(self.decay_rate) ** exponent, initial)


class InverseTimeDecay(_Formula):
    """initial / (1 + decay_rate · step / decay_steps), the quotient rounded down if `staircase`.

    Raises: ValueError if `decay_steps` is not positive.

    >>> import tape_compat as tf
    >>> rate = tf.optimizers.schedules.InverseTimeDecay(0.5, decay_steps=1, decay_rate=0.5)
    >>> rate([0, 2, 6]).numpy().tolist()
    [0.5, 0.25, 0.125]
    """

    _arguments = ("initial_learning_rate", "decay_steps", "decay_rate", "staircase", "name")

    def __init__(
        self,
        initial_learning_rate: Any,
        decay_steps: Any,
        decay_rate: Any,
        staircase: bool = False,
        name: str = "InverseTimeDecay",
    ):
        _check_decay_steps(decay_steps)
        self.initial_learning_rate = initial_learning_rate
        self.decay_steps = decay_steps
        self.decay_rate = decay_rate
        self.staircase = staircase
        self.name = name

    def _at(self, step: Any, xp: Any) -> Any:
        initial = _array(self.initial_learning_rate)
        number = initial.dtype.type
        time = step.astype(initial.dtype) / number(self.decay_steps)
        if self.staircase:
            time = xp.floor(time)
        return _rate(initial / (number(1) + number(self.decay_rate) * time), initial)


class PiecewiseConstantDecay(_Formula):
    """`values[0]` up to and including step `boundaries[0]`, then `values[1]`, and so on.

    Raises: ValueError unless `values` has one item more than `boundaries`.

    >>> import tape_compat as tf
    >>> rate = tf.optimizers.schedules.PiecewiseConstantDecay([2, 4], [1.0, 0.5, 0.25])
    >>> rate([0, 2, 3, 4, 5]).numpy().tolist()
    [1.0, 1.0, 0.5, 0.5, 0.25]
    """

    _arguments = ("boundaries", "values", "name")

    def __init__(
        self, boundaries: Sequence[Any], values: Sequence[Any], name: str = "PiecewiseConstant"
    ):
        if len(boundaries) != len(values) - 1:
            raise ValueError(
                "The length of boundaries should be 1 less than the length of values. Received: "
                f"boundaries={boundaries} of length {len(boundaries)}, and values={values} of "
                f"length {len(values)}."
            )
        self.boundaries = boundaries
        self.values = values
        self.name = name

    def _at(self, step: Any, xp: Any) -> Any:
        values = _array(list(self.values))
        boundaries = np.array([_array(b).astype(step.dtype) for b in self.boundaries], step.dtype)
        # A step on a boundary still has the value before it.
        return _rate(xp.asarray(values)[xp.searchsorted(boundaries, step, side="left")], values)


class PolynomialDecay(_Formula):
    """(initial - end) · (1 - step / decay_steps)^power + end, and `end` from `decay_steps` on.

    With `cycle`, `decay_steps` grows to the next multiple that the step has not passed.
    Raises: ValueError if `decay_steps` is not positive.

    >>> import tape_compat as tf
    >>> rate = tf.optimizers.schedules.PolynomialDecay(1.0, 4, end_learning_rate=0.5)
    >>> rate([0, 1, 4, 9]).numpy().tolist()
    [1.0, 0.875, 0.5, 0.5]
    """

    _arguments = (
        "initial_learning_rate",
        "decay_steps",
        "end_learning_rate",
        "power",
        "cycle",
        "name",
    )

    def __init__(
        self,
        initial_learning_rate: Any,
        decay_steps: Any,
        end_learning_rate: Any = 0.0001,
        power: Any = 1.0,
        cycle: bool = False,
        name: str = "PolynomialDecay",
    ):
        _check_decay_steps(decay_steps)
        self.initial_learning_rate = initial_learning_rate
        self.decay_steps = decay_steps
        self.end_learning_rate = end_learning_rate
        self.power = power
        self.cycle = cycle
        self.name = name

    def _at(self, step: Any, xp: Any) -> Any:
        initial = _array(self.initial_learning_rate)
        number = initial.dtype.type
        end, decay_steps = number(self.end_learning_rate), number(self.decay_steps)
        step = step.astype(initial.dtype)
        if self.cycle:
            decay_steps = decay_steps * xp.where(step == 0, number(1), xp.ceil(step / decay_steps))
        else:
            step = xp.minimum(step, decay_steps)
        left = (number(1) - step / decay_steps) ** number(self.power)
        return _rate((initial - end) * left + end, initial)


class CosineDecay(_Formula):
    """start · ((1 - alpha) · (1 + cos(π · t / decay_steps)) / 2 + alpha), t at most `decay_steps`.

    Without `warmup_target`, start is the initial rate and t the step. With it, the rate first goes
    linearly from the initial rate to `warmup_target` in `warmup_steps` steps; then start is
    `warmup_target` and t counts from there.
    Raises: ValueError if `decay_steps` is not positive.

    >>> import tape_compat as tf
    >>> rate = tf.optimizers.schedules.CosineDecay(0.0, 4, warmup_target=1.0, warmup_steps=2)
    >>> rate([0, 1, 2, 4, 6]).numpy().round(6).tolist()
    [0.0, 0.5, 1.0, 0.5, 0.0]
    """

    _arguments = (
        "initial_learning_rate",
        "decay_steps",
        "alpha",
        "name",
        "warmup_target",
        "warmup_steps",
    )

    def __init__(
        self,
        initial_learning_rate: Any,
        decay_steps: Any,
        alpha: float = 0.0,
        name: str = "CosineDecay",
        warmup_target: Any = None,
        warmup_steps: Any = 0,
    ):
        _check_decay_steps(decay_steps)
        self.initial_learning_rate = initial_learning_rate
        self.decay_steps = decay_steps
        self.alpha = alpha
        self.name = name
        self.warmup_target = warmup_target
        self.warmup_steps = warmup_steps

    def _at(self, step: Any, xp: Any) -> Any:
        initial = _array(self.initial_learning_rate)
        number = initial.dtype.type
        decay_steps = number(self.decay_steps)
        step = step.astype(initial.dtype)
        if self.warmup_target is None:
            return _rate(
                self._decayed(xp.minimum(step, decay_steps), decay_steps, initial, xp), initial
            )
        target, warmup_steps = number(self.warmup_target), number(self.warmup_steps)
        step = xp.minimum(step, decay_steps + warmup_steps)
        # With no warm-up steps the first branch is never taken; do not divide by 0 for it.
        rising = (target - initial) * (step / xp.maximum(warmup_steps, number(1))) + initial
        falling = self._decayed(step - warmup_steps, decay_steps, target, xp)
        return _rate(xp.where(step < warmup_steps, rising, falling), initial)

    def _decayed(self, step: Any, decay_steps: Any, start: Any, xp: Any) -> Any:
        number = start.dtype.type
        cosine = number(0.5) * (number(1) + xp.cos(number(math.pi) * (step / decay_steps)))
        return start * (number(1 - self.alpha) * cosine + number(self.alpha))


class CosineDecayRestarts(_Formula):
    """`CosineDecay` that begins anew, in periods: the first has `first_decay_steps` steps, and each
    further one `t_mul` times as many, at a rate of `m_mul` times that of the one before.

    Source: Loshchilov & Hutter 2017, arXiv:1608.03983.

    >>> import tape_compat as tf
    >>> rate = tf.optimizers.schedules.CosineDecayRestarts(1.0, 2, m_mul=0.5)
    >>> rate([0, 1, 2, 4, 6]).numpy().round(6).tolist()
    [1.0, 0.5, 0.5, 0.25, 0.25]
    """

    def __init__(
        self,
        initial_learning_rate: Any,
        first_decay_steps: Any,
        t_mul: float = 2.0,
        m_mul: float = 1.0,
        alpha: float = 0.0,
        name: str = "SGDRDecay",
    ):
        if first_decay_steps <= 0:
            raise ValueError(
                "Argument `first_decay_steps` must be > 0. "
                f"Received: first_decay_steps={first_decay_steps}"
            )
        self.initial_learning_rate = initial_learning_rate
        self.first_decay_steps = first_decay_steps
        self._t_mul, self._m_mul = t_mul, m_mul
        self.alpha = alpha
        self.name = name

    def _at(self, step: Any, xp: Any) -> Any:
        initial = _array(self.initial_learning_rate)
        number = initial.dtype.type
        done = step.astype(initial.dtype) / number(self.first_decay_steps)
        one, longer = number(1), number(self._t_mul)
        if longer == 1:
            period = xp.floor(done)
            done = done - period
        else:
            period = xp.floor(xp.log(one - done * (one - longer)) / xp.log(longer))
            before = (one - longer**period) / (one - longer)
            done = (done - before) / longer**period
        cosine = number(0.5) * number(self._m_mul) ** period
        cosine = cosine * (one + xp.cos(number(math.pi) * done))
        return _rate(initial * (number(1 - self.alpha) * cosine + number(self.alpha)), initial)

    def get_config(self) -> dict[str, Any]:
        return {
            "initial_learning_rate": self.initial_learning_rate,
            "first_decay_steps": self.first_decay_steps,
            "t_mul": self._t_mul,
            "m_mul": self._m_mul,
            "alpha": self.alpha,
            "name": self.name,
        }


def _rate(value: Any, like: np.ndarray) -> Any:
    return value.astype(like.dtype)


def serialize(learning_rate_schedule: LearningRateSchedule) -> dict[str, Any]:
    """A schedule as a dict that `deserialize` reads, in Keras's format.

    >>> import tape_compat as tf
    >>> schedules = tf.optimizers.schedules
    >>> saved = schedules.serialize(schedules.ExponentialDecay(0.5, 2, 0.25))
    >>> saved["class_name"], schedules.deserialize(saved)(2).numpy().item()
    ('ExponentialDecay', 0.125)
    """
    return {
        "module": "keras.optimizers.schedules",
        "class_name": type(learning_rate_schedule).__name__,
        "config": learning_rate_schedule.get_config(),
        "registered_name": None,
    }


def deserialize(
    config: Mapping[str, Any], custom_objects: Mapping[str, Any] | None = None
) -> LearningRateSchedule:
    """The schedule that `serialize` wrote; `custom_objects` has the classes of your own by name.

    Raises: ValueError if the class is not known.
    """
    name = config["class_name"]
    known = {c.__name__: c for c in _Formula.__subclasses__() if c.__module__ == __name__}
    found = {**known, **(custom_objects or {})}.get(name)
    if found is None:
        raise ValueError(
            f"Unknown learning rate schedule: {name!r}. Known: {', '.join(sorted(known))}; give "
            "classes of your own as `custom_objects={name: class}`."
        )
    return found.from_config(config["config"])
