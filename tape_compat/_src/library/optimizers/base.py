"""What all optimizers share: slots, step count, learning rate, clipping, weight decay.

The update of one variable is one closure, so one recorded instruction: it takes the variable, its
gradient, the learning rate, a vector of numbers such as a momentum, further scalars of this step
and the slots, and gives the new variable and the new slots. The scalars are host constants, which
travel packed. No value of these is part of a program's structure.
"""

from __future__ import annotations

import logging
import operator
import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import nullcontext
from types import NoneType
from typing import Any, ClassVar, TypedDict, Unpack

import jax
import numpy as np

from ...autodiff.tape import GradientTape
from ...core import dtypes, errors
from ...core.avals import Aval
from ...core.op import Closure
from ...core.state import LOCAL
from ...ops.clipping import clip_by_global_norm
from ...values.capture import call_captured, leaving
from ...values.convert import convert
from ...values.indexed_slices import IndexedSlices
from ...values.tensor import Tensor, concrete
from ...values.variable import Variable, current, read
from .kept import Kept
from .plan import Plan, Row, are_plain
from .schedules import LearningRateSchedule, deserialize, serialize
from .step import CLIPS, Updates, by_float32

LOGGER = logging.getLogger("tape_compat")


class Options(TypedDict, total=False):
    """What every optimizer takes besides its own arguments."""

    weight_decay: float | None
    clipnorm: float | None
    clipvalue: float | None
    global_clipnorm: float | None
    use_ema: bool
    ema_momentum: float
    ema_overwrite_frequency: int | None
    loss_scale_factor: float | None
    gradient_accumulation_steps: int | None
    name: str | None


