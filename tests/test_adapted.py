"""What is done otherwise in modules of libraries."""

import types

import tape_compat as tf
from tape_compat._src.standin.adapted import of_cpus, one_unrolled_lstm

_NAME = "tensorflow_probability.python.internal.implementation_selection"


def test_samplers_run_as_python_and_choose_by_tape():
    selection = types.ModuleType(_NAME)
    of_cpus(selection)

    def drawn(name):
        @selection.never_runs_functions_eagerly
        @tf.function(autograph=False)
        def draw(shape, rate):
            choose = selection.implementation_selecting(
                name, lambda **given: "default", lambda **given: "cpu"
            )
            return choose(shape=tf.zeros(shape), rate=rate)

        return draw

    rate, shape = tf.Variable(1.0), tf.constant([2, 3])
    assert drawn("gamma")(shape, rate)[0] == "cpu"
    with tf.GradientTape():
        assert drawn("gamma")(shape, tf.constant(1.0))[0] == "cpu"
        assert drawn("poisson")(shape, rate * 1.0)[0] == "cpu"
        name, runtime = drawn("gamma")(shape, rate * 1.0)
    assert (name, runtime.numpy()) == ("default", 1.0)
    seen = []

    @tf.function
    def recorded():
        with tf.GradientTape():
            seen.append(drawn("gamma")([2], rate * 1.0)[0])

    recorded()
    assert seen == ["cpu"]


def test_samplers_that_are_compiled_are_left_as_they_are():
    selection = types.ModuleType(_NAME)
    of_cpus(selection)
    function = tf.function(lambda x: x, jit_compile=True)
    assert selection.never_runs_functions_eagerly(function) is function


def test_an_unrolled_lstm_is_that_of_cpus():
    recurrent = types.ModuleType("sonnet.src.recurrent")
    recurrent._unrolled_lstm_impls = {"GPU": lambda: "cuDNN", "CPU": lambda: "block"}
    recurrent._specialized_unrolled_lstm = None
    one_unrolled_lstm(recurrent)
    assert recurrent._specialized_unrolled_lstm() == "block"
