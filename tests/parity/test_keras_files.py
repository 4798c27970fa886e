"""Files of Keras models that were saved on us, loaded on TensorFlow."""

from importlib.util import find_spec

import pytest

from tests.keras_suite.test_exchange import assert_same, said
from tests.parity import store

pytestmark = pytest.mark.skipif(
    not store.installed() or find_spec("keras") is None,
    reason="tensorflow, the oracle, or Keras is not installed",
)


def test_files_of_ours_are_loaded_on_tensorflow(tmp_path):
    (saved,) = said(["save", str(tmp_path)])
    (loaded,) = said(["load", str(tmp_path)], on_tensorflow=True)
    assert_same(loaded, saved)
