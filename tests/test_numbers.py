"""A number that an op takes besides its tensors is an input: another value needs no other program.

The parameters are found by their signatures: a float as the default, or `float` or `Number` as the
type. Each is given ten values in a step under a tape. What has another type is found by the
attributes of the closures.
"""

import dataclasses
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tape_compat as tf
from tape_compat._src.core.caches import clear_caches
from tape_compat._src.core.op import _OPS
from tape_compat._src.library.optimizers.base import Options
from tests.ops import ROWS, TABLES, checks
from tests.ops.row import find, is_source, leaves, rebuilt
from tests.test_ops import tables_of_ops

pytestmark = pytest.mark.usefixtures("deferred")

VALUES = [0.3 + 0.01 * i for i in range(10)]

#: Parameters whose value is part of the program, with the reason.
EXCEPTIONS = {
    "creation.range.limit": "says how many numbers there are",
    "creation.range.delta": "says how many numbers there are",
    "counting.approx_max_k.recall_target": "says how a TPU is to search",
    "counting.approx_min_k.recall_target": "says how a TPU is to search",
    "plain_kernels.approx_top_k.recall_target": "says how a TPU is to search",
    "losses.compute_average_loss.global_batch_size": "takes integers only",
    **{
        f"comparison.{name}.y": "takes integers only"
        for name in ("bitwise_and", "bitwise_or", "bitwise_xor", "left_shift", "right_shift")
    },
}

_X = np.array([[1.5, -0.5], [0.25, 2.0]])
_INDICES = np.array([1, 0, 1])

#: How to call the ops that have no row, or whose row has a program of its own.
CALLS: dict[str, tuple[Any, ...]] = {
    "clipping.clip_by_global_norm": ([_X, _X[0]], 1.0),
    "creation.fill": ([2, 2], 0),
    "creation.linspace": (0.0, 1.0, 5),
    "creation.one_hot": (_INDICES, 3),
    "creation.range": (0.0, 1.0),
    "embedding.dropout": (_X,),
    "embedding.embedding_lookup": (_X, _INDICES),
    "joining.pad": (_X, [[1, 1], [1, 1]]),
    "random_stateful.gamma": ([3], 1.0),
    "random_stateful.normal": ([3],),
    "random_stateful.poisson": ([3],),
    "random_stateful.truncated_normal": ([3],),
    "random_stateful.uniform": ([3],),
    "random_stateless.stateless_binomial": ([3], [1, 2], 5.0, 0.5),
    "random_stateless.stateless_gamma": ([3], [1, 2], 1.0),
    "random_stateless.stateless_normal": ([3], [1, 2]),
    "random_stateless.stateless_parameterized_truncated_normal": ([3], [1, 2]),
    "random_stateless.stateless_poisson": ([3], [1, 2]),
    "random_stateless.stateless_truncated_normal": ([3], [1, 2]),
    "random_stateless.stateless_uniform": ([3], [1, 2]),
}


@dataclasses.dataclass
class Parameter:
    """A parameter of an op, and a call of the op without it."""

    path: str
    op: Callable[..., Any]
    args: tuple[Any, ...]
    options: dict[str, Any]

    def call(self, sources: list[Any], value: float) -> Any:
        given = iter(sources)
        flat = (next(given) if is_source(x) else x for x in leaves(list(self.args)))
        bound = inspect.signature(self.op).bind_partial(*rebuilt(list(self.args), flat))
        bound.arguments.update({**self.options, self.path.rpartition(".")[2]: value})
        return self.op(*bound.args, **bound.kwargs)


def public_ops() -> list[tuple[str, str, Any]]:
    return [(table, name, op) for table, ops in tables_of_ops().items() for name, op in ops.items()]


def is_number(op: Any, parameter: inspect.Parameter) -> bool:
    named = any(word in str(parameter.annotation) for word in ("float", "Number"))
    second = hasattr(op, "reflected") and parameter.name == "y"
    return named or second or isinstance(parameter.default, float)


def parameters() -> list[Parameter]:
    calls = {id(find(tf, row.path)): (tuple(row.args), row.options) for row in reversed(ROWS)}
    calls = {f"{table}.{name}": calls.get(id(op)) for table, name, op in public_ops()}
    calls.update({path: (args, {}) for path, args in CALLS.items()})
    return [
        Parameter(f"{table}.{name}.{parameter.name}", op, *calls[f"{table}.{name}"])
        for table, name, op in public_ops()
        for parameter in inspect.signature(op).parameters.values()
        if is_number(op, parameter)
        and not (
            name in getattr(TABLES[table], "WITHOUT_ROW", ()) and calls[f"{table}.{name}"] is None
        )
    ]


