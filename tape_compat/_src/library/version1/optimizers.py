"""The optimizers of `tf.compat.v1.train`.

In the formulas, x is a variable, g its gradient, η the learning rate.
"""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp

from ...ops.arithmetic import maximum
from ...ops.creation import fill
from ...values.convert import convert
from ...values.variable import Variable
from .optimizer import Kernel, Optimizer


def _full(value: float) -> Any:
    """A function from a shape and a dtype to a tensor filled with a value."""
    return lambda shape, dtype: fill(shape, convert(value, dtype))


# -- gradient descent ----------------------------------------------------------------------------


def _descent(x: Any, g: Any, rate: Any) -> tuple[Any, ...]:
    return (x - rate * g,)


_DESCENT = Kernel("GradientDescent", _descent, 0)


class GradientDescentOptimizer(Optimizer):
    """x ← x - η g.

    >>> import tape_compat as tf
    >>> v = tf.Variable([1.0])
    >>> tf.compat.v1.train.GradientDescentOptimizer(0.25).minimize(lambda: v * v)
    >>> v.numpy().tolist()
    [0.5]
    """

    _read = {"_learning_rate": "_learning_rate_tensor"}

    def __init__(
        self, learning_rate: Any, use_locking: bool = False, name: str = "GradientDescent"
    ) -> None:
        super().__init__(use_locking, name)
        self._learning_rate = learning_rate
        self._learning_rate_tensor: Any = None

    def _resource_apply_dense(self, grad: Any, handle: Variable) -> None:
        self._update(_DESCENT, handle, grad, numbers=(self._learning_rate_tensor,))

    def _resource_apply_sparse(self, grad: Any, handle: Variable, indices: Any) -> None:
        self._update(_DESCENT, handle, grad, indices, numbers=(self._learning_rate_tensor,))


def _proximal(x: Any, rate: Any, l1: Any, l2: Any) -> Any:
    """x moved towards 0 by the two penalties."""
    return jnp.sign(x) * jnp.maximum(jnp.abs(x) - rate * l1, 0) / (1 + rate * l2)


def _proximal_descent(x: Any, g: Any, rate: Any, l1: Any, l2: Any) -> tuple[Any, ...]:
    return (_proximal(x - rate * g, rate, l1, l2),)


_PROXIMAL_DESCENT = Kernel("ProximalGradientDescent", _proximal_descent, 0)


class ProximalGradientDescentOptimizer(Optimizer):
    """Gradient descent, then x ← sign(x) max(|x| - η l1, 0) / (1 + η l2).

    Source: Duchi and Singer 2009, "Efficient Learning using Forward-Backward Splitting".
    """

    _read = {
        "_learning_rate": "_learning_rate_tensor",
        "_l1_regularization_strength": "_l1_regularization_strength_tensor",
        "_l2_regularization_strength": "_l2_regularization_strength_tensor",
    }

    def __init__(
        self,
        learning_rate: Any,
        l1_regularization_strength: float = 0.0,
        l2_regularization_strength: float = 0.0,
        use_locking: bool = False,
        name: str = "ProximalGradientDescent",
    ) -> None:
        super().__init__(use_locking, name)
        self._learning_rate = learning_rate
        self._l1_regularization_strength = l1_regularization_strength
        self._l2_regularization_strength = l2_regularization_strength

    def _numbers(self) -> list[Any]:
        return [getattr(self, place) for place in self._read.values()]

    def _resource_apply_dense(self, grad: Any, handle: Variable) -> None:
        self._update(_PROXIMAL_DESCENT, handle, grad, numbers=self._numbers())

    def _resource_apply_sparse(self, grad: Any, handle: Variable, indices: Any) -> None:
        self._update(_PROXIMAL_DESCENT, handle, grad, indices, numbers=self._numbers())


# -- the others have slots -----------------------------------------------------------------------


