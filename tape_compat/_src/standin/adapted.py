"""What is done otherwise in modules of libraries, as they are loaded on us.

Keras divides IndexedSlices by a tensor row by row, and adds the rows that the slices have not and
where the tensor is zero or NaN: their number depends on values, which XLA cannot compile. Where a
function is recorded these rows are left out. RMSprop, Adagrad, Adadelta and Adafactor divide the
gradients of embeddings, by what is neither.

Its histogram leaves out the elements that are in no bin. How many those are depends on values as
well; in a function that is recorded they count for nothing instead. Its old CTC loss makes a
SparseTensor of its labels, for which the same is true: there it takes them as they are.

TensorFlow Probability has two functions for some random numbers, of which the runtime takes
one by the device. Here the one for CPUs is called, on any, but for gamma numbers whose parameters a
tape sees in eager code: there TensorFlow keeps the other one.

Sonnet has three functions for an unrolled LSTM, of which the runtime takes one by the device. Here
it is the one for CPUs, on any.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from types import ModuleType
from typing import Any

from ..core.dtypes import float32
from ..function.function import Function
from ..ops.casting import cast
from ..ops.comparison import logical_and
from ..ops.creation import constant, linspace
from ..ops.ctc_losses import ctc_loss
from ..ops.elementwise import log
from ..ops.gather_scatter import gather, scatter_nd
from ..ops.ordering import searchsorted
from ..ops.reductions import reduce_max, reduce_min
from ..ops.shapes import expand_dims, squeeze
from ..values import nest
from ..values.composite import CompositeTensor
from ..values.context import inside_function
from ..values.convert import convert
from ..values.indexed_slices import IndexedSlices
from ..values.tensor import Tensor
from ..values.variable import Variable
from .runtime import should_record_backprop


def dividing_slices(sparse: ModuleType) -> None:
    """Keras' decorator of divisions, where a function is recorded for the rows of slices only."""
    by_rows = getattr(sparse, "elementwise_division", None)
    if by_rows is None:  # a Keras that divides in another way
        return

    def elementwise_division(function: Callable[..., Any]) -> Callable[..., Any]:
        divided = by_rows(function)

        @functools.wraps(function)
        def quotient(x1: Any, x2: Any) -> Any:
            if not isinstance(x1, IndexedSlices) or not inside_function():
                return divided(x1, x2)
            if isinstance(x2, CompositeTensor) or not len(getattr(x2, "shape", ())):
                return divided(x1, x2)
            rows = function(x1.values, gather(x2, x1.indices))
            return IndexedSlices(rows, x1.indices, x1.dense_shape)

        return quotient

    sparse.elementwise_division = elementwise_division  # type: ignore[attr-defined]


def read_beside(core: ModuleType) -> None:
    """The values of a step may be read by another thread while the next one is under way."""
    core.IS_THREAD_SAFE = True  # type: ignore[attr-defined]


def counting(numpy: ModuleType) -> None:
    """Keras' histogram, where a function is recorded without leaving out what is in no bin."""
    by_leaving_out = getattr(numpy, "histogram", None)
    if by_leaving_out is None:  # a Keras that has it elsewhere
        return

    @functools.wraps(by_leaving_out)
    def histogram(x: Any, bins: int = 10, range: Any = None) -> tuple[Tensor, Tensor]:
        if not inside_function():
            return by_leaving_out(x, bins, range)
        x = convert(x)
        least, most = (reduce_min(x), reduce_max(x)) if range is None else range
        counted = cast(logical_and(x >= least, x <= most), x.dtype)
        edges = cast(linspace(least, most, bins + 1), x.dtype)
        places = searchsorted(edges[1:-1], x, side="right")
        return scatter_nd(expand_dims(places, -1), counted, (bins,)), edges

    numpy.histogram = histogram  # type: ignore[attr-defined]


def of_dense_labels(backend: ModuleType) -> None:
    """The CTC loss of old programs, where a function is recorded without a SparseTensor."""
    by_sparse = getattr(backend, "ctc_batch_cost", None)
    if by_sparse is None:  # a Keras without it
        return

    @functools.wraps(by_sparse)
    def ctc_batch_cost(y_true: Any, y_pred: Any, input_length: Any, label_length: Any) -> Tensor:
        if not inside_function():
            return by_sparse(y_true, y_pred, input_length, label_length)
        times, lengths = (cast(squeeze(x, -1), "int32") for x in (input_length, label_length))
        scores = convert(y_pred)
        scores = log(scores + convert(backend.backend.epsilon(), scores.dtype))
        return expand_dims(
            ctc_loss(cast(y_true, "int32"), scores, lengths, times, False, None, -1), 1
        )

    backend.ctc_batch_cost = ctc_batch_cost  # type: ignore[attr-defined]


def _seen_by_tape(values: Any) -> bool:
    """Whether this is eager code, where a tape tracks one of the tensors in a structure."""
    tensors = [x for x in nest.flatten(values) if isinstance(x, (Tensor, Variable))]
    return not inside_function() and should_record_backprop(tensors)


class _Sampling(threading.local):
    """Whether a tape sees the arguments of what this thread draws."""

    on_tape = False


_SAMPLING = _Sampling()


def of_cpus(selection: ModuleType) -> None:
    """The choice between two functions for random numbers, and the functions that make it: they
    take shapes as tensors, so they cannot be recorded by themselves."""
    by_cpu, by_default = getattr(selection, "_RUNTIME_CPU", 2), 1
    other = getattr(selection, "never_runs_functions_eagerly", None)

    def implementation_selecting(
        fn_name: str, default_fn: Callable[..., Any], cpu_fn: Callable[..., Any]
    ) -> Callable[..., Any]:
        on_tape = _SAMPLING.on_tape and fn_name == "gamma"
        chosen, runtime = (default_fn, by_default) if on_tape else (cpu_fn, by_cpu)
        return lambda **kwargs: (chosen(**kwargs), constant(float(runtime), float32))

    def never_runs_functions_eagerly(f: Any) -> Any:
        if not isinstance(f, Function) or f._jit_compile:
            return f if other is None else other(f)
        function = f.python_function

        @functools.wraps(function)
        def sampler(*args: Any, **kwargs: Any) -> Any:
            before, _SAMPLING.on_tape = _SAMPLING.on_tape, _seen_by_tape((args, kwargs))
            try:
                return function(*args, **kwargs)
            finally:
                _SAMPLING.on_tape = before

        return sampler

    selection.implementation_selecting = implementation_selecting  # type: ignore[attr-defined]
    selection.never_runs_functions_eagerly = (  # type: ignore[attr-defined]
        never_runs_functions_eagerly
    )


def of_one_kind(utilities: ModuleType) -> None:
    """The other implementation of a recurrent layer, by cuDNN's kernels, which is not asked for."""

    def function_register(func: Any, *args: Any, **kwargs: Any) -> None:
        """Nothing."""

    utilities.function_register = function_register  # type: ignore[attr-defined]


def one_unrolled_lstm(recurrent: ModuleType) -> None:
    """Sonnet's unrolled LSTM of all devices, which records no other."""
    kinds = getattr(recurrent, "_unrolled_lstm_impls", {})
    if "CPU" in kinds:
        recurrent._specialized_unrolled_lstm = kinds["CPU"]  # type: ignore[attr-defined]
