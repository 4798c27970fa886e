"""Functions of elements: recorded once for their specs and run compiled, or run as Python.

What `map` and the like are given is recorded as `tf.function` records, for the specs of the
elements. It then gives the specs of its results without being run. Where that is not possible, as
with strings or `tf.py_function`, its Python runs for each element.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import zip_longest
from typing import Any

import numpy as np

from ..composites.ragged import RaggedTensor, RaggedTensorSpec
from ..composites.sparse import SparseTensorSpec
from ..core import dtypes, errors
from ..core.dimensions import INCONCLUSIVE
from ..core.errors import user_location
from ..core.shapes import TensorShape
from ..core.state import MODE, changed
from ..function.autograph import converted
from ..function.elements import taking
from ..function.function import LOGGER, Function
from ..function.python_steps import is_silent
from ..function.retracing import zeros_in
from ..function.row_parts import RowParts
from ..function.signature import Bound
from ..function.trace import Trace, traced
from ..function.tracebacks import filter_traceback
from ..function.vectorized_map import vectorized_map
from ..ops.random_keys import PythonDraws
from ..values import nest
from ..values.capture import Captured, Drawn, Sketch
from ..values.composite import TypeSpec
from ..values.convert import convert
from ..values.spec import NoneTensorSpec, TensorSpec
from ..values.stated import listening
from ..values.tensor import Tensor
from .options import DEBUGGING
from .pipeline import Draws, Pipeline, Rows
from .specs import DatasetSpec
from .structure import (
    Element,
    Layout,
    array_of,
    dtype_of,
    nbytes_of,
    pack,
    shape_of,
    taken_apart,
    value_of,
)

#: How many elements are made ahead at once, and how many bytes they may take.
AHEAD = 64
AHEAD_BYTES = 1 << 20
#: For how many sizes of elements a function is recorded that cannot be for all.
SIZES = 64


class Given(Pipeline):
    """A pipeline of which only the specs matter: for functions of what is no element."""

    def __init__(self, spec: Any):
        super().__init__()
        self._known = spec

    def _spec(self) -> Any:
        return self._known


class _NotTensors(errors.NeedsValue):
    """A function gives datasets or other objects: its Python runs for each element."""


class Recorded:
    """What recording a function gave: the specs of its results, and the trace if there is one."""

    __slots__ = ("calls", "constant", "spec", "trace")

    def __init__(self) -> None:
        self.spec: Any = None
        self.trace: Trace | None = None
        #: Whether Python functions keep it from being recorded, whose results have shown their
        #: ranks once it has run.
        self.calls = False
        #: The results that are no tensors, by their place: None.
        self.constant: tuple[int, ...] = ()


class _Running(threading.local):
    """The function that runs for an element in this thread."""

    function: ElementFunction | None = None


_RUNNING = _Running()


class ElementFunction:
    """A function of the elements of a pipeline.

    title: what the user called, for messages, as "Dataset.map()". dtype: of the tensor that it
    gives, if Python's numbers are to become such.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        source: Pipeline,
        title: str,
        dtype: dtypes.DType | None = None,
    ):
        if not callable(function):
            raise TypeError(f"`{title}` takes a function, not {function!r}")
        self.function, self.title = function, title
        self.location = user_location()
        self._source = source
        self._converted = function
        self._dtype = dtype
        if not isinstance(function, Function):
            self._converted = converted(function, user_requested=False)
        self._lock = threading.RLock()
        self._records: dict[Any, Recorded] = {}
        self._general: Recorded | None = None
        self._rows: Any = ()  # not looked for yet
        #: Whether it may be recorded for elements of each size; None until that is asked.
        self._by_sizes: bool | None = None
        #: Whether it is to run as Python for each element.
        self._as_python = DEBUGGING.on
        #: How often it was called for an element.
        self.calls = 0
        #: The function in whose run it was made, if it is of a dataset in a dataset.
        self._outer = _RUNNING.function
        #: The generators of functions that are made in its runs, each run anew: they go on.
        self._generators: dict[tuple, Any] = {}
        #: Its draws where it runs as Python.
        self._draws = PythonDraws()

    # -- what it gives --------------------------------------------------------------------------

    def record(self) -> Recorded:
        """What recording it for the specs of the elements gave."""
        with self._lock:
            if self._general is None:
                self._general = self._record(self._source.layout.specs)
            return self._general

    def check(self, check: Callable[[Any], Any]) -> None:
        """Record it if the specs of the elements are known; `check` sees those of its results."""
        if self._source.spec_is_known():
            spec = self.record().spec
            if spec is not None:
                check(spec)

    def spec_is_known(self) -> bool:
        """Whether the specs of its results are known."""
        return self._source.spec_is_known() and self.record().spec is not None

    def is_recorded(self) -> bool:
        """Whether it is known that it runs compiled, or for many elements at once."""
        trace = self.record().trace if self._source.spec_is_known() else None
        return trace is not None and (not trace.graph.in_parts or self.over_rows() is not None)

    def output_spec(self) -> Any:
        """The specs of its results; of what only running shows, by the first element."""
        record = self.record()
        with self._lock:
            if record.spec is None:
                record.spec = self._spec_by_running()
            return record.spec

    def _spec_by_running(self) -> Any:
        return self.spec_by_first(self._source, ())

    def spec_by_first(self, source: Pipeline, state: Element) -> Any:
        """The specs of its results for the first element of a pipeline, after a state."""
        seeds = source.positions()
        first = next(source.open(Draws()), None)
        source.put_back(iter(seeds))  # it was no run of an iterator
        if first is None:
            raise ValueError(
                f"The results of the function of {self.title} (at {self.location}) are known when "
                "it runs, and there is no element to run it for."
            )
        return self._first((*state, *first))[0]

    def _record(self, specs: Sequence[TypeSpec], any_size: bool = False) -> Recorded:
        found = Recorded()
        known = [self._symbolic(spec) for spec in specs]
        if any(symbol is _UNKNOWN for symbol in known) or MODE.python:
            return found
        given = [part for spec in specs for part in _parts(spec)]
        texts = any(spec.dtype is dtypes.string for spec in given)
        composites = any(isinstance(spec, _COMPOSITES) for spec in specs)
        sketch = Sketch(any_size)

        def body(*tensors: Tensor) -> list[Any]:
            remaining = iter(tensors)
            leaves = [
                _made(spec, remaining) if symbol is _OF_PARTS else symbol
                for spec, symbol in zip(specs, known)
            ]
            result = self._called(self._converted, leaves)
            found.spec, results = self._described(result)
            if not all(isinstance(x, Tensor) or x is None for x in results):
                raise _NotTensors(f"{self.title} gives objects")
            return results

        bound = Bound(tuple(given), (), tuple(f"args_{i}" for i in range(len(given))))
        try:
            trace = traced(body, bound, self._name, True, fallible=any_size, sketch=sketch)
            if trace.created:
                trace = traced(body, bound, self._name, False, fallible=any_size, sketch=sketch)
            if sketch.used or trace.computes_with_texts():  # the record tells shapes only
                return found
            if not composites and (
                len(given) == len(specs) or all(isinstance(s, _OF_NOTHING) for s in specs)
            ):
                found.trace = trace
                if self._outer is not None:
                    self._outer.adopt(self, trace)
        except _NotTensors:
            pass
        except (errors.NeedsValue, INCONCLUSIVE):
            found.calls = sketch.calls
            found.spec = None if sketch.used or texts or composites else found.spec
        except Exception as error:
            if sketch.used or texts or composites:  # running it will tell what is wrong
                found.spec = None
                return found
            filter_traceback(error)
            raise
        return found

    @property
    def _name(self) -> str:
        return getattr(self.function, "__name__", type(self.function).__name__)

    def _symbolic(self, spec: TypeSpec) -> Any:
        """What stands for a leaf while the function is recorded; tensors are made by recording."""
        if isinstance(spec, (TensorSpec, *_COMPOSITES)):
            return _UNKNOWN if spec.shape.rank is None else _OF_PARTS
        if isinstance(spec, NoneTensorSpec):
            return None
        return spec._stand_in() if isinstance(spec, DatasetSpec) else _UNKNOWN

    def _called(self, function: Callable[..., Any], leaves: Sequence[Any]) -> Any:
        """The function of an element: of the parts of a tuple, or of the one other thing."""
        value = self._source.layout.pack(leaves)
        notes = contextlib.nullcontext() if self._as_python else taking()
        with changed(_RUNNING, function=self), notes, self._draws.running():
            result = function(*value) if type(value) is tuple else function(value)
        if self._dtype is not None:
            return convert(result, self._dtype)
        return tuple(result) if isinstance(result, list) else result

    def _described(self, result: Any) -> tuple[Any, list[Any]]:
        """The specs of a result, and its leaves."""
        try:
            return taken_apart(result)
        except errors.NeedsValue:
            raise
        except (TypeError, ValueError) as error:
            raise TypeError(
                f"Unsupported return value from function passed to {self.title}: {result!r}."
            ) from error

    # -- running it -----------------------------------------------------------------------------

    def adopt(self, inner: ElementFunction, trace: Trace) -> None:
        """Let a function of a dataset that was made in a run of this one draw from where that of
        the last run stopped."""
        code = getattr(inner.function, "__code__", inner.title)
        with self._lock:
            known = [
                self._generators.setdefault((code, i), drawn.generator)
                for i, drawn in enumerate(_drawn(trace.captured))
            ]
        trace.captured = _with_generators(trace.captured, known)

    def __call__(self, element: Element) -> Element:
        """The leaves of its result for an element."""
        record = self.record()
        trace = record.trace
        if trace is None:
            record = self._record_for(element)
            trace = record.trace
        elif trace.shapes is not None and any(x is not None and 0 in shape_of(x) for x in element):
            record = self._record_of_zeros(record, element)
            trace = record.trace
        if trace is None or MODE.python or self._as_python:
            return self._leaves(element)
        try:
            return run(trace, element)
        except errors.NotAsRecorded:  # an op of the host gave another shape than it said
            record.trace = None
            return self._leaves(element)

    def _record_for(self, element: Element) -> Recorded:
        """The record for elements of these sizes, where there is none for all."""
        general = self.record()
        with self._lock:
            if self._by_sizes is None:
                self._by_sizes = _more_by_sizes(self._source.layout.specs)
            if not self._by_sizes:
                return general
            key = tuple([x if x is None else (shape_of(x), dtype_of(x).name) for x in element])
            found = self._records.get(key)
            if found is None:
                specs = [
                    NoneTensorSpec() if x is None else TensorSpec(shape_of(x), dtype_of(x))
                    for x in element
                ]
                found = self._record(specs)
                if found.trace is None or len(self._records) == SIZES:
                    self._by_sizes = False
                    return general
                self._records[key] = found
                if general.spec is None:
                    general.spec = _of_any_size(found.spec)
            return found

    def _record_of_zeros(self, general: Recorded, element: Element) -> Recorded:
        """The record for an element without elements of its own: another one where sizes were
        computed that do not hold for it, if the function can be recorded so."""
        with self._lock:
            key = tuple([x if x is None else tuple([n == 0 for n in shape_of(x)]) for x in element])
            found = self._records.get(key)
            if found is None:
                assert general.trace is not None
                tensors = [convert(value_of(x)) for x in element if x is not None]
                found = self._records[key] = general
                if not general.trace.holds_for(tensors):
                    found = self._recorded_of_zeros(element)
                    self._records[key] = found if found.trace is not None else general
            return self._records[key]

    def _recorded_of_zeros(self, element: Element) -> Recorded:
        specs = [
            spec if x is None else zeros_in(spec, shape_of(x))
            for spec, x in zip(self._source.layout.specs, element)
        ]
        try:
            return self._record(specs)
        except Exception as error:  # what stands behind `if tf.size(x) > 0:` need not fit
            LOGGER.debug("%s is not recorded for sizes of 0: %s", self._name, error)
            return Recorded()

    def result(self, element: Element) -> Any:
        """What its Python gives for an element."""
        return self._called(self.function, [value_of(leaf) for leaf in element])

    def _first(self, element: Element) -> tuple[Any, list[Any]]:
        """The specs of its results by those for an element, and the leaves of these. If it can be
        recorded now that its Python functions have run, sizes are those of a record of any sizes;
        else they are known of what is a part of the element, or was given one by `set_shape`."""
        given = [value_of(leaf) for leaf in element]
        with listening() as shapes:
            for leaf, spec in zip(given, self._source.layout.specs):
                if isinstance(leaf, (Tensor, RaggedTensor)):
                    shapes[id(leaf)] = leaf, spec.shape
            result = self._called(self.function, given)
        spec, leaves = self._described(result)
        if self.record().calls:
            recorded = self._record(self._source.layout.specs, any_size=True).spec
            if recorded is not None and same_structure(recorded, spec):
                return recorded, leaves
        return _of_any_size(
            spec, [shapes.get(id(leaf), (None, None))[1] for leaf in leaves]
        ), leaves

    def _leaves(self, element: Element) -> Element:
        record = self.record()
        if record.spec is None:
            record.spec, leaves = self._first(element)
        else:
            leaves = self._described(self.result(element))[1]
        return tuple([x._value() if isinstance(x, Tensor) else x for x in leaves])

    # -- several elements at once ---------------------------------------------------------------

    def is_silent(self) -> bool:
        """Whether nobody can tell when it is called: it reads no variable and has no effects."""
        if self._as_python:
            return False
        trace = self.record().trace if self._source.spec_is_known() else None
        found = None if trace is None else trace.captured
        return found is not None and not found.variables and is_silent(found.closure)

    def ahead(self) -> int:
        """For how many elements it may be called ahead of their use; 0 where a variable may change
        meanwhile, or results are large."""
        if not self.is_silent():
            return 0
        size = nbytes_of([*self._source.layout.specs, *Layout(self.record().spec).specs])
        if size is None:
            return 0
        count = min(AHEAD, AHEAD_BYTES // (1 + size))
        return count if count > 3 else 0

    def over_rows(self) -> RowFunction | None:
        """The function of several elements at once, if it has no effects and can be so."""
        with self._lock:
            if self._rows == ():
                self._rows = self._over_rows()
            return self._rows

    def one_by_one(self) -> None:
        """Do elements one by one from now on."""
        self._rows = None

    def _over_rows(self) -> RowFunction | None:
        specs = self._source.layout.specs
        trace = self.record().trace
        if self._as_python or trace is None:
            return None
        if not all(isinstance(s, TensorSpec) for s in specs):
            return None
        if not all(spec.shape.is_fully_defined() for spec in specs):  # type: ignore[attr-defined]
            return None
        found = RowFunction(trace, specs, self._name)
        return found if found.possible() else None


class RowFunction:
    """A recorded function for stacked elements, compiled for some numbers of them."""

    def __init__(self, trace: Trace, specs: Sequence[Any], name: str):
        self._element, self._specs, self._name = trace, specs, name
        self._parts = RowParts(trace) if trace.graph.in_parts else None
        self._traces: dict[int, Trace] = {}
        #: For how many elements its parts were done.
        self._sizes: set[int] = set()
        self._lock = threading.RLock()
        self._impossible = False

    def possible(self) -> bool:
        """Whether it can be recorded for stacked elements."""
        if self._parts is not None:
            return self._parts.possible()
        return self._trace(2) is not None

    def _body(self, *columns: Tensor) -> list[Any]:
        """The results for stacked elements, while that is recorded."""

        def row(leaves: Sequence[Tensor]) -> list[Any]:
            return self._element.call(list(leaves), ())

        return vectorized_map(row, list(columns), fallback_to_while_loop=False, warn=False)

    def _trace(self, count: int) -> Trace | None:
        with self._lock:
            found = self._traces.get(count)
            if found is None and not self._impossible:
                specs = [TensorSpec([count, *spec.shape], spec.dtype) for spec in self._specs]
                names = tuple([f"args_{i}" for i in range(len(specs))])
                try:
                    found = traced(self._body, Bound(tuple(specs), (), names), self._name, False)
                except Exception:  # one by one it goes, or tells why not
                    self._impossible = True
                    return None
                found.captured = _with_origins(found.captured)
                self._traces[count] = found
            return found

    def __call__(self, rows: Rows, wanted: int) -> Rows:
        """The results for stacked elements, stacked. Where there are fewer than `wanted`, and it is
        compiled for so many, they are filled up."""
        count, columns = rows
        size = wanted if wanted in self._traces or wanted in self._sizes else count
        if count < size:
            columns = tuple([_filled(array_of(x), size) for x in columns])
        if self._parts is not None:
            self._sizes.add(size)
            found = _values(self._parts(size, [value_of(x) for x in columns]))
        else:
            trace = self._trace(size)
            assert trace is not None
            found = run(trace, columns)
            for drawn in _drawn(trace.captured) if count < size else ():
                drawn.generator.give_back(drawn.times // size * (size - count))
        if count < size:
            found = tuple([x if x is None else np.asarray(x)[:count] for x in found])
        return count, found


def _drawn(captured: Captured) -> list[Drawn]:
    """The draws that were recorded."""
    return [source for source in captured.sources if isinstance(source, Drawn)]


def _with_generators(captured: Captured, generators: Iterable[Any]) -> Captured:
    """What was recorded, with these generators for its draws."""
    found = iter(generators)
    sources = [
        s._replace(generator=next(found)) if isinstance(s, Drawn) else s for s in captured.sources
    ]
    return captured._replace(sources=tuple(sources))


def _with_origins(captured: Captured) -> Captured:
    """What was recorded, with the generators of the function that it calls, not others of its own:
    rows draw what elements would, one after the other."""
    return _with_generators(captured, [s.generator.origin for s in _drawn(captured)])


def _filled(column: np.ndarray, size: int) -> np.ndarray:
    """A column with its first row repeated up to a size."""
    more = np.broadcast_to(column[:1], (size - len(column), *column.shape[1:]))
    return np.concatenate([column, more])


def run(trace: Trace, leaves: Sequence[Any]) -> Element:
    """The leaves of what a trace gives."""
    return _values(trace.values([value_of(leaf) for leaf in leaves if leaf is not None]))


def _values(results: Sequence[Any]) -> Element:
    return tuple([x._value() if isinstance(x, Tensor) else x for x in results])


_UNKNOWN = object()
_OF_PARTS = object()
#: What is recorded for the specs of the results, and runs as Python for each element.
_COMPOSITES = (RaggedTensorSpec, SparseTensorSpec)
_OF_NOTHING = (TensorSpec, NoneTensorSpec)


def _parts(spec: TypeSpec) -> list[TensorSpec]:
    """The specs of the tensors that a leaf is made of while a function is recorded."""
    if isinstance(spec, _COMPOSITES):
        return list(spec._component_specs)
    return [spec] if isinstance(spec, TensorSpec) else []


def _made(spec: TypeSpec, tensors: Iterator[Tensor]) -> Any:
    """A leaf of the next of these tensors."""
    if isinstance(spec, TensorSpec):
        return next(tensors)
    return spec._from_components([next(tensors) for _ in _parts(spec)])


def _more_by_sizes(specs: Sequence[TypeSpec]) -> bool:
    """Whether more is known of an element than of all, which may help to record for it."""
    if not all(isinstance(spec, _OF_NOTHING) for spec in specs):
        return False
    tensors = [spec for spec in specs if isinstance(spec, TensorSpec)]
    return not all(spec.shape.is_fully_defined() for spec in tensors)


def _of_any_size(spec: Any, known: Sequence[TensorShape | None] = ()) -> Any:
    """Specs like those of the first element, of any sizes where no shape is known."""

    def general(leaf: TypeSpec, known: TensorShape | None) -> TypeSpec:
        if isinstance(leaf, DatasetSpec):
            return DatasetSpec(_of_any_size(leaf.element_spec))
        if not isinstance(leaf, (TensorSpec, RaggedTensorSpec, SparseTensorSpec)):
            return leaf
        shape = TensorShape([None] * (leaf.shape.rank or 0))
        if known is not None and known.rank is not None and not isinstance(leaf, SparseTensorSpec):
            shape = known
        if isinstance(leaf, RaggedTensorSpec):
            return RaggedTensorSpec(shape, leaf.dtype, leaf.ragged_rank, leaf.row_splits_dtype)
        return type(leaf)(shape, leaf.dtype)

    return pack(spec, [general(*pair) for pair in zip_longest(Layout(spec).specs, known)])


def same_structure(one: Any, other: Any) -> bool:
    """Whether two nests of specs have the same form."""
    try:
        nest.assert_same_structure(one, other)
    except (TypeError, ValueError):
        return False
    return True
