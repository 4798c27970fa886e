"""New processes of Python for tests, forked from one in which the imports are done.

Importing Keras on us takes three seconds, more than most programs of the tests take then. So a
process that has imported and done nothing else waits for programs, and forks for each: JAX has not
started there, and a program begins as if its own first line had been that import. A program that
sets what is read at the import (another mode, another cache) gets a process that is really new, as
does every program where there is no fork.
"""

import atexit
import builtins
import json
import os
import runpy
import signal
import subprocess
import sys
import tempfile
import types
import warnings
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

#: What was imported before a program begins, by name.
PREPARED = {
    "tape_compat": "import numpy, tape_compat",
    "keras": "import tape_compat as tf; tf.keras.layers",
}
#: Settings that are read later than at the import.
READ_LATER = {"XLA_FLAGS", "KERAS_BACKEND", "TAPE_COMPAT_AS_TENSORFLOW"}


def run(*arguments, after="", check=True, cwd=None, timeout=300, **environment):
    """What a program, given as to `python`, prints: its CompletedProcess.

    after: what may have been imported before it, a key of `PREPARED`; "" for a process that is
    really new. check: whether the program must succeed.
    """
    variables = {**os.environ, "PYTHONPATH": str(ROOT), **environment}
    if after == "keras":
        variables["KERAS_BACKEND"] = "tensorflow"
    if after and hasattr(os, "fork") and environment.keys() <= READ_LATER:
        done = _server(after).run(arguments, cwd or os.getcwd(), variables, timeout)
    else:
        command = [sys.executable, *arguments]
        done = subprocess.run(
            command, cwd=cwd, env=variables, capture_output=True, text=True, timeout=timeout
        )
    assert not check or done.returncode == 0, done.stdout + done.stderr
    return done


class _Server:
    """The process that forks, and the pipes to it."""

    def __init__(self, after):
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        if after == "keras":
            environment["KERAS_BACKEND"] = "tensorflow"
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.processes", after],
            cwd=ROOT,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        atexit.register(self.close)

    def run(self, arguments, cwd, environment, timeout):
        with tempfile.TemporaryDirectory() as folder:
            paths = [os.path.join(folder, name) for name in ("out", "err")]
            asked = [[*map(str, arguments)], str(cwd), environment, timeout, paths]
            self.process.stdin.write(json.dumps(asked) + "\n")
            self.process.stdin.flush()
            status = json.loads(self.process.stdout.readline())
            texts = [Path(path).read_text() for path in paths]
        return subprocess.CompletedProcess(arguments, status, *texts)

    def close(self):
        self.process.stdin.close()
        self.process.wait()


_server = cache(_Server)


# -- In the process that forks.


def _serve():
    """Fork for each program that is asked for, and say how it ended. Returns in the child, what to
    call there; None at the end."""
    for line in sys.stdin:
        arguments, cwd, environment, timeout, paths = json.loads(line)
        with warnings.catch_warnings(action="ignore"):  # there are threads: those of OpenBLAS
            child = os.fork()
        if not child:
            signal.alarm(timeout)  # ends one that hangs
            _redirect(paths)
            os.chdir(cwd)
            os.environ.clear()
            os.environ.update(environment)
            return arguments
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        print(json.dumps(status), flush=True)
    return None


def _redirect(paths):
    """Standard input is empty, what is printed goes into two files."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
    for number, path in enumerate((os.devnull, *paths)):
        opened = os.open(path, flags if number else os.O_RDONLY)
        os.dup2(opened, number)
        os.close(opened)


def _begin(arguments):
    """Run a program in this process, as `python` with these arguments does."""
    while arguments[0] == "-W":
        action, _, category, module = (arguments[1] + ":::").split(":")[:4]
        module = module + "$" if module else ""
        warnings.filterwarnings(action, "", getattr(builtins, category or "Warning"), module)
        arguments = arguments[2:]
    # JAX's cache on disk has no lock, see `filterwarnings` in pyproject.toml.
    warnings.filterwarnings("ignore", "Error reading persistent compilation cache entry")
    if arguments[0] == "-m":
        sys.argv, sys.path[0] = arguments[1:], os.getcwd()
        runpy.run_module(arguments[1], run_name="__main__", alter_sys=True)
        return
    main = sys.modules["__main__"] = types.ModuleType("__main__")
    if arguments[0] == "-c":
        sys.argv, sys.path[0] = ["-c", *arguments[2:]], ""
        exec(compile(arguments[1], "<string>", "exec"), main.__dict__)
    else:
        sys.argv, sys.path[0] = arguments, os.path.dirname(arguments[0])
        main.__file__ = arguments[0]
        source = Path(arguments[0]).read_text()
        exec(compile(source, arguments[0], "exec"), main.__dict__)


if __name__ == "__main__":
    exec(PREPARED[sys.argv[1]], {})
    asked = _serve()
    if asked is not None:
        _begin(asked)
