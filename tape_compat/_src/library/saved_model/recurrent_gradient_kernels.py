"""Kernels that take back the gradients of recurrent layers, of what their kernels gave."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...ops import creation, elementwise, joining, products, reductions
from ...ops.arguments import known_value
from ...values.tensor import Tensor
from .registry import Kernel, kernel


@kernel("GRUBlockCellGrad")
def _gated(
    x: Any,
    before: Any,
    gates: Any,
    candidate: Any,
    _gates_bias: Any,
    _candidate_bias: Any,
    reset: Any,
    update: Any,
    new: Any,
    gradient: Any,
) -> Sequence[Tensor]:
    """The gradients by x and the state before, and by what the functions of the candidate and of
    the gates are of."""
    by_new = gradient * (1 - update) * (1 - elementwise.square(new))
    by_update = gradient * (before - new) * update * (1 - update)
    size = x._aval.shape[1]
    by_inner = products.matmul(by_new, candidate, transpose_b=True)
    by_kept = by_inner[:, size:]
    by_gates = joining.concat([by_kept * before * reset * (1 - reset), by_update], 1)
    by_whole = products.matmul(by_gates, gates, transpose_b=True)
    by_before = by_whole[:, size:] + by_kept * reset + gradient * update
    return by_whole[:, :size] + by_inner[:, :size], by_before, by_new, by_gates


def _step(
    before: Any,
    peepholes: Sequence[Any],
    given: Sequence[Any],
    by_cell: Any,
    by_output: Any,
    use_peephole: bool,
) -> tuple[Tensor, Tensor, Sequence[Tensor]]:
    """The gradients of a step by the cell before, by what its gates are of, in the order of
    `LSTMBlockCell`, and by the weights of the peepholes."""
    by_input, by_forget, by_leave = peepholes
    enter, cell, forget, leave, candidate, shown = given
    d_leave = by_output * shown * leave * (1 - leave)
    d_cell = by_cell + by_output * leave * (1 - elementwise.square(shown))
    if use_peephole:
        d_cell = d_cell + d_leave * by_leave
    d_candidate = d_cell * enter * (1 - elementwise.square(candidate))
    d_forget = d_cell * before * forget * (1 - forget)
    d_enter = d_cell * candidate * enter * (1 - enter)
    d_before = d_cell * forget
    of_weights = [creation.zeros_like(each) for each in peepholes]
    if use_peephole:
        d_before = d_before + d_enter * by_input + d_forget * by_forget
        pairs = ((d_enter, before), (d_forget, before), (d_leave, cell))
        of_weights = [reductions.reduce_sum(slope * state, 0) for slope, state in pairs]
    return d_before, joining.concat([d_enter, d_candidate, d_forget, d_leave], 1), of_weights


@kernel("LSTMBlockCellGrad")
def _cell(
    _x: Any,
    before: Any,
    _output: Any,
    _matrix: Any,
    by_input: Any,
    by_forget: Any,
    by_leave: Any,
    _bias: Any,
    enter: Any,
    cell: Any,
    forget: Any,
    leave: Any,
    candidate: Any,
    shown: Any,
    by_cell: Any,
    by_output: Any,
    *,
    use_peephole: bool,
) -> Sequence[Tensor]:
    given = (enter, cell, forget, leave, candidate, shown)
    d_before, d_gates, of_weights = _step(
        before, (by_input, by_forget, by_leave), given, by_cell, by_output, use_peephole
    )
    return d_before, d_gates, *of_weights


def _block(by_forgetting: bool) -> Kernel:
    def back(
        count: Any,
        x: Any,
        cell: Any,
        output: Any,
        matrix: Any,
        by_input: Any,
        by_forget: Any,
        by_leave: Any,
        bias: Any,
        *rest: Any,
        use_peephole: bool,
    ) -> Sequence[Tensor]:
        *given, outputs, by_cells, by_outputs = [joining.unstack(each) for each in rest]
        rows, peepholes = joining.unstack(x), (by_input, by_forget, by_leave)
        done, size = int(known_value(count)), x._aval.shape[2]
        totals = [creation.zeros_like(each) for each in (matrix, *peepholes, bias)]
        d_cell, d_output = creation.zeros_like(cell), creation.zeros_like(output)
        d_rows = [creation.zeros_like(row) for row in rows]
        for i in reversed(range(done)):
            before = (given[1][i - 1], outputs[i - 1]) if i else (cell, output)
            now = [part[i] for part in given]
            slopes = by_cells[i] + d_cell, by_outputs[i] + d_output
            d_cell, d_gates, of_weights = _step(before[0], peepholes, now, *slopes, use_peephole)
            if by_forgetting:
                enter, candidate, forget, leave = joining.split(d_gates, 4, 1)
                d_gates = joining.concat([enter, forget, candidate, leave], 1)
            d_whole = products.matmul(d_gates, matrix, transpose_b=True)
            d_rows[i], d_output = d_whole[:, :size], d_whole[:, size:]
            whole = joining.concat([rows[i], before[1]], 1)
            by_matrix = products.matmul(whole, d_gates, transpose_a=True)
            found = [by_matrix, *of_weights, reductions.reduce_sum(d_gates, 0)]
            totals = [total + part for total, part in zip(totals, found, strict=True)]
        return joining.stack(d_rows), d_cell, d_output, *totals

    return back


kernel("BlockLSTMGrad")(_block(False))
kernel("BlockLSTMGradV2")(_block(True))
