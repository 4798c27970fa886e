"""A concrete function for tensors of unknown rank, which JAX does not have: it calls the function,
which is recorded for each rank, or each shape."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..core.refuse import check_dtype_of
from ..core.shapes import TensorShape
from ..values.spec import TensorSpec
from .concrete import ConcreteFunction
from .function_type import FunctionType
from .retracing import mapped, with_specs
from .signature import Bound, Signature, rebuilt
from .trace import unique_name


def of_any_rank(bound: Bound) -> bool:
    """Whether the rank of a tensor among arguments is not known."""
    return any(spec.shape.rank is None for spec in with_specs(bound)[0])


class ConcreteFunctionOfAnyRank(ConcreteFunction):
    """What `get_concrete_function` gives for specs of unknown rank. What it gives has an unknown
    shape; of its record, of which there are several, nothing can be asked.

    Raises: as a ConcreteFunction; NotImplementedError where its record is asked for.

    >>> import tape_compat as tf
    >>> double = tf.function(lambda x: x * 2.0)
    >>> concrete = double.get_concrete_function(tf.TensorSpec(None, tf.float32))
    >>> concrete(tf.constant(1.5)).numpy().item()
    3.0
    >>> concrete(tf.constant([1.0, 2.0])).numpy().tolist()
    [2.0, 4.0]
    """

    def __init__(self, function: Callable[..., Any], signature: Signature, bound: Bound, name: str):
        self._function = function
        self._signature = signature
        self._bound = bound
        self._name = f"__inference_{name}_{id(bound) % 10**6}"
        self._function_name = name
        self.told_outputs = None
        self._named_specs = _named(bound)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        given = self._given(args, kwargs)
        if isinstance(given, TypeError):
            left = iter(self._flat(args, kwargs, given))
            given = mapped(self._bound, lambda _: next(left))
        tensors = given.taken_apart().tensors
        for i, (x, spec) in enumerate(zip(tensors, self._named_specs, strict=True)):
            check_dtype_of(x._aval, i, spec.dtype, self._name)
        return self._function(*given.args, **dict(given.kwargs))

    @property
    def _trace(self) -> Any:  # type: ignore[override]
        raise NotImplementedError(
            f"{self._function_name} was asked for tensors of unknown rank: it is recorded for each "
            "rank that comes, and has no record of its own. Give the number of axes, as in "
            "tf.TensorSpec([None, None])."
        )

    @property
    def _input_names(self) -> list[str]:
        return [str(spec.name) for spec in self._named_specs]

    @property
    def _input_specs(self) -> list[TensorSpec]:
        return list(self._named_specs)

    @property
    def output_shapes(self) -> Any:
        """An unknown shape."""
        return TensorShape(None)

    def pretty_printed_signature(self, verbose: bool = True) -> str:
        """Its parameters, as text; in a line if not `verbose`."""
        found = FunctionType(self._parameters())
        return "\n".join(found.parameter_lines()) if verbose else str(found)


def _named(bound: Bound) -> list[TensorSpec]:
    """The specs among arguments with the names of the inputs."""
    taken: list[str] = []
    found = []
    for name, value in (*bound.named, *bound.kwargs):

        def note(x: Any, name: str = name) -> Any:
            taken.append(unique_name(getattr(x, "name", None) or name, set(taken)))
            found.append(TensorSpec(x.shape, x.dtype, taken[-1]))
            return x

        rebuilt(value, note)
    return found