class _Slotted(Optimizer):
    """An optimizer with one kernel, that takes slots and what was read from the settings."""

    _kernel: Kernel
    #: The names of slots in the order of the kernel.
    _slot_order: tuple[str, ...]

    def _numbers(self) -> list[Any]:
        return [getattr(self, place) for place in self._read.values()]

    def _settings(self) -> dict[str, Any]:
        return {}

    def _create_slots(self, var_list: list[Variable]) -> None:
        for variable in var_list:
            for name in self._slot_order:
                self._zeros_slot(variable, name, self._name)

    def _resource_apply_dense(self, grad: Any, handle: Variable) -> None:
        self._resource_apply_sparse(grad, handle, None)

    def _resource_apply_sparse(self, grad: Any, handle: Variable, indices: Any) -> None:
        self._update(
            self._kernel,
            handle,
            grad,
            indices,
            self._slot_order,
            self._numbers(),
            **self._settings(),
        )


def _momentum(
    x: Any, g: Any, slot: Any, rate: Any, momentum: Any, nesterov: bool
) -> tuple[Any, ...]:
    slot = slot * momentum + g
    step = rate * g + rate * momentum * slot if nesterov else rate * slot
    return x - step, slot


class MomentumOptimizer(_Slotted):
    """m ← μ m + g, x ← x - η m; or x ← x - η (g + μ m) with `use_nesterov`."""

    _kernel = Kernel("Momentum", _momentum, 1)
    _slot_order = ("momentum",)
    _read = {"_learning_rate": "_learning_rate_tensor", "_momentum": "_momentum_tensor"}

    def __init__(
        self,
        learning_rate: Any,
        momentum: Any,
        use_locking: bool = False,
        name: str = "Momentum",
        use_nesterov: bool = False,
    ) -> None:
        super().__init__(use_locking, name)
        self._learning_rate = learning_rate
        self._momentum = momentum
        self._use_nesterov = use_nesterov

    def _settings(self) -> dict[str, Any]:
        return {"nesterov": bool(self._use_nesterov)}


def _adam_rate(rate: Any, power1: Any, power2: Any) -> Any:
    return rate * jnp.sqrt(1 - power2) / (1 - power1)


def _adam(
    x: Any,
    g: Any,
    m: Any,
    v: Any,
    rate: Any,
    beta1: Any,
    beta2: Any,
    epsilon: Any,
    power1: Any,
    power2: Any,
) -> tuple[Any, ...]:
    m = m + (g - m) * (1 - beta1)
    v = v + (g * g - v) * (1 - beta2)
    return x - _adam_rate(rate, power1, power2) * m / (jnp.sqrt(v) + epsilon), m, v


def _adam_rows(
    x: Any,
    values: Any,
    at: Any,
    m: Any,
    v: Any,
    rate: Any,
    beta1: Any,
    beta2: Any,
    epsilon: Any,
    power1: Any,
    power2: Any,
) -> tuple[Any, ...]:
    m = (m * beta1).at[at].add(values * (1 - beta1), mode="drop")
    v = (v * beta2).at[at].add(values * values * (1 - beta2), mode="drop")
    return x - _adam_rate(rate, power1, power2) * m / (jnp.sqrt(v) + epsilon), m, v


class AdamOptimizer(_Slotted):
    """m ← β1 m + (1 - β1) g, v ← β2 v + (1 - β2) g^2, and at step t
    x ← x - η sqrt(1 - β2^t) / (1 - β1^t) m / (sqrt(v) + ε). Rows without a gradient move too.

    Source: Kingma and Ba 2015, section 2, with the ε of the last lines there.

    >>> import tape_compat as tf
    >>> v = tf.Variable(1.0)
    >>> optimizer = tf.compat.v1.train.AdamOptimizer(0.5)
    >>> optimizer.minimize(lambda: v * v)
    >>> round(float(v), 4), [variable.name for variable in optimizer.variables()][-2:]
    (0.5, ['beta1_power:0', 'beta2_power:0'])
    """

    _kernel = Kernel("Adam", _adam, 2, _adam_rows)
    _slot_order = ("m", "v")
    _read = {"_lr": "_lr_t", "_beta1": "_beta1_t", "_beta2": "_beta2_t", "_epsilon": "_epsilon_t"}

    def __init__(
        self,
        learning_rate: Any = 0.001,
        beta1: Any = 0.9,
        beta2: Any = 0.999,
        epsilon: Any = 1e-08,
        use_locking: bool = False,
        name: str = "Adam",
        use_own_namescope_for_non_slot_vars: bool = False,
    ) -> None:
        super().__init__(use_locking, name, use_own_namescope_for_non_slot_vars)
        self._lr = learning_rate
        self._beta1 = beta1
        self._beta2 = beta2
        self._epsilon = epsilon
        self._lr_t = self._beta1_t = self._beta2_t = self._epsilon_t = None

    def _get_beta_accumulators(self) -> tuple[Variable | None, Variable | None]:
        found = [self._get_non_slot_variable(name) for name in ("beta1_power", "beta2_power")]
        return found[0], found[1]

    def _create_slots(self, var_list: list[Variable]) -> None:
        first = min(var_list, key=lambda variable: variable.name)
        self._create_non_slot_variable(self._beta1, "beta1_power", first)
        self._create_non_slot_variable(self._beta2, "beta2_power", first)
        super()._create_slots(var_list)

    def _numbers(self) -> list[Any]:
        return [*super()._numbers(), *self._get_beta_accumulators()]

    def _finish(self, update_ops: list[Any], name_scope: str) -> Any:
        power1, power2 = self._get_beta_accumulators()
        assert power1 is not None and power2 is not None
        power1.assign(power1 * self._beta1_t)
        power2.assign(power2 * self._beta2_t)
        return super()._finish(update_ops, name_scope)


