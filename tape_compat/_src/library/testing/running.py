"""How tests are run: `main`, what skips them, and what there is to run them on."""

from __future__ import annotations

import functools
import platform
import unittest
from collections.abc import Callable
from typing import Any, NoReturn

from ...core.errors import user_location


def main(argv: list[str] | None = None) -> None:
    """Run the tests of the program, and end it with 0 if they all pass.

    argv: the command line, its first word the program; that of the process if None.
    """
    unittest.main(module="__main__", argv=argv)


def disable_with_predicate(
    pred: Callable[[], Any], skip_message: str
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """A decorator of test methods: the test is skipped where `pred()` is true.

    >>> import tape_compat as tf
    >>> skips = tf.test.disable_with_predicate(lambda: False, "not here")
    >>> skips(lambda self: "ran")(None)
    'ran'
    """

    def decorated(method: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(method)
        def asks_first(self: Any, *args: Any, **kwargs: Any) -> Any:
            if pred():
                self.skipTest(skip_message)
            return method(self, *args, **kwargs)

        return asks_first

    return decorated


def with_eager_op_as_function(cls: Any = None, only_as_function: bool = False) -> Any:
    """The class as it is: there is one way of running ops one by one. Also `@...()`."""
    return (lambda decorated: decorated) if cls is None else cls


def is_cpu_target_available(target: str) -> bool:
    """Whether a kind of CPU can be compiled for: 'x86_64', 'aarch64' (also 'arm') or 's390x'.

    XLA compiles for the CPU it runs on. TensorFlow is built with code for others too.
    """
    here = platform.machine().lower()
    same = {"amd64": "x86_64", "arm64": "aarch64", "arm": "aarch64"}
    return same.get(here, here) == same.get(target, target)


def create_local_cluster(
    num_workers: int,
    num_ps: int,
    protocol: str = "grpc",
    worker_config: Any = None,
    ps_config: Any = None,
) -> NoReturn:
    """Servers of a cluster in this process, which there are none of here.

    Raises: NotImplementedError always.
    """
    raise NotImplementedError(
        "tf.test.create_local_cluster: servers of a cluster (tf.distribute.Server) are not built; "
        f"one process runs everything (at {user_location()})"
    )
