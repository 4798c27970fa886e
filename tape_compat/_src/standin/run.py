"""`python -m tape_compat run`: a program that imports `tensorflow` runs on tape_compat."""

from __future__ import annotations

import argparse
import os
import runpy
import shutil
import stat
import sys
import tempfile
from collections.abc import Sequence

from .install import install_as_tensorflow

#: "0": the program runs as it is, on the TensorFlow that is installed.
VARIABLE = "TAPE_COMPAT_AS_TENSORFLOW"


def main(arguments: Sequence[str] | None = None) -> None:
    """The command; `arguments` are those of the command line if None."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    parser = argparse.ArgumentParser("python -m tape_compat", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    run = commands.add_parser(
        "run",
        help="run a program with tape_compat in the place of TensorFlow",
        description=f"Run a program with tape_compat in the place of TensorFlow. The environment "
        f"variable {VARIABLE}=0 runs it on the TensorFlow that is installed, to compare.",
    )
    run.add_argument("-m", dest="is_module", action="store_true", help="it is a module's name")
    run.add_argument("program", help="a file, or with -m a module")
    run.add_argument("args", nargs=argparse.REMAINDER, help="what the program is given")
    found = parser.parse_args(given)
    if os.environ.get(VARIABLE, "1") not in ("", "0", "false"):
        install_as_tensorflow()
    sys.argv = [found.program, *found.args]
    if found.is_module:
        sys.path.insert(0, os.getcwd())
        runpy.run_module(found.program, run_name="__main__", alter_sys=True)
    else:
        sys.path.insert(0, os.path.dirname(os.path.abspath(found.program)))
        if stat.S_ISFIFO(os.stat(found.program).st_mode):
            _run_once(found.program)
        else:
            runpy.run_path(found.program, run_name="__main__")


def _run_once(program: str) -> None:
    """Run what can be read once only by a copy, since `runpy` and AutoGraph read it again."""
    with tempfile.TemporaryDirectory() as folder:
        copy = os.path.join(folder, "program.py")
        with open(program, "rb") as given, open(copy, "wb") as file:
            shutil.copyfileobj(given, file)
        runpy.run_path(copy, run_name="__main__")