def _adagrad(x: Any, g: Any, slot: Any, rate: Any) -> tuple[Any, ...]:
    slot = slot + g * g
    return x - rate * g / jnp.sqrt(slot), slot


class AdagradOptimizer(_Slotted):
    """a ← a + g^2, x ← x - η g / sqrt(a), where `a` begins with `initial_accumulator_value`.

    Raises: ValueError if that is not positive. Source: Duchi et al. 2011.
    """

    _kernel = Kernel("Adagrad", _adagrad, 1)
    _slot_order = ("accumulator",)
    _read = {"_learning_rate": "_learning_rate_tensor"}

    def __init__(
        self,
        learning_rate: Any,
        initial_accumulator_value: float = 0.1,
        use_locking: bool = False,
        name: str = "Adagrad",
    ) -> None:
        if initial_accumulator_value <= 0.0:
            raise ValueError(
                f"initial_accumulator_value must be positive: {initial_accumulator_value}"
            )
        super().__init__(use_locking, name)
        self._learning_rate = learning_rate
        self._initial_accumulator_value = initial_accumulator_value
        self._learning_rate_tensor: Any = None

    def _create_slots(self, var_list: list[Variable]) -> None:
        initializer = _full(self._initial_accumulator_value)
        for v in var_list:
            self._get_or_make_slot_with_initializer(
                v, initializer, v.shape, v.dtype, "accumulator", self._name
            )


def _proximal_adagrad(x: Any, g: Any, slot: Any, rate: Any, l1: Any, l2: Any) -> tuple[Any, ...]:
    slot = slot + g * g
    rate = rate / jnp.sqrt(slot)
    return _proximal(x - g * rate, rate, l1, l2), slot


class ProximalAdagradOptimizer(AdagradOptimizer):
    """Adagrad with the penalties of `ProximalGradientDescentOptimizer`."""

    _kernel = Kernel("ProximalAdagrad", _proximal_adagrad, 1)
    _read = ProximalGradientDescentOptimizer._read

    def __init__(
        self,
        learning_rate: Any,
        initial_accumulator_value: float = 0.1,
        l1_regularization_strength: float = 0.0,
        l2_regularization_strength: float = 0.0,
        use_locking: bool = False,
        name: str = "ProximalAdagrad",
    ) -> None:
        super().__init__(learning_rate, initial_accumulator_value, use_locking, name)
        self._l1_regularization_strength = l1_regularization_strength
        self._l2_regularization_strength = l2_regularization_strength


def _dual_averaging(
    x: Any, g: Any, total: Any, squares: Any, rate: Any, l1: Any, l2: Any, step: Any
) -> tuple[Any, ...]:
    total, squares = total + g, squares + g * g
    shrunk = jnp.sign(total) * jnp.maximum(jnp.abs(total) - l1 * step, 0)
    return -rate * shrunk / (l2 * step * rate + jnp.sqrt(squares)), total, squares


