"""`tf.train.ExponentialMovingAverage`: averages of variables over the steps of a training."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..core.dtypes import as_dtype
from ..ops import arithmetic, casting
from ..values.context import init_scope
from ..values.convert import convert
from ..values.variable import Variable

_DTYPES = ("float16", "bfloat16", "float32", "float64")


class ExponentialMovingAverage:
    """Moving averages: each `apply` takes `average = decay * average + (1 - decay) * variable`.

    Args:
      decay: between 0 and 1, close to 1.
      num_updates: number of steps so far, if given: the decay is then at most
        (1 + num_updates) / (10 + num_updates), so that averages move faster in the beginning.
      zero_debias: says nothing of variables, whose averages begin with their values.
      name: of the averages, after the name of the variable.

    >>> import tape_compat as tf
    >>> v = tf.Variable([1.0, 2.0])
    >>> ema = tf.train.ExponentialMovingAverage(decay=0.5)
    >>> ema.apply([v])
    >>> _ = v.assign([3.0, 4.0])
    >>> ema.apply([v])
    >>> ema.average(v).numpy().tolist()
    [2.0, 3.0]
    """

    def __init__(
        self,
        decay: Any,
        num_updates: Any = None,
        zero_debias: bool = False,
        name: str = "ExponentialMovingAverage",
    ) -> None:
        self._decay = decay
        self._num_updates = num_updates
        self._name = name
        #: The averages by the references of their variables.
        self._averages: dict[Any, Variable] = {}

    @property
    def name(self) -> str:
        """What the names of the averages end with."""
        return self._name

    def apply(self, var_list: Iterable[Variable] | None = None) -> None:
        """Move the averages of variables; those that have none yet begin with their values, in a
        function with those from before its first call.

        Raises: TypeError for what is no variable, or not of a floating dtype.
        """
        variables = [] if var_list is None else list(var_list)
        for variable in variables:
            if not isinstance(variable, Variable):
                raise TypeError(
                    "tf.train.ExponentialMovingAverage does not support non-Variable tensors when "
                    "eager execution is enabled."
                )
            if variable.dtype.name not in _DTYPES:
                raise TypeError(f"The variables must be half, float, or double: {variable.name}")
            if variable.ref() not in self._averages:
                self._averages[variable.ref()] = self._begun(variable)
        for variable in variables:
            average = self._averages[variable.ref()]
            rest = casting.cast(1 - self._current_decay(), average.dtype)
            average.assign_sub((average - variable) * rest)

    def _begun(self, variable: Variable) -> Variable:
        name = self.average_name(variable)
        with init_scope():  # of a function the value from before the call
            return Variable(variable.read_value(), trainable=False, name=name)

    def _current_decay(self) -> Any:
        decay = convert(self._decay, hint=as_dtype("float32"))
        if self._num_updates is None:
            return decay
        count = casting.cast(self._num_updates, decay.dtype)
        return arithmetic.minimum(decay, (1 + count) / (10 + count))

    def average(self, var: Variable) -> Variable | None:
        """The variable that holds the average of another one, None if it has none."""
        return self._averages.get(var.ref())

    def average_name(self, var: Variable) -> str:
        """The name of the average of a variable."""
        return f"{var.name.split(':')[0]}/{self._name}"

    def variables_to_restore(
        self, moving_avg_variables: Iterable[Variable] | None = None
    ) -> dict[str, Variable]:
        """For each variable, by the name of its average, the variable.

        Raises: NotImplementedError for None: variables are not listed.
        """
        if moving_avg_variables is None:
            raise NotImplementedError(
                "tf.train.ExponentialMovingAverage.variables_to_restore: give moving_avg_variables"
            )
        return {self.average_name(variable): variable for variable in moving_avg_variables}


def assign_moving_average(
    variable: Variable, value: Any, decay: Any, zero_debias: bool = True, name: str | None = None
) -> Any:
    """Move a variable to `decay * variable + (1 - decay) * value`, which it gives.

    Raises: NotImplementedError with `zero_debias`, which needs variables besides.

    >>> import tape_compat as tf
    >>> from tape_compat._src.library.moving_average import assign_moving_average
    >>> v = tf.Variable(1.0)
    >>> assign_moving_average(v, 3.0, 0.75, zero_debias=False).numpy()
    np.float32(1.5)
    """
    if zero_debias:
        raise NotImplementedError("assign_moving_average with zero_debias: keep the count yourself")
    share = casting.cast(convert(1.0 - decay), variable.dtype)
    return variable.assign_sub(arithmetic.multiply(arithmetic.subtract(variable, value), share))
