"""Runs a parity case on one module and compares the outcomes of two modules.

A case is a function of one argument, the module under test (`tensorflow` or `tape_compat`). It
returns any nest of results, or raises. `outcome` turns what happened into plain Python, so that
both sides can be held against each other; `differences` lists where they part, each with its
path in the nest.

    def case_square(tf):
        x = tf.constant(3.0)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x * x
        return y, tape.gradient(y, x)

A file `cases_*.py` holds functions named `case_*` and, for generated cases, a dict `CASES` of name
to function. It may name in `NEEDS` what the module must have for its cases to be run on it.
"""

import contextlib
import dataclasses
import importlib
import inspect
import logging
import operator
import os
import pkgutil
import re
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

#: What the log says here and not in TensorFlow: see docs/differences.md.
OURS_ALONE = re.compile(r"^GradientTape\.\w+ at \S+ gives None for ")

WORDS = 5  # how many opening words of an error message must agree

# Relative and absolute tolerance by dtype: kernels sum in another order, and exp, tanh, ... differ
# in the last digits.
TOLERANCES = {
    "float64": (1e-10, 1e-12),
    "float32": (2e-5, 1e-6),
    "float16": (4e-3, 1e-3),
    "bfloat16": (2e-2, 1e-2),
    "complex128": (1e-10, 1e-12),
    "complex64": (2e-5, 1e-6),
}


@dataclasses.dataclass(frozen=True)
class Case:
    """One program to compare, and the module that it stands in.

    `words` and the tolerances override the defaults above.
    """

    id: str
    run: Callable[[Any], Any]
    file: str = ""
    words: int = WORDS
    rtol: float | None = None
    atol: float | None = None
    needs: tuple[str, ...] = ()

    def lacks(self, tf: Any) -> list[str]:
        """The names that this case needs and that the module does not have."""
        return [name for name in self.needs if not _has(tf, name)]


def _has(tf: Any, path: str) -> bool:
    try:
        operator.attrgetter(path)(tf)
    except AttributeError:
        return False
    return True


@dataclasses.dataclass(frozen=True)
class Array:
    """A tensor, a variable or a NumPy value: `kind` says which."""

    kind: str
    dtype: str
    shape: tuple[int, ...]
    value: Any

    def __str__(self) -> str:
        text = np.array2string(np.asarray(self.value), precision=7, threshold=12, separator=",")
        return f"{self.kind} {self.dtype}{list(self.shape)} {' '.join(text.split())}"


@dataclasses.dataclass(frozen=True)
class Raised:
    """An exception, as its class name and the opening words of its message."""

    error: str
    message: str
    words: int | None = None

    def opening(self, words: int) -> list[str]:
        return self.message.split()[: words if self.words is None else self.words]

    def __str__(self) -> str:
        return f"raised {self.error}: {self.message[:160]}"


@dataclasses.dataclass(frozen=True)
class Other:
    """Any other Python value: its type's name, and its text where the text means something."""

    type: str
    text: str

    def __str__(self) -> str:
        return f"{self.type} {self.text}"


#: What stands before the message of an error raised while a function was traced: the user's lines,
#: and the class of the error.
_USER_CODE = re.compile(r"\Ain user code:\n.*\n\n    \w+: ", re.DOTALL)


def options(**changes: Any) -> Callable:
    """Decorator: sets `words`, `rtol` or `atol` of a case."""

    def mark(function: Callable) -> Callable:
        function.parity = changes  # type: ignore[attr-defined]
        return function

    return mark


def raised(error: BaseException, words: int | None = None) -> Raised:
    text = error.args[0] if isinstance(error, KeyError) and error.args else error
    message = _USER_CODE.sub("", str(text))
    message = re.sub(r"\{\{function_node [^}]*\}\}\s*", "", message)
    message = re.sub(r"([\w.]+\.)?EagerTensor", "Tensor", message)
    message = message.replace("ResourceVariable", "Variable")
    return Raised(type(error).__name__, " ".join(message.split()), words)


def attempt(program: Callable, *args: Any, words: int | None = None) -> Any:
    """What `program(*args)` returns, or the error it raises as a value: a case can hold several."""
    try:
        return program(*args)
    except Exception as error:
        return raised(error, words)