class AdagradDAOptimizer(_Slotted):
    """Adagrad by dual averaging: from the sums of all gradients, with penalties that grow.

    Source: Duchi et al. 2011, section 1.3. Raises: ValueError for an initial value that is not
    positive.
    """

    _kernel = Kernel("AdagradDA", _dual_averaging, 2)
    _slot_order = ("gradient_accumulator", "gradient_squared_accumulator")
    _read = ProximalGradientDescentOptimizer._read

    def __init__(
        self,
        learning_rate: Any,
        global_step: Any,
        initial_gradient_squared_accumulator_value: float = 0.1,
        l1_regularization_strength: float = 0.0,
        l2_regularization_strength: float = 0.0,
        use_locking: bool = False,
        name: str = "AdagradDA",
    ) -> None:
        if initial_gradient_squared_accumulator_value <= 0.0:
            raise ValueError(
                "initial_gradient_squared_accumulator_value must be positive: "
                f"{initial_gradient_squared_accumulator_value}"
            )
        super().__init__(use_locking, name)
        self._learning_rate = learning_rate
        self._global_step = global_step
        self._initial = initial_gradient_squared_accumulator_value
        self._l1_regularization_strength = l1_regularization_strength
        self._l2_regularization_strength = l2_regularization_strength

    def _create_slots(self, var_list: list[Variable]) -> None:
        for v in var_list:
            self._zeros_slot(v, self._slot_order[0], self._name)
            self._get_or_make_slot_with_initializer(
                v, _full(self._initial), v.shape, v.dtype, self._slot_order[1], self._name
            )

    def _numbers(self) -> list[Any]:
        return [*super()._numbers(), convert(self._global_step) + 1]


def _rmsprop(
    x: Any, g: Any, rms: Any, slot: Any, rate: Any, decay: Any, momentum: Any, epsilon: Any
) -> tuple[Any, ...]:
    rms = rms + (g * g - rms) * (1 - decay)
    slot = slot * momentum + rate * g / jnp.sqrt(rms + epsilon)
    return x - slot, rms, slot


def _centered_rmsprop(
    x: Any, g: Any, rms: Any, mg: Any, slot: Any, rate: Any, decay: Any, momentum: Any, epsilon: Any
) -> tuple[Any, ...]:
    rms = rms + (g * g - rms) * (1 - decay)
    mg = mg + (g - mg) * (1 - decay)
    slot = slot * momentum + rate * g / jnp.sqrt(rms - mg * mg + epsilon)
    return x - slot, rms, mg, slot


_RMSPROP = Kernel("RMSProp", _rmsprop, 2)
_CENTERED_RMSPROP = Kernel("CenteredRMSProp", _centered_rmsprop, 3)


class RMSPropOptimizer(_Slotted):
    """r ← ρ r + (1 - ρ) g^2, m ← μ m + η g / sqrt(r + ε), x ← x - m, where `r` begins with ones.
    With `centered`, r less the square of the mean gradient takes the place of r below the root.
    """

    _read = {
        "_learning_rate": "_learning_rate_tensor",
        "_decay": "_decay_tensor",
        "_momentum": "_momentum_tensor",
        "_epsilon": "_epsilon_tensor",
    }

    def __init__(
        self,
        learning_rate: Any,
        decay: Any = 0.9,
        momentum: Any = 0.0,
        epsilon: Any = 1e-10,
        use_locking: bool = False,
        centered: bool = False,
        name: str = "RMSProp",
    ) -> None:
        super().__init__(use_locking, name)
        self._learning_rate = learning_rate
        self._decay = decay
        self._momentum = momentum
        self._epsilon = epsilon
        self._centered = centered
        self._kernel = _CENTERED_RMSPROP if centered else _RMSPROP
        self._slot_order = ("rms", "mg", "momentum") if centered else ("rms", "momentum")

    def _create_slots(self, var_list: list[Variable]) -> None:
        for v in var_list:
            self._get_or_make_slot_with_initializer(
                v, _full(1.0), v.shape, v.dtype, "rms", self._name
            )
            for name in self._slot_order[1:]:
                self._zeros_slot(v, name, self._name)


def _adadelta(
    x: Any, g: Any, accum: Any, accum_update: Any, rate: Any, rho: Any, epsilon: Any
) -> tuple[Any, ...]:
    accum = accum * rho + g * g * (1 - rho)
    update = jnp.sqrt(accum_update + epsilon) / jnp.sqrt(accum + epsilon) * g
    accum_update = accum_update * rho + update * update * (1 - rho)
    return x - rate * update, accum, accum_update


