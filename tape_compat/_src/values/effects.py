"""What ops do beside what they give: they print, and they check.

Where values are at hand it is done at once. In a function that is being recorded it becomes an
instruction that calls back to Python, in the order of the program.
"""

from __future__ import annotations

import contextlib
import functools
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import Any, ClassVar, NamedTuple

import jax
import numpy as np
from jax.experimental import io_callback

from ..core.dtypes import string
from ..core.errors import InvalidArgumentError, NeedsValue, NotAsRecorded, refusal, user_location
from ..core.op import Closure, Op
from ..core.state import LOCAL, changed
from ..run.executor import FAILURES
from .context import inside_function
from .host_steps import HostStep
from .operation import Operation, done
from .record import apply
from .tensor import Tensor


class _Done:
    """Effects of calls that may be given up. logs: for each such call under way what its effects
    gave so far; left: what those gave that are not to be done again."""

    logs: ClassVar[list[list[Any]]] = []
    left: deque[Any] = deque()


class _Within(threading.local):
    """Whether this thread is doing an effect: what it does in turn is a part of that."""

    effect = False


_WITHIN = _Within()


@contextlib.contextmanager
def done_so_far() -> Iterator[list[Any]]:
    """What the effects of a call give meanwhile, in their order."""
    log: list[Any] = []
    _Done.logs.append(log)
    try:
        yield log
    finally:
        _Done.logs = [other for other in _Done.logs if other is not log]


def not_again(done: Sequence[Any]) -> Any:
    """A context in which the first effects are not done: they give this."""
    return changed(_Done, left=deque(done))


def once(function: Callable[..., Any], *args: Any) -> Any:
    """What an effect gives. If a call has done it already, before that was given up, it is not done
    again."""
    if _WITHIN.effect:
        return function(*args)
    logs = _Done.logs
    if _Done.left:
        result = _Done.left.popleft()
    else:
        with changed(_WITHIN, effect=True):
            result = function(*args)
    if logs:
        logs[-1].append(result)
    return result


class Written(NamedTuple):
    """How TensorFlow's kernels do an effect. attributes: of that which does it; text: what it says,
    with the placeholder in the place of each tensor, if it has places for these."""

    text: str
    attributes: dict[str, Any]
    placeholder: str = "{}"
    summarize: int = 3


class Effect(Op):
    """What a program does beside what it gives. texts: those that are known, by their places among
    all that it is given."""

    __slots__ = ("texts", "written")

    def __init__(
        self,
        function: Callable[..., Any],
        name: str,
        written: Written | None,
        texts: dict[int, Any],
    ):
        super().__init__(function, name, effect=True, differentiable=False)
        self.written, self.texts = written, texts


def record_effect(
    function: Callable[..., None],
    tensors: Sequence[Tensor],
    name: str,
    checks: bool = False,
    written: Written | None = None,
) -> None:
    """Record an instruction that calls `function` of the values of tensors, as NumPy arrays. What
    it raises, the call of the program raises; what would follow it is not done. checks: whether it
    does no more than that."""
    if any(x.dtype is string and x._is_symbolic() for x in tensors):
        _record_on_host(function, tensors, name, checks)
        return
    texts = {i: x.numpy() for i, x in enumerate(tensors) if x.dtype is string}  # of the host
    computed = [i for i in range(len(tensors)) if i not in texts]

    def call(*arrays: Any) -> None:
        if FAILURES:
            return
        given = {**texts, **dict(zip(computed, map(np.asarray, arrays), strict=True))}
        values = [given[i] for i in range(len(tensors))]
        try:
            function(*values) if checks else once(function, *values)
        except Exception as error:
            FAILURES.append(error)

    def effect(*arrays: Any) -> tuple[()]:
        io_callback(call, None, *map(jax.lax.stop_gradient, arrays), ordered=True)
        return ()

    closure = Effect(effect, name, written, texts).bind()
    apply(closure, tuple([tensors[i] for i in computed]))


def _record_on_host(
    function: Callable[..., None], tensors: Sequence[Tensor], name: str, checks: bool
) -> None:
    """As `record_effect`, of texts that are known at the call: the host does it between parts."""

    def call(*values: Tensor) -> list[Tensor]:
        arrays = [np.asarray(x._value()) for x in values]
        if checks:
            function(*arrays)
        else:
            once(function, *arrays)
        return []

    capture = LOCAL.state.capture
    if not capture.take_host_step():
        raise NeedsValue(f"A text of {name} is known when the function is called.")
    apply(HostStep(name, call, None, (), effect=True), tuple(tensors))


def require(
    ok: Tensor,
    tensors: Sequence[Tensor],
    failure: Callable[..., str],
    when_called: bool = False,
    error: Callable[..., Exception] = InvalidArgumentError,
) -> None:
    """Raise unless `ok` is true everywhere. What is raised by a function that was recorded says
    where in the user's code that is asked for: a traceback shows the call only.

    failure: what the error is to say, by the values of `ok` and of `tensors` as NumPy
    arrays. when_called: whether a function that is being recorded is to raise when it is called
    though all is known, as for a branch that may not be taken.
    """
    given = (ok, *tensors)
    if (when_called and inside_function()) or any(x._is_symbolic() for x in given):
        where = f"\n(checked at {user_location()})"

        def check(holds: Any, *values: Any) -> None:
            if not np.all(holds):
                raise error(None, None, failure(holds, *values) + where)

        words = Written(f"A condition did not hold{where}", {})
        record_effect(check, given, "Assert", checks=True, written=words)
    elif not np.all(ok.numpy()):
        raise error(None, None, failure(*[x.numpy() for x in given]))


def failing(text: str) -> Closure:
    """An instruction that raises InvalidArgumentError with this text."""
    return _FAILING.bind(text=text)


def _fail(text: str) -> tuple[()]:
    def fail() -> None:
        if not FAILURES:
            FAILURES.append(refusal(text))

    io_callback(fail, None, ordered=True)
    return ()


_FAILING = Op(_fail, "Assert", effect=True, differentiable=False)


def _unless(ok: Any, text: str) -> tuple[()]:
    def fail() -> None:
        if not FAILURES:
            FAILURES.append(NotAsRecorded(None, None, text))

    jax.lax.cond(ok, lambda: None, lambda: io_callback(fail, None, ordered=True))
    return ()


_ASSUME = Op(_unless, "Assert", effect=True, differentiable=False)


def assume(ok: Tensor, what: str, otherwise: str) -> None:
    """Let the function that is being recorded be recorded for the calls in which `ok`, a bool
    scalar, is true. In others its Python runs.

    what: what is assumed; otherwise: what the error says of other calls.
    Raises: NeedsValue if its Python could not run.
    """
    LOCAL.state.capture.assume(what)
    apply(_ASSUME.bind(text=otherwise), (ok,))


def checking(check: Callable[..., None]) -> Callable[..., Any]:
    """A check that gives what TensorFlow's do: None in eager code, an Operation while a function is
    recorded, for `tf.group` and `tf.control_dependencies`."""

    @functools.wraps(check)
    def checked(*args: Any, **kwargs: Any) -> Operation | None:
        check(*args, **kwargs)
        return done("Assert", check.__name__)

    return checked
