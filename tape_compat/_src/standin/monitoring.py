"""`tensorflow.python.eager.monitoring`: what libraries count of their uses, for them to read."""

from __future__ import annotations

from typing import Any, NoReturn


class _Cell:
    """What was counted under some labels."""

    def __init__(self, value: Any):
        self._value = value

    def set(self, value: Any) -> None:
        self._value = value

    def increase_by(self, value: int) -> None:
        self._value += value

    def value(self) -> Any:
        return self._value


class _Metric:
    """Cells by their labels, each of which begins with the first value."""

    FIRST: Any = 0

    def __init__(self, name: str, description: str, *labels: str):
        self._labels = labels
        self._cells: dict[tuple[str, ...], _Cell] = {}

    def _made(self) -> Any:
        return _Cell(self.FIRST)

    def get_cell(self, *labels: str) -> Any:
        """The cell of these labels."""
        if len(labels) != len(self._labels):
            wanted = len(self._labels)
            raise ValueError(f"The {type(self).__name__} expects taking {wanted} labels")
        if labels not in self._cells:
            self._cells[labels] = self._made()
        return self._cells[labels]


class Counter(_Metric):
    """A number that increases."""


class IntGauge(_Metric):
    """A number."""


class BoolGauge(_Metric):
    """Whether something is so."""

    FIRST = False


class StringGauge(_Metric):
    """A text."""

    FIRST = ""


class _Samples:
    """Numbers, which nobody looks at."""

    def add(self, value: float) -> None:
        """Nothing: see `value`."""

    def value(self) -> NoReturn:
        raise NotImplementedError("tensorflow.python.eager.monitoring.Sampler keeps no histogram")


class Sampler(_Metric):
    """Numbers, in a histogram in TensorFlow."""

    def __init__(self, name: str, buckets: Any, description: str, *labels: str):
        super().__init__(name, description, *labels)

    def _made(self) -> _Samples:
        return _Samples()


def ExponentialBuckets(scale: float, growth_factor: float, bucket_count: int) -> None:
    """Nothing: see Sampler."""