class Optimizer(Kept):
    """Base of the optimizers. Steps are equal to Keras 3's.

    Args of every optimizer:
      learning_rate: float, a schedule, or a function without arguments that gives a number.
      weight_decay: each step first subtracts `weight_decay * learning_rate` times the variable.
      clipnorm: scales each gradient down to at most this 2-norm.
      clipvalue: clips each element to [-clipvalue, clipvalue].
      global_clipnorm: scales all gradients down together to at most this common 2-norm.
      name: shown in the names of its variables.
      use_ema, loss_scale_factor, gradient_accumulation_steps: refused with NotImplementedError;
        ema_momentum and ema_overwrite_frequency say nothing without use_ema.
    Raises: ValueError for an unknown argument, a learning rate that is no float, schedule or
      function, and for more than one of `clipnorm`, `clipvalue`, `global_clipnorm`.

    >>> import tape_compat as tf
    >>> optimizer = tf.optimizers.SGD(0.5)
    >>> optimizer.learning_rate = 0.25
    >>> float(optimizer.learning_rate), int(optimizer.iterations)
    (0.25, 0)
    """

    #: The update rule and the names of its arguments, set by each method.
    _updates: ClassVar[Updates]
    _arguments: ClassVar[tuple[str, ...]]
    #: What the plan of a step depends on besides variables and gradients.
    _read_settings: ClassVar[Any]

    def __init__(self, learning_rate: Any, **options: Unpack[Options]):
        super().__init__()
        if not hasattr(self, "_updates"):
            raise NotImplementedError(
                f"{type(self).__name__} has no update rule. Use SGD, Adam, RMSprop or Adagrad; "
                "subclasses with a Keras `update_step` are not supported."
            )
        unknown = {k: v for k, v in options.items() if k not in Options.__annotations__}
        if unknown:
            raise ValueError(f"Argument(s) not recognized: {unknown}")
        for name in ("use_ema", "loss_scale_factor", "gradient_accumulation_steps"):
            if options.get(name):
                raise NotImplementedError(
                    f"{type(self).__name__}: `{name}` is not supported "
                    f"(received {options.get(name)!r})."
                )
        self.name = options.get("name") or _snake_case(type(self).__name__)
        self.weight_decay = options.get("weight_decay")
        self.clipnorm = options.get("clipnorm")
        self.clipvalue = options.get("clipvalue")
        self.global_clipnorm = options.get("global_clipnorm")
        if sum(c is not None for c in (self.clipnorm, self.clipvalue, self.global_clipnorm)) > 1:
            raise ValueError(
                "Only one of `clipnorm`, `clipvalue` and `global_clipnorm` can be set. Received: "
                f"clipnorm={self.clipnorm}, clipvalue={self.clipvalue}, "
                f"global_clipnorm={self.global_clipnorm}"
            )
        if not isinstance(learning_rate, float) and not callable(learning_rate):
            raise ValueError(
                "Argument `learning_rate` should be float, or an instance of "
                "LearningRateSchedule, or a callable (that takes in the current iteration value "
                "and returns the corresponding learning rate value). Received instead: "
                f"learning_rate={learning_rate}"
            )
        self.built = False
        self._step = 0
        self._counted = host_count(0)
        self._iterations = Variable(
            0, dtype=dtypes.int64, trainable=False, name=f"{self.name}/iteration"
        )
        self._iterations._set(self._counted)
        self._learning_rate: Any = learning_rate
        if not callable(learning_rate):
            self._learning_rate = self._rate_variable(learning_rate)
        self._trainable: list[Variable] = []
        self._slots: list[tuple[Variable, ...] | None] = []
        self._places: dict[int, int] = {}
        self._excluded: set[int] = set()
        self._excluded_names: re.Pattern[str] | None = None
        self._warned = False
        #: Numbers as they were last given to the update rule, by their names and dtype.
        self._given: dict[tuple, tuple[tuple[float, ...], Tensor]] = {}
        self._plan: Plan | None = None

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        cls._read_settings = operator.attrgetter(
            *getattr(cls, "_arguments", ()),
            "weight_decay",
            "clipnorm",
            "clipvalue",
            "global_clipnorm",
        )

    # -- for the methods ------------------------------------------------------------------------

    def _numbers(self) -> dict[str, float]:
        """The numbers of the update rule: inputs, in the dtype of the variable."""
        return {}

    def _settings(self) -> dict[str, Any]:
        """The attributes of the update rule; another value means another compiled program."""
        return {}

    def _scalars(self, step: Tensor) -> tuple[Tensor, ...]:
        """Further scalars of step number `step`, int64, counted from 1."""
        return ()

    # -- state ----------------------------------------------------------------------------------

    @property
    def iterations(self) -> Variable:
        """The number of steps taken, an int64 Variable. It may be assigned to."""
        return self._iterations

    @property
    def variables(self) -> list[Variable]:
        """The step count, the learning rate if it is a Variable, and the slots made so far."""
        rate = [self._learning_rate] if isinstance(self._learning_rate, Variable) else []
        return [self._iterations, *rate, *(v for slots in self._slots for v in slots or ())]

    @property
    def learning_rate(self) -> Any:
        """A Variable; with a schedule, the rate of the coming step."""
        rate = self._learning_rate
        if isinstance(rate, LearningRateSchedule):
            return rate(self._iterations)
        return rate if isinstance(rate, Variable) else rate()

    @learning_rate.setter
    def learning_rate(self, value: Any) -> None:
        if callable(value):
            self._learning_rate = value
        elif isinstance(self._learning_rate, LearningRateSchedule):
            raise TypeError(
                "This optimizer was created with a `LearningRateSchedule` object as its "
                "`learning_rate` constructor argument, hence its learning rate is not settable. If "
                "you need the learning rate to be settable, you should instantiate the optimizer "
                "with a float `learning_rate` argument."
            )
        elif isinstance(self._learning_rate, Variable):
            self._learning_rate.assign(value)
        else:
            self._learning_rate = self._rate_variable(value)

    def _rate_variable(self, value: Any) -> Variable:
        return Variable(
            value, dtype=dtypes.float32, trainable=False, name=f"{self.name}/learning_rate"
        )

    def build(self, variables: Iterable[Variable]) -> None:
        """Make variables known, which the first step does by itself. Called again, it adds more.

        Slots are made when a variable first has a gradient.
        """
        for variable in variables:
            _check_variable(variable)
            if self._places.setdefault(variable._handle.id, len(self._trainable)) == len(
                self._trainable
            ):
                self._trainable.append(variable)
                self._slots.append(None)
        self.built = True
        self._take_waiting()

    def exclude_from_weight_decay(
        self,
        var_list: Iterable[Variable] | None = None,
        var_names: Iterable[str] | None = None,
    ) -> None:
        """Leave these variables, and those whose name contains one of `var_names`, undecayed."""
        self._excluded = {v._handle.id for v in var_list or ()}
        names = sorted(set(var_names or ()))
        self._excluded_names = re.compile("|".join(names)) if names else None
        self._plan = None

    def _decay_of(self, variable: Variable) -> float | None:
        if self.weight_decay is None or variable._handle.id in self._excluded:
            return None
        if self._excluded_names is not None and self._excluded_names.search(variable.name):
            return None
        return float(self.weight_decay)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_plan": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        # A copied optimizer goes with the copied variables.
        excluded = {i for key, i in state["_places"].items() if key in state["_excluded"]}
        self.__dict__.update(state)
        self._places = {v._handle.id: i for i, v in enumerate(self._trainable)}
        self._excluded = {self._trainable[i]._handle.id for i in excluded}

    # -- steps ----------------------------------------------------------------------------------

    def apply_gradients(self, grads_and_vars: Iterable[tuple[Any, Variable]]) -> Variable:
        """Take one step along pairs of gradient and variable. Gives `iterations`.

        A gradient may be a Tensor, IndexedSlices or None: such a variable is left as it is, with
        one warning for each optimizer (logger `tape_compat`).
        Raises: ValueError if there is no pair, all gradients are None, or a variable was not among
          those of the first step (`build` makes variables known).

        >>> import tape_compat as tf
        >>> v = tf.Variable([1.0, 2.0])
        >>> optimizer = tf.optimizers.SGD(0.5)
        >>> int(optimizer.apply_gradients([(tf.constant([1.0, -1.0]), v)]))
        1
        >>> v.numpy().tolist()
        [0.5, 2.5]
        """
        pairs = list(grads_and_vars)
        if not pairs:
            raise ValueError("No gradients provided for any variable.")
        gradients, variables = zip(*pairs, strict=True)
        self.apply(gradients, variables)
        return self._iterations

    def apply(
        self, grads: Sequence[Any], trainable_variables: Iterable[Variable] | None = None
    ) -> None:
        """Take one step along `grads`, one for each variable; see `apply_gradients`.

        Without `trainable_variables`, they are those of the first step or of `build`. An empty list
        does nothing.
        """
        gradients = list(grads)
        if not gradients:
            return
        variables = self._variables_for(gradients, trainable_variables)
        if NoneType in map(type, gradients):
            gradients, variables = self._present(gradients, variables)
        state = LOCAL.state
        recorders = state.recorders
        state.recorders = ()  # no tape sees the step, but it is deferred if a tape records
        try:
            self._update(gradients, variables)
        finally:
            state.recorders = recorders

    def minimize(self, loss: Any, var_list: Any, tape: GradientTape | None = None) -> Variable:
        """Take one step that makes `loss` smaller. Gives `iterations`.

        Args:
          loss: a function without arguments that gives the loss, or a Tensor, with its `tape`.
          var_list: the variables, or a function that gives them once `loss` has been called.
          tape: the tape that recorded `loss`; by default one is made for the call.
        Raises: ValueError if `loss` is a Tensor and there is no tape; see `apply_gradients`.

        >>> import tape_compat as tf
        >>> v = tf.Variable([3.0])
        >>> _ = tf.optimizers.SGD(0.5).minimize(lambda: v * v, [v])
        >>> v.numpy().tolist()
        [0.0]
        """
        if callable(loss):
            tape = GradientTape() if tape is None else tape
            with tape:
                if not callable(var_list):
                    tape.watch(var_list)
                loss = loss()
        elif tape is None:
            raise ValueError(
                f"`tape` is required when a `Tensor` loss is passed. Received: loss={loss}, "
                "tape=None."
            )
        if callable(var_list):
            var_list = var_list()
        variables = [var_list] if isinstance(var_list, Variable) else list(var_list)
        return self.apply_gradients(zip(tape.gradient(loss, variables), variables, strict=True))

    def _variables_for(
        self, gradients: list[Any], variables: Iterable[Variable] | None
    ) -> list[Variable]:
        if variables is None:
            if not self.built:
                raise ValueError(
                    "When passing `grads` without `variables`, the optimizer must already be built "
                    "on a list of variables. Call `optimizer.build(trainable_variables)` first. "
                )
            variables = self._trainable
        else:
            variables = list(variables)
        if len(gradients) != len(variables):
            raise ValueError(
                f"There must be one gradient for each variable. Received {len(gradients)} "
                f"gradients for {len(variables)} variables."
            )
        if not self.built:
            self.build(variables)
        plan = self._plan
        if plan is None or plan.places != list(map(id, variables)):
            self._check_known(variables)
        return variables

    def _check_known(self, variables: list[Variable]) -> None:
        for variable in variables:
            _check_variable(variable)
            if variable._handle.id not in self._places:
                raise ValueError(
                    f"Unknown variable: {variable}. This optimizer can only be called for the "
                    "variables it was originally built with. When working with a new set of "
                    "variables, you should recreate a new optimizer instance, or make them known "
                    "by `optimizer.build(variables)`."
                )

    def _present(
        self, gradients: list[Any], variables: list[Variable]
    ) -> tuple[list[Any], list[Variable]]:
        pairs = [(g, v) for g, v in zip(gradients, variables) if g is not None]
        if not pairs:
            raise ValueError(
                "No gradients provided for any variable. `GradientTape.why_none` says why."
            )
        if not self._warned:
            self._warned = True
            missing = [v.name for g, v in zip(gradients, variables) if g is None]
            LOGGER.warning(
                "Gradients do not exist for variables %s at %s: they are left as they are. "
                "`GradientTape.why_none` says why. (Said once per optimizer.)",
                missing,
                errors.user_location(),
            )
        return [g for g, _ in pairs], [v for _, v in pairs]

    def _update(self, gradients: list[Any], variables: list[Variable]) -> None:
        settings = self._read_settings(self)
        plan = self._plan
        if plan is None or not plan.fits(variables, gradients, settings):
            plan = self._make_plan(gradients, variables, settings)
            self._plan = plan if are_plain(settings) else None
        if plan.common_norm is not None:
            gradients = _clip_together(gradients, variables, plan.common_norm)
        capture = LOCAL.state.capture
        step = host_count(self._step_now() + 1) if capture is None else read(self._iterations) + 1
        rate, scalars = self._rate_now(), self._scalars(step)
        shared = [(rate, *numbers, *scalars) for numbers in plan.numbers]
        for gradient, row in zip(gradients, plan.rows):
            kind, closure, held, cells, slots, group = row
            inputs = (gradient,) if kind is Tensor else row.inputs(gradient)
            if capture is not None:
                for variable in held:
                    capture.note_use(variable)
            call_captured(closure, [], (cells[0], *inputs, *shared[group], *slots), cells)
        for variable in plan.constrained:
            variable.assign(variable.constraint(variable))
        if capture is not None:
            self._iterations.assign(step)
        else:
            self._step += 1
            self._counted = step
            self._iterations._set(step)

    def _make_plan(
        self, gradients: list[Any], variables: list[Variable], given: tuple[Any, ...]
    ) -> Plan:
        numbers, settings = self._numbers(), self._settings()
        classes = list(map(type, gradients))
        clip, bound = self._clip()
        if clip in CLIPS:
            numbers[clip] = bound
        #: The closure, the numbers and the place of each kind of variable.
        kinds: dict[tuple, tuple[Closure, tuple[Tensor, ...], int]] = {}
        rows = []
        for gradient, variable in zip(classes, variables):
            gradient = Tensor if clip == "global_clipnorm" else gradient
            sparse = issubclass(gradient, IndexedSlices)
            kind = sparse, self._decay_of(variable), current(variable._handle)._aval.scalar
            if kind not in kinds:
                kinds[kind] = *self._kind(numbers, settings, *kind), len(kinds)
            closure, _, group = kinds[kind]
            slots = self._slots_of(variable)
            cells = tuple([v._handle for v in (variable, *slots)])
            held = variable, *slots
            rows.append(Row(gradient, closure, held, cells, cells[1:], group))
        return Plan(
            list(map(id, variables)),
            classes,
            given,
            bound if clip == "global_clipnorm" else None,
            rows,
            [numbers for _, numbers, _ in kinds.values()],
            [v for v in variables if v.constraint is not None],
        )

    def _clip(self) -> tuple[str, float]:
        """How gradients are clipped, and at which bound."""
        for name in ("clipnorm", "global_clipnorm", "clipvalue"):
            bound = getattr(self, name)
            if bound and bound > 0:
                return name, float(bound)
        return "", 0.0

    def _slots_of(self, variable: Variable) -> tuple[Variable, ...]:
        place = self._places[variable._handle.id]
        slots = self._slots[place]
        if slots is None:
            capture = LOCAL.state.capture
            with nullcontext() if capture is None else leaving():  # at any call of a function
                slots = self._slots[place] = self._make_slots(variable)
                self._take_waiting()
        return slots

    def _kind(
        self,
        numbers: dict[str, float],
        settings: dict[str, Any],
        sparse: bool,
        decay: float | None,
        aval: Aval,
    ) -> tuple[Closure, tuple[Tensor, ...]]:
        """The closure that updates variables of one kind, and its numbers as one vector, if any,
        which is that of the last step unless they have changed."""
        if decay is not None:
            numbers = {**numbers, "weight_decay": by_float32(decay)}
        names, values = tuple(numbers), tuple(numbers.values())
        updates = self._updates.rows if sparse else self._updates.dense
        closure = updates.bind(numbers=names, **settings)
        if not names:
            return closure, ()
        key = names, aval.dtype.name
        found = self._given.get(key)
        if found is None or found[0] != values:
            found = self._given[key] = values, concrete(np.array(values, aval.np_dtype))
        return closure, (found[1],)

    def _step_now(self) -> int:
        """The step count, from the host unless somebody assigned to `iterations`."""
        tensor = self._iterations._handle.tensor
        if tensor is not self._counted:
            self._step = int(tensor)
            self._counted = tensor
        return self._step

    def _rate_now(self) -> Tensor:
        """The learning rate of the coming step, as a host scalar if its value is known."""
        rate = self.learning_rate
        if rate.__class__ is Variable:
            tensor = read(rate)
        else:
            tensor = convert(rate)
        array = tensor._array
        if array.__class__ is not np.ndarray and isinstance(array, jax.Array):
            tensor._array = np.array(array)
        return tensor

    def _make_slots(self, variable: Variable) -> tuple[Variable, ...]:
        aval = current(variable._handle)._aval
        base = variable.name.replace("/", "_").replace(":", "_")
        slots = []
        for name, value in self._slot_values().items():
            # By way of float32, as Keras initializes them.
            array = np.full(aval.shape, np.float32(value), aval.np_dtype)
            initial = concrete(array, aval)
            # On the device from the start: a scalar would be packed in the first step only.
            initial._device_array()
            slot = Variable(initial, trainable=False, name=f"{self.name}/{base}_{name}")
            self._note_slot(name, self._places[variable._handle.id], slot)
            slots.append(slot)
        return tuple(slots)

    # -- configuration --------------------------------------------------------------------------

    def get_config(self) -> dict[str, Any]:
        """The arguments that make this optimizer again, without its state, as Keras gives them.

        Raises: NotImplementedError if the learning rate is a plain function.

        >>> import tape_compat as tf
        >>> config = tf.optimizers.SGD(0.5, momentum=0.9).get_config()
        >>> config["learning_rate"], config["momentum"]
        (0.5, 0.9)
        >>> tf.optimizers.SGD.from_config(config).momentum
        0.9
        """
        rate = self._learning_rate
        if isinstance(rate, Variable):
            rate = float(rate)
        elif isinstance(rate, LearningRateSchedule):
            rate = serialize(rate)
        else:
            raise NotImplementedError(
                f"get_config: the learning rate is the function {rate!r}, which has no "
                "configuration. Use a LearningRateSchedule."
            )
        return {
            "name": self.name,
            "learning_rate": rate,
            "weight_decay": self.weight_decay,
            "clipnorm": self.clipnorm,
            "global_clipnorm": self.global_clipnorm,
            "clipvalue": self.clipvalue,
            "use_ema": False,
            "ema_momentum": 0.99,
            "ema_overwrite_frequency": None,
            "loss_scale_factor": None,
            "gradient_accumulation_steps": None,
            **{name: getattr(self, name) for name in self._arguments},
        }

    @classmethod
    def from_config(
        cls, config: Mapping[str, Any], custom_objects: Mapping[str, Any] | None = None
    ) -> Any:
        """An optimizer from `get_config`; `custom_objects` has schedules of your own by name."""
        arguments = dict(config)
        if isinstance(arguments.get("learning_rate"), dict):
            arguments["learning_rate"] = deserialize(arguments["learning_rate"], custom_objects)
        return cls(**arguments)


_COUNT = Aval.of((), dtypes.int64)


def host_count(step: int) -> Tensor:
    return concrete(np.array(step, np.int64), _COUNT)


def _check_variable(variable: Any) -> None:
    if not isinstance(variable, Variable):
        raise TypeError(f"An optimizer updates Variables. Received: {variable!r}")


def _clip_together(gradients: list[Any], variables: list[Variable], norm: float) -> list[Tensor]:
    """Gradients scaled together. As in Keras, rows count in the norm one by one, then are added."""
    clipped, _ = clip_by_global_norm(gradients, norm)
    dense = []
    for gradient, variable in zip(clipped, variables, strict=True):
        if isinstance(gradient, IndexedSlices):
            shape = list(current(variable._handle)._aval.shape)
            gradient = IndexedSlices(gradient.values, gradient.indices, shape)._as_tensor()
        dense.append(gradient)
    return dense


def _snake_case(name: str) -> str:
    """The default name of a class, as Keras makes it: `AdamW` is adam_w, `RMSprop` rm_sprop."""
    name = re.sub(r"(.)([A-Z][a-z]+)", r"\1_\2", name)
    return re.sub(r"([a-z])([A-Z])", r"\1_\2", name).lower()
