"""Assertions about the elements of tensors."""

from __future__ import annotations

import collections.abc as abc
import math
import unittest
from typing import Any

import numpy as np

from ...composites.ragged import RaggedTensor
from ...composites.sparse import SparseTensor
from ...core.dtypes import as_dtype
from ...values.tensor import Tensor
from ...values.variable import Variable
from .values import as_array, evaluated, has_bytes, plain_array, ragged_list, with_bytes

_HALVES = {"float16": "half", "bfloat16": "bfloat16"}
_SINGLES = ("float32", "complex64")


def _numbers(array: np.ndarray) -> np.ndarray:
    """NumPy cannot compare bfloat16 and the like with other dtypes."""
    return array.astype(np.float32) if array.dtype.kind == "V" else array


def _equal(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    same = np.asarray(a == b)
    if all(array.dtype.kind in "fc" for array in (a, b)):
        same = same | (np.isnan(a) & np.isnan(b))
    return same


def _places(wrong: np.ndarray, value: np.ndarray, limit: int = 10) -> str:
    """The elements where `wrong` is true, a line for each, and how many more there are."""
    found = np.argwhere(wrong)
    lines = [f"  {[*map(int, place)]} : {value[tuple(place)]}" for place in found[:limit]]
    if len(found) > limit:
        lines.append(f"  ... ({len(found) - limit} more)")
    return "\n".join(lines)


class ArrayAssertions(unittest.TestCase):
    """What a test case says about values. Each raises an AssertionError where it is not so."""

    def assertAllEqual(self, a: Any, b: Any, msg: str | None = None) -> None:
        """The same shape, and the same elements; NaN is the same as NaN."""
        if isinstance(a, RaggedTensor) or isinstance(b, RaggedTensor):
            self.assertEqual(ragged_list(a), ragged_list(b), msg)
            return
        one, other = plain_array(a), plain_array(b)
        if one.dtype.kind != other.dtype.kind and (has_bytes(one) or has_bytes(other)):
            one, other = with_bytes(one), with_bytes(other)
        self._same_shape(one, other, msg)
        if not np.all(_equal(one, other)):
            np.testing.assert_array_equal(_numbers(one), _numbers(other), err_msg=msg or "")
            self.fail(msg or f"{one} is not equal to {other}")

    def assertNotAllEqual(self, a: Any, b: Any, msg: str | None = None) -> None:
        """Some element, or the shape, is another."""
        try:
            self.assertAllEqual(a, b)
        except AssertionError:
            return
        raise AssertionError(f"The two values are equal at all elements. {msg or ''}")

    def assertAllClose(
        self, a: Any, b: Any, rtol: float = 1e-6, atol: float = 1e-6, msg: str | None = None
    ) -> None:
        """Nests of numbers with |a - b| <= atol + rtol |b| at each element; NaN is close to NaN.

        Raises: ValueError for nests of different kinds.
        """
        self._close(a, b, rtol, atol, "", msg or "")

    def assertNotAllClose(
        self, a: Any, b: Any, rtol: float = 1e-6, atol: float = 1e-6, msg: str | None = None
    ) -> None:
        """Some element is not close, or the shapes differ."""
        try:
            self.assertAllClose(a, b, rtol=rtol, atol=atol)
        except AssertionError:
            return
        raise AssertionError(f"The two values are close at all elements. {msg or ''}")

    def assertAllCloseAccordingToType(
        self,
        a: Any,
        b: Any,
        rtol: float = 1e-6,
        atol: float = 1e-6,
        float_rtol: float = 1e-6,
        float_atol: float = 1e-6,
        half_rtol: float = 1e-3,
        half_atol: float = 1e-3,
        bfloat16_rtol: float = 1e-2,
        bfloat16_atol: float = 1e-2,
        msg: str | None = None,
    ) -> None:
        """`assertAllClose` with the tolerances of the less exact of the two dtypes."""
        by_kind = {
            "float": (float_rtol, float_atol),
            "half": (half_rtol, half_atol),
            "bfloat16": (bfloat16_rtol, bfloat16_atol),
        }
        one, other = as_array(a), as_array(b)
        for name in (one.dtype.name, other.dtype.name):
            kind = "float" if name in _SINGLES else _HALVES.get(name, "")
            if kind:
                rtol, atol = (max(pair) for pair in zip((rtol, atol), by_kind[kind]))
        self.assertAllClose(one, other, rtol=rtol, atol=atol, msg=msg)

    def assertShapeEqual(self, input_a: Any, input_b: Any, msg: str | None = None) -> None:
        """Two arrays or tensors of one shape. Raises: TypeError for anything else."""
        for name, value in (("input_a", input_a), ("input_b", input_b)):
            if not isinstance(value, (np.ndarray, np.generic, Tensor, Variable)):
                raise TypeError(
                    f"{name} must be a Numpy ndarray, Numpy scalar, or a Tensor."
                    f"Instead received {type(value)}"
                )
        self.assertEqual(tuple(input_a.shape), tuple(input_b.shape), msg)

    def assertDTypeEqual(self, target: Any, expected_dtype: Any) -> None:
        """Each of the arrays in `target` has this dtype."""
        arrays = target if isinstance(target, list) else [target]
        for array in arrays:
            self.assertEqual(as_dtype(as_array(array).dtype), as_dtype(expected_dtype))

    def assertAllGreater(self, a: Any, comparison_target: Any) -> None:
        """Every element is greater than a number."""
        self.assertGreater(np.min(as_array(a)), comparison_target)

    def assertAllLess(self, a: Any, comparison_target: Any) -> None:
        """Every element is less than a number."""
        self.assertLess(np.max(as_array(a)), comparison_target)

    def assertAllGreaterEqual(self, a: Any, comparison_target: Any) -> None:
        """No element is less than a number."""
        self.assertGreaterEqual(np.min(as_array(a)), comparison_target)

    def assertAllLessEqual(self, a: Any, comparison_target: Any) -> None:
        """No element is greater than a number."""
        self.assertLessEqual(np.max(as_array(a)), comparison_target)

    def assertAllInRange(
        self,
        target: Any,
        lower_bound: Any,
        upper_bound: Any,
        open_lower_bound: bool = False,
        open_upper_bound: bool = False,
    ) -> None:
        """Every element is between two numbers, which an open bound leaves out; none is NaN."""
        array = as_array(target)
        if array.dtype.kind not in "fiuV":
            raise AssertionError(
                f"The value of {target} does not have an ordered numeric type, instead it has "
                f"type: {array.dtype}"
            )
        array = _numbers(array)
        missing = np.isnan(array) if array.dtype.kind == "f" else np.zeros(array.shape, bool)
        if missing.any():
            raise AssertionError(
                f"{missing.sum()} of the {array.size} element(s) are NaN. Subscripts(s) and "
                f"value(s) of the NaN element(s):\n{_places(missing, array)}"
            )
        below = array <= lower_bound if open_lower_bound else array < lower_bound
        above = array >= upper_bound if open_upper_bound else array > upper_bound
        outside = below | above
        if outside.any():
            first, last = "(" if open_lower_bound else "[", ")" if open_upper_bound else "]"
            raise AssertionError(
                f"{outside.sum()} of the {array.size} element(s) are outside the range "
                f"{first}{lower_bound}, {upper_bound}{last}. Subscript(s) and value(s) of the "
                f"offending elements:\n{_places(outside, array)}"
            )

    def assertAllInSet(self, target: Any, expected_set: Any) -> None:
        """Every element is one of a set."""
        array = as_array(target)
        others = np.setdiff1d(array.flatten(), [*expected_set])
        if others.size:
            raise AssertionError(
                f"{others.size} unique element(s) are not in the set {expected_set}: "
                f"{others.tolist()}"
            )

    def assertNear(self, f1: Any, f2: Any, err: float, msg: str | None = None) -> None:
        """|f1 - f2| <= err, of two numbers, or arrays of one; both may be the same infinity."""
        f1, f2 = np.squeeze(as_array(f1)), np.squeeze(as_array(f2))
        if f1 == f2:
            return
        difference = math.fabs(f1 - f2)
        self.assertTrue(
            difference <= err,
            f"{f1:f} != {f2:f} +/- {err:f} (difference: {difference})"
            + ("" if msg is None else f" ({msg})"),
        )

    def assertArrayNear(
        self, farray1: Any, farray2: Any, err: float, msg: str | None = None
    ) -> None:
        """As many numbers, each pair near."""
        self.assertEqual(len(farray1), len(farray2), msg)
        for one, other in zip(farray1, farray2):
            self.assertNear(float(one), float(other), err, msg)

    def assertNDArrayNear(
        self, ndarray1: Any, ndarray2: Any, err: float, msg: str | None = None
    ) -> None:
        """Arrays of which the difference has a norm of at most `err`."""
        difference = np.linalg.norm(as_array(ndarray1) - as_array(ndarray2))
        self.assertTrue(difference < err, msg)

    def _same_shape(self, a: np.ndarray, b: np.ndarray, msg: str | None) -> None:
        what = f"Shape mismatch: expected {a.shape}, got {b.shape}."
        self.assertEqual(a.shape, b.shape, what if msg is None else f"{what} {msg}")

    def _close(self, a: Any, b: Any, rtol: float, atol: float, path: str, msg: str) -> None:
        if isinstance(a, RaggedTensor) or isinstance(b, RaggedTensor):
            a, b = ragged_list(a), ragged_list(b)
        a, b = (evaluated(x) if isinstance(x, SparseTensor) else x for x in (a, b))
        a, b = (x._asdict() if hasattr(x, "_asdict") else x for x in (a, b))
        one, other = isinstance(a, abc.Mapping), isinstance(b, abc.Mapping)
        if one != other:
            raise ValueError(f"Can't compare dict to non-dict, a{path} vs b{path}. {msg}")
        if one:
            said = f"mismatched keys: a{path} has {[*a]}, but b{path} has {[*b]}. {msg}"
            self.assertCountEqual(a.keys(), b.keys(), said)
            for key in a:
                self._close(a[key], b[key], rtol, atol, f"{path}[{key}]", msg)
            return
        if isinstance(a, (list, tuple)):
            arrays = _regular(a), _regular(b)
            if arrays[0] is None or arrays[1] is None:
                self._close_sequences(a, b, rtol, atol, path, msg)
                return
        self._close_arrays(as_array(a), as_array(b), rtol, atol, path, msg)

    def _close_sequences(
        self, a: Any, b: Any, rtol: float, atol: float, path: str, msg: str
    ) -> None:
        if len(a) != len(b):
            raise AssertionError(
                f"Mismatched length: a{path} has {len(a)} items, but b{path} has {len(b)} items. "
                f"{msg}"
            )
        for place, (one, other) in enumerate(zip(a, b)):
            self._close(one, other, rtol, atol, f"{path}[{place}]", msg)

    def _close_arrays(
        self, a: np.ndarray, b: np.ndarray, rtol: float, atol: float, path: str, msg: str
    ) -> None:
        a, b = _numbers(a), _numbers(b)
        self._same_shape(a, b, msg)
        if a.dtype.kind == "O" and not np.array_equal(a, b):
            raise AssertionError(f"a{path} is different from b{path}: {a} and {b}. {msg}")
        if a.dtype.kind != "O":
            said = f"Mismatched value: a{path} is different from b{path}. {msg}"
            if not np.ndim(rtol) and not np.ndim(atol):
                np.testing.assert_allclose(a, b, rtol=rtol, atol=atol, err_msg=said, equal_nan=True)
            elif not np.allclose(a, b, as_array(rtol), as_array(atol), equal_nan=True):
                # NumPy's message cannot show a tolerance for each element
                raise AssertionError(f"{said} {a} and {b}, rtol={rtol}, atol={atol}.")


def _regular(value: Any) -> np.ndarray | None:
    """A list as one array; None if it is none: of several shapes, or with mappings in it."""
    try:
        array = as_array(value)
    except (ValueError, TypeError):
        return None
    return None if array.dtype.kind == "O" else array
