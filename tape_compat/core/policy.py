"""When work is fused, cut, kept: every constant of the engine's policy, with its reason.

Figures: 2 cores, CPU, JAX 0.10, medians. Compiling a whole program costs about 0.5 s plus 0.8 ms an
instruction; compiling one op costs about 35 ms (a pullback 55 ms), once per distinct op and shape;
launching one compiled op costs about 10 us, recording one about 2 us.
"""

from __future__ import annotations

#: A pending record is run when it holds this many instructions, so that compile time stays
#: proportional to the length of the record and memory stays bounded.
MAX_PENDING_INSTRUCTIONS = 2000

#: ... or when the concrete arrays that it keeps alive reach this many bytes.
MAX_PENDING_BYTES = 1 << 32

#: A record reached from the same place is fused at first sight until this many in a row have been
#: new; from then on a new one runs op by op, and is fused when it comes again.
NEW_STRUCTURES_BEFORE_OP_BY_OP = 3

#: Records this short cost less op by op than one whole compile, when each op is compiled already.
SHORT_PROGRAM = 3

#: A program with more live outputs than this runs op by op: a long record that was cut, with all
#: that the tape still needs. XLA takes quadratic time to compile it: 2,000 chained additions, all
#: alive, took 22 s; op by op they take 20 ms each time.
MANY_OUTPUTS = 256

#: Compiled programs kept, least recently used dropped first.
MAX_EXECUTABLES = 256

#: Nodes of the tree of seen structures; beyond it the tree is cut back to what leads to a compiled
#: program. A node takes about 0.6 kB.
MAX_NODES = 50_000

#: Distinct (op, attributes) pairs kept per op, and distinct input shapes per pair.
MAX_CLOSURES_PER_OP = 4096
MAX_SHAPES_PER_CLOSURE = 1024

#: A compile longer than this many seconds is announced by one line (logger `tape_compat`).
SLOW_COMPILE_SECONDS = 3.0

#: Integer constants of at most this many elements are computed on the host at once, so that shape
#: arithmetic (`tf.shape(x)[0] * 2`) never has to run the pending work.
HOST_SIZE = 64

#: A host array of at least this many bytes moves to the device at its first use, a smaller one at
#: its second: `jax.device_put` takes 40 us, an argument of a compiled call 3 us.
MOVE_AT_FIRST_USE_BYTES = 1 << 20
