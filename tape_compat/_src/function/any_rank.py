"""A concrete function for tensors of unknown rank, which JAX does not have: it calls the function,
which is recorded for each rank, or each shape."""

from __future__ import annotations

from typing import Any

from ..core import limits
from ..core.errors import user_location
from ..core.refuse import check_dtype_of
from ..core.shapes import TensorShape
from ..values.spec import TensorSpec
from ..values.variable import Variable
from .concrete import ConcreteFunction
from .function_type import FunctionType, type_of
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

    def __init__(self, function: Any, signature: Signature, bound: Bound, name: str):
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

    def _called(self, tensors: list[Any]) -> Any:
        left = iter(tensors)
        given = mapped(self._bound, lambda _: next(left))
        return self._function(*given.args, **dict(given.kwargs))

    def of_each_rank(self) -> tuple[int, list[ConcreteFunction]]:
        """The lowest rank that the function can be recorded for, and a concrete function for each
        from there on.

        Raises: NotImplementedError if the rank of several arguments is not known; what recording it
          raises if there is none.
        """
        if sum(spec.shape.rank is None for spec in self._named_specs) != 1:
            raise NotImplementedError(
                f"{self._function_name} takes several tensors of unknown rank (at "
                f"{user_location()})."
            )
        first, found, failed = 0, [], None
        for rank in range(limits.MAX_SAVED_RANK + 1):
            sizes = TensorShape([None] * rank)

            def known(x: Any, sizes: TensorShape = sizes) -> TensorSpec:
                return TensorSpec(sizes if x.shape.rank is None else x.shape, x.dtype, x.name)

            try:
                found.append(self._function._concrete_for(mapped(self._bound, known)))
            except (TypeError, ValueError, IndexError) as error:
                failed = error
                if found:
                    break
                first = rank + 1
        if failed is not None and not found:
            raise failed
        return first, found

    @property
    def recorded_outputs(self) -> Any:
        """What the function returned when it was recorded for the lowest rank."""
        return self.of_each_rank()[1][0].recorded_outputs

    def covers(self, other: ConcreteFunction) -> bool:
        """Whether it takes all that another concrete function of its function takes."""
        mine, others = [FunctionType(x._parameters()) for x in (self, other)]
        return others.is_supertype_of(mine)  # parameters are contravariant

    @property
    def variables(self) -> tuple[Variable, ...]:
        """The variables that it reads or assigns to at the lowest rank."""
        return self.of_each_rank()[1][0].variables

    @property
    def record_id(self) -> Any:
        """What tells it from others."""
        return id(self._function), self._bound.key, tuple(self._input_names)

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
        """Its parameters, and what it gives if a file told it, as text; in a line if not
        `verbose`."""
        if self.told_outputs is not None:
            told = FunctionType(self._parameters(), return_annotation=type_of(self.told_outputs))
            return repr(told) if verbose else str(told)
        found = FunctionType(self._parameters())
        return "\n".join(found.parameter_lines()) if verbose else str(found)


def without_covered(concretes: list[ConcreteFunction]) -> list[ConcreteFunction]:
    """Concrete functions of one function but for those of which one of any rank takes all that they
    take."""
    wide = [each for each in concretes if isinstance(each, ConcreteFunctionOfAnyRank)]
    return [x for x in concretes if x in wide or not any(each.covers(x) for each in wide)]


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
