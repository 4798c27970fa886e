"""Tensor: an immutable handle on a value that is here, or pending in a program."""

from __future__ import annotations

import itertools
import weakref
from collections.abc import Callable, Iterator
from types import MethodType
from typing import Any, NoReturn

import jax
import numpy as np

from ..core import dtypes, errors
from ..core.avals import Aval
from ..core.device_spec import local_device
from ..core.dimensions import is_symbolic
from ..core.dtypes import DType
from ..core.forwards import forwards
from ..core.native import native, provide
from ..core.program import NOWHERE
from ..core.refuse import no_value, out_of_scope
from ..core.shapes import TensorShape
from ..core.state import LOCAL
from ..core.x64 import in_x64
from ..run import executor, waiting
from . import operators
from .composite import TensorType
from .stated import state_shape

#: Identities of tensors and variables, in order of creation.
_ids = itertools.count(1)
next_id = _ids.__next__

provide(ndarray=np.ndarray, array=np.array, next_id=_ids)


class _OfValues:
    """Decorator of a method that symbolic tensors do not have: `hasattr` is False of them."""

    __slots__ = ("_function",)

    def __init__(self, function: Callable[[Any], Any]):
        self._function = function

    def __get__(self, x: Any, owner: type | None = None) -> Callable[..., Any]:
        if x is None:
            return self._function
        if x._array is None and x._at[0].symbolic:
            raise AttributeError("it has no value")
        return MethodType(self._function, x)


@native
class Placed:
    """The base of tensors; in C the place is no object of its own."""

    __slots__ = ("_at",)


