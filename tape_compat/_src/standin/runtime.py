"""What libraries call of TensorFlow's private modules, where none of our public names does it."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NoReturn

from ..core.device_spec import DeviceSpec
from ..core.errors import NeedsValue, user_location
from ..core.state import LOCAL
from ..function.control_flow import cond
from ..function.grouping import Graph
from ..library.distribute import get_strategy
from ..ops.creation import get_static_value
from ..ops.slicing import (
    dynamic_slice as dynamic_slice,
    dynamic_update_slice as dynamic_update_slice,
)
from ..values.context import current_device, executing_eagerly
from ..values.operators import call
from ..values.record import flush
from ..values.sizes import number_of
from ..values.tensor import Tensor

#: The name of an axis that is on every device.
UNSHARDED = "unsharded"


def true(*_: Any, **__: Any) -> bool:
    """True."""
    return True


def nothing(*_: Any, **__: Any) -> None:
    """Nothing is to be done."""


class _Context:
    """The state of TensorFlow's runtime, as far as there is something like it."""

    def executing_eagerly(self) -> bool:
        """Whether no function is being recorded."""
        return executing_eagerly()

    @property
    def device_name(self) -> str:
        """The name of the device that `tf.device` asks for; empty for the default one."""
        return current_device()

    @property
    def device_spec(self) -> DeviceSpec:
        """The parts of that name."""
        return DeviceSpec.from_string(current_device())

    def clear_kernel_cache(self) -> None:
        """Nothing: the caches of compiled programs are bounded, and other models use them."""

    def async_wait(self) -> None:
        """Start what is pending."""
        flush()

    def enable_xla_devices(self) -> None:
        """Nothing: programs are XLA's anyway."""

    def num_gpus(self) -> int:
        """No GPU is said to be here, since TensorFlow's kernels for them are not."""
        return 0


_CONTEXT = _Context()


def context() -> _Context:
    """The state of the runtime."""
    return _CONTEXT


@contextlib.contextmanager
def graph_mode() -> Iterator[None]:
    """A context in which ops are recorded and not run, as in `tf.Graph().as_default()`."""
    with Graph().as_default():
        yield


def no_gpus() -> int:
    """See `context().num_gpus`."""
    return _CONTEXT.num_gpus()


def should_record_backprop(tensors: Iterable[Any]) -> bool:
    """Whether a tape that is recording tracks one of some tensors and variables."""
    recorders = LOCAL.state.recorders
    return any(x._id in recorder.ids for recorder in recorders for x in tensors)


def smart_cond(pred: Any, true_fn: Any = None, false_fn: Any = None, name: Any = None) -> Any:
    """`true_fn()` or `false_fn()` where it is known which, as from sizes; else `tf.cond`."""
    try:
        known = bool(number_of(pred)) if isinstance(pred, Tensor) else get_static_value(pred)
    except NeedsValue:
        known = None
    if known is None or getattr(known, "shape", ()) != ():
        return cond(pred, true_fn, false_fn)
    return true_fn() if known else false_fn()


def maybe_merge_call(fn: Callable[..., Any], strategy: Any, *args: Any, **kwargs: Any) -> Any:
    """`fn(strategy, *args)`: there is one replica."""
    return fn(strategy or get_strategy(), *args, **kwargs)


def no_dtensor(*_: Any, **__: Any) -> NoReturn:
    """Refused."""
    raise NotImplementedError(
        "tf.experimental.dtensor is not there: tf.distribute.MirroredStrategy divides arrays. "
        f"At {user_location()}."
    )


def add(x: Any, y: Any, name: Any = None) -> Any:
    """`x + y`."""
    return call("add", x, y)


def eq(self: Any, other: Any) -> Any:
    """`self == other`."""
    return call("eq", self, other)


def ne(self: Any, other: Any) -> Any:
    """`self != other`."""
    return call("ne", self, other)


def getitem(tensor: Any, slice_spec: Any, var: Any = None) -> Any:
    """`tensor[slice_spec]`; a list is taken for a tuple."""
    return call("getitem", tensor, tuple(slice_spec) if type(slice_spec) is list else slice_spec)


def ragged_getitem(rt_input: Any, key: Any) -> Any:
    """`rt_input[key]`."""
    return rt_input[key]
