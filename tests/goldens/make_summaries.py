"""Writes `summaries.json`: the events that TensorFlow and TensorBoard write for some calls.

    python -m tests.goldens.make_summaries

TensorBoard must be installed, for `tf.summary.scalar` and its like come from there.
"""

import base64
import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from tests.oracle import tensorflow

FILE = Path(__file__).with_name("summaries.json")

_RANDOM = np.random.default_rng(0)
_VALUES = _RANDOM.normal(size=[40]).astype(np.float32)
_PIXELS = _RANDOM.integers(0, 256, [4, 3, 2, 3], np.uint8)
_FLOATS = np.linspace(-0.5, 1.5, 12, dtype=np.float32).reshape(1, 3, 4, 1)
_SOUND = np.linspace(-1.2, 1.2, 12, dtype=np.float32).reshape(2, 3, 2)

#: The name of the function, and its arguments.
CALLS: dict[str, tuple[str, tuple[Any, ...], dict[str, Any]]] = {
    "scalar": ("scalar", (0.5,), {}),
    "scalar of an int": ("scalar", (3,), {"description": "**of three**"}),
    "scalar of a double": ("scalar", (np.float64(1 / 3),), {}),
    "scalar of a bool": ("scalar", (True,), {}),
    "text": ("text", ("hello",), {}),
    "texts": ("text", ([["a", "b"], ["c", "d"]],), {"description": "table"}),
    "histogram": ("histogram", (_VALUES,), {}),
    "histogram of ints": ("histogram", (np.arange(100).reshape(4, 25),), {"buckets": 7}),
    "histogram of equals": ("histogram", ([2.0, 2.0, 2.0],), {"buckets": 3}),
    "histogram of none": ("histogram", (np.zeros([0, 3]),), {"buckets": 2}),
    "no buckets": ("histogram", (_VALUES,), {"buckets": 0}),
    "fewer than no buckets": ("histogram", (_VALUES,), {"buckets": -1}),
    "histogram of bools": ("histogram", ([True, False, True],), {"buckets": 2}),
    "histogram with nan": ("histogram", ([1.0, float("nan"), 3.0],), {"buckets": 2}),
    "histogram with infinity": ("histogram", ([1.0, float("inf"), 3.0],), {"buckets": 2}),
    "image": ("image", (_PIXELS,), {}),
    "image of floats": ("image", (_FLOATS,), {"max_outputs": 1, "description": "ramp"}),
    "no image": ("image", (_PIXELS,), {"max_outputs": 0}),
    "audio": ("audio", (_SOUND, 8000), {}),
    "first sound": ("audio", (_SOUND, 8000), {"max_outputs": 1, "encoding": "wav"}),
    "no sound": ("audio", (_SOUND[:0], 8000), {}),
}


def written(tf: Any, name: str) -> bytes:
    """The event of a call, without its time."""
    function, args, kwargs = CALLS[name]
    with TemporaryDirectory() as folder:
        writer = tf.summary.create_file_writer(folder)
        with writer.as_default(step=3), tf.name_scope("scope"):
            getattr(tf.summary, function)("a tag", *args, **kwargs)
        writer.close()
        (path,) = Path(folder).iterdir()
        records = tf.data.TFRecordDataset(str(path)).as_numpy_iterator()
        return list(records)[1][9:]


def main() -> None:
    found = {name: base64.b64encode(written(tensorflow(), name)).decode() for name in CALLS}
    FILE.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
