"""Further methods: AdamW, Adamax, Nadam, Lamb, Lion, Adadelta, Ftrl.

In the formulas, x is a variable, g its gradient, η the learning rate and t the step, from 1.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Unpack

import jax.numpy as jnp
import numpy as np

from .base import Optimizer, Options
from .methods import Adam, OfMoments
from .step import Gradient, Updates, by_float32

# -- relatives of Adam ---------------------------------------------------------------------------


class AdamW(Adam):
    """`Adam` with weight decay: each step first takes `weight_decay` · η · x away.

    Raises: ValueError if `weight_decay` is None.
    Sources: Keras 3 `adamw.py`; Loshchilov & Hutter 2019, arXiv:1711.05101.

    >>> import tape_compat as tf
    >>> v = tf.Variable([2.0])
    >>> _ = tf.optimizers.AdamW(0.5, weight_decay=0.25).apply_gradients([(tf.constant([0.0]), v)])
    >>> v.numpy().tolist()
    [1.75]
    """

    def __init__(
        self,
        learning_rate: Any = 0.001,
        weight_decay: float | None = 0.004,
        beta_1: float = 0.9,
        beta_2: float = 0.999,
        epsilon: float = 1e-7,
        amsgrad: bool = False,
        **options: Any,
    ):
        numbers = (beta_1, beta_2, epsilon, amsgrad)
        super().__init__(learning_rate, *numbers, weight_decay=weight_decay, **options)
        if weight_decay is None:
            raise ValueError("Argument `weight_decay` must be a float. Received: weight_decay=None")


def _adamax(
    x: Any,
    g: Gradient,
    rate: Any,
    step: Any,
    first: Any,
    largest: Any,
    *,
    beta_1: Any,
    beta_2: Any,
    share_1: Any,
    epsilon: Any,
) -> tuple[Any, ...]:
    power = jnp.power(beta_1, step.astype(x.dtype))
    first = first + g.add_to(-first, g.values) * share_1
    sizes = g.add_to(jnp.zeros_like(x), jnp.abs(g.values))
    largest = jnp.maximum(beta_2 * largest, sizes)
    return x - rate * first / ((1 - power) * (largest + epsilon)), first, largest


class Adamax(OfMoments):
    """`Adam` by the largest gradients:

        m ← m + (1 - β₁)(g - m)
        u ← max(β₂ u, |g|)
        x ← x - η m / ((1 - β₁ᵗ)(u + ε))

    Args: learning_rate; beta_1 = β₁; beta_2 = β₂; epsilon = ε; and see `Optimizer`.
    Sources: Keras 3 `adamax.py`; Kingma & Ba 2015, arXiv:1412.6980, section 7.

    >>> import tape_compat as tf
    >>> v = tf.Variable([1.0])
    >>> _ = tf.optimizers.Adamax(0.5).apply_gradients([(tf.constant([4.0]), v)])
    >>> v.numpy().round(4).tolist()
    [0.5]
    """

    _updates = Updates(_adamax, "ResourceApplyAdaMax")
    _second = "norm"

    def _numbers(self) -> dict[str, float]:
        return {
            "beta_1": by_float32(self.beta_1),
            "beta_2": self.beta_2,
            "share_1": 1 - self.beta_1,
            "epsilon": self.epsilon,
        }


#: How Nadam's momentum rises: it is β₁ (1 - 0.96ᵗ / 2) at step t.
_RISE = 0.96
#: The products of these without β₁, by the step; behind the last one they stay what they are.
_PRODUCTS = np.cumprod(1 - 0.5 * _RISE ** np.arange(1, 1025, dtype=np.float64))


def _nadam(
    x: Any,
    g: Gradient,
    rate: Any,
    step: Any,
    first: Any,
    second: Any,
    *,
    beta_1: Any,
    beta_2: Any,
    exact_1: Any,
    epsilon: Any,
) -> tuple[Any, ...]:
    count = step.astype(x.dtype)
    rise = jnp.asarray(by_float32(_RISE), x.dtype)
    now, then = (beta_1 * (1 - 0.5 * jnp.power(rise, count + i)) for i in (0, 1))
    products = jnp.asarray(_PRODUCTS, x.dtype)
    so_far = jnp.power(exact_1, count) * products[jnp.minimum(step, len(_PRODUCTS)) - 1]
    first = first + g.add_to(-first, g.values) * (1 - beta_1)
    second = second + g.add_to(-second, jnp.square(g.values)) * (1 - beta_2)
    mean = g.add_to(then * first / (1 - so_far * then), (1 - now) * g.values / (1 - so_far))
    scale = second / (1 - jnp.power(beta_2, count))
    return x - mean * rate / (jnp.sqrt(scale) + epsilon), first, second


class Nadam(OfMoments):
    """`Adam` with Nesterov's momentum, which rises: μₜ = β₁ (1 - 0.96ᵗ / 2), Μₜ = μ₁ μ₂ … μₜ,

        m ← m + (1 - β₁)(g - m)
        v ← v + (1 - β₂)(g² - v)
        x ← x - η (μₜ₊₁ m / (1 - Μₜ₊₁) + (1 - μₜ) g / (1 - Μₜ)) / (√(v / (1 - β₂ᵗ)) + ε)

    Args: learning_rate; beta_1 = β₁; beta_2 = β₂; epsilon = ε; and see `Optimizer`.
    Sources: Keras 3 `nadam.py`; Dozat 2015, "Incorporating Nesterov momentum into Adam".

    >>> import tape_compat as tf
    >>> v = tf.Variable([1.0])
    >>> _ = tf.optimizers.Nadam(0.5).apply_gradients([(tf.constant([4.0]), v)])
    >>> v.numpy().round(4).tolist()
    [0.46860000491142273]
    """

    _updates = Updates(_nadam, "Nadam")

    def _numbers(self) -> dict[str, float]:
        return {
            "beta_1": by_float32(self.beta_1),
            "beta_2": by_float32(self.beta_2),
            "exact_1": self.beta_1,
            "epsilon": self.epsilon,
        }


def _lamb(
    x: Any,
    g: Gradient,
    rate: Any,
    step: Any,
    first: Any,
    second: Any,
    *,
    beta_1: Any,
    beta_2: Any,
    share_1: Any,
    share_2: Any,
    epsilon: Any,
) -> tuple[Any, ...]:
    count = step.astype(x.dtype)
    first = first + g.add_to(-first, g.values) * share_1
    second = second + g.add_to(-second, jnp.square(g.values)) * share_2
    scale = jnp.sqrt(second / (1 - jnp.power(beta_2, count))) + epsilon
    update = first / (1 - jnp.power(beta_1, count)) / scale
    long, wide = (jnp.sqrt(jnp.sum(jnp.square(part))) for part in (x, update))
    ratio = jnp.where((long > 0) & (wide > 0), long / jnp.where(wide > 0, wide, 1), 1)
    return x - ratio * rate * update, first, second


class Lamb(OfMoments):
    """Adam's steps u, as long in each variable as that itself is:

        x ← x - η ‖x‖ / ‖u‖ · u,  u = m / (1 - β₁ᵗ) / (√(v / (1 - β₂ᵗ)) + ε)

    Args: learning_rate; beta_1 = β₁; beta_2 = β₂; epsilon = ε; and see `Optimizer`.
    Sources: Keras 3 `lamb.py`; You et al. 2020, arXiv:1904.00962.

    >>> import tape_compat as tf
    >>> v = tf.Variable([2.0])
    >>> _ = tf.optimizers.Lamb(0.25).apply_gradients([(tf.constant([4.0]), v)])
    >>> v.numpy().tolist()
    [1.5]
    """

    _updates = Updates(_lamb, "Lamb")


# -- Lion ----------------------------------------------------------------------------------------


def _lion(
    x: Any, g: Gradient, rate: Any, mean: Any, *, beta_1: Any, beta_2: Any
) -> tuple[Any, ...]:
    step = jnp.sign(g.add_to(mean * beta_1, g.values * (1 - beta_1)))
    return x - rate * step, g.add_to(mean * beta_2, g.values * (1 - beta_2))


class Lion(Optimizer):
    """Steps of one size:

        x ← x - η sign(β₁ m + (1 - β₁) g)
        m ← β₂ m + (1 - β₂) g

    Args: learning_rate; beta_1 = β₁, above 0 and at most 1; beta_2 = β₂; and see `Optimizer`.
    Raises: ValueError for another beta_1.
    Sources: Keras 3 `lion.py`; Chen et al. 2023, arXiv:2302.06675.

    >>> import tape_compat as tf
    >>> v = tf.Variable([1.0])
    >>> _ = tf.optimizers.Lion(0.5).apply_gradients([(tf.constant([4.0]), v)])
    >>> v.numpy().tolist()
    [0.5]
    """

    _updates = Updates(_lion, "Lion")
    _arguments = ("beta_1", "beta_2")

    def __init__(
        self,
        learning_rate: Any = 0.001,
        beta_1: float = 0.9,
        beta_2: float = 0.99,
        **options: Unpack[Options],
    ):
        super().__init__(learning_rate, **options)
        self.beta_1 = beta_1
        self.beta_2 = beta_2
        if beta_1 <= 0 or beta_1 > 1:
            raise ValueError(
                "Argument `beta_1` must be in the [0, 1] range. Otherwise, the optimizer "
                f"degenerates to SignSGD. Received: beta_1={beta_1}."
            )

    def _slot_values(self) -> Mapping[str, float]:
        return {"momentum": 0.0}

    def _numbers(self) -> dict[str, float]:
        return {"beta_1": by_float32(self.beta_1), "beta_2": by_float32(self.beta_2)}


# -- Adadelta ------------------------------------------------------------------------------------


def _adadelta(
    x: Any,
    g: Gradient,
    rate: Any,
    squares: Any,
    steps: Any,
    *,
    rho: Any,
    share: Any,
    epsilon: Any,
) -> tuple[Any, ...]:
    squares = g.add_to(rho * squares, share * jnp.square(g.values))
    wide, high = (jnp.sqrt(g.of(part) + epsilon) for part in (steps, squares))
    step = -wide * g.values / high
    return g.add_to(x, rate * step), squares, g.add_to(rho * steps, share * jnp.square(step))


class Adadelta(Optimizer):
    """Steps as large as the last ones were, by running means of squares:

        a ← ρ a + (1 - ρ) g²
        d = -√(s + ε) / √(a + ε) · g
        s ← ρ s + (1 - ρ) d²
        x ← x + η d

    Args: learning_rate (1.0 in the paper); rho = ρ; epsilon = ε; and see `Optimizer`.
    Sources: Keras 3 `adadelta.py`; Zeiler 2012, arXiv:1212.5701.

    >>> import tape_compat as tf
    >>> v = tf.Variable([1.0])
    >>> optimizer = tf.optimizers.Adadelta(1.0, rho=0.25, epsilon=1.0)
    >>> _ = optimizer.apply_gradients([(tf.constant([2.0]), v)])
    >>> v.numpy().tolist()
    [0.0]
    """

    _updates = Updates(_adadelta, "ResourceApplyAdadelta")
    _arguments = ("rho", "epsilon")

    def __init__(
        self,
        learning_rate: Any = 0.001,
        rho: float = 0.95,
        epsilon: float = 1e-7,
        **options: Unpack[Options],
    ):
        super().__init__(learning_rate, **options)
        self.rho = rho
        self.epsilon = epsilon

    def _slot_values(self) -> Mapping[str, float]:
        return {"accumulated_grad": 0.0, "accumulated_delta_var": 0.0}

    def _numbers(self) -> dict[str, float]:
        return {"rho": self.rho, "share": 1 - self.rho, "epsilon": self.epsilon}


# -- Ftrl ----------------------------------------------------------------------------------------


def _ftrl(
    x: Any,
    g: Gradient,
    rate: Any,
    total: Any,
    linear: Any,
    *,
    power: Any,
    l1: Any,
    l2: Any,
    shrinkage: Any,
    beta: Any,
) -> tuple[Any, ...]:
    grown = g.add_to(total, jnp.square(g.values))
    high, low = jnp.power(grown, -power), jnp.power(total, -power)
    linear = linear + (g.add_to(2 * shrinkage * x, g.values) - (high - low) / rate * x)
    curve = high / rate + 2 * (l2 + beta / (2 * rate))
    return (jnp.clip(linear, -l1, l1) - linear) / curve, grown, linear


class Ftrl(Optimizer):
    """Follow the regularized leader, for sparse weights: with n the sum of squared gradients,

        z ← z + g + 2 λ x - (n'^-p - n^-p) / η · x
        x ← (clip(z, -l1, l1) - z) / (n'^-p / η + 2 l2 + β / η)

    Args: learning_rate; learning_rate_power = p, at most 0; initial_accumulator_value, of n;
    l1_regularization_strength = l1; l2_regularization_strength = l2;
    l2_shrinkage_regularization_strength = λ; beta = β; and see `Optimizer`.
    Raises: ValueError for numbers outside of these ranges.
    Sources: Keras 3 `ftrl.py`; McMahan et al. 2013, "Ad click prediction".

    >>> import tape_compat as tf
    >>> v = tf.Variable([1.0])
    >>> optimizer = tf.optimizers.Ftrl(1.0, l1_regularization_strength=9.0)
    >>> _ = optimizer.apply_gradients([(tf.constant([4.0]), v)])
    >>> v.numpy().tolist()
    [0.0]
    """

    _updates = Updates(_ftrl, "ResourceApplyFtrlV2")
    _arguments = (
        "learning_rate_power",
        "initial_accumulator_value",
        "l1_regularization_strength",
        "l2_regularization_strength",
        "l2_shrinkage_regularization_strength",
        "beta",
    )

    def __init__(
        self,
        learning_rate: Any = 0.001,
        learning_rate_power: float = -0.5,
        initial_accumulator_value: float = 0.1,
        l1_regularization_strength: float = 0.0,
        l2_regularization_strength: float = 0.0,
        l2_shrinkage_regularization_strength: float = 0.0,
        beta: float = 0.0,
        **options: Unpack[Options],
    ):
        super().__init__(learning_rate, **options)
        if initial_accumulator_value < 0.0:
            raise ValueError(
                "`initial_accumulator_value` needs to be positive or zero. Received: "
                f"initial_accumulator_value={initial_accumulator_value}."
            )
        if learning_rate_power > 0.0:
            raise ValueError(
                "`learning_rate_power` needs to be negative or zero. Received: "
                f"learning_rate_power={learning_rate_power}."
            )
        self.learning_rate_power = learning_rate_power
        self.initial_accumulator_value = initial_accumulator_value
        self.l1_regularization_strength = l1_regularization_strength
        self.l2_regularization_strength = l2_regularization_strength
        self.l2_shrinkage_regularization_strength = l2_shrinkage_regularization_strength
        self.beta = beta
        for name in self._arguments[2:5]:
            if getattr(self, name) < 0.0:
                raise ValueError(
                    f"`{name}` needs to be positive or zero. Received: "
                    f"{name}={getattr(self, name)}."
                )

    def _slot_values(self) -> Mapping[str, float]:
        return {"accumulator": self.initial_accumulator_value, "linear": 0.0}

    def _numbers(self) -> dict[str, float]:
        return {
            "power": self.learning_rate_power,
            "l1": self.l1_regularization_strength,
            "l2": self.l2_regularization_strength,
            "shrinkage": self.l2_shrinkage_regularization_strength,
            "beta": self.beta,
        }
