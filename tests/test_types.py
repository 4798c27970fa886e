"""What an editor and a type checker see of the ops: parameter names, and what they give."""

import json
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent

#: Lines of a user's file, and a pattern of what pyright says of each ("" for nothing). It spells
#: the alias `TensorLike` out; an editor does not.
LINES = [
    ("import tape_compat as tf", ""),
    ("v = tf.Variable([1.0])", ""),
    (
        "reveal_type(tf.sin.__call__)",
        r'.* is "\(x: Tensor \| Variable \|[^:]*, name: str \| None = None\) -> Tensor"',
    ),
    (
        "reveal_type(tf.math.maximum.__call__)",
        r'.* is "\(x: Tensor \|[^:]*, y: Tensor \|[^:]*, name: str \| None = None\) -> Tensor"',
    ),
    ("reveal_type(tf.math.sin(v))", r'.* is "Tensor"'),
    ("tf.add(v, [1.0, tf.constant(2.0)], name='sum')", ""),
    ("tf.sin(3), tf.sin([[1.0]]), tf.sin(v.numpy()), tf.sin(x=tf.zeros([2]))", ""),
    ("reveal_type(tf.reduce_sum(v, axis=0))", r'.* is "Tensor"'),
    ("tf.config.experimental, tf.optimizers.schedules, tf.math.special.bessel_i0", ""),
    ("tf.sin(v, nam='s')", 'No parameter named "nam"'),
    ("tf.reduce_sum(v, axes=0)", 'No parameter named "axes"'),
    # Some versions of NumPy's ArrayLike take any object, so not `x`.
    ("tf.sin(v, 3)", 'Argument of type "Literal\\[3\\]" cannot be assigned to parameter "name"'),
    ("tf.lite", '"lite" is not a known attribute of module "tape_compat"'),
]


@pytest.mark.skipif(find_spec("pyright") is None, reason="pyright is not installed")
def test_types_of_ops(tmp_path):
    file = tmp_path / "users.py"
    file.write_text("\n".join(line for line, _ in LINES) + "\n")
    found = subprocess.run(
        [sys.executable, "-m", "pyright", "--outputjson", "--pythonpath", sys.executable, file],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    said = {}
    for message in json.loads(found.stdout)["generalDiagnostics"]:
        if message.get("rule") != "reportUnusedExpression":
            said.setdefault(message["range"]["start"]["line"], message["message"])
    for number, (line, expected) in enumerate(LINES):
        got = said.get(number, "")
        assert re.match(expected or "$", got, re.DOTALL), f"{line}: {got!r}"
