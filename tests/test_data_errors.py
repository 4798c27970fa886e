"""Errors, interrupts, threads and forks in pipelines."""

import gc
import inspect
import os
import signal
import threading
import time
import warnings

import numpy as np
import pytest

import tape_compat as tf

Dataset = tf.data.Dataset
NUMBERS = Dataset.range(5)
NUMBER = tf.TensorSpec([], tf.int64)


def checked(x):
    return tf.debugging.check_numerics(1.0 / tf.cast(x - 2, tf.float32), "no number")


def divided(x):
    return tf.numpy_function(lambda v: np.int64(6 // (v - 2) if v != 2 else 1 // 0), [x], tf.int64)


def generated(fail):
    def generate():
        for i in range(5):
            yield fail(i) if i == 2 else i

    return Dataset.from_generator(generate, output_signature=NUMBER)


def refuse(i):
    raise ValueError("no more")


FAILING = {
    "map": lambda: NUMBERS.map(checked),
    "batch": lambda: NUMBERS.map(checked).batch(4),
    "parallel": lambda: NUMBERS.map(checked, num_parallel_calls=2),
    "prefetch": lambda: NUMBERS.map(checked).prefetch(2),
    "python": lambda: NUMBERS.map(divided),
    "python in parallel": lambda: NUMBERS.map(divided, num_parallel_calls=4),
    "filter": lambda: NUMBERS.filter(lambda x: checked(x) < 9),
    "flat_map": lambda: NUMBERS.flat_map(lambda x: Dataset.from_tensors(checked(x))),
    "interleave": lambda: NUMBERS.interleave(lambda x: Dataset.from_tensors(checked(x))),
    "take_while": lambda: NUMBERS.take_while(lambda x: checked(x) < 9),
    "scan": lambda: NUMBERS.scan(0.0, lambda state, x: (state, checked(x))),
    "generator": lambda: generated(refuse),
    "generated text": lambda: generated(str),
}


@pytest.mark.parametrize("kind", FAILING)
def test_an_error_has_the_element_and_the_line(kind):
    line = inspect.getsourcelines(FAILING[kind])[1]
    if "generat" in kind:
        line = inspect.getsourcelines(generated)[1] + 5
    place = rf"element 2 of Dataset\.\w+\(\) at test_data_errors\.py:{line}\b"
    with pytest.raises(tf.errors.OpError, match=place):
        list(FAILING[kind]())


@pytest.mark.parametrize("ahead", [0, 2])
@pytest.mark.parametrize("parallel", [None, 3])
def test_an_interrupt_comes_through_and_the_pipeline_runs_again(ahead, parallel):
    interrupted = [True]

    def work(v):
        time.sleep(0.001)
        if v == 8 and interrupted:
            interrupted.pop()
            raise KeyboardInterrupt
        return v

    dataset = Dataset.range(12).map(
        lambda x: tf.numpy_function(work, [x], tf.int64), num_parallel_calls=parallel
    )
    dataset = dataset.prefetch(ahead)
    with pytest.raises(KeyboardInterrupt):
        list(dataset)
    assert [int(x) for x in dataset] == list(range(12))


def test_threads_of_parallel_maps_end_with_their_iterators():
    def wait(v):
        time.sleep(0.001)
        return v

    dataset = Dataset.range(1000).map(
        lambda x: tf.numpy_function(wait, [x], tf.int64), num_parallel_calls=3
    )
    for _ in range(5):
        iterator = iter(dataset)
        for _ in range(6):
            next(iterator)
    del iterator
    gc.collect()
    end = time.monotonic() + 60
    while any(t.name.startswith("tape_compat") for t in threading.enumerate()):
        assert time.monotonic() < end
        time.sleep(0.01)


def in_child(function):
    """What a function gives, or its error, in a forked process."""
    read, write = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        child = os.fork()
    if not child:
        signal.alarm(20)
        try:
            found = str(function())
        except BaseException as error:
            found = f"{type(error).__name__}: {error}"
        os.write(write, found.encode())
        os._exit(0)
    os.close(write)
    with open(read, "rb") as file:
        found = file.read().decode()
    os.waitpid(child, 0)
    return found


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_iterators_with_threads_refuse_to_go_on_in_a_forked_process():
    def wait(v):
        time.sleep(0.001)
        return v

    mapped = Dataset.range(50).map(
        lambda x: tf.numpy_function(wait, [x], tf.int64), num_parallel_calls=3
    )
    for dataset in (Dataset.range(50).batch(2).prefetch(2), mapped):
        iterator = iter(dataset)
        for _ in range(6):
            next(iterator)
        found = in_child(lambda iterator=iterator: next(iterator))
        assert found.startswith("RuntimeError: This process was forked from the one in which this")
        next(iterator)
    again = in_child(
        lambda: [x.tolist() for x in Dataset.range(3).batch(2).prefetch(1).as_numpy_iterator()]
    )
    assert again == "[[0, 1], [2]]"
