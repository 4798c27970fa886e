"""Ops that are TensorFlow's kernels where a program cannot be written for unknown sizes, or its
derivative cannot: a function for each name of an op."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np

from ...core.avals import Aval
from ...core.dimensions import is_symbolic, maximum, parsed
from ...core.dtypes import as_dtype, float64, int32
from ...core.op import Closure
from ..raw.definitions import definition
from .body import Body
from .step_nodes import Reference, computed, unsupported

Writer = Callable[[Body, Closure, Sequence[Reference]], list[str]]


def _fourier(body: Body, closure: Closure, values: Sequence[Reference]) -> list[str]:
    """Of an axis that is as long as it is, no part of it and not padded."""
    kernel, kind, axes = closure.name, closure.attributes["kind"], closure.attributes["axes"]
    (x,) = values
    attr: dict[str, Any] = {"Tcomplex": x.aval.dtype}
    if kind in ("fft", "ifft"):
        return [body.value(kernel, "output", [x.name], attr)]

    def sizes(shape: Any) -> list[Any]:
        found = [shape[axis] for axis in axes]
        return found if kind == "rfft" else [*found[:-1], maximum(2 * (found[-1] - 1), 0)]

    def length(x: Any) -> Any:
        return jnp.stack([jnp.asarray(size, jnp.int32) for size in sizes(x.shape)])

    if tuple(sizes(x.aval.shape)) != closure.attributes["length"]:
        raise unsupported(f"{kernel} of an unknown number of elements that it pads or cuts")
    told = [parsed(f"size{i}") if is_symbolic(n) else n for i, n in enumerate(x.aval.shape)]
    alone = Aval.of(tuple(told), x.aval.dtype)  # JAX solves no sizes that are computed of others
    inputs = [x.name, *computed(body, length, (alone,), [x.name])]
    (result,) = closure.infer((x.aval,))[0]
    real, complex_ = (x.aval, result) if kind == "rfft" else (result, x.aval)
    attr = {"Treal": real.dtype, "Tcomplex": complex_.dtype}
    return [body.value(kernel, "output", inputs, attr)]


def _product(body: Body, closure: Closure, values: Sequence[Reference]) -> list[str]:
    (x,) = values
    axis = closure.attributes.get("axis")
    axes = np.arange(len(x.aval.shape)) if axis is None else np.ravel(axis)
    attr = {"T": x.aval.dtype, "Tidx": int32, "keep_dims": _is_set(closure, "keepdims")}
    return [body.value("Prod", "output", [x.name, body.constant(axes, int32)], attr)]


def _running(body: Body, closure: Closure, values: Sequence[Reference]) -> list[str]:
    (x,) = values
    axis = body.constant(closure.attributes.get("axis", 0), int32)
    attr = {"T": x.aval.dtype, "Tidx": int32}
    attr |= {name: _is_set(closure, name) for name in ("exclusive", "reverse")}
    return [body.value(closure.name, "out", [x.name, axis], attr)]


#: What kernels of matrices call the attributes of the ops of their names.
_OF_MATRICES: dict[str, dict[str, str]] = {
    "Cholesky": {},
    "Eig": {"vectors": "compute_v"},
    "LogMatrixDeterminant": {},
    "Lu": {"dtype": "output_idx_type"},
    "MatrixDeterminant": {},
    "MatrixInverse": {"adjoint": "adjoint"},
    "MatrixLogarithm": {},
    "MatrixSolve": {"adjoint": "adjoint"},
    "MatrixSquareRoot": {},
    "Qr": {"full": "full_matrices"},
    "SelfAdjointEigV2": {"vectors": "compute_v"},
    "Svd": {"full": "full_matrices", "vectors": "compute_uv"},
}


def _matrices(body: Body, closure: Closure, values: Sequence[Reference]) -> list[str]:
    kernel, kind = closure.name, values[0].aval.dtype
    found = closure.infer(tuple([x.aval for x in values]))[0]
    if kernel == "Cholesky" and len(found[0].shape) != len(values[0].aval.shape):
        raise unsupported("tf.linalg.logdet as a kernel")  # which has the name of its kernel
    names = _OF_MATRICES[kernel]
    attr: dict[str, Any] = {names[name]: value for name, value in closure.attributes.items()}
    if kernel == "Lu":
        attr["output_idx_type"] = as_dtype(attr["output_idx_type"])
    if kernel == "Eig":
        attr["Tout"] = found[0].dtype
    node = body.node(kernel.lower(), kernel, [x.name for x in values], {"T": kind, **attr})
    known = definition(kernel)
    assert known is not None
    results = []
    for output, aval in zip(known.outputs, found):
        result = f"{node.name}:{output.name}:0"
        if output.kind == "T":  # may be real numbers of complex matrices
            result = body.cast(result, kind, aval.dtype)
        results.append(result)
    return results


def _least_squares(body: Body, closure: Closure, values: Sequence[Reference]) -> list[str]:
    kind = values[0].aval.dtype
    if len(values) == 2:
        weight = body.constant(0.0, float64)
    else:
        weight = body.cast(values[2].name, values[2].aval.dtype, float64)
    attr = {"T": kind, "fast": _is_set(closure, "fast")}
    return [body.value("MatrixSolveLs", "output", [*[x.name for x in values[:2]], weight], attr)]


def _is_set(closure: Closure, name: str) -> bool:
    return bool(closure.attributes.get(name, False))


_TRANSFORMS = [
    f"{inverse}{kind}{axes}"
    for inverse in ("", "I")
    for kind in ("FFT", "RFFT")
    for axes in ("", "2D", "3D")
]

WRITERS: dict[str, Writer] = {
    **dict.fromkeys(_TRANSFORMS, _fourier),
    **dict.fromkeys(("Cumprod", "CumulativeLogsumexp"), _running),
    **dict.fromkeys(_OF_MATRICES, _matrices),
    "MatrixSolveLs": _least_squares,
    "Prod": _product,
}


def is_kernel(closure: Closure) -> bool:
    """Whether an op may be written as a kernel."""
    return closure.op.name in WRITERS


def write_kernel(
    body: Body, closure: Closure, avals: Sequence[Aval], references: Sequence[str]
) -> list[str]:
    """Write an op as a kernel. Gives what it gives."""
    values = [Reference(name, aval) for name, aval in zip(references, avals, strict=True)]
    return WRITERS[closure.op.name](body, closure, values)
