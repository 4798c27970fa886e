"""The loops that `benchmarks.host_loops` times."""

import pytest

import tape_compat as tf
from benchmarks.host_loops import loops

SHAPES = {
    "growing": [3],
    "beam": [4, 4],
    "decoder": [3],
    "over_dataset": [8],
    "python": [],
    "masked": [],
}


@pytest.mark.parametrize("name", loops(tf))
def test_a_loop_is_recorded_once_and_gives_what_its_name_says(name):
    function = tf.function(loops(tf)[name])
    for _ in range(3):
        assert function(tf.constant(3)).shape.as_list() == SHAPES[name]
    assert function.experimental_get_tracing_count() <= 2  # Python shows what a call gives first
