"""Variable: a mutable cell that holds a Tensor."""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np

from ..core import dtypes, errors
from ..core.dtypes import DType
from ..core.forwards import forwards
from ..core.native import native, native_calls, provide
from ..core.shapes import TensorShape
from ..core.state import LOCAL, seen_by
from ..run.repair import CELLS
from . import operators, updates as _updates
from .bounds import refuse_positions, refuse_rows
from .conversions import converted, registered
from .convert import convert
from .creators import Created
from .names import current_name_scope
from .operation import Operation, done
from .record import identity
from .replicas import VariableAggregation, VariableSynchronization, mode_of
from .tensor import Reference, Tensor, array_text, concrete, next_id, same_value
from .trackable import Trackable

#: The name of a variable's value in checkpoints.
VALUE_KEY = "VARIABLE_VALUE"


def own_variable(x: Any) -> Any:
    """The Variable inside another library's, as Keras has them; anything else as it is."""
    if getattr(x, "_should_act_as_resource_variable", False) and not isinstance(x, Variable):
        held = x.value() if callable(x.value) else x.value
        if isinstance(held, Variable):
            return held
    return x


provide(float32=dtypes.float32, string=dtypes.string)


@native
class Handle:
    """What a variable is known by: one object for a variable and all views of it."""

    __slots__ = ("__weakref__", "dtype", "id", "shape", "tensor")

    def __init__(self, tensor: Tensor, shape: TensorShape):
        self.id = next_id()
        self.tensor = same_value(tensor, self.id)
        self.dtype = tensor.dtype
        self.shape = shape
        CELLS[self.id] = self

    def restore(self, array: Any) -> None:
        """Hold an array again that a program has given up to change."""
        self.tensor = same_value(concrete(array, self.tensor._aval), self.id)


def current(handle: Handle) -> Tensor:
    """What a variable holds: in a function that is being recorded, at that point of the record."""
    capture = LOCAL.state.capture
    return handle.tensor if capture is None else capture.held(handle)


def put_into(handle: Handle, tensor: Tensor) -> None:
    """Put a tensor that nobody else has into the cell of a variable."""
    state = LOCAL.state
    if state.capture is not None:
        state.capture.put(handle, tensor)
        return
    old = handle.tensor
    program, slot = old._at
    tensor._id = handle.id
    handle.tensor = tensor
    into = tensor._at[0]
    if tensor._array is None:
        into.changed += handle.id, slot if program is into else old
    # The overwritten buffer may be reused, if the pending program reads it as a leaf.
    if program is not None and old._array is not None and program is state.program:
        program.donatable.append(slot)


def _refused_in_place(sign: str, method: str) -> Any:
    """An operator that would give the variable another value. sign: its own."""

    def refuse(self: Variable, value: Any) -> NoReturn:
        raise RuntimeError(
            f"`variable {sign}= value` with `tf.Variable`s is not supported. Use "
            f"`variable.{method}` to modify the variable, or `out = variable {sign} value` if you "
            f"need to get a new output Tensor. At {errors.user_location()}."
        )

    return refuse


def _scatters_rows(kind: str, what: str) -> Any:
    """A method of variables that changes rows; repeated indices are done one after the other."""

    def run(self: Variable, sparse_delta: Any, use_locking: bool = False, name: Any = None) -> Any:
        if not (hasattr(sparse_delta, "indices") and hasattr(sparse_delta, "values")):
            raise TypeError(
                "Argument `sparse_delta` must be a `tf.IndexedSlices`. Received arg: "
                f"{sparse_delta}"
            )
        return self._scatter(closure, sparse_delta.indices, sparse_delta.values)

    closure = _updates.SCATTER[kind]
    return native_calls("scatter", closure)(_named(run, f"scatter_{kind}", what))


def _scatters(kind: str, what: str) -> Any:
    """A method of variables that changes elements."""

    def run(self: Variable, indices: Any, updates: Any, name: Any = None) -> Any:
        return self._scatter(_updates.SCATTER_ND[kind], indices, updates)

    return _named(run, f"scatter_nd_{kind}", what)


def _named(method: Any, name: str, what: str) -> Any:
    method.__name__, method.__qualname__, method.__doc__ = name, f"Variable.{name}", what
    return method


