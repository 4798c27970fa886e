"""TensorFlow as the oracle: imported in one place, with the same kernels on every processor."""

import importlib
import os
import warnings
from typing import Any

#: oneDNN's kernels, which TensorFlow takes on processors with newer vector instructions, raise
#: other errors (`_MklMatMul`, AbortedError) than its own.
SETTINGS = {"TF_ENABLE_ONEDNN_OPTS": "0", "TF_CPP_MIN_LOG_LEVEL": "3"}


def tensorflow() -> Any:
    """The module, imported with `SETTINGS`, which it reads when it is first imported."""
    os.environ.update(SETTINGS)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return importlib.import_module("tensorflow")
