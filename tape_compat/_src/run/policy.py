"""When work is fused, cut, kept: every constant of the engine's policy, with its reason.

Figures: 2 cores, CPU, JAX 0.10, medians. Compiling a whole program whose ops were traced
costs about 0.2 s plus 0.8 ms an instruction for chains of additions, 2 to 3 ms for heavier ops;
compiling one op costs about 35 ms (a pullback 55 ms), once per distinct op and shape; launching one
compiled op costs about 10 us, recording one about 0.6 us in C and 1.5 us in Python.
"""

from __future__ import annotations

import os

#: Where ops may run on the host, a new program is interpreted, and compiled when what that has cost
#: beyond what the compiled program would have has grown to what the compile costs, as one buys skis
#: when the rent paid reaches their price: never more than twice the best that could have been done.
#: All of it is reckoned from counts and sizes, not from clocks, so that every run of a program is
#: alike. When BESIDE_SHARE of the price is paid another thread begins to compile. Where that takes
#: LONG_COMPILE_SECONDS, or a function is compiled, the step is interpreted until it has taken as
#: long: nobody waits for it.
#: Where ops are not interpreted, the first NEW_STRUCTURES_BEFORE_OP_BY_OP from one place in the
#: user's program are compiled at first sight, for a step that comes again that is cheaper than to
#: compile its ops one by one; from then on a new one runs op by op until it has paid, or has come
#: SIGHTS times running, or in all while there are only FEW_STRUCTURES; but one whose compile takes
#: DEAR_COMPILE_SECONDS has to pay first. So many programs found compiled in a row make the place a
#: settled one again.
INTERPRETS = os.environ.get("TAPE_COMPAT_INTERPRETS", "1") != "0"
NEW_STRUCTURES_BEFORE_OP_BY_OP = 2
SIGHTS = 2
FEW_STRUCTURES = 4
HITS_TO_SETTLE = 8
BESIDE_SHARE = 0.7
LONG_COMPILE_SECONDS = 1.0
DEAR_COMPILE_SECONDS = 8.0

#: What the user declared a function is likely to be called again: if its compile pays in
#: FUNCTION_RUNS runs, the run FUNCTION_DUE for the same shapes begins it in another thread, with
#: `jit_compile=True` the run JIT_COMPILE_DUE. The runs are interpreted until they have taken as
#: long. Where the compile takes less than LONG_COMPILE_SECONDS, the run that begins it waits with
#: `jit_compile=True`, for it was asked for; else one waits when FUNCTION_OVER times as many have
#: come, for of short ones it would be thousands. Where TensorFlow takes 0.3 to 0.8 s to trace the
#: step of a small Keras model, to trace and compile it took 0.2 to 0.6 s.
FUNCTION_RUNS = 10_000
FUNCTION_DUE = 4
JIT_COMPILE_DUE = 2
FUNCTION_OVER = 8

#: A function that calls Python functions with results is recorded when it has run as Python, which
#: shows their shapes; so often it may bring new ones.
UNLEARNED_CALLS = 20

#: A record that assumes something, as that a slice lies inside its axis, is tried while that holds
#: for all but one in so many calls, and one more: the last batch of an epoch may be smaller.
CALLS_AS_RECORDED = 10

#: While a step is pending, ops whose inputs have values join it: an optimizer written by hand is
#: then part of the step, 1.0 instead of 1.9 times `jax.jit`. Where so many programs from one place
#: were each given new ones, and none settled meanwhile, they run at once again.
NEW_JOINS = 8

#: Where a step is read at each iteration, nothing is pending when the next one is prepared (its
#: slices, casts, noise). At most `limits.MOST_BEFORE_TAPE` such ops between two tapes are recorded
#: with the second once they have cost, at RUN_NOW_SECONDS each, what another compile of the step
#: costs, or came while a step was pending; not where they were looked at before a tape was entered
#: MISLED times.
RUN_NOW_SECONDS = 20e-6
MISLED = 3

