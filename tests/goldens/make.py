"""Writes `special.json`: what TensorFlow gives at the special points of `tests/ops`.

    python -m tests.goldens.make

The tests that read the file never need TensorFlow. Numbers that JSON does not have are strings.
"""

import json
from pathlib import Path
from typing import Any

import numpy as np

from tests.ops import ROWS
from tests.ops.row import Row
from tests.oracle import tensorflow

HERE = Path(__file__).parent


def numbers(tensor: Any) -> list[Any] | None:
    """A vector as JSON: floats, and strings for what is not finite."""
    if tensor is None:
        return None
    return [x if np.isfinite(x) else str(x) for x in np.asarray(tensor, np.float64).tolist()]


def golden(tf: Any, row: Row) -> dict[str, Any]:
    arguments = [tf.constant(x) for x in row.points()]
    with tf.GradientTape() as tape:
        tape.watch(arguments)
        value = row.at_points(tf, arguments)
    gradients = tape.gradient(value, arguments)
    return {"value": numbers(value), "gradients": [numbers(g) for g in gradients]}


def main() -> None:
    tf = tensorflow()
    rows = {row.id: golden(tf, row) for row in ROWS if row.special}
    lines = ",\n".join(f"{json.dumps(name)}: {json.dumps(rows[name])}" for name in sorted(rows))
    text = f'{{"tensorflow": "{tf.__version__}", "rows": {{\n{lines}\n}}}}\n'
    (HERE / "special.json").write_text(text)
    print(f"{len(rows)} rows, {len(text)} bytes")


if __name__ == "__main__":
    main()