class WrongCaseError(BaseException):
    """A case is written wrongly: it would raise the same on both modules."""


def attempts(tf: Any, programs: Mapping[str, Callable], words: int | None = None) -> dict[str, Any]:
    """`attempt` over a table of functions of the module."""
    if not isinstance(programs, Mapping):
        raise WrongCaseError("attempts takes a module and a table of functions")
    for name, program in programs.items():
        if not inspect.signature(program).parameters:
            raise WrongCaseError(f"{name}: a function of the module is wanted")
    return {name: attempt(program, tf, words=words) for name, program in programs.items()}


@contextlib.contextmanager
def messages(words: int = 6) -> Iterator[list[str]]:
    """Gathers the opening words of warnings given inside, by `warnings` or a logger, once each."""
    lines: list[str] = []

    class Keep(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            if not OURS_ALONE.search(record.getMessage()):
                add(record.getMessage())

    def add(text: str) -> None:
        opening = " ".join(text.split()[:words])
        if opening not in lines:
            lines.append(opening)

    _forget_logged_once()
    handler = Keep(logging.WARNING)
    loggers = [logging.getLogger(name) for name in ("tensorflow", "tape_compat")]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.addHandler(handler)
        logger.setLevel(logging.WARNING)
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            yield lines
        for warning in caught:
            add(str(warning.message))
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.removeHandler(handler)
            logger.setLevel(level)


@contextlib.contextmanager
def printed() -> Iterator[list[str]]:
    """Gathers the lines written to the standard error inside, by Python or by a library."""
    lines: list[str] = []
    before, number = sys.stderr, 2
    with tempfile.TemporaryFile("w+", encoding="utf-8") as file:
        saved = os.dup(number)
        os.dup2(file.fileno(), number)
        sys.stderr = file
        try:
            yield lines
        finally:
            sys.stderr = before
            os.dup2(saved, number)
            os.close(saved)
        file.flush()
        file.seek(0)
        lines += file.read().splitlines()


def _forget_logged_once() -> None:
    """Some lines are logged only the first few times in a process: start the counts afresh."""
    tf_logging = sys.modules.get("tensorflow.python.platform.tf_logging")
    with contextlib.suppress(AttributeError):
        tf_logging._log_counter_per_token.clear()  # type: ignore[union-attr]
    retracing = sys.modules.get("tape_compat._src.function.retracing")
    if retracing is not None:
        retracing._BY_CODE.clear()


def outcome(case: Case, tf: Any) -> Any:
    """What the case gives on the module `tf`, as plain Python; an exception is a `Raised`."""
    tf.random.set_seed(None)  # of the cases before
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return describe(tf, case.run(tf))
    except Exception as error:
        return raised(error)


def describe(tf: Any, value: Any) -> Any:
    if value is None or isinstance(
        value, Array | Raised | bool | int | float | str | bytes | complex
    ):
        return value
    if isinstance(value, dict):
        return {key: describe(tf, item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        items = list(value) if isinstance(value, list | tuple) else sorted(value, key=str)
        return {"type": type(value).__name__, **{i: describe(tf, x) for i, x in enumerate(items)}}
    if isinstance(value, np.ndarray | np.generic):
        kind = "ndarray" if isinstance(value, np.ndarray) else "numpy scalar"
        return Array(kind, value.dtype.name, value.shape, np.asarray(value))
    if isinstance(value, getattr(tf, "IndexedSlices", ())):
        parts = {name: getattr(value, name) for name in ("values", "indices", "dense_shape")}
        return {"type": "IndexedSlices", **{k: describe(tf, v) for k, v in parts.items()}}
    if isinstance(value, tf.Variable):
        return _array("Variable", value)
    if tf.is_tensor(value):
        return _tensor(value)
    if isinstance(value, tf.TensorShape | tf.DType):
        return Other(type(value).__name__, str(value))
    if isinstance(value, tf.TensorSpec | slice | type(Ellipsis)):
        return Other(type(value).__name__, str(value))
    if isinstance(value, type):
        return Other("type", value.__name__)
    return Other(type(value).__name__, "")


def _tensor(value: Any) -> Array | Other:
    try:
        return _array("Tensor", value)
    except AttributeError:  # a symbolic one has no `numpy`
        return Other("symbolic Tensor", f"{value.dtype.name} {value.shape}")


def _array(kind: str, value: Any) -> Array:
    data = value.numpy()
    dtype = value.dtype.name
    data = np.array(data, dtype=object) if dtype == "string" else np.asarray(data)
    shape = tuple(value.shape.as_list())
    if shape != data.shape:
        kind = f"{kind} with numpy shape {data.shape}"
    return Array(kind, dtype, shape, data)


def differences(expected: Any, actual: Any, case: Case, path: str = "") -> list[str]:
    """Where `actual` departs from `expected`: one line each, with the path in the nest."""

    def differ() -> list[str]:
        return [f"{path or 'result'}: got {_text(actual)}; expected {_text(expected)}"]

    if isinstance(expected, dict) and isinstance(actual, dict):
        if list(expected) != list(actual) or expected.get("type") != actual.get("type"):
            return differ()
        return [
            line
            for key in expected
            if key != "type" or isinstance(expected[key], dict)
            for line in differences(expected[key], actual[key], case, f"{path}[{key!r}]")
        ]
    if isinstance(expected, Raised) and isinstance(actual, Raised):
        same = expected.error == actual.error and _openings_agree(expected, actual, case.words)
        return [] if same else differ()
    if isinstance(expected, Array) and isinstance(actual, Array):
        heads = [(a.kind, a.dtype, a.shape) for a in (expected, actual)]
        same = heads[0] == heads[1] and _close(expected.value, actual.value, expected.dtype, case)
        return [] if same else differ()
    if isinstance(expected, float | complex) and type(expected) is type(actual):
        dtype = "complex64" if isinstance(expected, complex) else "float32"
        same = _close(np.asarray(expected), np.asarray(actual), dtype, case)
        return [] if same else differ()
    return [] if type(expected) is type(actual) and expected == actual else differ()


def _openings_agree(expected: Raised, actual: Raised, words: int) -> bool:
    return expected.opening(words) == actual.opening(expected.words or words)


def _close(expected: np.ndarray, actual: np.ndarray, dtype: str, case: Case) -> bool:
    if dtype not in TOLERANCES or expected.shape != actual.shape:
        return bool(np.array_equal(expected, actual))
    rtol, atol = TOLERANCES[dtype]
    wide = np.complex128 if dtype.startswith("complex") else np.float64
    return np.allclose(
        np.asarray(actual).astype(wide),
        np.asarray(expected).astype(wide),
        rtol=rtol if case.rtol is None else case.rtol,
        atol=atol if case.atol is None else case.atol,
        equal_nan=True,
    )


def _text(value: Any) -> str:
    if isinstance(value, dict):
        items = ", ".join(f"{key}: {_text(item)}" for key, item in value.items())
        return f"{{{items[:300]}}}"
    return repr(value) if isinstance(value, str | bytes) else str(value)


def collect() -> list[Case]:
    """All cases of the files `cases_*.py`, in order of file and of definition."""
    package = importlib.import_module(__package__)
    cases = []
    for info in pkgutil.iter_modules(package.__path__):
        if not info.name.startswith("cases_"):
            continue
        module = importlib.import_module(f"{__package__}.{info.name}")
        functions = {k[5:]: f for k, f in vars(module).items() if k.startswith("case_")}
        for name, function in {**functions, **getattr(module, "CASES", {})}.items():
            settings = getattr(function, "parity", {})
            label = f"{info.name[6:]}/{name}".replace(" ", "_")
            needs = getattr(module, "NEEDS", ())
            cases.append(Case(label, function, info.name, needs=needs, **settings))
    return cases


def traced(tf, function, *calls):
    """What a decorated function gives for each of some arguments, and how often its Python ran."""
    runs = []

    @tf.function
    def counted(*args):
        runs.append(1)
        return function(*args)

    return [counted(*args) for args in calls], len(runs)