@native
class Tensor(operators.Operators, TensorType, Placed):
    """A multidimensional array of one dtype.

    Made by ops, `tf.constant` and `tf.convert_to_tensor`. Its shape and dtype are known at once;
    its value is computed when looked at, if ops were being recorded when it was made.

    >>> import tape_compat as tf
    >>> tf.constant([1.0, 2.0]) * 2.0
    <tf.Tensor: shape=(2,), dtype=float32, numpy=array([2., 4.], dtype=float32)>
    """

    # _array: jax.Array, or np.ndarray for a host constant (and for strings); None while pending.
    # _at: program and slot; where the tensor is pending, or where it last was a leaf.
    # _id: what tapes know it by; a variable's tensors all have the variable's, and a slice of a
    # variable has a SliceIdentity.
    # __dict__: attributes that libraries put there, as Keras its masks.
    __slots__ = ("__dict__", "__weakref__", "_array", "_aval", "_id")
    __array_priority__ = 100

    def __init__(self, op: Any = None, value_index: Any = None, dtype: Any = None) -> None:
        raise TypeError("Tensors are made by ops and by tf.constant, not by calling tf.Tensor.")

    # -- what it is -----------------------------------------------------------------------------

    shape: TensorShape = forwards("_aval.tensor_shape")
    dtype: DType = forwards("_aval.dtype")

    def set_shape(self, shape: Any) -> None:
        """Check that the shape is compatible with `shape`. Raises ValueError if not.

        Sizes of a symbolic tensor that were unknown are those of `shape` from then on.
        """
        if not self.shape.is_compatible_with(shape):
            raise ValueError(
                f"Tensor's shape {self.shape} is not compatible with supplied shape {shape}."
            )
        if self._aval.unknown:
            operators.call("set_shape", self, shape)
        state_shape(self, shape)

    @property
    def ndim(self) -> int:
        return len(self._aval.shape)

    @property
    def device(self) -> str:
        array = self._array
        if isinstance(array, jax.Array):
            device = next(iter(array.devices()))
            kind, number = device.platform, device.id
        elif self._aval.dtype.name in ("string", "int32"):
            kind, number = "CPU", 0
        else:
            kind, number = jax.default_backend(), 0
        return local_device(kind, number)

    backing_device: str = forwards("device")

    @property
    def is_symbolic_tensor(self) -> bool:
        return self._is_symbolic()

    # -- its value ------------------------------------------------------------------------------

    def _value(self) -> Any:
        """The concrete array; runs the pending program if it is not here yet."""
        array = self._array
        if array is None:
            program = self._at[0]
            if program.symbolic:
                raise no_value(self)
            executor.run(program)
            array = self._array
            if array is None:
                raise executor.failure(program)
        return array

    def _device_array(self) -> jax.Array:
        """The value as a jax.Array; a host constant is moved once."""
        array = self._value()
        if isinstance(array, np.ndarray):
            if self._aval.dtype is dtypes.string:
                raise TypeError("A string tensor has no JAX array: JAX has no string dtype.")
            array = self._array = in_x64(jax.device_put, array, LOCAL.state.device)
        return array

    @_OfValues
    def numpy(self) -> Any:
        """A copy of the value: a NumPy array whose rows lie one after the other, a NumPy scalar for
        shape (), bytes for strings."""
        array = self._copy()
        return array if array.ndim else array[()]

    def _copy(self) -> np.ndarray:
        """The value, once it is there, as an array of its own."""
        self._tell_taken()
        return waiting.copied(self._value())

    def _numpy(self) -> Any:
        """See `numpy`."""
        return self.numpy()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        if self._is_symbolic():
            raise NotImplementedError(
                f"Cannot convert a symbolic tf.Tensor ({self.name}) to a numpy array. This error "
                "may indicate that you're trying to pass a Tensor to a NumPy call, which is not "
                f"supported. At {errors.user_location()}."
            )
        array = self._copy()
        return array if dtype is None else array.astype(dtype, copy=False)

    def __buffer__(self, flags: int) -> memoryview:
        """The value to read, for `memoryview(tensor)`, `bytes(tensor)` and the like.

        Python 3.12 asks for it here; before, the C base does. bfloat16 has no such form.
        """
        self._tell_taken()
        key = id(self)
        if key not in _LENT:
            array = np.asarray(self._value(), order="C")
            _LENT[key] = (weakref.ref(self, lambda _: _LENT.pop(key, None)), array)
        return memoryview(_LENT[key][1]).toreadonly()

    def __jax_array__(self) -> jax.Array:
        self._tell_taken()
        return self._device_array()

    def _tell_taken(self) -> None:
        """Tell the tapes that the value goes where they cannot follow."""
        for recorder in LOCAL.state.recorders:
            recorder.escaped(self)

    def __dlpack__(self, **options: Any) -> Any:
        return self._device_array().__dlpack__(**options)

    def __dlpack_device__(self) -> Any:
        array: Any = self._device_array()
        return array.__dlpack_device__()

    def __bool__(self) -> bool:
        if self._is_symbolic():
            raise errors.OperatorNotAllowedInGraphError(
                "Using a symbolic `tf.Tensor` as a Python `bool` is not allowed. You can attempt "
                "the following resolutions to the problem: If you are running in Graph mode, use "
                "Eager execution mode or decorate this function with @tf.function. If you are "
                "using AutoGraph, you can try decorating this function with @tf.function. If that "
                "does not work, then you may be using an unsupported feature or your source code "
                f"may not be visible to AutoGraph. At {errors.user_location()}."
            )
        if self._aval.size == 0:
            return False
        return bool(self._copy())  # NumPy's error for more than one element

    __nonzero__ = __bool__  # Python 2's name, by which libraries take it

    def __float__(self) -> float:
        return float(self._scalar("float() argument must be a string or a real number"))

    def __int__(self) -> int:
        what = "int() argument must be a string, a bytes-like object or a real number"
        return int(self._scalar(what))

    def __complex__(self) -> complex:
        return complex(self._scalar("complex() first argument must be a string or a number"))

    def __index__(self) -> int:
        return self._copy()[()].__index__()

    def _scalar(self, refusal: str) -> Any:
        if self._is_symbolic():
            raise TypeError(
                f"{refusal}, not 'SymbolicTensor': {self!s} has no value while "
                f"{self._at[0].name} is being recorded (at {errors.user_location()})."
            )
        return self._copy()[()]

    def __len__(self) -> int:
        if not self._aval.shape:
            raise TypeError("Scalar tensor has no `len()`")
        return self._known_length(
            f"len is not well defined for a symbolic Tensor of shape {self.shape}. Please call "
            "`x.shape` rather than `len(x)` for shape information.",
            TypeError,
        )

    def _known_length(self, message: str, error: type[Exception]) -> int:
        length = self._aval.shape[0]
        if self._aval.unknown and is_symbolic(length):
            raise error(message)
        return length

    def __iter__(self) -> Iterator[Tensor]:
        if not self._aval.shape:
            raise TypeError("Cannot iterate over a scalar tensor.")
        length = self._known_length(
            f"Iterating over a symbolic `tf.Tensor` of shape {self.shape} is not allowed.",
            errors.OperatorNotAllowedInGraphError,
        )
        elements = (self[i] for i in range(length))
        return elements if LOCAL.run is None else LOCAL.run.turns(elements)

    # -- identity and copies --------------------------------------------------------------------

    def __hash__(self) -> int:
        raise TypeError("Tensor is unhashable. Instead, use tensor.ref() as the key.")

    def ref(self) -> Reference:
        """A hashable reference to this object, equal to itself only; `deref()` gives it back."""
        return Reference(self)

    #: The name that it had first.
    experimental_ref = ref

    def __copy__(self) -> Tensor:
        return self  # nothing can change it, and tapes know it

    def __deepcopy__(self, memo: dict[int, Any]) -> Tensor:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return (_restore, (np.asarray(self._value()), self._aval.dtype.name))

    # -- text -----------------------------------------------------------------------------------

    def __repr__(self) -> str:
        if self._is_symbolic():
            kind = f"shape={self.shape} dtype={self._aval.dtype.name}"
            return f"<tf.Tensor '{self.name}' {kind}>"
        return (
            f"<tf.Tensor: shape={self._aval.tensor_shape}, dtype={self._aval.dtype.name}, "
            f"{self._text(is_repr=True)}>"
        )

    def __str__(self) -> str:
        if self._is_symbolic():
            return f'Tensor("{self.name}", shape={self.shape}, dtype={self._aval.dtype.name})'
        return (
            f"tf.Tensor({self._text(is_repr=False)}, shape={self._aval.tensor_shape}, "
            f"dtype={self._aval.dtype.name})"
        )

    def __format__(self, spec: str) -> str:
        if self._is_symbolic():
            if spec:
                raise TypeError("unsupported format string passed to SymbolicTensor.__format__")
            return str(self)
        return self.numpy().__format__(spec)

    def _is_symbolic(self) -> bool:
        return self._array is None and self._at[0].symbolic

    def _text(self, is_repr: bool) -> str:
        return array_text(np.asarray(self._value()), is_repr)

    def __getattr__(self, name: str) -> Any:
        hint = ""
        if name in _OF_NUMPY:
            raise AttributeError(
                f"Tensor object has no attribute '{name}'. If you are looking for numpy-related "
                "methods, please run the following: "
                "tf.experimental.numpy.experimental_enable_numpy_behavior()"
            )
        if name == "assign":
            identity = self._id
            if identity.__class__ is SliceIdentity:
                return identity.assign
            hint = ". Only variables and their slices, v[i], can be assigned to"
        elif name in ("assign_add", "assign_sub"):
            hint = f". A slice of a variable has only assign(): v[i].assign(v[i] {_SIGN[name]} x)"
        elif name == "numpy":
            raise AttributeError(
                f"'SymbolicTensor' object has no attribute 'numpy': {self!s} has no value while "
                f"{self._at[0].name} is being recorded (at {errors.user_location()})."
            )
        raise AttributeError(f"'Tensor' object has no attribute '{name}'{hint}")

    # -- TF spellings ---------------------------------------------------------------------------

    @property
    def name(self) -> str:
        """Of a symbolic tensor, its name in the function that is being recorded."""
        if self._is_symbolic():
            program, slot = self._at
            return program.name_of(slot)
        raise AttributeError("Tensor.name is undefined when eager execution is enabled.")

    @property
    def op(self) -> Any:
        """Of a symbolic tensor, the operation that gives it."""
        return self._operation("op")[0]

    def _operation(self, asked: str) -> tuple[Any, int]:
        if self._is_symbolic():
            program, slot = self._at
            return program.operation_at(slot)
        raise AttributeError(f"Tensor.{asked} is undefined when eager execution is enabled.")

    @property
    def value_index(self) -> int:
        """Of a symbolic tensor, which output of its operation it is."""
        return self._operation("value_index")[1]

    @property
    def graph(self) -> Any:
        """Of a symbolic tensor, the record of its function; of another one in a function, which
        may be a constant of it, that of this function."""
        if self._is_symbolic():
            return self._at[0]
        if LOCAL.state.capture is not None:
            return LOCAL.state.capture
        raise AttributeError("Tensor.graph is undefined when eager execution is enabled.")

    def eval(self, feed_dict: Any = None, session: Any = None) -> NoReturn:
        raise NotImplementedError("eval is not supported for eager tensors: use numpy().")

    def cpu(self) -> Tensor:
        """A copy on the CPU, connected to this tensor on tapes."""
        return operators.call("moved", self, np.array(self._value()))

    def gpu(self, gpu_index: int = 0) -> Tensor:
        """A copy on GPU `gpu_index`, connected to this tensor on tapes.

        Raises RuntimeError where there is none.
        """
        array = in_x64(jax.device_put, self._value(), jax.devices("gpu")[gpu_index])
        return operators.call("moved", self, array)


