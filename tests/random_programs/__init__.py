"""A differential tester: random programs, each run on TensorFlow and on tape_compat.

    python -m tests.random_programs --seeds 0:200
    python -m tests.random_programs --seeds 17:18 --show
    python -m tests.random_programs --subject texts

A seed makes a program (`generate.py`): a tree of statements (`program.py`), printed as Python that
says `tf.`, so that it can be read, shortened and pasted into a file. `write.py` has the simplest
statements, `expressions.py` and `fill.py` what stands in them, `derivatives.py`, `functions.py`,
`control.py`, `orders.py` and `steps.py` the blocks. With `--subject`, a program is of chains of
steps (`chains.py`) of one subject (`subjects.py`) instead. TensorFlow runs each statement while the
program is written, so that one sees which shapes there are, and what fails is left out. `run.py`
runs a program on a module in a mode, `compare.py` holds the outcomes against each other, and
`shrink.py` drops statements for as long as they differ.
"""