#: What it costs to come to the next op, what a call of a compiled op does, what its compile does,
#: of which an op that runs in a program pays SHARE_IN_PROGRAMS as quickly as by itself, for the
#: program may be compiled first; and what the compile of a whole program does: XLA's time grows
#: with the square of the outputs. 2,000 chained additions, all alive, took 22 s. An instruction
#: pays for its equations where there are many: of 24 programs, from 33 to 563 instructions long,
#: the compiles took 0.9 to 1.9 times of what both together say; without the equations 1.1 to 3.5
#: times. In Python loops that run as loops an equation takes more, for what its iterations read
#: and keep. In loops of an op such arrays are counted, and products of matrices: of 19 loops of 3
#: to 483 equations the compiles took 0.4 to 2.2 times of what the three say together, and 0.1 to 2
#: times of what the equations said.
#: A program between steps of the host is called and waited for: of 24 equations on rows of 16
#: numbers a call took 24 us of CPU time, 49 and 52 on a busy machine, of 12 us interpreted. One of
#: LIKELY_ELSEWHERE operations or more XLA hands to another thread: a product of matrices, a softmax
#: or 60 equations on 64 numbers each took 48 to 50 us, of which those in this thread took 9.
OP_SECONDS = 3e-6
OP_CALL_SECONDS = 10e-6
PART_CALL_SECONDS = 40e-6
PART_HANDED_OVER_SECONDS = 40e-6
LIKELY_ELSEWHERE = 1000

#: An op that moves elements, and computes no longer than this, is no faster when it is compiled:
#: to take a batch of rows is arithmetic of their numbers, and a copy.
WITH_MOVES_SECONDS = 20e-6
OP_COMPILE_SECONDS = 0.04
CONVOLUTION_COMPILE_SECONDS = 0.06
HASH_COMPILE_SECONDS = 0.1
SHARE_IN_PROGRAMS = 0.25
COMPILE_SECONDS = 0.2
COMPILE_SECONDS_PER_INSTRUCTION = 3e-3
COMPILE_SECONDS_PER_EQUATION = 2e-3
COMPILE_SECONDS_PER_EQUATION_IN_LOOPS = 8e-3
COMPILE_SECONDS_PER_PRODUCT_IN_LOOPS = 30e-3
COMPILE_SECONDS_PER_STACK = 8e-3
COMPILE_SECONDS_PER_OUTPUT_SQUARED = 5e-6

#: An op that takes less to interpret has no product of matrices that BLAS would share out.
THREADS_MATTER_SECONDS = 14e-6

#: Decompositions of matrices that take no more than those of ONE_THREAD_SIDE rows and columns run
#: in one thread, as TensorFlow's do, and so do programs with them: more threads gain little yet,
#: and lose all where something else runs: see `host.one_thread`. Up to SINGLE_SIDE OpenBLAS has one
#: thread anyway.
SINGLE_SIDE, ONE_THREAD_SIDE = 64, 512

#: But for products of whole matrices, of SVDs with vectors and of triangular systems with many
#: right sides, it has several from here on: the inverses of 16 matrices 64 x 64 took 690 ms on a
#: busy machine, and in one thread 1.8.
SEVERAL_SIDE = 32

#: Of the time that the interpreter takes, a compiled op takes about COMPILED_SHARE where arrays are
#: large, and no less than a call takes where they are small; a program compiled as a whole
#: FUSED_SHARE. Products of matrices and convolutions, which BLAS does in one thread, take
#: PRODUCTS_SHARE of theirs: an MLP 784-1024-1024-10 of 256 rows 40 ms, 25 compiled.
COMPILED_SHARE = 0.4
FUSED_SHARE = 0.3
PRODUCTS_SHARE = 0.6

#: Where arrays of so many bytes are interpreted, memory that was freed is kept for the next ones.
LARGE_BYTES = 1 << 17

#: A program that takes so much memory at once asks for large pages. glibc keeps blocks up to 32 MB.
LARGE_PROGRAM_BYTES = 1 << 25

#: So many bytes of its memory at most are kept for the next run.
KEPT_PAGES = 1 << 29

#: More than this share of the memory of the device may be more than there is left: what takes that
#: is given no buffers, unless they are larger than the other share.
SAFE_SHARE_OF_MEMORY = 1 / 2
COPIED_SHARE_OF_MEMORY = 1 / 16

#: It asks for so many times what its ops hold: XLA takes up to 1.3 times that, of loops. What it
#: does not use takes no memory.
ROOM = 1.5

#: The first op that gives so much of it stands for what is large in it.
SHARE_OF_ROOM = 1 / 32

