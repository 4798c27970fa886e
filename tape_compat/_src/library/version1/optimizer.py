"""`tf.compat.v1.train.Optimizer`: what all optimizers of TensorFlow 1 share."""

from __future__ import annotations

import inspect
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

import jax
import jax.numpy as jnp

from ...autodiff.tape import GradientTape
from ...core.avals import Aval
from ...core.dimensions import fit
from ...core.op import Op
from ...core.refuse import invalid, shown
from ...core.state import LOCAL
from ...function.gradients import gradients
from ...function.grouping import group, tuple as as_tuple
from ...ops.casting import cast
from ...ops.creation import zeros
from ...values import nest
from ...values.bounds import refuse_rows
from ...values.context import executing_eagerly, init_scope
from ...values.convert import convert
from ...values.indexed_slices import IndexedSlices
from ...values.record import apply
from ...values.tensor import Tensor
from ...values.trackable import Trackable
from ...values.variable import Variable, current
from ..raw.updates import FORMULAS
from .collections import GraphKeys, get_collection_ref, on_reset

Arrays = tuple[Any, ...]


Rule = Callable[..., Arrays]


def rule_of(name: str) -> Rule:
    """The formula of a raw op, with the gradient behind the variable."""
    formula = FORMULAS[name]
    place = list(inspect.signature(formula).parameters).index("grad")

    def rule(x: Any, gradient: Any, *rest: Any, **settings: Any) -> Arrays:
        given = [x, *rest]
        given.insert(place, gradient)
        return formula(*given, **settings)

    return rule


class Kernel:
    """The ops of an update rule, for dense gradients and for rows.

    `rule(x, gradient, *slots, *numbers, **settings)` gives new `x` and new slots; by default it is
    the formula of the raw op. For rows it is given those of `x` and of the slots that have a
    gradient, unless `whole` is what is done with all of them: `whole(x, values, indices, *slots,
    *numbers)`.
    """

    def __init__(self, name: str, slots: int, rule: Rule | None = None, whole: Rule | None = None):
        one: Rule = rule or rule_of(name)

        def rows(x: Any, values: Any, indices: Any, *rest: Any, **settings: Any) -> Arrays:
            kept = (x, *rest[:slots])
            at, values = _added_up(values, indices, x.shape[0])
            if whole is not None:
                return whole(x, values, at, *rest, **settings)
            part = [each.at[at].get(mode="clip") for each in kept]
            new = one(part[0], values, *part[1:], *rest[slots:], **settings)
            return tuple(a.at[at].set(b, mode="drop") for a, b in zip(kept, new, strict=True))

        self.dense = _op(one, f"ResourceApply{name}", of_rows=False)
        self.rows = _op(rows, f"ResourceSparseApply{name}", of_rows=True)


def _op(function: Callable[..., Arrays], kernel: str, of_rows: bool) -> Op:
    return Op(function, kernel, differentiable=False, check=_check(kernel, of_rows))


def _added_up(values: Any, indices: Any, size: Any) -> tuple[Any, Any]:
    """Each index once, then `size` for those that are left over, and the sums of its rows."""
    order = jnp.argsort(indices)
    in_order = indices[order]
    is_new = jnp.concatenate([jnp.ones_like(in_order[:1], bool), in_order[1:] != in_order[:-1]])
    place = jnp.cumsum(is_new) - 1
    sums = jax.ops.segment_sum(values[order], place, indices.shape[0])
    return jnp.full_like(indices, size).at[place].set(in_order), sums


def _check(kernel: str, of_rows: bool) -> Callable[..., None]:
    """A check that a gradient has the shape of the variable."""

    def dense(avals: tuple[Aval, ...], **_: Any) -> None:
        x, gradient = avals[:2]
        if not fit(gradient.shape, x.shape):
            raise invalid(
                f"var and grad do not have the same shape{shown(x.shape)} {shown(gradient.shape)}",
                kernel,
            )

    def rows(avals: tuple[Aval, ...], **_: Any) -> None:
        x, values, indices = avals[:3]
        if len(indices.shape) != 1 or not fit(values.shape, (*indices.shape, *x.shape[1:])):
            raise invalid("var and grad must match in dimension 0", kernel)

    return rows if of_rows else dense