#: By the identity of a tensor, its value where it has been read as a buffer. Whoever did so may
#: hold the tensor alone, as `np.frombuffer` does, and the tensor may move to the device.
_LENT: dict[int, tuple[weakref.ref, Any]] = {}

#: Attributes of NumPy's arrays that tensors get when they are asked to behave so.
_OF_NUMPY = frozenset("T astype ravel transpose reshape clip size tolist data".split())

_SIGN = {"assign_add": "+", "assign_sub": "-"}


class SliceIdentity(int):
    """The identity of a tensor that was read as `variable[...]`. It knows where from.

    So only these tensors pay for their `assign`, and everybody else sees a plain int.
    """

    cut: tuple[Any, tuple[Any, ...], tuple[Tensor, ...]]

    def assign(self, val: Any, name: str | None = None) -> Any:
        """Put `val`, broadcast to the slice's shape, there in the variable as it is now.

        Gives the variable. Raises InvalidArgumentError if the shape does not broadcast.
        """
        variable, spec, places = self.cut
        return variable._assign_slice(spec, places, val)


def mark_slice(
    tensor: Tensor, variable: Any, spec: tuple[Any, ...], places: tuple[Tensor, ...]
) -> None:
    """Let a tensor just read from `variable` be assigned to. `spec`: see the indexing ops."""
    identity = tensor._id = SliceIdentity(tensor._id)
    identity.cut = (variable, spec, places)
    track(tensor)


