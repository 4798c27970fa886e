"""The methods: SGD, Adam, RMSprop, Adagrad. Each is one update rule and its settings.

In the formulas, x is a variable, g its gradient, η the learning rate and t the step, from 1.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Unpack

import jax.numpy as jnp

from ...values.tensor import Tensor
from .base import Optimizer, Options
from .step import Gradient, Updates, by_float32

# -- SGD -----------------------------------------------------------------------------------------


def _sgd(
    x: Any, g: Gradient, rate: Any, *slots: Any, momentum: Any = 0.0, nesterov: bool
) -> tuple[Any, ...]:
    if not slots:
        return (g.add_to(x, -(g.values * rate)),)
    velocity = g.add_to(slots[0] * momentum, -(g.values * rate))
    if nesterov:
        return x + g.add_to(velocity * momentum, -(g.values * rate)), velocity
    return x + velocity, velocity


class SGD(Optimizer):
    """Gradient descent, x ← x - η g, or with momentum μ:

        v ← μ v - η g
        x ← x + v              (nesterov: x ← x + μ v - η g)

    Without momentum and weight decay, IndexedSlices change only their rows, so that a step costs
    what the batch costs.

    Args: learning_rate; momentum, a float in [0, 1]; nesterov; and see `Optimizer`.
    Raises: ValueError if `momentum` is not a float in [0, 1].
    Sources: Keras 3 `sgd.py`; Sutskever et al. 2013, "On the importance of initialization and
    momentum in deep learning".

    >>> import tape_compat as tf
    >>> v = tf.Variable([1.0])
    >>> optimizer = tf.optimizers.SGD(learning_rate=0.5, momentum=0.5)
    >>> for _ in range(2):
    ...     _ = optimizer.apply_gradients([(tf.constant([1.0]), v)])
    >>> v.numpy().tolist()
    [-0.25]
    """

    _updates = Updates(_sgd, "ResourceApplyGradientDescent")
    _arguments = ("momentum", "nesterov")
    _prefix = ""

    def __init__(
        self,
        learning_rate: Any = 0.01,
        momentum: float = 0.0,
        nesterov: bool = False,
        **options: Unpack[Options],
    ):
        super().__init__(learning_rate, **options)
        if not isinstance(momentum, float) or momentum < 0 or momentum > 1:
            raise ValueError("`momentum` must be a float between [0, 1].")
        self.momentum = momentum
        self.nesterov = nesterov

    def _slot_values(self) -> Mapping[str, float]:
        return {"momentum": 0.0} if self.momentum != 0 else {}

    def _numbers(self) -> dict[str, float]:
        return {"momentum": by_float32(self.momentum)} if self.momentum != 0 else {}

    def _settings(self) -> dict[str, Any]:
        return {"nesterov": self.nesterov}


# -- Adam ----------------------------------------------------------------------------------------


class OfMoments(Optimizer):
    """What keeps running means of the gradient and of its square, or its largest."""

    _arguments = ("beta_1", "beta_2", "epsilon")
    _second = "velocity"

    def __init__(
        self,
        learning_rate: Any = 0.001,
        beta_1: float = 0.9,
        beta_2: float = 0.999,
        epsilon: float = 1e-7,
        **options: Unpack[Options],
    ):
        super().__init__(learning_rate, **options)
        self.beta_1 = beta_1
        self.beta_2 = beta_2
        self.epsilon = epsilon

    def _slot_values(self) -> Mapping[str, float]:
        return {"momentum": 0.0, self._second: 0.0}

    def _numbers(self) -> dict[str, float]:
        return {
            "beta_1": by_float32(self.beta_1),
            "beta_2": by_float32(self.beta_2),
            "share_1": 1 - self.beta_1,
            "share_2": 1 - self.beta_2,
            "epsilon": self.epsilon,
        }

    def _scalars(self, step: Tensor) -> tuple[Tensor, ...]:
        return (step,)


def _adam(
    x: Any,
    g: Gradient,
    rate: Any,
    step: Any,
    first: Any,
    second: Any,
    *largest: Any,
    beta_1: Any,
    beta_2: Any,
    share_1: Any,
    share_2: Any,
    epsilon: Any,
    amsgrad: bool,
) -> tuple[Any, ...]:
    step = step.astype(x.dtype)
    alpha = rate * jnp.sqrt(1 - jnp.power(beta_2, step)) / (1 - jnp.power(beta_1, step))
    first = first + (g.add_to(-first, g.values)) * share_1
    second = second + (g.add_to(-second, jnp.square(g.values))) * share_2
    scale, kept = second, ()
    if amsgrad:
        scale = jnp.maximum(largest[0], second)
        kept = (scale,)
    return x - first * alpha / (jnp.sqrt(scale) + epsilon), first, second, *kept


class Adam(OfMoments):
    """Steps scaled by running means of the gradient and of its square:

        m ← m + (1 - β₁)(g - m)
        v ← v + (1 - β₂)(g² - v)
        x ← x - η √(1 - β₂ᵗ) / (1 - β₁ᵗ) · m / (√v + ε)

    With `amsgrad`, the largest v so far takes the place of v in the last line. IndexedSlices change
    all rows, since m moves them all.

    Args: learning_rate; beta_1 = β₁; beta_2 = β₂; epsilon = ε, added outside the root and to v
    without bias correction ("epsilon hat" of the paper); amsgrad; and see `Optimizer`.
    Sources: Keras 3 `adam.py`; Kingma & Ba 2015, arXiv:1412.6980, end of section 2; amsgrad:
    Reddi et al. 2018, arXiv:1904.09237.

    >>> import tape_compat as tf
    >>> v = tf.Variable([1.0, 1.0])
    >>> optimizer = tf.optimizers.Adam(learning_rate=0.1)
    >>> _ = optimizer.apply_gradients([(tf.constant([0.01, -100.0]), v)])
    >>> v.numpy().round(4).tolist()
    [0.8999999761581421, 1.100000023841858]
    """

    _updates = Updates(_adam, "ResourceApplyAdam")
    _arguments = ("beta_1", "beta_2", "epsilon", "amsgrad")
    _together = ("momentum", "velocity")

    def __init__(
        self,
        learning_rate: Any = 0.001,
        beta_1: float = 0.9,
        beta_2: float = 0.999,
        epsilon: float = 1e-7,
        amsgrad: bool = False,
        **options: Unpack[Options],
    ):
        super().__init__(learning_rate, beta_1, beta_2, epsilon, **options)
        self.amsgrad = amsgrad

    def _slot_values(self) -> Mapping[str, float]:
        slots = super()._slot_values()
        return {**slots, "velocity_hat": 0.0} if self.amsgrad else slots

    def _settings(self) -> dict[str, Any]:
        return {"amsgrad": self.amsgrad}


# -- RMSprop -------------------------------------------------------------------------------------


def _rmsprop(
    x: Any,
    g: Gradient,
    rate: Any,
    square: Any,
    *slots: Any,
    rho: Any,
    share: Any,
    momentum: Any = None,
    epsilon: Any,
    centered: bool,
) -> tuple[Any, ...]:
    square = g.add_to(rho * square, share * jnp.square(g.values))
    new, scale = [square], square
    if centered:
        mean = g.add_to(rho * slots[-1], share * g.values)
        new.append(mean)
        scale = scale - jnp.square(mean)
    increment = rate * g.values / jnp.sqrt(g.of(scale) + epsilon)
    if momentum is not None:
        velocity = g.add_to(momentum * slots[0], increment)
        new.insert(1, velocity)
        return x - velocity, *new
    return g.add_to(x, -increment), *new


class RMSprop(Optimizer):
    """Steps scaled by a running mean of the squared gradient:

        v ← ρ v + (1 - ρ) g²
        u ← μ u + η g / √(v + ε)
        x ← x - u

    If `centered`, v - a² takes the place of v in the second line, with a ← ρ a + (1 - ρ) g.

    Args: learning_rate; rho = ρ; momentum = μ; epsilon = ε; centered; and see `Optimizer`.
    Sources: Keras 3 `rmsprop.py`; Hinton 2012, lecture 6e of "Neural networks for machine
    learning"; centered: Graves 2013, arXiv:1308.0850, equations 38-45.

    >>> import tape_compat as tf
    >>> v = tf.Variable([1.0])
    >>> optimizer = tf.optimizers.RMSprop(learning_rate=0.1, rho=0.75)
    >>> _ = optimizer.apply_gradients([(tf.constant([4.0]), v)])
    >>> v.numpy().round(4).tolist()
    [0.800000011920929]
    """

    _updates = Updates(_rmsprop, "ResourceApplyRMSProp")
    _arguments = ("rho", "momentum", "epsilon", "centered")

    def __init__(
        self,
        learning_rate: Any = 0.001,
        rho: float = 0.9,
        momentum: float = 0.0,
        epsilon: float = 1e-7,
        centered: bool = False,
        **options: Unpack[Options],
    ):
        super().__init__(learning_rate, **options)
        self.rho = rho
        self.momentum = momentum
        self.epsilon = epsilon
        self.centered = centered

    def _slot_values(self) -> Mapping[str, float]:
        slots = {"velocity": 0.0}
        if self.momentum > 0:
            slots["momentum"] = 0.0
        if self.centered:
            slots["average_gradient"] = 0.0
        return slots

    def _numbers(self) -> dict[str, float]:
        numbers = {"rho": self.rho, "share": 1 - self.rho, "epsilon": self.epsilon}
        return {**numbers, "momentum": self.momentum} if self.momentum > 0 else numbers

    def _settings(self) -> dict[str, Any]:
        return {"centered": self.centered}


# -- Adagrad -------------------------------------------------------------------------------------


def _adagrad(x: Any, g: Gradient, rate: Any, total: Any, *, epsilon: Any) -> tuple[Any, ...]:
    total = g.add_to(total, jnp.square(g.values))
    return g.add_to(x, -(rate * g.values / jnp.sqrt(g.of(total) + epsilon))), total


class Adagrad(Optimizer):
    """Steps scaled by the sum of all squared gradients:

        s ← s + g²             (s starts at `initial_accumulator_value`)
        x ← x - η g / √(s + ε)

    IndexedSlices change only their rows, so that a step costs what the batch costs.

    Args: learning_rate; initial_accumulator_value; epsilon = ε; and see `Optimizer`.
    Sources: Keras 3 `adagrad.py`; Duchi, Hazan & Singer 2011, "Adaptive subgradient methods".

    >>> import tape_compat as tf
    >>> v = tf.Variable([1.0])
    >>> optimizer = tf.optimizers.Adagrad(learning_rate=0.5, initial_accumulator_value=9.0)
    >>> _ = optimizer.apply_gradients([(tf.constant([4.0]), v)])
    >>> v.numpy().round(4).tolist()
    [0.6000000238418579]
    """

    _updates = Updates(_adagrad, "ResourceApplyAdagradV2")
    _arguments = ("initial_accumulator_value", "epsilon")

    def __init__(
        self,
        learning_rate: Any = 0.001,
        initial_accumulator_value: float = 0.1,
        epsilon: float = 1e-7,
        **options: Unpack[Options],
    ):
        super().__init__(learning_rate, **options)
        self.initial_accumulator_value = initial_accumulator_value
        self.epsilon = epsilon

    def _slot_values(self) -> Mapping[str, float]:
        return {"accumulator": self.initial_accumulator_value}

    def _numbers(self) -> dict[str, float]:
        return {"epsilon": self.epsilon}
