"""What is measured. Each workload is one source for everything that is called `tf`, one for
`jax.jit` with donated buffers as one would write it by hand, and one for PyTorch.

A workload is built from NumPy data that are the same everywhere. `tf(tf, data)`, `jax(data)` and
`torch(data)` give `(step, batches)`: `step(*batches[i])` does one training step and gives its loss,
a handle that may still be computing.
"""

from __future__ import annotations

from .around import AROUND
from .base import Workload as Workload
from .cold import COLD
from .derivatives import DERIVATIVES
from .embeddings import EMBEDDINGS
from .growth import GROWTH
from .images import IMAGES
from .networks import NETWORKS
from .recurrent import RECURRENT
from .single import SINGLE

WORKLOADS = [
    *NETWORKS,
    *IMAGES,
    *RECURRENT,
    *DERIVATIVES,
    *AROUND,
    *EMBEDDINGS,
    *COLD,
    *GROWTH,
    *SINGLE,
]