#: How many slots have been named alike.
_NAMED: Counter[str] = Counter()
on_reset(_NAMED.clear)


def _slot_name(variable: Variable, name: str) -> str:
    """'w/Adam', then 'w/Adam_1' for the next slot of a variable with the name 'w'."""
    scope = f"{variable.name.split(':')[0]}/{name}"
    count = _NAMED[scope]
    _NAMED[scope] += 1
    return f"{scope}_{count}" if count else scope


class Optimizer(Trackable):
    """Base of the optimizers of `tf.compat.v1.train`.

    A subclass makes slots in `_create_slots`, reads its settings in `_prepare`, and updates one
    variable in `_resource_apply_dense(gradient, variable)` or
    `_resource_apply_sparse(gradient, variable, indices)`.

    Raises: ValueError without a name.
    """

    GATE_NONE, GATE_OP, GATE_GRAPH = 0, 1, 2

    #: Attributes that are settings, or functions that give them, and those they are read into.
    _read: dict[str, str] = {}

    def __init__(
        self, use_locking: bool, name: str, use_own_namescope_for_non_slot_vars: bool = False
    ) -> None:
        if not name:
            raise ValueError("Must specify the optimizer name")
        self._use_locking = use_locking
        self._name = name
        self._slots: dict[str, dict[Any, Variable]] = {}
        self._non_slot_dict: dict[tuple[str, Any], Variable] = {}

    def get_name(self) -> str:
        """The name that was given."""
        return self._name

    # -- steps ----------------------------------------------------------------------------------

    def minimize(
        self,
        loss: Any,
        global_step: Variable | None = None,
        var_list: Any = None,
        gate_gradients: int = GATE_OP,
        aggregation_method: Any = None,
        colocate_gradients_with_ops: bool = False,
        name: str | None = None,
        grad_loss: Any = None,
    ) -> Any:
        """Take one step that makes a loss smaller: `compute_gradients`, then `apply_gradients`.

        Raises: ValueError if no variable has a gradient.

        >>> import tape_compat as tf
        >>> v = tf.Variable([3.0])
        >>> tf.compat.v1.train.GradientDescentOptimizer(0.5).minimize(lambda: v * v)
        >>> v.numpy().tolist()
        [0.0]
        """
        pairs = self.compute_gradients(
            loss,
            var_list,
            gate_gradients,
            aggregation_method,
            colocate_gradients_with_ops,
            grad_loss,
        )
        if all(gradient is None for gradient, _ in pairs):
            raise ValueError(
                "No gradients provided for any variable, check your graph for ops that do not "
                f"support gradients, between variables {[str(v) for _, v in pairs]} and loss "
                f"{loss}."
            )
        return self.apply_gradients(pairs, global_step=global_step, name=name)

    def compute_gradients(
        self,
        loss: Any,
        var_list: Any = None,
        gate_gradients: int = GATE_OP,
        aggregation_method: Any = None,
        colocate_gradients_with_ops: bool = False,
        grad_loss: Any = None,
    ) -> list[tuple[Any, Any]]:
        """The gradients of a loss, each with its variable.

        Args:
          loss: a function without arguments; in a `tf.function` also a tensor.
          var_list: the variables; by default those that the function `loss` reads.
        Raises: RuntimeError for a tensor in eager code; ValueError for one without `var_list`.
        """
        if callable(loss):
            with GradientTape() as tape:
                if var_list is not None:
                    tape.watch(var_list)
                loss = loss()
            variables = tape.watched_variables() if var_list is None else var_list
            return list(zip(tape.gradient(loss, variables, grad_loss), variables, strict=True))
        if executing_eagerly():
            raise RuntimeError(
                "`loss` passed to Optimizer.compute_gradients should be a function when eager "
                "execution is enabled."
            )
        if gate_gradients not in (self.GATE_NONE, self.GATE_OP, self.GATE_GRAPH):
            raise ValueError(
                "gate_gradients must be one of: Optimizer.GATE_NONE, Optimizer.GATE_OP, "
                f"Optimizer.GATE_GRAPH.  Not {gate_gradients}"
            )
        self._assert_valid_dtypes([loss] if grad_loss is None else [loss, grad_loss])
        variables = nest.flatten(var_list) if var_list is not None else self._collected()
        if not variables:
            raise ValueError("No variables to optimize.")
        found = gradients(loss, variables, grad_loss)
        if gate_gradients == self.GATE_GRAPH:
            found = as_tuple(found)
        return list(zip(found, variables, strict=True))

    def _collected(self) -> list[Any]:
        keys = GraphKeys.TRAINABLE_VARIABLES, GraphKeys.TRAINABLE_RESOURCE_VARIABLES
        return [variable for key in keys for variable in get_collection_ref(key)]

    def apply_gradients(
        self,
        grads_and_vars: Iterable[tuple[Any, Any]],
        global_step: Variable | None = None,
        name: str | None = None,
        skip_gradients_aggregation: bool = False,
    ) -> Any:
        """Take one step along pairs of gradient and variable; those without a gradient stay.

        Args:
          global_step: a variable that 1 is added to.
        Raises: ValueError if there is no pair, or no gradient; InvalidArgumentError for one of
          another shape than its variable.

        >>> import tape_compat as tf
        >>> v = tf.Variable([1.0, 2.0])
        >>> optimizer = tf.compat.v1.train.MomentumOptimizer(0.5, 0.9)
        >>> optimizer.apply_gradients([(tf.constant([1.0, -1.0]), v)])
        >>> v.numpy().tolist(), optimizer.get_slot(v, "momentum").numpy().tolist()
        ([0.5, 2.5], [1.0, -1.0])
        """
        pairs = [(_gradient(gradient), variable) for gradient, variable in grads_and_vars]
        if not pairs:
            raise ValueError("No variables provided.")
        variables = [variable for gradient, variable in pairs if gradient is not None]
        if not variables:
            named = [str(variable) for _, variable in pairs]
            raise ValueError(f"No gradients provided for any variable: {named}.")
        for variable in variables:
            if not isinstance(variable, Variable):
                raise NotImplementedError("Trying to update a Tensor ", variable)
        with init_scope():
            self._create_slots(variables)
        state = LOCAL.state
        recorders = state.recorders
        state.recorders = ()  # no tape sees the step
        try:
            self._prepare()
            updates = [self._update_one(g, v) for g, v in pairs if g is not None]
            done = self._finish(updates, name or self._name)
            if global_step is not None:
                global_step.assign_add(1)
        finally:
            state.recorders = recorders
        if not executing_eagerly():
            get_collection_ref(GraphKeys.TRAIN_OP).append(done)
        return done

    def _update_one(self, gradient: Any, variable: Variable) -> Any:
        if isinstance(gradient, IndexedSlices):
            if variable.constraint is not None:
                raise RuntimeError("Cannot use a constraint function on a sparse variable.")
            return self._resource_apply_sparse_duplicate_indices(
                gradient.values, variable, gradient.indices
            )
        done = self._resource_apply_dense(gradient, variable)
        if variable.constraint is not None:
            return variable.assign(variable.constraint(variable))
        return done

    def _assert_valid_dtypes(self, tensors: Iterable[Any]) -> None:
        valid = ("float16", "bfloat16", "float32", "float64")
        for tensor in tensors:
            if tensor.dtype.name not in valid:
                raise ValueError(
                    f"Invalid type {tensor.dtype!r} for {tensor.name}, expected: {valid}."
                )

    # -- for the methods ------------------------------------------------------------------------

    def _create_slots(self, var_list: list[Variable]) -> None:
        """Make what is kept for variables that have a gradient."""

    def _prepare(self) -> None:
        for setting, place in self._read.items():
            setattr(self, place, convert(self._call_if_callable(getattr(self, setting))))

    def _resource_apply_dense(self, grad: Any, handle: Any) -> Any:
        raise NotImplementedError

    def _resource_apply_sparse_duplicate_indices(self, grad: Any, handle: Any, indices: Any) -> Any:
        return self._resource_apply_sparse(grad, handle, indices)

    def _resource_apply_sparse(self, grad: Any, handle: Any, indices: Any) -> Any:
        raise NotImplementedError

    def _finish(self, update_ops: list[Any], name_scope: str) -> Any:
        return group(*[done for done in update_ops if done is not None])

    def _call_if_callable(self, param: Any) -> Any:
        return param() if callable(param) else param

    def _update(
        self,
        kernel: Kernel,
        variable: Variable,
        gradient: Any,
        indices: Any = None,
        slots: Iterable[str] = (),
        numbers: Iterable[Any] = (),
        **settings: Any,
    ) -> None:
        """Update a variable and its slots of these names by a kernel."""
        slot_variables = [self._slots[name][_key(variable)] for name in slots]
        dtype = variable.dtype
        rows: tuple[Tensor, ...] = ()
        if indices is not None:
            indices = convert(indices)
            refuse_rows(indices, current(variable._handle)._aval.shape[0], "ResourceScatterUpdate")
            rows = (indices,)
        new = apply(
            (kernel.dense if indices is None else kernel.rows).bind(**settings),
            (
                current(variable._handle),
                cast(gradient, dtype),
                *rows,
                *[current(slot._handle) for slot in slot_variables],
                *[convert(cast(number, dtype)) for number in numbers],
            ),
        )
        for one, value in zip([variable, *slot_variables], new, strict=True):
            one._set(value)

    # -- slots ----------------------------------------------------------------------------------

    def get_slot(self, var: Any, name: str) -> Variable | None:
        """The variable that is kept for another one by this name, None if there is none."""
        return self._slots.get(name, {}).get(_key(var))

    def get_slot_names(self) -> list[str]:
        """The names of slots, sorted."""
        return sorted(self._slots)

    def variables(self) -> list[Variable]:
        """What the optimizer keeps, sorted by name."""
        slots = [slot for named in self._slots.values() for slot in named.values()]
        return sorted([*self._non_slot_dict.values(), *slots], key=lambda variable: variable.name)

    def _get_or_make_slot(self, var: Any, val: Any, slot_name: str, op_name: str) -> Variable:
        named = self._slots.setdefault(slot_name, {})
        if _key(var) not in named:
            name = _slot_name(var, op_name)
            named[_key(var)] = Variable(val, trainable=False, name=name)
        return named[_key(var)]

    def _get_or_make_slot_with_initializer(
        self, var: Any, initializer: Any, shape: Any, dtype: Any, slot_name: str, op_name: str
    ) -> Variable:
        if _key(var) in self._slots.get(slot_name, {}):
            return self._slots[slot_name][_key(var)]
        return self._get_or_make_slot(var, initializer(shape, dtype), slot_name, op_name)

    def _zeros_slot(self, var: Any, slot_name: str, op_name: str) -> Variable:
        return self._get_or_make_slot_with_initializer(
            var, zeros, var.shape, var.dtype, slot_name, op_name
        )

    def _create_non_slot_variable(
        self, initial_value: Any, name: str, colocate_with: Any
    ) -> Variable:
        """A variable that is kept for all, made the first time."""
        if (name, None) not in self._non_slot_dict:
            self._non_slot_dict[name, None] = Variable(
                self._call_if_callable(initial_value), trainable=False, name=name
            )
            self._take_waiting()
        return self._non_slot_dict[name, None]

    def _get_non_slot_variable(self, name: str, graph: Any = None) -> Variable | None:
        return self._non_slot_dict.get((name, graph))

    def _non_slot_variables(self) -> Iterable[Variable]:
        return self._non_slot_dict.values()

    # -- checkpoints ----------------------------------------------------------------------------

    def _trackable_children(self, save_type: str = "checkpoint", **kwargs: Any) -> dict[str, Any]:
        kept = {name: variable for (name, _), variable in sorted(self._non_slot_dict.items())}
        return {**kept, **super()._trackable_children(save_type, **kwargs)}

    def _take_waiting(self) -> None:
        """Take the values of a checkpoint that waited for a new variable."""
        waiting = vars(self).get("_self_waiting")
        if waiting is not None:
            waiting.look_again(self)

    def _create_or_restore_slot_variable(
        self, slot_variable_position: Any, slot_name: str, variable: Variable
    ) -> Variable:
        """The slot that a checkpoint has a value for."""
        return self._zeros_slot(variable, slot_name, self._name)


def _key(variable: Any) -> Any:
    return variable._handle.id if isinstance(variable, Variable) else None


def _gradient(value: Any) -> Any:
    if value is None or isinstance(value, IndexedSlices):
        return value
    return convert(value)
