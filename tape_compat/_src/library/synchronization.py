"""What waits for devices: XLA's programs run asynchronously by themselves."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import jax

from ..values.record import flush


def sync_devices() -> None:
    """Wait until every device has done what it was given.

    >>> import tape_compat as tf
    >>> tf.test.experimental.sync_devices()
    """
    flush()
    jax.effects_barrier()
    for array in jax.live_arrays():
        array.block_until_ready()


@contextlib.contextmanager
def async_scope() -> Iterator[None]:
    """A block at whose end everything in it is done; an error that nobody has seen is raised there.

    >>> import tape_compat as tf
    >>> total = tf.Variable(0)
    >>> with tf.experimental.async_scope():
    ...     for x in range(3):
    ...         _ = total.assign_add(x)
    >>> total.numpy()
    np.int32(3)
    """
    yield
    sync_devices()


def async_clear_error() -> None:
    """Nothing: an error keeps no later op from running.

    >>> import tape_compat as tf
    >>> tf.experimental.async_clear_error()
    """