@native
class Variable(operators.Operators, Trackable, metaclass=Created):
    """A value that can be assigned to, which tapes watch by themselves while it is trainable.

    An assignment is one step to all threads, so `use_locking` of the methods changes nothing.

    Args:
      initial_value: what `tf.constant` takes, or a function without arguments that gives it.
      trainable: whether tapes watch it by themselves (default True).
      name: shown in its text, followed by `:0`.
      dtype: converts the initial value.
      shape: the shape that later values may have, `None` for any; default that of the value.
      synchronization, aggregation, caching_device, experimental_enable_variable_lifting: change
        nothing where there is one replica and no graph.
    Raises: ValueError if there is no initial value or its shape does not fit `shape`.

    >>> import tape_compat as tf
    >>> v = tf.Variable([1.0, 2.0], name="v")
    >>> _ = v.assign_add([1.0, 1.0])
    >>> v
    <tf.Variable 'v:0' shape=(2,) dtype=float32, numpy=array([2., 3.], dtype=float32)>
    """

    __slots__ = (
        "__dict__",
        "__weakref__",
        "_aggregation",
        "_constraint",
        "_handle",
        "_handle_name",
        "_synchronization",
        "_trainable",
        "_view",
    )
    __array_priority__ = 100
    _by_creators = True

    def __init__(
        self,
        initial_value: Any = None,
        trainable: bool | None = None,
        validate_shape: bool = True,
        caching_device: Any = None,
        name: str | None = None,
        variable_def: Any = None,
        dtype: Any = None,
        import_scope: str | None = None,
        constraint: Any = None,
        synchronization: VariableSynchronization = VariableSynchronization.AUTO,
        aggregation: VariableAggregation = VariableAggregation.NONE,
        shape: Any = None,
        experimental_enable_variable_lifting: bool = True,
    ):
        if variable_def is not None or import_scope is not None:
            raise NotImplementedError("tf.Variable: variable_def and import_scope are graph-mode.")
        if initial_value is None:
            if self.__class__.value is not Variable.value:
                raise NotImplementedError(
                    f"{type(self).__name__} has a `value` of its own and gave no initial value."
                )
            raise ValueError(
                "The `initial_value` arg to `tf.Variable` must be specified except when you are "
                "not providing a `variable_def`. You provided neither."
            )
        if constraint is not None and not callable(constraint):
            raise ValueError(
                "Argument `constraint` must be None or a callable. a callable. Got a "
                f"{type(constraint)}: {constraint}"
            )
        capture = LOCAL.state.capture
        if capture is not None:
            tensor = capture.initial(initial_value, dtype, self)
        else:
            tensor = initial_tensor(initial_value, dtype)
        if shape is None:
            shape = tensor.shape
        else:
            shape = TensorShape(shape)
            if validate_shape and not shape.is_compatible_with(tensor.shape):
                raise ValueError(
                    "In this `tf.Variable` creation, the initial value's shape "
                    f"({tensor.shape}) is not compatible with the explicitly supplied `shape` "
                    f"argument ({shape})."
                )
        self._handle = Handle(tensor, shape)
        if not isinstance(name, (str, type(None))):
            raise ValueError("name for name_scope must be a string.")
        self._handle_name = f"{current_name_scope()}{'Variable' if name is None else name}:0"
        self._trainable = (
            synchronization is not VariableSynchronization.ON_READ
            if trainable is None
            else bool(trainable)
        )
        self._constraint = constraint
        self._synchronization = mode_of(synchronization, VariableSynchronization, name)
        self._aggregation = mode_of(aggregation, VariableAggregation, name)
        self._view: UnreadVariable | None = None

    # -- what it is -----------------------------------------------------------------------------

    name: str = forwards("_handle_name")
    trainable: bool = forwards("_trainable")
    dtype: DType = forwards("_handle.dtype")
    shape: TensorShape = forwards("_handle.shape")
    handle: Handle = forwards("_handle")
    device: str = forwards("_held.device")
    constraint: Any = forwards("_constraint")
    synchronization: VariableSynchronization = forwards("_synchronization")
    aggregation: VariableAggregation = forwards("_aggregation")
    _id: int = forwards("_handle.id")

    @property
    def _shared_name(self) -> str:
        return self._handle_name.partition(":")[0]

    @property
    def _unique_id(self) -> str:
        """What Keras' optimizers know it by, also as what an assignment gave back."""
        return f"variable_{self._handle.id}"

    def set_shape(self, shape: Any) -> None:
        """Narrow the shape that values may have. Raises ValueError if the value does not fit."""
        self._handle.shape = self._handle.shape.merge_with(shape)

    @property
    def initial_value(self) -> NoReturn:
        raise RuntimeError("This property is not supported when eager execution is enabled.")

    @property
    def initializer(self) -> None:
        """None: a variable is initialized when it is made."""
        return None

    @property
    def op(self) -> Any:
        raise AttributeError("Tensor.op is undefined when eager execution is enabled.")

    @property
    def graph(self) -> NoReturn:
        raise AttributeError("Tensor.graph is undefined when eager execution is enabled.")

    @property
    def create(self) -> NoReturn:
        raise RuntimeError("This operation is not supported when eager execution is enabled.")

    @property
    def _held(self) -> Tensor:
        return current(self._handle)

    # -- its value ------------------------------------------------------------------------------

    def _as_tensor(self) -> Tensor:
        """The value as an op sees it: tapes know it as this variable."""
        if self.__class__ not in _OWN and registered(self):  # a library's class
            found = converted(self, None, None)
            if found is not None:
                return found
        return read(self)

    def read_value(self) -> Tensor:
        """The value now, as a Tensor of its own; tapes trace it to the variable."""
        tensor = self._as_tensor()
        state = LOCAL.state
        program = state.program
        joins = program is not None and program.joins and state.device is None
        if joins or state.recorders or state.capture is not None:
            return tensor if self.dtype is dtypes.string else identity(tensor)
        return same_value(tensor, next_id())

    def _dense_var_to_tensor(
        self, dtype: Any = None, name: Any = None, as_ref: bool = False
    ) -> Any:
        """The value as an op sees it. Libraries call it. Raises: ValueError for another dtype."""
        if dtype is not None and dtypes.as_dtype(dtype) is not self.dtype:
            raise ValueError(self._other_dtype(dtypes.as_dtype(dtype)))
        return self._as_tensor()

    def value(self) -> Tensor:
        """The same as `read_value`."""
        return self.read_value()

    def initialized_value(self) -> Tensor:
        """The same as `read_value`: a variable is always initialized."""
        return self.read_value()

    def is_initialized(self, name: str | None = None) -> Tensor:
        """A true bool Tensor: a variable is always initialized."""
        return convert(True)

    def sparse_read(self, indices: Any, name: str | None = None) -> Tensor:
        """The rows at `indices` [...], shape [..., *shape[1:]]."""
        return operators.call("gather", self, indices)

    def gather_nd(self, indices: Any, name: str | None = None) -> Tensor:
        """The elements at `indices` [..., k]."""
        return operators.call("gather_nd", self, indices)

    def numpy(self) -> Any:
        """A copy of the value as a NumPy array, or scalar."""
        if LOCAL.state.capture is not None:
            raise NotImplementedError(
                f"numpy() is only available when eager execution is enabled: {self.name} has no "
                f"value while a function is being recorded (at {errors.user_location()})."
            )
        return self._held.numpy()

    def eval(self, session: Any = None) -> Any:
        """The same as `numpy`."""
        return self.numpy()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return self._held.__array__(dtype)

    def __jax_array__(self) -> Any:
        for recorder in LOCAL.state.recorders:
            recorder.variable_accessed(self)
        return self._held.__jax_array__()

    def __dlpack__(self, **options: Any) -> Any:
        return self._held.__dlpack__(**options)

    def __dlpack_device__(self) -> Any:
        return self._held.__dlpack_device__()

    def __bool__(self) -> bool:
        return bool(self._held)

    def __float__(self) -> float:
        return float(self._held)

    def __int__(self) -> int:
        return int(self._held)

    def __complex__(self) -> complex:
        return complex(self._held)

    def __iter__(self) -> Any:
        return iter(self.read_value())

    def __getitem__(self, index: Any) -> Any:
        return operators.call("variable_getitem", self, index)

    __iadd__ = _refused_in_place("+", "assign_add(value)")
    __isub__ = _refused_in_place("-", "assign_sub(value)")
    __imul__ = _refused_in_place("*", "assign(variable * value)")
    __itruediv__ = _refused_in_place("/", "assign(variable / value)")
    __ipow__ = _refused_in_place("**", "assign(variable ** value)")

    # -- assignment -----------------------------------------------------------------------------

    def _other_dtype(self, dtype: DType) -> str:
        return (
            f"Incompatible type conversion requested to type {dtype.name} for `tf.Variable of type "
            f"{self.dtype.name}. (Variable: {self!r})"
        )

    def _serialize_to_tensors(self) -> dict[str, Any]:
        """What a checkpoint keeps of it."""
        return {VALUE_KEY: self._held}

    def _restore_from_tensors(self, restored_tensors: dict[str, Any]) -> None:
        """Take what a checkpoint kept."""
        self.assign(restored_tensors[VALUE_KEY])

    def _set(self, tensor: Tensor) -> None:
        """Put a tensor that nobody else has into the cell."""
        put_into(self._assigned(), tensor)

    def _assigned(self) -> Handle:
        """The cell, for who assigns to it."""
        if LOCAL.state.capture is not None:
            LOCAL.state.capture.note_use(self)
        return self._handle

    def _unread(self, read_value: bool, kind: str = "") -> Variable | Operation | None:
        if not read_value:
            return done(kind)
        view = self._view
        if view is None:
            view = self._view = UnreadVariable(self)
        return view

    def _delta(self, value: Any) -> Tensor:
        if value.__class__ is Tensor and value._aval.dtype is self._handle.dtype:
            return value
        return seen_by((), convert, value, self._handle.dtype)

    def _fitting(self, tensor: Tensor) -> Tensor:
        """The tensor, if its shape fits. Sizes that only the call tells are checked there."""
        shape = self._handle.shape
        if tensor._aval.tensor_shape is shape:
            return tensor
        if not shape.is_compatible_with(tensor.shape):
            raise ValueError(
                f"Cannot assign value to variable ' {self._handle_name}': Shape mismatch."
                f"The variable shape {shape}, and the assigned value shape {tensor.shape} are "
                f"incompatible. At {errors.user_location()}."
            )
        if tensor._aval.unknown and shape.is_fully_defined():
            return seen_by((), operators.call, "ensure_shape", tensor, shape)
        return tensor

    @native_calls("update")
    def assign(
        self,
        value: Any,
        use_locking: bool = False,
        name: str | None = None,
        read_value: bool = True,
    ) -> Any:
        """Replace the value. Raises ValueError if the shape or dtype does not fit."""
        tensor = self._fitting(self._delta(value))
        self._set(same_value(tensor, self._handle.id))
        return self._unread(read_value, "AssignVariableOp")

    @native_calls("update", _updates.ADD)
    def assign_add(
        self,
        delta: Any,
        use_locking: bool = False,
        name: str | None = None,
        read_value: bool = True,
    ) -> Any:
        """Add `delta`, of the variable's shape and dtype."""
        return self._update(_updates.ADD, delta, read_value)

    @native_calls("update", _updates.SUB)
    def assign_sub(
        self,
        delta: Any,
        use_locking: bool = False,
        name: str | None = None,
        read_value: bool = True,
    ) -> Any:
        """Subtract `delta`, of the variable's shape and dtype."""
        return self._update(_updates.SUB, delta, read_value)

    def count_up_to(self, limit: int) -> Tensor:
        """The count it holds, int32 or int64; it is one more then. OutOfRangeError at `limit`."""
        return operators.call("count_up_to", self, limit)

    def _update(self, closure: Any, delta: Any, read_value: bool) -> Any:
        current = self._held
        if delta.__class__ is not Tensor or delta._aval is not current._aval:
            delta = self._checked_delta(closure, delta)
        self._set(_updates.apply_off_tape(closure, (current, delta)))
        view = self._view
        return view if view is not None and read_value else self._unread(read_value, closure.name)

    def _checked_delta(self, closure: Any, delta: Any) -> Tensor:
        delta = self._delta(delta)
        if not _updates.may_be_equal(self._held._aval, delta._aval):
            raise errors.refusal(
                f"{_updates.shapes_differ(self._held._aval, delta._aval)} [Op:{closure.name}] "
                f"('{self._handle_name}' at {errors.user_location()})"
            )
        return delta

    def _assign_slice(self, spec: tuple[Any, ...], places: tuple[Tensor, ...], value: Any) -> Any:
        value = self._delta(value)
        self._set(operators.call("slice_assigned", self._held, value, spec, places))
        return self._unread(True)

    def _scatter(self, closure: Any, indices: Any, values: Any) -> Any:
        indices = convert(indices)
        values = self._delta(values)
        if closure in _BY_ROWS:
            refuse_rows(indices, self._held._aval.shape[0], closure.name)
        else:
            refuse_positions(indices, self._held._aval.shape, closure.name)
        if self.dtype is dtypes.string:
            self._set(_updates.texts_scattered(closure, self._held, indices, values))
        else:
            self._set(_updates.apply_off_tape(closure, (self._held, indices, values)))
        return self._unread(True)

    scatter_add = _scatters_rows("add", "Add IndexedSlices to the rows at their indices.")
    scatter_sub = _scatters_rows("sub", "Subtract IndexedSlices from the rows at their indices.")
    scatter_mul = _scatters_rows("mul", "Multiply the rows at the indices of IndexedSlices.")
    scatter_div = _scatters_rows("div", "Divide the rows at the indices of IndexedSlices.")
    scatter_min = _scatters_rows("min", "Take the minimum with the rows of IndexedSlices.")
    scatter_max = _scatters_rows("max", "Take the maximum with the rows of IndexedSlices.")
    scatter_update = _scatters_rows("update", "Replace the rows at the indices of IndexedSlices.")

    scatter_nd_add = _scatters("add", "Add `updates` at full `indices` [..., k].")
    scatter_nd_sub = _scatters("sub", "Subtract `updates` at full `indices` [..., k].")
    scatter_nd_update = _scatters("update", "Put `updates` at full `indices` [..., k].")
    scatter_nd_max = _scatters("max", "Take the maximum with `updates` at full `indices` [..., k].")
    scatter_nd_min = _scatters("min", "Take the minimum with `updates` at full `indices` [..., k].")

    def batch_scatter_update(
        self, sparse_delta: Any, use_locking: bool = False, name: Any = None
    ) -> Any:
        """Replace, in each batch, the rows at the last axis of the indices of IndexedSlices."""
        indices = np.asarray(convert(sparse_delta.indices).numpy())
        batch = np.indices(indices.shape)[:-1]
        full = np.stack([*batch, indices], axis=-1).astype(indices.dtype)
        return self._scatter(_updates.SCATTER_ND["update"], full, sparse_delta.values)

    # -- identity, copies, text -----------------------------------------------------------------

    def __hash__(self) -> int:
        raise TypeError(
            f"Variable is unhashable. Instead, use variable.ref() as the key. (Variable: {self!r})"
        )

    @classmethod
    def _OverloadAllOperators(cls) -> None:
        """Nothing: subclasses have the operators. Larq calls it."""

    def ref(self) -> Reference:
        """A hashable reference to this variable; `deref()` gives it back."""
        return Reference(self)

    #: The name that it had first.
    experimental_ref = ref

    def __copy__(self) -> Variable:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Variable:
        copied = _rebuild(self.numpy(), self._options())
        memo[id(self)] = copied
        return copied

    def __reduce__(self) -> tuple[Any, ...]:
        return (_rebuild, (self.numpy(), self._options()))

    def _options(self) -> dict[str, Any]:
        return {
            "trainable": self._trainable,
            "name": self._shared_name,
            "dtype": self.dtype.name,
            "shape": None if self.shape.rank is None else self.shape.as_list(),
            "synchronization": self._synchronization,
            "aggregation": self._aggregation,
        }

    def __repr__(self) -> str:
        tensor = self._held
        text = (
            "symbolic" if tensor._is_symbolic() else array_text(np.asarray(tensor._value()), True)
        )
        return f"<tf.Variable '{self.name}' shape={self.shape} dtype={self.dtype.name}, {text}>"


