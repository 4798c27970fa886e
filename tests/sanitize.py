"""The extension under the address and undefined-behaviour sanitizers: `python -m tests.sanitize`.

Builds it with them into a throwaway copy, and runs there the tests that lead through most of it.
Where there is no compiler or no libasan it says so and does nothing; with CI=true that is a
failure.
"""

import os
import platform
import resource
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

from tests.__main__ import SETTINGS, quick_flags

ROOT = Path(__file__).resolve().parent.parent
TESTS = [
    "test_native.py",
    "test_planned_calls.py",
    "test_kernels.py",
    "test_order.py",
    "test_words.py",
    "test_pooling_kernel.py",
    "test_angles.py",
    "test_systems.py",
    "test_joins.py",
    "test_tape.py",
    "test_run.py",
    "test_threads.py",
]
#: What these check are programs and their values. The others lead through each of their lines.
LEFT_OUT = (
    "test_a_small_decomposition test_an_optimizer_written test_bessel_functions_call_it "
    "test_derivatives_of_every_order test_derivatives_that_jax_takes test_determinants "
    "test_exports_call_none test_five_thousand_ops test_groups_that_are_made_at_a_time "
    "test_halves_are_done_in_float32 test_layers_run_as_loops test_programs_call_it "
    "test_saved_models_call_none test_values_are_those_of_immediate test_what_is_in_use "
    "test_what_multiplies test_what_prepares_a_step_belongs test_what_prepares_the_next "
    "normal-float"
).split()
FLAGS = "-shared -fPIC -g -O1 -fno-omit-frame-pointer -fsanitize=address,undefined".split()
STOP = "-fno-sanitize-recover=all"

#: Runs pytest where the extension that was just built is loaded, and no other.
CHECKED = """
import sys, pytest
from tape_compat._src.core.native import FASTPATH, KERNELS
for built in (FASTPATH, KERNELS):
    assert built is not None and built.__file__.startswith(sys.argv[1]), built
sys.exit(pytest.main(sys.argv[2:]))
"""


class Missing(Exception):
    """What is needed is not on this machine."""


def compiler() -> str:
    for name in ((sysconfig.get_config_var("CC") or "cc").split()[0], "gcc"):
        if platform.system() == "Linux" and shutil.which(name):
            return name
    raise Missing("no C compiler on Linux")


def library(name: str) -> str:
    """The path of a library of the compiler's."""
    command = [compiler(), f"-print-file-name={name}"]
    found = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    if not os.path.isabs(found):
        raise Missing(f"no {name}")
    return found


def build(folder: Path) -> None:
    """Copy package and tests to a folder, and build the extension there."""
    leave = shutil.ignore_patterns("__pycache__", "*.so")
    for name in ("tape_compat", "tests"):
        shutil.copytree(ROOT / name, folder / name, ignore=leave)
    shutil.copy(ROOT / "pyproject.toml", folder)
    native = folder / "tape_compat" / "_src" / "native"
    include = f"-I{sysconfig.get_paths()['include']}"
    for name, source in (("_fastpath", "module.c"), ("_kernels", "kernels.c")):
        target = native / f"{name}{sysconfig.get_config_var('EXT_SUFFIX')}"
        command = [compiler(), *FLAGS, STOP, include, str(native / source)]
        subprocess.run([*command, "-lm", "-o", str(target)], check=True)


def environment() -> dict[str, str]:
    """libstdc++ comes first as well, for libasan looks for `throw` before jaxlib brings it. Each
    object of Python's gets memory of its own, which can be watched."""
    return {
        "XLA_FLAGS": quick_flags(),
        **SETTINGS,
        **os.environ,
        "LD_PRELOAD": f"{library('libasan.so')} {library('libstdc++.so.6')}",
        "ASAN_OPTIONS": "detect_leaks=0",  # Python and JAX keep what lasts to the end
        "UBSAN_OPTIONS": "print_stacktrace=1",
        "PYTHONMALLOC": "malloc",
        "JAX_PLATFORMS": "cpu",
        "TAPE_COMPAT_PURE_PYTHON": "0",
        "TAPE_COMPAT_IMMEDIATE": "0",
    }


def main() -> int:
    try:
        variables = environment()
    except Missing as missing:
        print(f"the sanitizers did not run: {missing}")
        return int(os.environ.get("CI") == "true")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        build(folder)
        # What a sanitizer writes as it ends the process must not be kept by pytest.
        options = ["-q", "-p", "no:cacheprovider", "--capture=sys"]
        asked = ["-k", f"not ({' or '.join(LEFT_OUT)})"]
        arguments = [*options, *asked, *(f"tests/{test}" for test in TESTS)]
        command = [sys.executable, "-u", "-c", CHECKED, str(folder), *arguments]
        status = subprocess.run(command, cwd=folder, env=variables).returncode
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(f"under sanitizers: exit {status}, {used.ru_utime + used.ru_stime:.0f} s of CPU")
    return status


if __name__ == "__main__":
    sys.exit(main())
