"""Functions that print and check in conditionals and loops, saved and loaded."""

import pytest

from tests.parity import test_saved_functions
from tests.parity.saved_exchange import assert_near, numbers

pytestmark, exchange = test_saved_functions.pytestmark, test_saved_functions.exchange


def module(tf, path):
    made = tf.Module()
    made.state = tf.Variable(0.0)
    say = lambda *what: tf.print(*what, output_stream=f"file://{path}")

    def branches(x):
        if tf.reduce_sum(x) > 0.0:
            say("above", x)
            tf.debugging.assert_less(x, 10.0)
            x = x * 2.0
        else:
            say("below")
            made.state.assign_add(1.0)
        return x + made.state

    def cases(x):
        two = [lambda: say("first"), lambda: say("second")]
        tf.switch_case(tf.shape(x)[0] % 2, two)
        return x

    def rows(x):
        """A loop over rows, which gives one for each."""
        array = tf.TensorArray(tf.float32, tf.shape(x)[0])
        for i in tf.range(tf.shape(x)[0]):
            if x[i] > 1.5:
                say("row", i)
            array = array.write(i, x[i] * 3.0)
        return array.stack()

    def search(x):
        """A loop of unknown length."""
        total, steps = tf.constant(0.0), tf.constant(0)
        while total < 5.0:
            total += tf.reduce_sum(tf.abs(x)) + 1.0
            steps += 1
            tf.debugging.assert_less(total, 100.0, message="too much")
            made.state.assign_add(0.5)
            if steps > 3:
                say("stops", total)
                break
        say("after", steps)
        return total

    def known(x):
        mapped = tf.map_fn(lambda row: (say("maps", row), row + 1.0)[1], x)
        return tf.scan(lambda a, b: (say(a), a + b)[1], mapped, tf.constant(0.0))

    spec = [tf.TensorSpec([None])]
    for function in (branches, cases, rows, search, known):
        setattr(made, function.__name__, tf.function(function, input_signature=spec))
    return made


def use(tf, made, path):
    """What the functions give and print, and what they refuse."""
    found = []
    for name in ("branches", "cases", "rows", "search", "known"):
        function = getattr(made, name)
        for x in ([1.0, 2.0], [-1.0], [0.25, -0.25, 0.0]):
            found.append([name, x, numbers(function(tf.constant(x)))])
    for name, x in (("branches", [11.0]), ("search", [-99.0])):
        with pytest.raises(tf.errors.InvalidArgumentError):
            getattr(made, name)(tf.constant(x))
    printed = path.read_text().splitlines()
    path.unlink()
    return found, printed


def test_what_prints_and_checks_in_conditionals_and_loops(exchange, tmp_path):
    writer, readers = exchange
    path = tmp_path / "printed"
    made = module(writer, path)
    writer.saved_model.save(made, str(tmp_path / "model"))
    expected, printed = use(writer, made, path)
    for reader in readers:
        loaded = reader.saved_model.load(str(tmp_path / "model"))
        found, again = use(reader, loaded, path)
        assert_near(found, expected)
        assert again == printed