@native
def read(variable: Variable) -> Tensor:
    """The tensor that a variable holds, after telling what records in this thread."""
    state = LOCAL.state
    for recorder in state.recorders:
        recorder.variable_accessed(variable)
    if state.capture is not None:
        state.capture.note_read(variable)
    return current(variable._handle)


class UnreadVariable(Variable):
    """What an assignment gives back: the variable again, by another name."""

    __slots__ = ()

    def __init__(self, variable: Variable):
        self._handle = variable._handle
        self._handle_name = "UnreadVariable"
        self._trainable = variable._trainable
        self._constraint = variable._constraint
        self._synchronization = variable._synchronization
        self._aggregation = variable._aggregation
        self._view = None

    @property
    def op(self) -> Any:
        """In a function the operation of the assignment, None in eager code."""
        capture = LOCAL.state.capture
        if capture is None:
            return None
        found = self._held.op
        if found.type == "AssignVariableOp":  # of the value of what changed it
            found = found.inputs[1].op
        if found.type.startswith(("Assign", "ResourceScatter")):
            return found
        return Operation(capture, "AssignVariableOp", "AssignVariableOp")

    def _unread(self, read_value: bool, kind: str = "") -> Variable | Operation | None:
        return self if read_value else done(kind)


_OWN = (Variable, UnreadVariable)
_BY_ROWS = frozenset(_updates.SCATTER.values())


def initial_tensor(value: Any, dtype: Any) -> Tensor:
    """The initial value of a variable: what is given, or what a function gives."""
    if callable(value):
        value = value()
    if dtype is not None:
        dtype = dtypes.as_dtype(dtype)
        if isinstance(value, Variable):
            value = value.numpy()
    try:
        return seen_by((), convert, value, dtype)
    except ValueError as error:
        raise ValueError(f"initial_value: {error}") from None


def _rebuild(value: np.ndarray, options: dict[str, Any]) -> Variable:
    name = options.pop("name")
    variable = Variable(value, **options)
    variable._handle_name = f"{name}:0"
    return variable
