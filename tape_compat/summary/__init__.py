"""`tf.summary`: what TensorBoard shows."""

from .._src.diagnostics.summary.graphs import (
    graph as graph,
    trace_export as trace_export,
    trace_off as trace_off,
    trace_on as trace_on,
)
from .._src.diagnostics.summary.kinds import (
    audio as audio,
    histogram as histogram,
    image as image,
    scalar as scalar,
    text as text,
)
from .._src.diagnostics.summary.record import (
    record_if as record_if,
    should_record_summaries as should_record_summaries,
    write as write,
)
from .._src.diagnostics.summary.writers import (
    SummaryWriter as SummaryWriter,
    create_file_writer as create_file_writer,
    create_noop_writer as create_noop_writer,
    flush as flush,
)
from .._src.interop.names import face as _face
from . import experimental as experimental

_face(__name__)
