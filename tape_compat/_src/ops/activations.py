"""Activations."""

from __future__ import annotations

import math as _math
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from ..core.avals import Aval
from ..core.op import Op
from ..values.convert import convert
from ..values.dispatch import maps_composites
from ..values.record import apply, apply_scalar
from ..values.tensor import Tensor
from . import rules
from .casting import cast
from .checks import REAL, check_dtypes
from .declare import Number, is_number, name_ops, op, static


@op(arrays=1, kernel="Relu", dtypes=REAL, masks=True)
def relu(features, name=None):
    """Larger of x and 0. The gradient at 0 is 0.

    >>> import tape_compat as tf
    >>> tf.nn.relu([-1.0, 2.0]).numpy().tolist()
    [0.0, 2.0]
    """
    return rules.relu(features)


@op(arrays=1, kernel="Relu6", dtypes=REAL, masks=True)
def relu6(features, name=None):
    """x held between 0 and 6.

    >>> import tape_compat as tf
    >>> tf.nn.relu6([-1.0, 2.0, 8.0]).numpy().tolist()
    [0.0, 2.0, 6.0]
    """
    return rules.relu6(features)


_LEAKY_RELU = Op(
    rules.leaky_relu, "LeakyRelu", check=check_dtypes("LeakyRelu", "float"), masks=True
).bind()


@maps_composites
def leaky_relu(features: Any, alpha: Number = 0.2, name: str | None = None) -> Tensor:
    """x where it is positive, alpha * x elsewhere. Integers give float32.

    >>> import tape_compat as tf
    >>> tf.nn.leaky_relu([-1.0, 2.0]).numpy().round(6).tolist()
    [-0.20000000298023224, 2.0]
    """
    if features.__class__ is not Tensor:
        features = convert(features)
    if features._aval.dtype.is_integer:
        features = apply(_TO_FLOAT, (features,))
    if alpha is None or is_number(alpha, 0.2) or not features._aval.floating:
        return apply(_LEAKY_RELU, (features,))
    return apply_scalar(_LEAKY_RELU, features, float(np.float32(static(alpha))), False)


_TO_FLOAT = Op(lambda x: x.astype(jnp.float32), "Cast").bind()


@op(arrays=1, kernel="Elu", dtypes="float")
def elu(features, name=None):
    """x where it is positive, exp(x) - 1 elsewhere.

    >>> import tape_compat as tf
    >>> tf.nn.elu([-100.0, 2.0]).numpy().tolist()
    [-1.0, 2.0]
    """
    return rules.elu(features)


@op(arrays=1, kernel="Selu", dtypes="float")
def selu(features, name=None):
    """The scaled `elu` that keeps mean 0 and variance 1 from layer to layer.

    >>> import tape_compat as tf
    >>> float(tf.nn.selu(0.0))
    0.0
    """
    return rules.selu(features)


#: TensorFlow's constants are float32 in every dtype.
_CUBE = float(np.float32(0.044715))
_ROOT_HALF = float(np.float32(_math.sqrt(0.5)))


def _gelu(x: Any, approximate: bool) -> Any:
    if approximate:
        inner = _math.sqrt(2.0 / _math.pi) * (x + _CUBE * x * x * x)
        return 0.5 * x * (1 + jnp.tanh(inner))
    return 0.5 * x * (1 + lax.erf(x * jnp.asarray(_ROOT_HALF, x.dtype)))


def _check_gelu(avals: tuple[Aval, ...], **_: Any) -> None:
    if not avals[0].dtype.is_floating:
        raise ValueError(
            "`features.dtype` must be a floating point tensor."
            f"Received:features.dtype={avals[0].dtype!s}"
        )


_GELU_OP = Op(_gelu, "Gelu", check=_check_gelu)
_GELU = _GELU_OP.bind(approximate=False)
_GELU_BY_TANH = _GELU_OP.bind(approximate=True)


@maps_composites
def gelu(features: Any, approximate: bool = False, name: str | None = None) -> Tensor:
    """x times the normal distribution function of x; with tanh if `approximate`.

    Raises: ValueError unless `features` is of a floating dtype.

    >>> import tape_compat as tf
    >>> float(tf.nn.gelu(0.0))
    0.0
    """
    if features.__class__ is not Tensor:
        features = convert(features)
    return apply(_GELU_BY_TANH if approximate else _GELU, (features,))


def _silu(x: Any, *beta: Any) -> Any:
    return x * lax.logistic(x * beta[0] if beta else x)


_SILU = Op(_silu, "Sigmoid", check=check_dtypes("Sigmoid", "float complex")).bind()


@maps_composites
def silu(features: Any, beta: Number = 1.0) -> Tensor:
    """x * sigmoid(beta * x); `beta` may be a tensor.

    >>> import tape_compat as tf
    >>> float(tf.nn.silu(0.0))
    0.0
    """
    if features.__class__ is not Tensor:
        features = convert(features)
    if is_number(beta, 1) or not features._aval.trainable:
        return apply(_SILU, (features,))
    return apply(_SILU, (features, cast(convert(beta), features.dtype)))


swish = silu


@op(arrays=1, kernel="Relu", dtypes=REAL, masks=True)
def crelu(features, axis=-1, name=None):
    """relu of x and relu of -x, joined along `axis`.

    >>> import tape_compat as tf
    >>> tf.nn.crelu([-1.0, 2.0]).numpy().tolist()
    [0.0, 2.0, 1.0, 0.0]
    """
    return rules.relu(jnp.concatenate([features, -features], axis))


name_ops(globals())
