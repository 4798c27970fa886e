"""`tf.CriticalSection`, beyond what parity compares."""

import threading

import pytest

import tape_compat as tf

pytestmark = pytest.mark.usefixtures("switching")


def test_sections_of_one_name_are_one():
    one, same = tf.CriticalSection(shared_name="s"), tf.CriticalSection(shared_name="s")
    other = tf.CriticalSection(name="s")
    assert one.name == other.name == "s"
    assert one.execute(lambda: other.execute(lambda: 3)).numpy() == 3
    with pytest.raises(ValueError, match="in which we are already running"):
        one.execute(lambda: same.execute(lambda: 3))
    assert same.execute(lambda: 4).numpy() == 4  # it is left


def test_other_threads_wait():
    section, entered, order = tf.CriticalSection(), threading.Event(), []

    def first():
        entered.set()
        order.append("begins")
        threading.Event().wait(0.05)
        order.append("ends")

    thread = threading.Thread(target=lambda: section.execute(first))
    thread.start()
    entered.wait()
    section.execute(lambda: order.append("second"))
    thread.join()
    assert order == ["begins", "ends", "second"]