@native
def track(tensor: Tensor) -> None:
    """Let garbage collections look at a tensor again: its variable may lead back to it."""


def array_text(array: np.ndarray, is_repr: bool) -> str:
    """A value as TensorFlow's texts show it: repr has `numpy=`, on its own line if it wraps."""
    if is_repr and not array.ndim:
        value = array[()]
        text = repr(value if isinstance(value, bytes) else value.item())
    else:
        text = repr(array) if is_repr else str(array)
    if is_repr:
        return f"numpy=\n{text}" if "\n" in text else f"numpy={text}"
    return f"\n{text}" if "\n" in text else text


class Reference:
    """A hashable reference to a Tensor or Variable. References are in the order of creation of what
    they refer to, so that those of one program are sorted alike each time."""

    __slots__ = ("__weakref__", "_wrapped")

    def __init__(self, wrapped: Any):
        self._wrapped = wrapped

    def deref(self) -> Any:
        """The object referred to."""
        return self._wrapped

    def _place(self) -> tuple[int, int]:
        # A library's variables may have no cell of ours, and so no number.
        return getattr(self._wrapped, "_id", 0), id(self._wrapped)

    def __lt__(self, other: Any) -> bool:
        return self._place() < _referred(other)._place()

    def __gt__(self, other: Any) -> bool:
        return self._place() > _referred(other)._place()

    def __eq__(self, other: object) -> bool:
        return other is not None and self._wrapped is _referred(other)._wrapped

    def __hash__(self) -> int:
        return id(self._wrapped)

    def __repr__(self) -> str:
        return f"<Reference wrapping {self._wrapped!r}>"


def _referred(other: Any) -> Reference:
    if not isinstance(other, Reference):
        raise TypeError("Cannot compare wrapped object with unwrapped object")
    return other


# ---------------------------------------------------------------------------------------------
# Making tensors.

_new = Tensor.__new__


def concrete(array: Any, aval: Aval | None = None) -> Tensor:
    """A tensor on a concrete array, which nobody may change afterwards."""
    tensor = _new(Tensor)
    tensor._aval = Aval.of_array(array) if aval is None else aval
    tensor._array = array
    tensor._at = NOWHERE
    tensor._id = next_id()
    return tensor


def pending(aval: Aval, program: Any, slot: int) -> Tensor:
    """A tensor that `program` will compute in `slot`."""
    tensor = _new(Tensor)
    tensor._aval = aval
    tensor._array = None
    tensor._at = (program, slot)
    tensor._id = next_id()
    return tensor


def same_value(tensor: Tensor, identity: int) -> Tensor:
    """Another handle on the same value, known to tapes as `identity`."""
    handle = _new(Tensor)
    handle._aval = tensor._aval
    handle._id = identity
    handle._at = NOWHERE
    handle._array = tensor._array
    if handle._array is None:
        program = tensor._at[0]
        if program.symbolic and LOCAL.state.capture is None:
            raise out_of_scope(tensor)
        with program.lock:
            handle._array = tensor._array
            if handle._array is None:
                handle._at = tensor._at
                program.aliases.append(weakref.ref(handle))
    return handle


def _restore(array: np.ndarray, dtype: str) -> Tensor:
    known = dtypes.as_dtype(dtype)
    return concrete(array, Aval.of(array.shape, known))
