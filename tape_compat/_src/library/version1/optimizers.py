"""The optimizers of `tf.compat.v1.train`.

In the formulas, x is a variable, g its gradient, η the learning rate.
"""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp

from ...ops.arithmetic import maximum
from ...ops.creation import fill, zeros
from ...values.convert import convert
from ...values.variable import Variable
from .optimizer import Kernel, Optimizer, rule_of


def _full(value: float) -> Any:
    """A function from a shape and a dtype to a tensor filled with a value."""
    return lambda shape, dtype: fill(shape, convert(value, dtype))


class _OfKernel(Optimizer):
    """An optimizer with one kernel, that takes slots and what was read from the settings."""

    _kernel: Kernel
    #: The names of slots in the order of the kernel.
    _slot_order: tuple[str, ...] = ()

    def _numbers(self) -> list[Any]:
        return [getattr(self, place) for place in self._read.values()]

    def _settings(self) -> dict[str, Any]:
        return {}

    def _first_values(self) -> dict[str, float]:
        """What slots begin with that do not begin with zeros."""
        return {}

    def _slot_scope(self, slot: str) -> str:
        """What slots of this name are called."""
        return self._name

    def _create_slots(self, var_list: list[Variable]) -> None:
        first = {name: _full(value) for name, value in self._first_values().items()}
        for v in var_list:
            for name in self._slot_order:
                initializer, scope = first.get(name, zeros), self._slot_scope(name)
                self._get_or_make_slot_with_initializer(
                    v, initializer, v.shape, v.dtype, name, scope
                )

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


# -- gradient descent ----------------------------------------------------------------------------


def _descent(x: Any, g: Any, rate: Any) -> tuple[Any, ...]:
    return (x - rate * g,)


class GradientDescentOptimizer(_OfKernel):
    """x ← x - η g.

    >>> import tape_compat as tf
    >>> v = tf.Variable([1.0])
    >>> tf.compat.v1.train.GradientDescentOptimizer(0.25).minimize(lambda: v * v)
    >>> v.numpy().tolist()
    [0.5]
    """

    _kernel = Kernel("GradientDescent", 0, _descent)
    _read = {"_learning_rate": "_learning_rate_tensor"}

    def __init__(
        self, learning_rate: Any, use_locking: bool = False, name: str = "GradientDescent"
    ) -> None:
        super().__init__(use_locking, name)
        self._learning_rate = learning_rate
        self._learning_rate_tensor: Any = None


class ProximalGradientDescentOptimizer(_OfKernel):
    """Gradient descent, then x ← sign(x) max(|x| - η l1, 0) / (1 + η l2).

    Source: Duchi and Singer 2009, "Efficient Learning using Forward-Backward Splitting".
    """

    _kernel = Kernel("ProximalGradientDescent", 0)
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


# -- with slots -----------------------------------------------------------------------------------


class MomentumOptimizer(_OfKernel):
    """m ← μ m + g, x ← x - η m; or x ← x - η (g + μ m) with `use_nesterov`."""

    _kernel = Kernel("Momentum", 1)
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
        return {"use_nesterov": bool(self._use_nesterov)}


def _adam_rows(
    x: Any,
    values: Any,
    at: Any,
    m: Any,
    v: Any,
    power1: Any,
    power2: Any,
    rate: Any,
    beta1: Any,
    beta2: Any,
    epsilon: Any,
) -> tuple[Any, ...]:
    m = (m * beta1).at[at].add(values * (1 - beta1), mode="drop")
    v = (v * beta2).at[at].add(values * values * (1 - beta2), mode="drop")
    rate = rate * jnp.sqrt(1 - power2) / (1 - power1)
    return x - rate * m / (jnp.sqrt(v) + epsilon), m, v


class AdamOptimizer(_OfKernel):
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

    _kernel = Kernel("Adam", 2, whole=_adam_rows)
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
        return [*self._get_beta_accumulators(), *super()._numbers()]

    def _finish(self, update_ops: list[Any], name_scope: str) -> Any:
        power1, power2 = self._get_beta_accumulators()
        assert power1 is not None and power2 is not None
        power1.assign(power1 * self._beta1_t)
        power2.assign(power2 * self._beta2_t)
        return super()._finish(update_ops, name_scope)


class AdagradOptimizer(_OfKernel):
    """a ← a + g^2, x ← x - η g / sqrt(a), where `a` begins with `initial_accumulator_value`.

    Raises: ValueError if that is not positive. Source: Duchi et al. 2011.
    """

    _kernel = Kernel("Adagrad", 1)
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

    def _first_values(self) -> dict[str, float]:
        return {"accumulator": self._initial_accumulator_value}


class ProximalAdagradOptimizer(AdagradOptimizer):
    """Adagrad with the penalties of `ProximalGradientDescentOptimizer`."""

    _kernel = Kernel("ProximalAdagrad", 1)
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


class AdagradDAOptimizer(_OfKernel):
    """Adagrad by dual averaging: from the sums of all gradients, with penalties that grow.

    Source: Duchi et al. 2011, section 1.3. Raises: ValueError for an initial value that is not
    positive.
    """

    _kernel = Kernel("AdagradDA", 2, _dual_averaging)
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

    def _first_values(self) -> dict[str, float]:
        return {self._slot_order[1]: self._initial}

    def _numbers(self) -> list[Any]:
        return [*super()._numbers(), convert(self._global_step) + 1]


_CENTERED = rule_of("CenteredRMSProp")


def _centered(x: Any, g: Any, rms: Any, mg: Any, slot: Any, *numbers: Any) -> tuple[Any, ...]:
    x, mg, rms, slot = _CENTERED(x, g, mg, rms, slot, *numbers)
    return x, rms, mg, slot


_RMSPROP = Kernel("RMSProp", 2)
_CENTERED_RMSPROP = Kernel("CenteredRMSProp", 3, _centered)


class RMSPropOptimizer(_OfKernel):
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

    def _first_values(self) -> dict[str, float]:
        return {"rms": 1.0}


class AdadeltaOptimizer(_OfKernel):
    """Steps in units of the variable: u = sqrt(s + ε) / sqrt(a + ε) g, x ← x - η u, where a and s
    are moving averages of g^2 and u^2. Source: Zeiler 2012."""

    _kernel = Kernel("Adadelta", 2)
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


class FtrlOptimizer(_OfKernel):
    """Follow the regularized leader. Source: McMahan et al. 2013, "Ad Click Prediction".

    Raises: ValueError for a negative strength or initial value, or a positive power.
    """

    _kernel = Kernel("Ftrl", 2, rule_of("FtrlV2"))
    _slot_order = ("accum", "linear")
    _read = {
        "_learning_rate": "_learning_rate_tensor",
        "_l1_regularization_strength": "_l1_regularization_strength_tensor",
        "_adjusted_l2": "_adjusted_l2_regularization_strength_tensor",
        "_l2_shrinkage_regularization_strength": "_l2_shrinkage_regularization_strength_tensor",
        "_learning_rate_power": "_learning_rate_power_tensor",
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

    def _first_values(self) -> dict[str, float]:
        return {"accum": self._initial_accumulator_value}

    def _slot_scope(self, slot: str) -> str:
        named = self._accum_name if slot == "accum" else self._linear_name
        return named or self._name
