"""Rows of `ops/activations.py`."""

from typing import Any

import numpy as np
import scipy.special as sp

from .row import FINITE, Row, normal, unary

_GELU_CUBE = float(np.float32(0.044715))


def _gelu(x: Any, approximate: bool = False) -> Any:
    if approximate:
        return 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + _GELU_CUBE * x**3)))
    return 0.5 * x * (1 + sp.erf(x * float(np.float32(np.sqrt(0.5)))))


ROWS = [
    unary("nn.relu", lambda x: np.maximum(x, 0)),
    unary("nn.relu6", lambda x: np.clip(x, 0, 6)),
    unary("nn.leaky_relu", lambda x: np.where(x > 0, x, float(np.float32(0.2)) * x)),
    Row(
        "nn.leaky_relu",
        [np.array([[1.5, -0.5], [-2.0, 0.25]])],
        lambda x: np.where(x > 0, x, float(np.float32(0.3)) * x),
        program=lambda tf, x: tf.nn.leaky_relu(x, 0.3),
        label="alpha",
    ),
    unary("nn.elu", lambda x: np.where(x > 0, x, np.expm1(x))),
    unary(
        "nn.selu",
        lambda x: 1.0507009873554805 * np.where(x > 0, x, 1.6732632423543772 * np.expm1(x)),
    ),
    unary("nn.gelu", _gelu, special=FINITE),
    unary("nn.gelu", _gelu, options={"approximate": True}, special=FINITE, label="approximate"),
    unary("nn.silu", lambda x: x * sp.expit(x), special=FINITE),
    Row("nn.crelu", [normal(2, 3)], lambda x: np.maximum(np.concatenate([x, -x], -1), 0)),
]
