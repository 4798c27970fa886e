"""Writes optimizers.json: steps of Keras 3's optimizers and schedules on TensorFlow.

python -m tests.goldens.make_optimizers
"""

import json
import pathlib

import numpy as np

from tests.oracle import tensorflow

METHODS = [
    ("SGD", {}),
    ("SGD", {"learning_rate": 0.2, "momentum": 0.9}),
    ("SGD", {"learning_rate": 0.2, "momentum": 0.9, "nesterov": True}),
    ("SGD", {"clipnorm": 0.5}),
    ("SGD", {"clipvalue": 0.3}),
    ("SGD", {"global_clipnorm": 0.4}),
    ("SGD", {"learning_rate": 0.2, "weight_decay": 0.1}),
    ("Adam", {}),
    ("Adam", {"learning_rate": 0.1, "beta_1": 0.5, "beta_2": 0.9, "epsilon": 1e-3}),
    ("Adam", {"learning_rate": 0.1, "amsgrad": True}),
    ("Adam", {"learning_rate": 0.1, "clipnorm": 0.5, "weight_decay": 0.1}),
    ("Adam", {"learning_rate": 0.1, "clipvalue": 0.3}),
    ("Adam", {"learning_rate": 0.1, "global_clipnorm": 0.4}),
    ("RMSprop", {}),
    ("RMSprop", {"learning_rate": 0.01, "rho": 0.8, "momentum": 0.9, "epsilon": 1e-3}),
    ("RMSprop", {"learning_rate": 0.01, "centered": True}),
    ("RMSprop", {"learning_rate": 0.01, "centered": True, "momentum": 0.5}),
    ("Adagrad", {}),
    ("Adagrad", {"learning_rate": 0.5, "initial_accumulator_value": 0.2, "epsilon": 1e-3}),
    ("Adagrad", {"learning_rate": 0.5, "clipnorm": 0.5, "weight_decay": 0.1}),
    ("AdamW", {"learning_rate": 0.1}),
    ("AdamW", {"learning_rate": 0.1, "weight_decay": 0.1, "amsgrad": True}),
    ("Adamax", {}),
    ("Adamax", {"learning_rate": 0.1, "beta_1": 0.5, "beta_2": 0.9, "epsilon": 1e-3}),
    ("Nadam", {}),
    ("Nadam", {"learning_rate": 0.1, "beta_1": 0.5, "beta_2": 0.9, "epsilon": 1e-3}),
    ("Lamb", {}),
    ("Lamb", {"learning_rate": 0.1, "beta_1": 0.5, "beta_2": 0.9, "epsilon": 1e-3}),
    ("Lion", {}),
    ("Lion", {"learning_rate": 0.01, "beta_1": 0.5, "beta_2": 0.9}),
    ("Adadelta", {}),
    ("Adadelta", {"learning_rate": 1.0, "rho": 0.8, "epsilon": 1e-3}),
    ("Ftrl", {}),
    (
        "Ftrl",
        {
            "learning_rate": 0.1,
            "learning_rate_power": -0.4,
            "initial_accumulator_value": 0.2,
            "l1_regularization_strength": 0.05,
            "l2_regularization_strength": 0.1,
            "l2_shrinkage_regularization_strength": 0.2,
            "beta": 0.3,
        },
    ),
]

SCHEDULES = [
    ("ExponentialDecay", [0.1, 4, 0.5], {}),
    ("ExponentialDecay", [0.1, 4, 0.5], {"staircase": True}),
    ("InverseTimeDecay", [0.1, 4, 0.5], {}),
    ("InverseTimeDecay", [0.1, 4, 0.5], {"staircase": True}),
    ("PiecewiseConstantDecay", [[2, 7], [0.3, 0.2, 0.1]], {}),
    ("PiecewiseConstantDecay", [[5], [0.3, 0.2]], {}),
    ("PolynomialDecay", [0.1, 5], {}),
    ("PolynomialDecay", [0.1, 5, 0.01, 2.0], {}),
    ("PolynomialDecay", [0.1, 5, 0.01, 0.5], {"cycle": True}),
    ("CosineDecay", [0.1, 6], {}),
    ("CosineDecay", [0.1, 6], {"alpha": 0.2}),
    ("CosineDecay", [0.01, 6], {"alpha": 0.2, "warmup_target": 0.1, "warmup_steps": 3}),
    ("CosineDecay", [0.01, 6], {"warmup_target": 0.1}),
    ("CosineDecayRestarts", [0.1, 3], {}),
    ("CosineDecayRestarts", [0.1, 3], {"t_mul": 1.0, "m_mul": 0.9}),
    ("CosineDecayRestarts", [0.1, 2], {"t_mul": 1.5, "m_mul": 0.5, "alpha": 0.1}),
]

STEPS = 20
INITIAL = [[1.0, -2.0], [0.5, 3.0], [-1.5, 0.25]]
INDICES = [2, 0, 2]  # a row twice, a row never


def gradient(step: int) -> np.ndarray:
    """Three rows, for the dense gradient and for the rows at INDICES."""
    return np.round(np.sin(np.arange(6).reshape(3, 2) * 1.3 + step * 0.7), 3)


def twenty_steps(tf, method, settings, dtype, rows):
    optimizer = getattr(tf.keras.optimizers, method)(**settings)
    variable = tf.Variable(np.array(INITIAL, dtype))
    for step in range(STEPS):
        values = tf.constant(gradient(step).astype(dtype))
        indices, shape = tf.constant(INDICES), tf.constant([3, 2])
        given = tf.IndexedSlices(values, indices, shape) if rows else values
        optimizer.apply_gradients([(given, variable)])
    slots = {v.name.split("_0_")[1]: v for v in optimizer.variables if "_0_" in v.name}
    return {
        "method": method,
        "settings": settings,
        "dtype": dtype,
        "rows": rows,
        "value": variable.numpy().tolist(),
        "slots": {name: slot.numpy().tolist() for name, slot in slots.items()},
    }


def schedule_values(tf, name, arguments, options):
    schedule = getattr(tf.keras.optimizers.schedules, name)(*arguments, **options)
    values = [float(schedule(tf.constant(step, tf.int64))) for step in range(12)]
    return {"name": name, "arguments": arguments, "options": options, "values": values}


def main() -> None:
    tf = tensorflow()
    parts = {
        "steps": [
            twenty_steps(tf, method, settings, dtype, rows)
            for method, settings in METHODS
            for dtype in ("float32", "float64")
            for rows in (False, True)
        ],
        "schedules": [schedule_values(tf, *row) for row in SCHEDULES],
    }
    head = {
        "tensorflow": tf.__version__,
        "keras": tf.keras.__version__,
        "initial": INITIAL,
        "indices": INDICES,
        "gradients": [gradient(step).tolist() for step in range(STEPS)],
    }
    lines = [f"  {json.dumps(key)}: {json.dumps(value)}" for key, value in head.items()]
    for key, rows in parts.items():
        body = ",\n".join(f"    {json.dumps(row)}" for row in rows)
        lines.append(f"  {json.dumps(key)}: [\n{body}\n  ]")
    path = pathlib.Path(__file__).with_name("optimizers.json")
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main()
