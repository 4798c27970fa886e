"""Gradients of the user's own making in graphs: nodes that name the type of their gradient."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from ...autodiff.custom import custom_gradient
from ...ops.arguments import is_text
from ...ops.creation import zeros_like
from ...values.tensor import Tensor
from ...values.variable import Variable
from .messages import NodeDef

#: The attribute of a node that names the type of its gradient.
_TYPE = "_gradient_op_type"
#: Kernels that call functions, whose gradient is that of the function, whatever its name.
_CALLS = ("PartitionedCall", "StatefulPartitionedCall")

#: From the gradients of a node's outputs, and what the function captured, to those of its inputs.
GradientFunction = Callable[[list[Any]], list[Any]]


def gradient_type(node: NodeDef) -> str | None:
    """The type of a node's gradient, if it is not that of its kernel."""
    if _TYPE not in node.attr or node.op in _CALLS:
        return None
    found: str = node.attr[_TYPE].s.decode()
    return found


def with_gradient(
    kernel: Callable[[Sequence[Any]], list[Any]],
    inputs: Sequence[Any],
    gradient: GradientFunction,
    captured: Sequence[Any],
) -> list[Any]:
    """What a kernel gives of its inputs, with another gradient.

    Texts, tables and the like pass by; variables are what they hold, and stay variables.
    """
    outputs = kernel(inputs)
    taken = [i for i, x in enumerate(inputs) if _is_continuous(x)]
    beside = [i for i, x in enumerate(captured) if isinstance(x, Tensor) and not is_text(x)]
    given = [i for i, y in enumerate(outputs) if isinstance(y, Tensor) and _is_continuous(y)]
    if not given:
        return outputs

    @custom_gradient
    def node(*moving: Any) -> Any:
        found = kernel(_replaced(inputs, taken, moving[: len(taken)]))
        known = _replaced(captured, beside, moving[len(taken) :])

        def backward(*upstream: Any) -> list[Any]:
            of_outputs = _replaced(list(map(_nothing, outputs)), given, upstream)
            answers = gradient([*of_outputs, *known])
            return [*[answers[i] for i in taken], *[None] * len(beside)]

        return [found[i] for i in given], backward

    found = node(*[inputs[i] for i in taken], *[captured[i] for i in beside])
    return _replaced(outputs, given, found)


def _replaced(values: Sequence[Any], places: Sequence[int], new: Sequence[Any]) -> list[Any]:
    """Values, of which those at some places are new."""
    found = list(values)
    for i, value in zip(places, new, strict=True):
        found[i] = value
    return found


def _is_continuous(x: Any) -> bool:
    known = isinstance(x, (Tensor, Variable))
    return known and (x.dtype.is_floating or x.dtype.is_complex)


def _nothing(output: Any) -> Any:
    """The gradient of an output that has none."""
    return zeros_like(output) if isinstance(output, (Tensor, Variable)) else output


def refusing(error: Exception) -> GradientFunction:
    """The gradient of a node that has none."""

    def refuse(_: list[Any]) -> NoReturn:
        raise error

    return refuse


def unsaved(node: NodeDef) -> LookupError:
    """The error of a node whose gradient is not in the file."""
    return LookupError(
        f"No gradient defined for operation'{node.name}' (op type: {node.op}). In general every "
        "operation must have an associated `@tf.RegisterGradient` for correct autodiff, which this "
        "op is lacking. If you want to pretend this operation is a constant in your program, you "
        "may insert `tf.stop_gradient`. This can be useful to silence the error in cases where you "
        "know gradients are not needed, e.g. the forward pass of tf.custom_gradient. Please see "
        "more details in https://www.tensorflow.org/api_docs/python/tf/custom_gradient."
    )
