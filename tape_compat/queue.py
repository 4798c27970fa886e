"""`tf.queue`: queues of tensors between threads."""

from ._src.interop.names import face as _face
from ._src.library.queues import (
    FIFOQueue as FIFOQueue,
    PaddingFIFOQueue as PaddingFIFOQueue,
    PriorityQueue as PriorityQueue,
    QueueBase as QueueBase,
    RandomShuffleQueue as RandomShuffleQueue,
)

_face(__name__)
