"""Kernels of recurrent layers: a step of one, and all steps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...autodiff.custom import stop_gradient
from ...ops import clipping, creation, elementwise, joining, products
from ...ops.arguments import known_value
from ...values.tensor import Tensor
from .registry import kernel

#: The parts of the product with the weights, in the order of their columns: the input gate, the
#: candidate, the gates of forgetting and of the output.
_BY_CANDIDATE, _BY_FORGETTING = "icfo", "ifco"


#: The results of all steps that have a gradient: the cell and the output.
_WITH_GRADIENT = (1, 6)


def _step(
    x: Any,
    states: tuple[Any, Any],
    weights: tuple[Any, ...],
    forget_bias: float,
    cell_clip: float,
    use_peephole: bool,
    order: str,
) -> tuple[Tensor, ...]:
    """The input gate, the cell, the gates of forgetting and of the output, the candidate, what the
    cell shows, and the output. Source: Gers, Schmidhuber, Cummins (2000)."""
    before, output = states
    matrix, by_input, by_forget, by_output, bias = weights
    whole = products.matmul(joining.concat([x, output], 1), matrix) + bias
    parts = dict(zip(order, joining.split(whole, 4, 1), strict=True))
    forget = parts["f"] + forget_bias
    enter = parts["i"]
    if use_peephole:
        enter, forget = enter + before * by_input, forget + before * by_forget
    enter, forget = elementwise.sigmoid(enter), elementwise.sigmoid(forget)
    candidate = elementwise.tanh(parts["c"])
    cell = candidate * enter + before * forget
    if cell_clip > 0:  # gradients pass, as if there were no bounds
        cell = cell + stop_gradient(clipping.clip_by_value(cell, -cell_clip, cell_clip) - cell)
    leave = parts["o"] + cell * by_output if use_peephole else parts["o"]
    leave, shown = elementwise.sigmoid(leave), elementwise.tanh(cell)
    return enter, cell, forget, leave, candidate, shown, shown * leave


@kernel("LSTMBlockCell")
def _cell(
    x: Any,
    cell: Any,
    output: Any,
    *weights: Any,
    forget_bias: float,
    cell_clip: float,
    use_peephole: bool,
) -> Sequence[Tensor]:
    rest = (forget_bias, cell_clip, use_peephole, _BY_CANDIDATE)
    return _step(x, (cell, output), weights, *rest)


def _steps(count: Any, x: Any, cell: Any, output: Any, weights: Any, *rest: Any) -> list[Tensor]:
    """The steps of `x` [time, batch, size], and zeros after the first `count`."""
    done, found = int(known_value(count)), []
    for row in joining.unstack(x)[:done]:
        found.append(_step(row, (cell, output), weights, *rest))
        cell, output = found[-1][1], found[-1][-1]
    zeros = creation.zeros_like(cell)
    found += [(zeros,) * 7] * (x._aval.shape[0] - done)
    stacked = [joining.stack(list(part)) for part in zip(*found, strict=True)]
    return [x if i in _WITH_GRADIENT else stop_gradient(x) for i, x in enumerate(stacked)]


@kernel("BlockLSTM")
def _block(
    count: Any,
    x: Any,
    cell: Any,
    output: Any,
    *weights: Any,
    forget_bias: float,
    cell_clip: float,
    use_peephole: bool,
) -> Sequence[Tensor]:
    rest = (forget_bias, cell_clip, use_peephole, _BY_CANDIDATE)
    return _steps(count, x, cell, output, weights, *rest)


@kernel("BlockLSTMV2")
def _block_by_forgetting(
    count: Any,
    x: Any,
    cell: Any,
    output: Any,
    *weights: Any,
    cell_clip: float,
    use_peephole: bool,
) -> Sequence[Tensor]:
    return _steps(count, x, cell, output, weights, 0.0, cell_clip, use_peephole, _BY_FORGETTING)


@kernel("GRUBlockCell")
def _gated(
    x: Any, before: Any, gates: Any, candidate: Any, gates_bias: Any, candidate_bias: Any
) -> Sequence[Tensor]:
    """The gates of resetting and of updating, the candidate, and the output. Source: Cho et al.
    (2014)."""
    whole = products.matmul(joining.concat([x, before], 1), gates) + gates_bias
    reset, update = [elementwise.sigmoid(part) for part in joining.split(whole, 2, 1)]
    inner = products.matmul(joining.concat([x, before * reset], 1), candidate) + candidate_bias
    new = elementwise.tanh(inner)
    return reset, update, new, update * before + (1 - update) * new
