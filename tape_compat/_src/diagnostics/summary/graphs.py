"""Graphs of functions as TensorBoard shows them."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterable
from typing import Any, NamedTuple

from ...core.avals import Aval
from ...core.dimensions import is_symbolic
from ...core.dtypes import DType
from ...data.io import wire
from ...function.graph import FuncGraph
from ...function.grouping import Graph
from ...function.trace import CALLED
from ...values.context import executing_eagerly, inside_function
from ...values.convert import convert
from ...values.operation import Operation, operations
from ...values.tensor import Tensor
from .. import profiler as profiling
from .files import GRAPH_DEF
from .protos import SummaryMetadata
from .record import checked_step, should_record_summaries, summary_scope, write
from .writers import STATE

LOGGER = logging.getLogger("tape_compat")

# Fields of a GraphDef, a NodeDef, an AttrValue and of RunMetadata.
_NODE, _NAME, _OP, _INPUT, _ATTR = 1, 1, 2, 3, 5
_LIST, _TYPE, _SHAPE = 1, 6, 7
_FUNCTION_GRAPHS, _PRE_OPTIMIZATION = 4, 2
#: The version of GraphDefs that TensorBoard is told.
_VERSIONS = wire.field(4, wire.number_field(1, 1))


def graph_def_of(graph: FuncGraph) -> bytes:
    """What a function recorded, as a GraphDef: names, kinds, inputs, dtypes and shapes. What has
    branches or a body is one node, and so is each tensor from outside."""
    nodes: list[bytes] = []
    names: dict[int, str] = {}

    def add(op: Operation) -> None:
        for slot in op._inputs:
            if slot not in names:
                aval = graph.tensor_at(slot)._aval
                add(Operation(graph, f"Const_{slot}", "Const", (), slot, (aval,)))
        nodes.append(wire.field(_NODE, _node(op, [names[slot] for slot in op._inputs])))
        for index in range(len(op._avals)):
            names[op._first + index] = f"{op.name}:{index}" if index else op.name

    for op in operations(graph):
        add(op)
    return b"".join(nodes) + _VERSIONS


def _node(op: Operation, inputs: Iterable[str]) -> bytes:
    parts = [wire.field(_NAME, op.name.encode()), wire.field(_OP, op.type.encode())]
    parts += [wire.field(_INPUT, name.encode()) for name in inputs]
    shapes = b"".join([wire.field(_SHAPE, _shape(aval)) for aval in op._avals])
    parts.append(_attribute("_output_shapes", wire.field(_LIST, shapes)))
    if op._avals:
        key = "dtype" if op.type in ("Const", "Placeholder") else "T"
        parts.append(_attribute(key, _type(op._avals[0].dtype)))
    return b"".join(parts)


def _type(dtype: DType) -> bytes:
    return wire.number_field(_TYPE, dtype.as_datatype_enum)


def _attribute(key: str, value: bytes) -> bytes:
    return wire.field(_ATTR, wire.field(1, key.encode()) + wire.field(2, value))


def _shape(aval: Aval) -> bytes:
    sizes = [-1 if is_symbolic(size) else size for size in aval.shape]
    return b"".join([wire.field(2, wire.number_field(1, size) if size else b"") for size in sizes])


def graph(graph_data: Any) -> Tensor:
    """Write the graph of a function, for TensorBoard to show.

    Args:
      graph_data: the `graph` of a concrete function, or a `tf.compat.v1.GraphDef` of TensorFlow's.
    Returns: whether it was written: bool scalar Tensor.
    Raises: ValueError for something else, and in a function.

    >>> import tape_compat as tf
    >>> f = tf.function(lambda x: x + 1.0).get_concrete_function(tf.TensorSpec([], tf.float32))
    >>> tf.summary.graph(f.graph)
    <tf.Tensor: shape=(), dtype=bool, numpy=False>
    """
    if not executing_eagerly():
        raise ValueError("graph() cannot be invoked inside a graph context.")
    writer = STATE.writer
    if writer is None or not should_record_summaries():
        return convert(False)
    if isinstance(graph_data, FuncGraph):
        data = graph_def_of(graph_data)
    elif isinstance(graph_data, Graph):
        raise NotImplementedError("summary.graph of a tf.Graph that is no function's")
    elif type(graph_data).__name__ == "GraphDef" and hasattr(graph_data, "SerializeToString"):
        data = graph_data.SerializeToString()
    else:
        raise ValueError(
            "Argument 'graph_data' is not tf.Graph or tf.compat.v1.GraphDef. Received graph_data="
            f"{graph_data} of type {type(graph_data).__name__}."
        )
    writer._add(0, wire.field(GRAPH_DEF, data))
    return convert(True)


# -- what runs between trace_on and trace_export ---------------------------------------------------


class _Tracing(NamedTuple):
    """What was asked for: graphs, and a profile."""

    graph: bool
    profiler: bool


class _Current:
    tracing: _Tracing | None = None


_LOCK = threading.Lock()


def trace_on(graph: bool = True, profiler: bool = False, profiler_outdir: Any = None) -> None:
    """Begin to note which functions are called, and to profile.

    Args:
      graph: whether to note the graphs of functions.
      profiler: whether to profile; that needs `profiler_outdir`.
      profiler_outdir: the folder where TensorBoard is to find the profile.

    >>> import tape_compat as tf
    >>> tf.summary.trace_on()
    >>> tf.summary.trace_off()
    """
    if inside_function():
        LOGGER.warning("Cannot enable trace inside a tf.function.")
        return
    with _LOCK:
        if _Current.tracing is not None:
            LOGGER.warning("Trace already enabled")
            return
        if profiler and profiler_outdir is None:
            LOGGER.warning("No `profiler_outdir` passed to trace_on(). Profiler won't be enabled.")
        elif profiler:
            profiling.start(profiler_outdir)
        if graph or profiler:
            CALLED.graphs = {}
        _Current.tracing = _Tracing(graph, profiler and profiler_outdir is not None)


def trace_off() -> None:
    """End what `trace_on` began, and forget what was noted.

    >>> import tape_compat as tf
    >>> tf.summary.trace_off()
    """
    with _LOCK:
        tracing, _Current.tracing = _Current.tracing, None
        CALLED.graphs = None
        if tracing is not None and tracing.profiler:
            try:
                profiling.stop()
            except Exception as error:
                LOGGER.warning("Error while stopping profiler: %s", error)


def trace_export(name: str, step: Any = None, profiler_outdir: Any = None) -> None:
    """End what `trace_on` began; write the graphs as a summary, and the profile into its folder.

    Args:
      name: of the summary. step: int64 scalar; None for that of
        `tf.summary.experimental.set_step`.
      profiler_outdir: no longer used; give it to `trace_on`.
    Raises: ValueError if `trace_on` was not called, or without a step.

    >>> import tape_compat as tf
    >>> tf.summary.trace_export("graphs", step=0)
    Traceback (most recent call last):
    ValueError: Must enable trace before export through tf.summary.trace_on.
    """
    if step is not None:
        checked_step(step)
    if inside_function():
        LOGGER.warning("Cannot export trace inside a tf.function.")
        return
    with _LOCK:
        tracing, graphs = _Current.tracing, list((CALLED.graphs or {}).values())
    if tracing is None:
        raise ValueError("Must enable trace before export through tf.summary.trace_on.")
    kind = "graph_run_metadata_graph" if tracing.graph and not tracing.profiler else ""
    plugin = kind or "graph_run_metadata"
    data = SummaryMetadata.PluginData(plugin_name=plugin, content=b"1")
    metadata = SummaryMetadata(plugin_data=data)
    with summary_scope(name, f"{plugin}_summary", [step]) as (tag, _):
        write(tag, b"".join(map(_run_graph, graphs)), step, metadata)
    if tracing.profiler and profiler_outdir:
        LOGGER.warning(
            "Ignoring `profiler_outdir` passed to trace_export(). Please pass it to trace_on() "
            "instead."
        )
    trace_off()


def _run_graph(graph: FuncGraph) -> bytes:
    drawn = wire.field(_PRE_OPTIMIZATION, graph_def_of(graph))
    return wire.field(_FUNCTION_GRAPHS, drawn)