#: Elements of variables so large are changed in place where that is all that an op does: to copy
#: 256 MB takes 130 to 280 ms, a step with 256 rows of them 1 ms.
IN_PLACE_BYTES = 1 << 24

#: Records this short run op by op the first time: their ops are often compiled already.
SHORT_PROGRAM = 3

#: A Python loop of LEAST_ITERATIONS iterations and more, each of at most LONGEST_ITERATION
#: instructions, runs as a loop of the compiled program where such loops are LOOPS_LEAST
#: instructions and LOOPS_SHARE of it. How often it runs is an argument, up to a capacity: a power
#: of two, at least LEAST_CAPACITY, at most LOOSEST times the number of iterations; but where the
#: stacks that the iterations fill take more than LARGE_STACKS bytes, the number itself, rounded up
#: to a multiple of LEAST_ITERATIONS. A GRU of 50 steps took 8 s to compile and 7.5 ms to run with
#: its 1,868 instructions side by side; as two loops 0.5 s and 3.8 ms.
LOOPS_SHARE = 0.6
LOOPS_LEAST = 64
LEAST_ITERATIONS = 8
LONGEST_ITERATION = 1000
LEAST_CAPACITY = 64
LOOSEST = 4
LARGE_STACKS = 1 << 26

#: A period is likely where equal runs of so many instructions lie so far apart; so many of the
#: likeliest are tried.
LOOP_GRAM = 4
LIKELIEST_PERIODS = 8

#: On these backends the number of iterations is an argument from the start. On others the host is
#: asked after each iteration of such a loop: there a program is compiled for the first number it
#: comes with, and for any number when it comes with a second one.
COUNTS_ARE_ARGUMENTS = ("cpu",)

#: A program of at most so many instructions does not run as loops if each iteration has variables
#: of its own that are overwritten: they are the layers of a network, and copies of all the weights
#: would cost more than the compile saves.
MAX_LAYERS = 1000

#: A longer one of these runs as loops, on the CPU for good if no iteration has an array of more
#: than SMALL_LAYER bytes that it alone reads or gives: such a row is copied in 0.1 us, and handed
#: to a program in 2 us. A function with momentum for 150 variables of 8 numbers took 0.57 ms as a
#: whole, 0.25 as loops; of 64 numbers 0.64 and 0.42, of 1,024 1.0 and 3.4.
SMALL_LAYER = 1 << 9

#: Others go over to a whole program. When one has come LAYERS_SETTLED times, and once for each
#: LAYERS_INSTRUCTIONS_A_RUN of its instructions, another thread begins to compile it as a whole;
#: after as many more runs it goes over to that, and waits for it if it must. So a process is not
#: kept from ending by a compile that has not been earned.
LAYERS_SETTLED = 8
LAYERS_INSTRUCTIONS_A_RUN = 16

#: An iteration may read what an iteration so many before it made.
FARTHEST_CARRY = 4

#: Leaves of so many bytes at most are copied into a stack for the iterations of a loop; where there
#: is more (the layers of a deep network) the copy would cost more than the loop saves.
LARGEST_BUNDLE = 1 << 20

#: A leaf of so many bytes at most, of which only rows are read (`x[t]`), is copied to have as many
#: rows as the capacity.
LARGEST_SEQUENCE = 1 << 24

#: Stacks are made and taken apart so many rows at a time, and whole if more than FEW_ROWS are read.
#: Rows of at most SMALL_ROW bytes stay on the host if that is where the program runs: 0.2 us a row
#: instead of 6; and 0.1 if those that take at most SHARED_BYTES in all share one block of memory,
#: which each of them keeps.
STACK_ROWS = 64
FEW_ROWS = 16
SMALL_ROW = 1 << 14
SHARED_BYTES = 1 << 16

#: Places in the user's program of which it is noted what was seen.
MAX_HISTORIES = 512

#: Compiled programs kept; beyond that the oldest of those that have not been used of late go.
MAX_EXECUTABLES = 256

#: Programs and templates of loops that another thread compiles.
MAX_BEGUN = 64

#: Instructions of all compiled programs and plans that are kept. Of plans that came once only
#: ONCE_INSTRUCTIONS, or FEW_ONCE plans: they take 0.4 kB an instruction, and hold on to the nodes
#: of their structure, of which `limits.SPARE_NODES` is the bound.
MAX_NODES = 200_000
ONCE_INSTRUCTIONS = 10_000
FEW_ONCE = 16

