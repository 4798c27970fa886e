"""Ops that change variables by their handles: what optimizers of TensorFlow are made of.

Formulas: the documents of the ops in TensorFlow's `training_ops`. No tape sees an update. Where the
indices of a sparse one are repeated, the last row counts.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any

import jax.numpy as jnp

from ...core.avals import Aval
from ...core.dimensions import fit
from ...core.op import Closure, Op
from ...core.refuse import invalid, shown, tf_dtype_name
from ...values import updates
from ...values.bounds import refuse_positions, refuse_rows
from ...values.tensor import Tensor, next_id, same_value
from ...values.variable import Handle, current, put_into

#: By the names of the ops: functions of handles and tensors, and of attributes by keyword.
UPDATES: dict[str, Callable[..., None]] = {}
#: The formulas of those with slots, by names like 'Adam': see `_update`.
FORMULAS: dict[str, Callable[..., Any]] = {}


def _update(name: str, sparse: str = "") -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """An op of a formula: a function of `var`, slots, numbers and `grad`, and of attributes by
    keyword, which gives the new values of `var` and of the slots.

    sparse: the op that does the same with the rows at `indices`, an input that follows `grad`.
    """

    def declare(formula: Callable[..., Any]) -> Callable[..., Any]:
        FORMULAS[name.removeprefix("ResourceApply")] = formula
        UPDATES[name] = _op(name, formula, None)
        if sparse:
            place = list(inspect.signature(formula).parameters).index("grad") + 1
            UPDATES[sparse] = _op(sparse, formula, place)
        return formula

    return declare


def _op(name: str, formula: Callable[..., Any], place: int | None) -> Callable[..., None]:
    """place: of the indices among the inputs, if it is a sparse one."""
    parameters = inspect.signature(formula).parameters.values()
    names = [p.name for p in parameters if p.kind is not p.KEYWORD_ONLY]
    numbers = set(names) & _NUMBERS
    cells = [each for each in names if each not in numbers and each not in ("grad", "delta")]

    def compute(*values: Any, **attributes: Any) -> Any:
        if place is None:
            return tuple(formula(*values, **attributes))
        indices, given = values[place], [*values[:place], *values[place + 1 :]]
        rows = [x[indices] for x in given[: len(cells)]]
        found = formula(*rows, *given[len(cells) :], **attributes)
        return tuple([x.at[indices].set(new) for x, new in zip(values, found)])

    def check(avals: tuple[Aval, ...], **attributes: Any) -> None:
        given = list(avals)
        indices = None if place is None else given.pop(place)
        var = given[0].shape
        wanted = given[-1].dtype
        for each, aval in zip(names, given):
            if aval.dtype is not wanted:
                raise invalid(
                    "Trying to read variable with wrong dtype. Expected "
                    f"{tf_dtype_name(wanted)} got {tf_dtype_name(aval.dtype)}",
                    name,
                )
            if each in numbers and aval.shape:
                raise invalid(f"{each} is not a scalar: {shown(aval.shape)}", name)
            if each not in numbers and (each in cells or indices is None):
                _check_same(each, var, aval.shape, name)
        if indices is not None:
            _check_rows(var, given[names.index("grad")].shape, indices.shape, name)

    op = Op(compute, name, check=check)

    def call(*inputs: Any, **attributes: Any) -> None:
        handles: Sequence[Handle] = inputs[: len(cells)]
        values = [*map(current, handles), *inputs[len(cells) :]]
        if place is not None:
            refuse_rows(values[place], values[0]._aval.shape[0], name)
        found = updates.apply_off_tape(op.bind(**attributes), tuple(values))
        for handle, value in zip(handles, found):
            put_into(handle, value)

    keywords = [p for p in parameters if p.kind is p.KEYWORD_ONLY]
    call.__signature__ = inspect.Signature(keywords)  # type: ignore[attr-defined]
    return call


#: Inputs that are scalars.
_NUMBERS = frozenset(
    "alpha lr rho epsilon momentum beta1_power beta2_power beta1 beta2 "
    "l1 l2 l2_shrinkage lr_power".split()
)


def _check_same(what: str, var: Sequence[Any], other: Sequence[Any], kernel: str) -> None:
    if not fit(var, other):
        raise invalid(
            f"var and {what} do not have the same shape{shown(var)} {shown(other)}", kernel
        )


def _check_rows(
    var: Sequence[Any], grad: Sequence[Any], indices: Sequence[Any], kernel: str
) -> None:
    if not var:
        raise invalid("var must be at least 1 dimensional", kernel)
    if len(indices) != 1:
        raise invalid("indices must be one-dimensional", kernel)
    if not fit(grad[1:], var[1:]):
        raise invalid("var and grad must match in dimension 1", kernel)
    if not fit(grad[:1], indices):
        raise invalid("grad must be the same size as indices in the first dimension.", kernel)


# -- formulas ------------------------------------------------------------------------------------


@_update("ResourceApplyGradientDescent")
def _descent(var: Any, alpha: Any, delta: Any) -> Any:
    return [var - alpha * delta]


def _proximal(x: Any, rate: Any, l1: Any, l2: Any) -> Any:
    """x moved towards 0 by the two penalties."""
    return jnp.sign(x) * jnp.maximum(jnp.abs(x) - rate * l1, 0) / (1 + rate * l2)


@_update("ResourceApplyProximalGradientDescent", "ResourceSparseApplyProximalGradientDescent")
def _proximal_descent(var: Any, alpha: Any, l1: Any, l2: Any, grad: Any) -> Any:
    return [_proximal(var - alpha * grad, alpha, l1, l2)]


@_update("ResourceApplyMomentum", "ResourceSparseApplyMomentum")
def _momentum(
    var: Any, accum: Any, lr: Any, grad: Any, momentum: Any, *, use_nesterov: bool = False
) -> Any:
    accum = accum * momentum + grad
    step = grad * lr + accum * momentum * lr if use_nesterov else accum * lr
    return var - step, accum


@_update("ResourceApplyKerasMomentum", "ResourceSparseApplyKerasMomentum")
def _keras_momentum(
    var: Any, accum: Any, lr: Any, grad: Any, momentum: Any, *, use_nesterov: bool = False
) -> Any:
    accum = accum * momentum - grad * lr
    return var + (accum * momentum - grad * lr if use_nesterov else accum), accum


@_update("ResourceApplyAdagrad", "ResourceSparseApplyAdagrad")
def _adagrad(var: Any, accum: Any, lr: Any, grad: Any, *, update_slots: bool = True) -> Any:
    accum = accum + grad * grad if update_slots else accum
    return var - grad * lr / jnp.sqrt(accum), accum


@_update("ResourceApplyProximalAdagrad", "ResourceSparseApplyProximalAdagrad")
def _proximal_adagrad(var: Any, accum: Any, lr: Any, l1: Any, l2: Any, grad: Any) -> Any:
    accum = accum + grad * grad
    rate = lr / jnp.sqrt(accum)
    return _proximal(var - grad * rate, rate, l1, l2), accum


@_update("ResourceApplyAdagradV2", "ResourceSparseApplyAdagradV2")
def _adagrad_v2(
    var: Any, accum: Any, lr: Any, epsilon: Any, grad: Any, *, update_slots: bool = True
) -> Any:
    accum = accum + grad * grad if update_slots else accum
    return var - grad * lr / (jnp.sqrt(accum) + epsilon), accum


@_update("ResourceApplyAdadelta", "ResourceSparseApplyAdadelta")
def _adadelta(
    var: Any, accum: Any, accum_update: Any, lr: Any, rho: Any, epsilon: Any, grad: Any
) -> Any:
    accum = accum * rho + grad * grad * (1 - rho)
    update = jnp.sqrt(accum_update + epsilon) / jnp.sqrt(accum + epsilon) * grad
    return var - update * lr, accum, accum_update * rho + update * update * (1 - rho)


@_update("ResourceApplyRMSProp", "ResourceSparseApplyRMSProp")
def _rms_prop(
    var: Any, ms: Any, mom: Any, lr: Any, rho: Any, momentum: Any, epsilon: Any, grad: Any
) -> Any:
    ms = ms + (grad * grad - ms) * (1 - rho)
    mom = mom * momentum + grad * lr / jnp.sqrt(ms + epsilon)
    return var - mom, ms, mom


@_update("ResourceApplyCenteredRMSProp", "ResourceSparseApplyCenteredRMSProp")
def _centered_rms_prop(
    var: Any, mg: Any, ms: Any, mom: Any, lr: Any, rho: Any, momentum: Any, epsilon: Any, grad: Any
) -> Any:
    ms = ms + (grad * grad - ms) * (1 - rho)
    mg = mg + (grad - mg) * (1 - rho)
    mom = mom * momentum + grad * lr / jnp.sqrt(ms - mg * mg + epsilon)
    return var - mom, mg, ms, mom


def _moments(m: Any, v: Any, beta1: Any, beta2: Any, grad: Any) -> tuple[Any, Any]:
    return m + (grad - m) * (1 - beta1), v + (grad * grad - v) * (1 - beta2)


@_update("ResourceApplyAdam")
def _adam(
    var: Any,
    m: Any,
    v: Any,
    beta1_power: Any,
    beta2_power: Any,
    lr: Any,
    beta1: Any,
    beta2: Any,
    epsilon: Any,
    grad: Any,
    *,
    use_nesterov: bool = False,
) -> Any:
    rate = lr * jnp.sqrt(1 - beta2_power) / (1 - beta1_power)
    m, v = _moments(m, v, beta1, beta2, grad)
    step = m * beta1 + (1 - beta1) * grad if use_nesterov else m
    return var - step * rate / (jnp.sqrt(v) + epsilon), m, v


@_update("ResourceApplyAdamWithAmsgrad")
def _adam_with_amsgrad(
    var: Any,
    m: Any,
    v: Any,
    vhat: Any,
    beta1_power: Any,
    beta2_power: Any,
    lr: Any,
    beta1: Any,
    beta2: Any,
    epsilon: Any,
    grad: Any,
) -> Any:
    rate = lr * jnp.sqrt(1 - beta2_power) / (1 - beta1_power)
    m, v = _moments(m, v, beta1, beta2, grad)
    vhat = jnp.maximum(vhat, v)
    return var - m * rate / (jnp.sqrt(vhat) + epsilon), m, v, vhat


@_update("ResourceApplyAdaMax")
def _ada_max(
    var: Any,
    m: Any,
    v: Any,
    beta1_power: Any,
    lr: Any,
    beta1: Any,
    beta2: Any,
    epsilon: Any,
    grad: Any,
) -> Any:
    m = m + (grad - m) * (1 - beta1)
    v = jnp.maximum(beta2 * v, jnp.abs(grad))
    return var - lr / (1 - beta1_power) * m / (v + epsilon), m, v


@_update("ResourceApplyFtrl", "ResourceSparseApplyFtrl")
def _ftrl(
    var: Any,
    accum: Any,
    linear: Any,
    grad: Any,
    lr: Any,
    l1: Any,
    l2: Any,
    lr_power: Any,
    *,
    multiply_linear_by_lr: bool = False,
) -> Any:
    return _ftrl_step(var, accum, linear, grad, grad, lr, l1, l2, lr_power, multiply_linear_by_lr)


@_update("ResourceApplyFtrlV2", "ResourceSparseApplyFtrlV2")
def _ftrl_v2(
    var: Any,
    accum: Any,
    linear: Any,
    grad: Any,
    lr: Any,
    l1: Any,
    l2: Any,
    l2_shrinkage: Any,
    lr_power: Any,
    *,
    multiply_linear_by_lr: bool = False,
) -> Any:
    shrunk = grad + 2 * l2_shrinkage * var
    return _ftrl_step(var, accum, linear, grad, shrunk, lr, l1, l2, lr_power, multiply_linear_by_lr)


def _ftrl_step(
    var: Any,
    accum: Any,
    linear: Any,
    grad: Any,
    shrunk: Any,
    lr: Any,
    l1: Any,
    l2: Any,
    lr_power: Any,
    by_rate: bool,
) -> Any:
    """by_rate: `linear` is kept multiplied by the rate, which may then be 0."""
    new = accum + grad * grad
    change = new**-lr_power - accum**-lr_power
    if by_rate:
        linear = linear + shrunk * lr - change * var
        most, quadratic = l1 * lr, new**-lr_power + 2 * l2 * lr
    else:
        linear = linear + shrunk - change / lr * var
        most, quadratic = l1, new**-lr_power / lr + 2 * l2
    var = (jnp.clip(linear, -most, most) - linear) / quadratic
    return var, new, linear


# -- values and rows -----------------------------------------------------------------------------


def _check_dtype(resource: Handle, value: Tensor, kernel: str) -> None:
    if value.dtype is not resource.dtype:
        raise invalid(
            "Trying to assign variable with wrong dtype. Expected "
            f"{tf_dtype_name(resource.dtype)} got {tf_dtype_name(value.dtype)}",
            kernel,
        )


def _assign(resource: Handle, value: Tensor) -> None:
    _check_dtype(resource, value, "AssignVariableOp")
    put_into(resource, same_value(value, next_id()))


def _changed(closure: Closure, resource: Handle, value: Tensor) -> None:
    _check_dtype(resource, value, closure.name)
    held = current(resource)
    _check_same("value", held._aval.shape, value._aval.shape, closure.name)
    put_into(resource, updates.apply_off_tape(closure, (held, value)))


def _scattered(
    closure: Closure,
    refuse: Callable[..., None],
    resource: Handle,
    indices: Tensor,
    values: Tensor,
) -> None:
    _check_dtype(resource, values, closure.name)
    held = current(resource)
    shape = held._aval.shape
    refuse(indices, shape[0] if refuse is refuse_rows else shape, closure.name)
    put_into(resource, updates.apply_off_tape(closure, (held, indices, values)))


UPDATES["AssignVariableOp"] = _assign
for _closure in (updates.ADD, updates.SUB):
    UPDATES[_closure.name] = functools.partial(_changed, _closure)
for _closures, _refuse in (
    (updates.SCATTER, refuse_rows),
    (updates.SCATTER_ND, refuse_positions),
):
    for _closure in _closures.values():
        UPDATES[_closure.name] = functools.partial(_scattered, _closure, _refuse)
