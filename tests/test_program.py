"""The core by itself: closures, programs and their replay, without tapes."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tape_compat._src.core import dtypes, limits
from tape_compat._src.core.avals import Aval
from tape_compat._src.core.derivative import jvp, pullback
from tape_compat._src.core.op import Op
from tape_compat._src.core.program import Node, Runners, Tree, new_root
from tape_compat._src.core.steps import Step, Steps, needed
from tape_compat._src.values.capture import capture
from tape_compat._src.values.record import apply
from tape_compat._src.values.tensor import concrete

pytestmark = pytest.mark.compiled

F32 = Aval.of((3,), dtypes.float32)
SIN = Op(jnp.sin, "Sin").bind()
MUL = Op(jnp.multiply, "Mul").bind()


def test_avals_are_interned():
    assert Aval.of((3,), dtypes.float32) is F32
    assert Aval.of((3,), dtypes.float64) is not F32


def test_attributes_of_different_types_are_different_closures():
    op = Op(lambda x, k: x * k, "Scale")
    assert op.bind(k=1) is op.bind(k=1)
    assert op.bind(k=1) is not op.bind(k=1.0)
    assert op.bind(k=1) is not op.bind(k=True)
    floats, bools = op.bind(k=((1.0,), 2)), op.bind(k=((True,), 2))
    assert op.bind(k=((1,), 2)) is not floats is not bools is not op.bind(k=((1,), 2))
    assert op.bind(k=((1,), 2)).attributes == {"k": ((1,), 2)} and floats is not None


def test_pullbacks_and_jvps_are_closures():
    x, g = jnp.array([0.1, 0.2, 0.3]), jnp.ones(3)
    pull = pullback(SIN, 1, (0,), (0,))
    assert pull is pullback(SIN, 1, (0,), (0,))
    np.testing.assert_allclose(pull.fn(x, g)[0], np.cos(x), rtol=1e-6)
    np.testing.assert_allclose(jvp(SIN, 1, (0,)).fn(x, g)[0], np.cos(x), rtol=1e-6)
    second = pullback(pull, 2, (0,), (0,))
    np.testing.assert_allclose(second.fn(x, g, g)[0], -np.sin(x), rtol=1e-6)


def test_a_pullback_conjugates():
    z = jnp.array(1 + 2j)
    square = Op(lambda z: z * z, "Square").bind()
    answer = pullback(square, 1, (0,), (0,)).fn(z, jnp.array(1 + 0j))[0]
    np.testing.assert_allclose(answer, np.conj(2 * (1 + 2j)))


def hand_made():
    """y = sin(x); z = y * y, and the pullback of y, from leaf x with cotangent z."""
    root = new_root()
    a = Node(root, SIN, (0,), (F32,), (F32,), True)
    b = Node(a, MUL, (1, 1), (), (F32,), True)
    c = Node(b, pullback(SIN, 1, (0,), (0,)), (0, 2), (), (F32,), False)
    return c


def test_slots_are_numbered_in_order():
    c = hand_made()
    assert [(n.first, n.end) for n in c.path()] == [(1, 2), (2, 3), (3, 4)]


def test_replay_of_a_hand_made_program():
    x = np.array([0.1, 0.2, 0.3], np.float32)
    c = hand_made()
    found = Steps.numbered(needed(c.path(), [3]), [0], [3])
    expected = np.cos(x) * np.sin(x) ** 2
    np.testing.assert_allclose(found.replay(jnp.asarray(x))[0], expected, rtol=1e-6)
    one_by_one = found.interpret(lambda closure, arrays: closure.fn(*arrays), [x])
    np.testing.assert_allclose(one_by_one[0], expected, rtol=1e-6)


def test_equal_steps_in_any_numbering_are_equal():
    c = hand_made().path()
    shifted = [Step(s.closure, tuple(i + 7 for i in s.inputs), s.first + 7, s.end + 7) for s in c]
    found = Steps.numbered(c, [0], [3])
    assert found == Steps.numbered(shifted, [7], [10])
    assert hash(found) == hash(Steps.numbered(shifted, [7], [10]))
    assert found != Steps.numbered(c, [0], [2])


def test_needed_leaves_out_what_nobody_wants():
    c = hand_made()
    assert needed(c.path(), [1]) == c.path()[:1]
    assert needed(c.path(), [2]) == c.path()[:2]


def test_a_loop_is_not_run_twice_for_its_pullback():
    """Forward and pullback in one program share one loop; XLA would not merge two."""

    def loop(x):
        return jax.lax.scan(lambda c, _: (jnp.sin(c), None), x, None, length=4)[0]

    closure = Op(loop, "Loop").bind()
    root = new_root()
    a = Node(root, closure, (0,), (F32,), (F32,), True)
    b = Node(a, pullback(closure, 1, (0,), (0,)), (0, 1), (), (F32,), False)

    run = Steps.numbered(b.path(), [0], [1, 2]).replay

    def scans(jaxpr):
        return sum(e.primitive.name == "scan" for e in jaxpr.eqns)

    assert scans(jax.make_jaxpr(run)(jnp.ones(3)).jaxpr) == 2  # forward, backward


def test_prune_keeps_what_leads_somewhere():
    tree = Tree()
    a = tree.extend(tree.root, ("a",), Node(tree.root, SIN, (0,), (F32,), (F32,), True))
    b = tree.extend(a, ("b",), Node(a, SIN, (1,), (), (F32,), True))
    tree.extend(a, ("c",), Node(a, SIN, (1,), (), (F32,), True))
    b.runners = Runners()
    tree.prune()
    assert list(a.children) == [("b",)]
    assert tree.root.children == {("a",): a}


def test_a_tree_is_pruned_when_it_has_grown_beyond_what_was_left(monkeypatch):
    monkeypatch.setattr(limits, "SPARE_NODES", 2)
    tree = Tree()
    node = tree.root
    for name in "abc":
        node = tree.extend(node, (name,), Node(tree.root, SIN, (0,), (), (F32,), True))
    assert tree.overgrown
    node.runners = Runners()
    tree.prune()
    assert not tree.overgrown and tree.kept == tree.count
    for i in range(tree.kept + 2):
        assert not tree.overgrown
        tree.extend(tree.root, (i,), Node(tree.root, SIN, (0,), (), (F32,), True))
    assert not tree.overgrown
    tree.extend(tree.root, ("one more",), Node(tree.root, SIN, (0,), (), (F32,), True))
    assert tree.overgrown
    tree.clear()
    assert not tree.overgrown and not tree.kept


def test_captures_of_one_structure_are_one_closure():
    def f(x):
        return apply(MUL, (apply(SIN, (x,)), x))

    first = capture(f, [F32], lambda y: [y], "f")
    second = capture(f, [F32], lambda y: [y], "f")
    assert first.closure is second.closure
    x = np.array([0.1, 0.2, 0.3], np.float32)
    np.testing.assert_allclose(first.closure.fn(x)[0], np.sin(x) * x, rtol=1e-6)


def test_what_a_capture_reads_becomes_an_input():
    k = concrete(np.array([2.0, 3.0, 4.0], np.float32))
    found = capture(lambda x: apply(MUL, (x, k)), [F32], lambda y: [y], "f")
    assert len(found.sources) == 1 and found.sources[0] is k


def test_a_symbolic_tensor_has_no_value():
    def look(x):
        return [x, x.numpy()]

    with pytest.raises(AttributeError, match="numpy"):
        capture(look, [F32], lambda y: y, "f")