#: Sequences remembered at one node of the tree; beyond that they are forgotten.
MAX_SPLICES = 64

#: After the compile of a program of so many instructions what it has freed goes back to the system.
LARGE_COMPILE = 64

#: A compile longer than this many seconds is announced by one line (logger `tape_compat`).
SLOW_COMPILE_SECONDS = 3.0

#: For sizes that have come so often, parts of functions between steps of the host are programs of
#: these sizes; before that NumPy does their ops, and nothing is made for the sizes. Such a program
#: takes about a millisecond to make.
NEW_SIZES = 16
#: Of how many sizes it is counted how often they have come.
SIZES_COUNTED = 4096

#: Integer constants of at most this many elements are computed on the host at once, so that shape
#: arithmetic (`tf.shape(x)[0] * 2`) never has to run the pending work.
HOST_SIZE = 64

#: A value that is read is looked for so many times, 150 to 380 us, before its thread is put to
#: sleep; where it was not there by then, the next SLEEPS values are waited for asleep. On a virtual
#: machine whose threads wake slowly, the step of a tiny MLP, read each time, takes 250 us without,
#: 150 with (decorated 145 and 65; 60 by hand), a step of 1 ms the same.
LOOKS = 1000
SLEEPS = 16


def compile_seconds(
    instructions: int, outputs: int = 0, equations: float = 0.0, as_loops: bool = False
) -> float:
    """About how long it takes to compile a whole program; equations: how many its instructions are,
    if that is known; as_loops: whether loops of it stay loops, which count once."""
    each = COMPILE_SECONDS_PER_EQUATION_IN_LOOPS if as_loops else COMPILE_SECONDS_PER_EQUATION
    linear = max(COMPILE_SECONDS_PER_INSTRUCTION * instructions, each * equations)
    return COMPILE_SECONDS + linear + COMPILE_SECONDS_PER_OUTPUT_SQUARED * outputs**2


def op_compile_seconds(
    convolutions: int = 0, hashes: int = 0, inside: int = 0, products: int = 0, stacked: int = 0
) -> float:
    """About how long it takes to compile one op that has so many convolutions, hashes that random
    numbers come from, equations and products of matrices inside of loops and conditions, and arrays
    whose rows loops read or give."""
    dear = CONVOLUTION_COMPILE_SECONDS * convolutions + HASH_COMPILE_SECONDS * hashes
    dear += COMPILE_SECONDS_PER_PRODUCT_IN_LOOPS * products + COMPILE_SECONDS_PER_STACK * stacked
    return OP_COMPILE_SECONDS + dear + COMPILE_SECONDS_PER_EQUATION * inside


def in_several_threads(side: float, multiplies: bool) -> bool:
    """Whether OpenBLAS has several threads, if it may, for matrices of so many rows; multiplies:
    whether whole matrices are multiplied for their decomposition."""
    return side > SINGLE_SIDE or (multiplies and side >= SEVERAL_SIDE)


def in_one_thread(side: float) -> bool:
    """Whether what decomposes matrices is to have one thread; side: see `OpRunner`."""
    return 0 < side <= ONE_THREAD_SIDE


def compiled_seconds(interpreted: float, products: float = 0.0, kernels: float = 0.0) -> float:
    """About how long a compiled op takes that is interpreted in so many seconds, of which products
    of matrices take those, and kernels of this library those."""
    return _seconds(COMPILED_SHARE, interpreted, products, kernels)


def part_seconds(
    interpreted: float, operations: int, products: float = 0.0, kernels: float = 0.0
) -> float:
    """The same of a program of so many operations between steps of the host."""
    handed = PART_HANDED_OVER_SECONDS if operations >= LIKELY_ELSEWHERE else 0.0
    return max(PART_CALL_SECONDS, compiled_seconds(interpreted, products, kernels)) + handed


def fused_seconds(interpreted: float, products: float = 0.0, kernels: float = 0.0) -> float:
    """About how long a compiled program takes that is interpreted in so many seconds."""
    return _seconds(FUSED_SHARE, interpreted, products, kernels)


def _seconds(share: float, interpreted: float, products: float, kernels: float) -> float:
    others = interpreted - products - kernels
    return max(OP_CALL_SECONDS, share * others + PRODUCTS_SHARE * products + kernels)
