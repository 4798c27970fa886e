"""Where the outcomes of two modules part, beyond what roundings do."""

from typing import Any

import numpy as np

from tests.parity.harness import Array, Raised

#: How far values may be apart, as a part of the largest one of the array. A program is many ops
#: long, so this is wide: what is wrong is usually wrong by more.
BOUNDS = {
    "float16": 0.06,
    "bfloat16": 0.3,
    "float32": 3e-3,
    "complex64": 3e-3,
    "float64": 1e-6,
    "complex128": 1e-6,
}


def differences(expected: Any, actual: Any, dtype: str, mode: str, path: str = "") -> list[str]:
    """One line each, with the place in the nest. `dtype`: of the program's floats."""

    def inner(key: Any) -> list[str]:
        return differences(expected[key], actual[key], dtype, mode, f"{path}[{key!r}]")

    if isinstance(expected, dict) and isinstance(actual, dict) and list(expected) == list(actual):
        return [line for key in expected for line in inner(key)]
    if isinstance(actual, Array):
        expected = _dense(expected, actual.shape)
    if mode.startswith("function") and path == "" and isinstance(expected[-1], Raised):
        return []  # TensorFlow knows less of shapes and refuses more
    if isinstance(expected, list) and isinstance(actual, list) and len(expected) == len(actual):
        return [line for place in range(len(expected)) for line in inner(place)]
    if isinstance(expected, Raised) and isinstance(actual, Raised):
        # While a function is recorded, some errors are other ones on purpose.
        same = mode.startswith("function") or _class(expected.error) == _class(actual.error)
    elif isinstance(expected, Array) and isinstance(actual, Array):
        heads = [(a.kind, a.dtype, a.shape) for a in (expected, actual)]
        same = heads[0] == heads[1] and _close(expected, actual, dtype)
    elif isinstance(expected, float) and isinstance(actual, float):
        same = _close(_number(expected), _number(actual), dtype)
    elif _raised(expected) and _raised(actual):
        same = mode.startswith("function") or _class(str(expected)) == _class(str(actual))
    else:
        same = type(expected) is type(actual) and bool(expected == actual)
    return [] if same else [f"{path}: got {_text(actual)}; expected {_text(expected)}"]


def _dense(value: Any, shape: tuple[int, ...]) -> Any:
    """The tensor that an IndexedSlices stands for, as some tangents are in TensorFlow."""
    if not isinstance(value, dict) or value.get("type") != "IndexedSlices":
        return value
    values = value["values"]
    whole = np.zeros(shape, np.asarray(values.value).dtype)
    np.add.at(whole, np.asarray(value["indices"].value), values.value)
    return Array("Tensor", values.dtype, shape, whole)


def _number(value: float) -> Array:
    return Array("float", "float64", (), np.float64(value))


def _raised(value: Any) -> bool:
    return isinstance(value, str) and value.startswith("raised ")


def _class(error: str) -> str:
    """An InvalidArgumentError here is a ValueError too."""
    return error.replace("InvalidArgumentError", "ValueError")


def kind(line: str) -> tuple[bool, ...]:
    """What sort of difference it is, so that one does not become another while it is shrunk."""
    got, _, expected = line.partition("; expected ")
    words = ("raised", "None", "Raised(")
    return tuple(word in part for part in (got, expected) for word in words)


def _close(expected: Array, actual: Array, dtype: str) -> bool:
    if expected.dtype not in BOUNDS:
        return bool(np.array_equal(expected.value, actual.value))
    wide = np.complex128 if expected.dtype.startswith("complex") else np.float64
    one, other = np.asarray(expected.value).astype(wide), np.asarray(actual.value).astype(wide)
    finite = np.isfinite(one)
    if not np.array_equal(finite, np.isfinite(other)):
        return False
    scale = max(1.0, np.abs(one[finite]).max(initial=0.0))
    bound = max(BOUNDS[dtype], BOUNDS[expected.dtype]) * scale
    return np.allclose(other[finite], one[finite], rtol=0.0, atol=bound) and np.array_equal(
        one[~finite], other[~finite], equal_nan=True
    )


def _text(value: Any) -> str:
    if isinstance(value, list) and value and isinstance(value[-1], Raised):
        return f"{len(value) - 1} results, then {value[-1]}"
    text = repr(value) if isinstance(value, str | bytes) else str(value)
    return text[:200]
