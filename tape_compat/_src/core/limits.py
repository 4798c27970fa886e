"""Bounds on what is kept, pending and moved, each with its reason; `run/policy.py` has the rest."""

#: A pending record is run when it holds this many instructions, so that memory stays bounded.
MAX_PENDING_INSTRUCTIONS = 20_000

#: ... or when the concrete arrays that it keeps alive reach this many bytes.
MAX_PENDING_BYTES = 1 << 32

#: When the tree of seen structures has so many nodes more than twice those that led to a prepared
#: program when it was last cut back, it is cut back to what leads to one. A node takes 0.8 kB.
SPARE_NODES = 25_000

#: Slices of one kind (`x[a:b]` of one width and shape) are recorded with their place fixed, which
#: XLA can fuse: the gates of an LSTM, the heads of an attention, the windows of a loop. When so
#: many programs each brought other places, they are taken for the batches of an epoch, and new ones
#: are recorded with the place as an input: otherwise each step would be another program. An op that
#: runs alone takes the place so from the first: 100 batches took 8.9 s to slice for the first time,
#: 35 to 45 ms a slice; now 0.1 s.
STATIC_FORMS = 8

#: So many ops between two tapes may be what prepares the second.
MOST_BEFORE_TAPE = 64

#: Distinct (op, attributes) pairs kept per op, and distinct input shapes per pair.
MAX_CLOSURES_PER_OP = 4096
MAX_SHAPES_PER_CLOSURE = 1024

#: An op that comes with shapes that differ from others in one size is traced for all sizes; with
#: shapes that differ in several, when so many came of which none was a variation of another. So
#: many such traces are tried, and kept, and so many shapes remembered that none of them fits.
SHAPES_BEFORE_VARIABLES = 4
MAX_GENERAL_TRACES = 4
MAX_TRIED_SHAPES = 12

#: A host array of at least this many bytes moves to the device at its first use, a smaller one at
#: its second: `jax.device_put` takes 40 us, an argument of a compiled call 3 us.
MOVE_AT_FIRST_USE_BYTES = 1 << 20

#: So many rows of an array are taken by one call: XLA's time grows with the square of the outputs.
ROWS_AT_ONCE = 64

#: What is remembered of which outputs of a closure depend on which inputs.
MAX_DEPENDENCES = 10_000

#: The last reasons for a compile, and the last values that were taken of a tape's tensors.
REASONS_KEPT = 100
ESCAPES_KEPT = 100

#: Places that were told why all their gradients are None; of how many sources each is told of, and
#: how many ops or places in the program stand in a reason.
MAX_PLACES_TOLD = 1000
SOURCES_TOLD = 8
PLACES_TOLD = 4

#: So often an op on unknown sizes is tried, with sizes taken for equal, before it is refused.
MAX_UNIFICATIONS = 150

#: What cannot be traced for unknown sizes is traced for some of these, all different: large and
#: small, even and odd. All but three have to do.
EXAMPLE_SIZES = (12, 7, 24, 5, 16, 3, 2)

#: A function of the elements of a dataset with so many ops is looked at: what only moves elements
#: runs at once, not as a program.
MAX_SHORT_TRACE = 8

#: A function of unknown rank is saved for tensors of so many axes at most.
MAX_SAVED_RANK = 6

#: Ways to call one function (how many arguments by position, which names) that are kept.
MAX_CALL_FORMS = 64

#: Traces of a function kept for the texts that it was called with, which count by value.
MAX_TRACES_BY_TEXT = 512

#: Conditionals and loops kept, by what they hold.
MAX_CONTROL_FLOW = 4096

#: Of so many lists of defaults of CSV fields the columns are kept.
MAX_COLUMNS = 64

#: Draws of random numbers in one function that Python runs at each call; those beyond are drawn as
#: outside of functions.
MAX_PYTHON_DRAWS = 4096

#: A part of a function between steps of the host, of no more ops than this, runs as an op does:
#: recording it as a program takes 20 us, of a whole one the price of a compile is estimated better.
MAX_PART_AS_OP = 32

#: Avals of arrays that are known by NumPy's dtype and the shape.
MAX_RECENT_AVALS = 1024