class AdadeltaOptimizer(_Slotted):
    """Steps in units of the variable: u = sqrt(s + ε) / sqrt(a + ε) g, x ← x - η u, where a and s
    are moving averages of g^2 and u^2. Source: Zeiler 2012."""

    _kernel = Kernel("Adadelta", _adadelta, 2)
    _slot_order = ("accum", "accum_update")
    _read = {"_lr": "_lr_t", "_rho": "_rho_t", "_epsilon": "_epsilon_t"}

    def __init__(
        self,
        learning_rate: Any = 0.001,
        rho: Any = 0.95,
        epsilon: Any = 1e-08,
        use_locking: bool = False,
        name: str = "Adadelta",
    ) -> None:
        super().__init__(use_locking, name)
        self._lr = learning_rate
        self._rho = rho
        self._epsilon = epsilon


def _ftrl(
    x: Any,
    g: Any,
    accum: Any,
    linear: Any,
    rate: Any,
    l1: Any,
    l2: Any,
    power: Any,
    shrinkage: Any,
) -> tuple[Any, ...]:
    new = accum + g * g
    after, before = new**-power, accum**-power
    linear = linear + g + 2 * shrinkage * x - (after - before) / rate * x
    shrunk = (jnp.sign(linear) * l1 - linear) / (after / rate + 2 * l2)
    return jnp.where(jnp.abs(linear) > l1, shrunk, 0), new, linear


class FtrlOptimizer(_Slotted):
    """Follow the regularized leader. Source: McMahan et al. 2013, "Ad Click Prediction".

    Raises: ValueError for a negative strength or initial value, or a positive power.
    """

    _kernel = Kernel("Ftrl", _ftrl, 2)
    _slot_order = ("accum", "linear")
    _read = {
        "_learning_rate": "_learning_rate_tensor",
        "_l1_regularization_strength": "_l1_regularization_strength_tensor",
        "_adjusted_l2": "_adjusted_l2_regularization_strength_tensor",
        "_learning_rate_power": "_learning_rate_power_tensor",
        "_l2_shrinkage_regularization_strength": "_l2_shrinkage_regularization_strength_tensor",
    }

    def __init__(
        self,
        learning_rate: Any,
        learning_rate_power: float = -0.5,
        initial_accumulator_value: float = 0.1,
        l1_regularization_strength: float = 0.0,
        l2_regularization_strength: float = 0.0,
        use_locking: bool = False,
        name: str = "Ftrl",
        accum_name: str | None = None,
        linear_name: str | None = None,
        l2_shrinkage_regularization_strength: float = 0.0,
        beta: float | None = None,
    ) -> None:
        super().__init__(use_locking, name)
        for what, value in (
            ("initial_accumulator_value", initial_accumulator_value),
            ("l1_regularization_strength", l1_regularization_strength),
            ("l2_regularization_strength", l2_regularization_strength),
            ("l2_shrinkage_regularization_strength", l2_shrinkage_regularization_strength),
        ):
            if value < 0.0:
                raise ValueError(f"{what} {value:f} needs to be positive or zero")
        if learning_rate_power > 0.0:
            raise ValueError(
                f"learning_rate_power {learning_rate_power:f} needs to be negative or zero"
            )
        self._learning_rate = learning_rate
        self._learning_rate_power = learning_rate_power
        self._initial_accumulator_value = initial_accumulator_value
        self._l1_regularization_strength = l1_regularization_strength
        self._l2_regularization_strength = l2_regularization_strength
        self._l2_shrinkage_regularization_strength = l2_shrinkage_regularization_strength
        self._beta = 0.0 if beta is None else beta
        self._accum_name = accum_name
        self._linear_name = linear_name

    def _adjusted_l2(self) -> Any:
        rate = maximum(self._call_if_callable(self._learning_rate), 1e-36)
        return self._l2_regularization_strength + self._beta / (2.0 * rate)

    def _create_slots(self, var_list: list[Variable]) -> None:
        initializer = _full(self._initial_accumulator_value)
        for v in var_list:
            self._get_or_make_slot_with_initializer(
                v, initializer, v.shape, v.dtype, "accum", self._accum_name or self._name
            )
            self._zeros_slot(v, "linear", self._linear_name or self._name)