def differentiated(together: list[Parameter], value: float) -> None:
    """One step: the ops under a tape, the derivatives of what they give, all of them read."""
    sources = [[tf.constant(x) for x in leaves(list(p.args)) if is_source(x)] for p in together]
    with tf.GradientTape() as tape:
        tape.watch(sources)
        given = [p.call(x, value) for p, x in zip(together, sources, strict=True)]
        outputs = [y for y in tf.nest.flatten(given) if checks.continuous(y)]
    gradients = tape.gradient(outputs, tf.nest.flatten(sources)) if outputs else []
    for tensor in tf.nest.flatten([given, [g for g in gradients if g is not None]]):
        tf.convert_to_tensor(tensor).numpy()


def compiles(counts: dict[str, int]) -> int:
    return counts["compiles"] + counts["op_compiles"]


def other_programs(together: list[Parameter], counted: Callable[[], dict[str, int]]) -> int:
    """How many programs other values need."""
    for value in VALUES[:2]:  # the second may be read from the device
        differentiated(together, value)
    before = compiles(counted())
    for value in VALUES:
        differentiated(together, value)
    return compiles(counted()) - before


def groups(size: int) -> list[list[Parameter]]:
    """The parameters, so many together: one program is compiled sooner than that many."""
    found = [p for p in parameters() if p.path not in EXCEPTIONS]
    return [found[i : i + size] for i in range(0, len(found), size)]


@pytest.mark.part
@pytest.mark.parametrize("together", groups(10), ids=lambda group: group[0].path)
def test_another_number_needs_no_other_program(together, counted):
    if other_programs(together, counted):
        pytest.fail(f"of {[p.path for p in together if other_programs([p], counted)]}")


def test_exceptions_are_parameters():
    assert EXCEPTIONS.keys() <= {p.path for p in parameters()}


#: Attributes that are floats all the same, with the reason.
FLOAT_ATTRIBUTES = {
    "exponent": "of pow: the few that XLA has other code for",
    "ord": "of a norm: those, and infinity",
}


def test_no_attribute_is_a_float():
    clear_caches()  # other tests bind what is refused
    for row in ROWS:
        with tf.GradientTape():
            row.call(tf, [tf.constant(x) for x in row.sources()])
    found = {
        f"{closure}: {name}"
        for op in list(_OPS)
        for closure in list(op._closures.values())
        for name, value in closure.attributes.items()
        if isinstance(value, float)
        and op.fn.__module__.startswith("tape_compat.")
        and name not in FLOAT_ATTRIBUTES
    }
    assert not found, "make them inputs, of the type `Number`; see `_src/ops/declare.py`"


OPTIMIZERS: dict[str, dict[str, float]] = {
    "SGD": {"momentum": 0.9},
    "Adam": {},
    "RMSprop": {"momentum": 0.9},
    "Adagrad": {},
    **{name: {} for name in "AdamW Adamax Nadam Lamb Lion Adadelta Ftrl".split()},
}

#: Arguments of the optimizers that must not be above 0.
BELOW_0 = ("learning_rate_power",)
#: Arguments of the optimizers that no step uses.
OF_THE_START = ("initial_accumulator_value", "ema_momentum", "loss_scale_factor")


def settings() -> list[tuple[str, str]]:
    """Methods and the names of their numbers, of those that clip one at a time."""
    shared = [name for name, kind in Options.__annotations__.items() if "float" in str(kind)]
    found = []
    for method in OPTIMIZERS:
        arguments = inspect.signature(getattr(tf.optimizers, method)).parameters.values()
        own = [p.name for p in arguments if isinstance(p.default, float)]
        names = [name for name in dict.fromkeys(shared + own) if name not in OF_THE_START]
        _, *clips = [name for name in names if "clip" in name]
        together = [name for name in names if name not in clips]
        found += [(method, name) for name in (" ".join(together), *clips)]
    return found


@pytest.mark.part
@pytest.mark.parametrize(("method", "names"), settings())
def test_other_settings_of_an_optimizer_need_no_other_program(method, names, counted):
    variables = [tf.Variable([1.0, 2.0]), tf.Variable(3.0)]

    def given(value):
        return {name: -value if name in BELOW_0 else value for name in names.split()}

    optimizer = getattr(tf.optimizers, method)(**OPTIMIZERS[method] | given(VALUES[0]))

    def step(value):
        for name, number in given(value).items():
            setattr(optimizer, name, number)
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(variables[0]) * variables[1]
        optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
        return loss.numpy()

    for value in VALUES[:2]:
        step(value)
    before = compiles(counted())
    losses = [step(value) for value in VALUES]
    assert compiles(counted()) == before
    assert np.isfinite(losses).all()
