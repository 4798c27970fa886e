"""`tf.summary.experimental`: steps by default, and summaries of one's own."""

from .._src.diagnostics.summary.record import (
    summary_scope as summary_scope,
    write_raw_pb as write_raw_pb,
)
from .._src.diagnostics.summary.writers import get_step as get_step, set_step as set_step
from .._src.interop.names import face as _face

_face(__name__)
