"""tf.debugging: checks of values, shapes and dtypes.

Checks of values look at them, so they run what is pending, and raise at the call.
"""

from __future__ import annotations

import numbers
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import ml_dtypes
import numpy as np

from ..autodiff.custom import custom_gradient
from ..composites.ragged import RaggedTensor
from ..composites.sparse import SparseTensor
from ..core.dtypes import DType, as_dtype, float32, int32
from ..core.refuse import not_allowed
from ..core.shapes import TensorShape
from ..core.state import LOCAL
from ..ops import comparison, elementwise, reductions, shapes
from ..ops.ragged_maps import broadcast
from ..values import operators
from ..values.context import init_scope
from ..values.convert import convert
from ..values.effects import checking, require
from ..values.indexed_slices import IndexedSlices
from ..values.tensor import Tensor
from ..values.variable import Variable


def _tensor(value: Any) -> Tensor:
    return value if isinstance(value, Tensor) else convert(value)


def _pair(x: Any, y: Any) -> tuple[Tensor, Tensor]:
    """Two tensors; the values of ragged ones, side by side."""
    if isinstance(x, RaggedTensor) or isinstance(y, RaggedTensor):
        given = [v if isinstance(v, RaggedTensor) else _tensor(v) for v in (x, y)]
        x, y = [v.flat_values if isinstance(v, RaggedTensor) else v for v in broadcast(given)]
    return _tensor(x), _tensor(y)


def _compared(compare: Callable[..., Tensor], x: Tensor, y: Tensor) -> Tensor:
    """`compare(x, y)`, which is no part of a function that is being recorded if both are known: it
    is sure to fail then, unless this is a branch or a loop, which may not be run."""
    capture = LOCAL.state.capture
    if capture is None or capture.outer is not None:
        return compare(x, y)
    if any(v._is_symbolic() or not capture.is_constant(v) for v in (x, y)):
        return compare(x, y)
    with init_scope():
        return compare(x, y)


def _prefix(message: Any) -> str:
    return f"{message}.  " if message else ""


def _shape_and_dtype(x: Tensor) -> str:
    return f"shape={x.shape} dtype={x.dtype.name}"


def _shown(summarize: int | None) -> int | None:
    """How many elements to show: three by default, all if negative."""
    if summarize is None:
        return 3
    return None if summarize < 0 else summarize


def _first_texts(values: Any, count: int | None, as_text: Any = None) -> list[str]:
    """The first `count` elements as text, then '...' if there are more."""
    flat = np.reshape(values, -1)
    texts = [(as_text or _element_text)(item) for item in flat[:count]]
    return [*texts, "..."] if len(texts) < flat.size else texts


def _element_text(item: Any) -> str:
    return item.decode("utf-8", "replace") if isinstance(item, bytes) else str(item)


# Comparisons of two tensors.


def _comparison(
    sign: str, compare: Callable[..., Tensor], x: Any, y: Any, message: Any, summarize: int | None
) -> None:
    """Raise unless `compare(x, y)` is true everywhere."""
    x, y = _pair(x, y)

    def failure(holds: Any, x_values: Any, y_values: Any) -> str:
        return _comparison_text(sign, holds, x_values, y_values, message, _shown(summarize))

    require(_compared(compare, x, y), (x, y), failure)


def _comparison_text(sign: str, holds: Any, x: Any, y: Any, message: Any, count: int | None) -> str:
    lines = [str(message)] if message else []
    lines.append(f"Condition x {sign} y did not hold.")
    if np.shape(x) == np.shape(y) and np.ndim(x) and count != 0:
        where = np.argwhere(~np.asarray(holds))[:count]
        at = tuple(where.T)
        lines += [
            f"Indices of first {len(where)} different values:\n{where}",
            f"Corresponding x values:\n{x[at]}",
            f"Corresponding y values:\n{y[at]}",
        ]
    for name, values in (("x", x), ("y", y)) if count != 0 else ():
        first = np.reshape(values, -1)[:count]
        lines.append(f"First {len(first)} elements of {name}:\n{first}")
    return "\n".join(lines)


@checking
def assert_equal(
    x: Any, y: Any, message: Any = None, summarize: int | None = None, name: str | None = None
) -> None:
    """Check that x == y everywhere, with broadcasting. Empty tensors pass.

    Args:
      x, y: tensors of the same dtype.
      message: text to begin the error with.
      summarize: how many elements the error shows; default 3, all if negative.
    Raises: InvalidArgumentError if an element differs, or shapes or dtypes do not fit.

    >>> import tape_compat as tf
    >>> tf.debugging.assert_equal(tf.constant([1, 2]), [1, 2])
    >>> tf.debugging.assert_equal(tf.constant([1, 2]), [1, 3])
    Traceback (most recent call last):
    tape_compat.errors.InvalidArgumentError: Condition x == y did not hold. ...
    """
    _comparison("==", comparison.equal, x, y, message, summarize)


@checking
def assert_none_equal(
    x: Any, y: Any, summarize: int | None = None, message: Any = None, name: str | None = None
) -> None:
    """Check that x != y everywhere. Arguments and errors as in `assert_equal`."""
    _comparison("!=", comparison.not_equal, x, y, message, summarize)


@checking
def assert_less(
    x: Any, y: Any, message: Any = None, summarize: int | None = None, name: str | None = None
) -> None:
    """Check that x < y everywhere. Arguments and errors as in `assert_equal`.

    >>> import tape_compat as tf
    >>> tf.debugging.assert_less([1.0, 2.0], 3.0)
    """
    _comparison("<", comparison.less, x, y, message, summarize)


@checking
def assert_less_equal(
    x: Any, y: Any, message: Any = None, summarize: int | None = None, name: str | None = None
) -> None:
    """Check that x <= y everywhere. Arguments and errors as in `assert_equal`."""
    _comparison("<=", comparison.less_equal, x, y, message, summarize)


@checking
def assert_greater(
    x: Any, y: Any, message: Any = None, summarize: int | None = None, name: str | None = None
) -> None:
    """Check that x > y everywhere. Arguments and errors as in `assert_equal`."""
    _comparison(">", comparison.greater, x, y, message, summarize)


@checking
def assert_greater_equal(
    x: Any, y: Any, message: Any = None, summarize: int | None = None, name: str | None = None
) -> None:
    """Check that x >= y everywhere. Arguments and errors as in `assert_equal`."""
    _comparison(">=", comparison.greater_equal, x, y, message, summarize)


# Signs of one tensor.


def _sign(
    sign: str, compare: Callable[..., Tensor], x: Any, message: Any, summarize: int | None
) -> None:
    x = _tensor(x)

    def failure(_: Any, values: Any) -> str:
        shown = _first_texts(values, _shown(summarize)) if np.ndim(values) else values
        return (
            f"{_prefix(message)}\nCondition x {sign} 0 did not hold element-wise:\n"
            f"x ({_shape_and_dtype(x)}) = \n{shown}"
        )

    require(_compared(compare, x, convert(0, x.dtype)), (x,), failure)


@checking
def assert_positive(
    x: Any, message: Any = None, summarize: int | None = None, name: str | None = None
) -> None:
    """Check that x > 0 everywhere. Empty tensors pass.

    Args:
      x: a real tensor.
      message: text to begin the error with.
      summarize: how many elements the error shows; default 3, all if negative.
    Raises: InvalidArgumentError if an element is 0, negative or NaN.

    >>> import tape_compat as tf
    >>> tf.debugging.assert_positive([0.5, 2.0])
    """
    _sign(">", comparison.greater, x, message, summarize)


@checking
def assert_negative(
    x: Any, message: Any = None, summarize: int | None = None, name: str | None = None
) -> None:
    """Check that x < 0 everywhere. Arguments and errors as in `assert_positive`."""
    _sign("<", comparison.less, x, message, summarize)


@checking
def assert_non_negative(
    x: Any, message: Any = None, summarize: int | None = None, name: str | None = None
) -> None:
    """Check that x >= 0 everywhere. Arguments and errors as in `assert_positive`."""
    _sign(">=", comparison.greater_equal, x, message, summarize)


@checking
def assert_non_positive(
    x: Any, message: Any = None, summarize: int | None = None, name: str | None = None
) -> None:
    """Check that x <= 0 everywhere. Arguments and errors as in `assert_positive`."""
    _sign("<=", comparison.less_equal, x, message, summarize)


@checking
def assert_near(
    x: Any,
    y: Any,
    rtol: Any = None,
    atol: Any = None,
    message: Any = None,
    summarize: int | None = None,
    name: str | None = None,
) -> None:
    """Check that |x - y| < atol + rtol |y| everywhere, with broadcasting.

    Args:
      x, y: float or complex tensors of the same dtype.
      rtol, atol: tolerances; default ten times the spacing of the dtype at 1.
      message: text to begin the error with.
      summarize: how many elements the error shows; default 3, all if negative.
    Raises: InvalidArgumentError if the difference is larger or NaN; ValueError for dtypes that
      have no spacing.

    >>> import tape_compat as tf
    >>> tf.debugging.assert_near(tf.constant([1.0]), [1.0 + 1e-7])
    """
    if isinstance(x, RaggedTensor) or isinstance(y, RaggedTensor):
        x, y = _pair(x, y)
    x = _tensor(x)
    y = convert(y, x.dtype)
    if not x.dtype.trainable:
        raise ValueError(f"data type {x.dtype.np_dtype.type!r} not inexact")
    spacing = float(ml_dtypes.finfo(x.dtype.real_dtype.np_dtype).eps)
    rtol = convert(10 * spacing if rtol is None else rtol, x.dtype.real_dtype)
    atol = convert(10 * spacing if atol is None else atol, x.dtype.real_dtype)
    difference, bound = elementwise.abs(x - y), atol + rtol * elementwise.abs(y)
    Assert(
        reductions.reduce_all(comparison.less(difference, bound)),
        [
            _prefix(message),
            f"x and y not equal to tolerance rtol = {rtol!s}, atol = {atol!s}",
            f"x ({_shape_and_dtype(x)}) = ",
            x,
            f"y ({_shape_and_dtype(y)}) = ",
            y,
        ],
        summarize,
    )


@checking
def Assert(
    condition: Any, data: Sequence[Any], summarize: int | None = None, name: str | None = None
) -> None:
    """Check that `condition` is true.

    Args:
      condition: a value or a scalar tensor.
      data: list of tensors whose values the error shows.
      summarize: how many elements of each; default 3, all if negative.
    Raises: InvalidArgumentError if it is false, in a `tf.function` when that is called; ValueError
      if it is a tensor of several elements; TypeError if `data` is no list or tuple.

    >>> import tape_compat as tf
    >>> tf.debugging.Assert(tf.constant(2) > 1, ["two is more than one"])
    """
    if not isinstance(condition, (Tensor, Variable)) and condition:
        return
    if not isinstance(data, (list, tuple)):
        if isinstance(condition, (Tensor, Variable)) and not _symbolic(condition):
            if condition.numpy():
                return
        raise TypeError("values must be a sequence.")
    ok = _tensor(condition)
    if ok.shape.num_elements() != 1:
        raise ValueError(
            "The truth value of an array with more than one element is ambiguous: the condition "
            f"of Assert has the shape {ok.shape}."
        )
    shown = str(ok) if _symbolic(ok) else str(condition)
    as_text = _element_text if _symbolic(ok) else str  # texts as TensorFlow's eager code has them

    def failure(_: Any, *values: Any) -> str:
        texts = [", ".join(_first_texts(item, _shown(summarize), as_text)) for item in values]
        return f"Expected '{shown}' to be true. Summarized data: " + "\n".join(texts)

    require(ok, [_tensor(item) for item in data], failure, when_called=True)


operators.define(assert_true=Assert)  # `assert` in converted code


def _data_texts(data: Iterable[Any], summarize: int | None) -> list[str]:
    count = _shown(summarize)
    return [", ".join(_first_texts(convert(item).numpy(), count)) for item in data]


def _symbolic(x: Any) -> bool:
    return _tensor(x)._is_symbolic()


# Finite values.


def check_numerics(tensor: Any, message: str, name: str | None = None) -> Any:
    """`tensor` itself, after a check that it has no NaN and no infinity.

    On a tape its gradient is checked in the same way when it is taken; inside `jacobian` it is not.

    Args:
      tensor: a float tensor.
      message: text to begin the error with.
    Raises: InvalidArgumentError if there is a NaN or an infinity, or the dtype is no float.

    >>> import tape_compat as tf
    >>> x = tf.debugging.check_numerics(tf.constant([1.0, 2.0]), "x")
    >>> tf.debugging.check_numerics(tf.math.log([-1.0]), "log")
    Traceback (most recent call last):
    tape_compat.errors.InvalidArgumentError: log : Tensor had NaN values ...
    """
    if not isinstance(message, (str, bytes)):
        raise TypeError(f"Expected string for argument 'message' not {message!r}.")
    if isinstance(tensor, RaggedTensor):
        return tensor.with_flat_values(check_numerics(tensor.flat_values, message))
    x = _tensor(tensor)
    _raise_unless_finite(x, message)
    return _checked_gradient(x, message) if LOCAL.state.recorders else shapes.identity(x)


def _checked_gradient(x: Tensor, message: str) -> Tensor:
    def grad_fn(cotangent: Tensor) -> Tensor:
        if LOCAL.state.capture is None:
            _raise_unless_finite(
                cotangent,
                f"Not a number (NaN) or infinity (Inf) values detected in gradient. {message}",
            )
        return cotangent

    return custom_gradient(lambda x: (shapes.identity(x), grad_fn))(x)


def _raise_unless_finite(x: Tensor, message: str) -> None:
    if not x.dtype.is_floating:
        raise not_allowed(x.dtype, "bfloat16, half, float, double", "CheckNumerics")
    require(elementwise.is_finite(x), (x,), lambda _, values: _not_finite_text(values, message))


def _not_finite_text(values: Any, message: str) -> str:
    kinds = (("Inf", np.isinf), ("NaN", np.isnan))
    found = " and ".join(kind for kind, test in kinds if np.any(test(values)))
    return f"{message} : Tensor had {found} values [Op:CheckNumerics]"


def assert_all_finite(x: Any, message: str, name: str | None = None) -> Tensor:
    """`x` itself, after a check that it has no NaN and no infinity. See `check_numerics`."""
    return check_numerics(x, message)


# Shapes.


def _rank(value: Any) -> int:
    rank = _tensor(value)
    if rank.shape.rank != 0:
        raise ValueError("Rank must be a scalar.")
    assert_type(rank, int32)
    return int(rank.numpy())


def _shaped(value: Any) -> Any:
    """What has a shape: `value` as a tensor, or a sparse one."""
    return value if isinstance(value, SparseTensor) else _tensor(value)


def _raise_rank(x: Any, wanted: str, message: Any) -> None:
    raise ValueError(
        f"{_prefix(message)}Tensor  must have rank {wanted}.  Received rank {x.shape.rank}, "
        f"shape {x.shape}"
    )


@checking
def assert_rank(x: Any, rank: Any, message: Any = None, name: str | None = None) -> None:
    """Check that `x` has `rank` axes.

    Args:
      x: a tensor.
      rank: a scalar int.
      message: text to begin the error with.
    Raises: ValueError if the rank is another, or `rank` is no scalar; TypeError if it is no int.

    >>> import tape_compat as tf
    >>> tf.debugging.assert_rank([[1, 2]], 2)
    """
    x, wanted = _shaped(x), _rank(rank)
    if x.shape.rank != wanted:
        _raise_rank(x, str(wanted), message)


@checking
def assert_rank_at_least(x: Any, rank: Any, message: Any = None, name: str | None = None) -> None:
    """Check that `x` has `rank` axes or more. Arguments and errors as in `assert_rank`."""
    x, wanted = _tensor(x), _rank(rank)
    if len(x.shape) < wanted:
        _raise_rank(x, f"at least {wanted}", message)


@checking
def assert_rank_in(
    x: Any, ranks: Iterable[Any], message: Any = None, name: str | None = None
) -> None:
    """Check that the rank of `x` is one of `ranks`. Errors as in `assert_rank`."""
    x, wanted = _shaped(x), tuple([_rank(rank) for rank in ranks])
    if x.shape.rank not in wanted:
        _raise_rank(x, f"in {wanted}", message)


def assert_scalar(tensor: Any, message: Any = None, name: str | None = None) -> None:
    """Check that `tensor` has no axes; ValueError if it has.

    >>> import tape_compat as tf
    >>> tf.debugging.assert_scalar(3.0)
    """
    shape = _tensor(tensor).shape
    if shape.rank != 0:
        raise ValueError(f"{_prefix(message)}Expected scalar shape, saw shape: {shape}.")


def assert_shapes(
    shapes: Any,
    data: Any = None,
    summarize: int | None = None,
    message: Any = None,
    name: str | None = None,
) -> None:
    """Check the shapes of several tensors, and that sizes of the same name agree.

    Args:
      shapes: list of pairs (tensor, sizes), or a dict of the same. `sizes` is an iterable of an
        int, a name (the same name stands for the same size everywhere), or None or '.' (any
        size); `...` or '*' in front stands for any number of axes. () and one size of 1 fit
        scalars and tensors of one element alike. Pairs with `sizes` None are skipped.
      data, summarize: tensors whose values the error shows, and how many elements of each.
      message: text to begin the error with.
    Raises: ValueError if a shape does not fit.

    >>> import tape_compat as tf
    >>> x, w = tf.ones((4, 3)), tf.ones((3, 2))
    >>> tf.debugging.assert_shapes([(x, ("batch", "in")), (w, ("in", "out"))])
    """
    pairs = shapes.items() if isinstance(shapes, dict) else shapes
    wanted = [(*_tensor_and_shape(x), sizes) for x, sizes in pairs if sizes is not None]
    wanted = [(x, shape, _sizes(x, sizes, message)) for x, shape, sizes in wanted]
    named: dict[Any, tuple[int, str]] = {}
    problem = next(filter(None, (_rank_problem(shape, sizes) for _, shape, sizes in wanted)), "")
    for x, shape, sizes in wanted:
        problem = problem or _size_problem(x, shape, sizes, named)
    if problem:
        shown = [] if data is None else ["  Summarized data: ", *_data_texts(data, summarize)]
        raise ValueError(_prefix(message) + problem + "\n".join(shown))


def _tensor_and_shape(value: Any) -> tuple[Any, list[Any]]:
    if isinstance(value, IndexedSlices):
        return value.values, shapes.shape(value).numpy().tolist()
    x = _shaped(value)
    return x, x.shape.as_list()


def _sizes(x: Any, sizes: Any, message: Any) -> list[Any]:
    """`sizes` as a list, with `...` in front for any number of axes."""
    if not hasattr(sizes, "__iter__") or isinstance(sizes, Tensor):
        raise ValueError(
            f"{_prefix(message)}Tensor {_shape_and_dtype(x)}.  Specified shape must be an "
            "iterable.  An iterable has the attribute `__iter__` or `__getitem__`.  "
            "Received specified shape: "
            f"{type(sizes).__name__ if isinstance(sizes, Tensor) else sizes}"
        )
    found = [... if size is ... or _is_text(size, "*") else size for size in sizes]
    for index, size in enumerate(found):
        if size is ... and index:
            raise ValueError(
                f"{_prefix(message)}Tensor {_shape_and_dtype(x)} specified shape index {index}.  "
                "Symbol `...` or `*` for a variable number of unspecified dimensions is only "
                "allowed as the first entry"
            )
    return found


def _is_text(size: Any, text: str) -> bool:
    return isinstance(size, str) and size == text


def _without_ellipsis(sizes: list[Any]) -> tuple[bool, list[Any]]:
    """Whether any number of axes may stand in front, and the sizes of the others."""
    any_rank = sizes[:1] == [...]
    return any_rank, sizes[any_rank:] or [1]


def _rank_problem(shape: list[Any], sizes: list[Any]) -> str:
    any_rank, sizes = _without_ellipsis(sizes)
    rank, axes = len(shape), len(sizes)
    if any_rank and rank < axes and axes > 1:
        wanted = f"at least {axes}"
    elif not any_rank and rank != axes and axes > 1:
        wanted = str(axes)
    elif not any_rank and rank > axes == 1:
        wanted = "in (0, 1)"
    else:
        return ""
    return f"Tensor  must have rank {wanted}.  Received rank {rank}, shape {TensorShape(shape)}"


def _size_problem(
    x: Any, shape: list[Any], sizes: list[Any], named: dict[Any, tuple[int, str]]
) -> str:
    """What is wrong with `shape`, '' if nothing; notes the sizes of new names in `named`."""
    any_rank, sizes = _without_ellipsis(sizes)
    actual = (shape or [1])[-len(sizes) :]  # a scalar counts as one element on one axis
    for index, (size, got) in enumerate(zip(sizes, actual)):
        if size is None or _is_text(size, "."):
            continue
        axis = index - len(sizes) if any_rank else index
        if isinstance(size, numbers.Real):
            expected, source = size, "Specified explicitly."
        else:
            here = f"Specified by tensor {_shape_and_dtype(x)} dimension {axis}."
            expected, source = named.setdefault(size, (got, here))
        if expected != got:
            return (
                f"{source}  Tensor {_shape_and_dtype(x)} dimension {axis} must have size "
                f"{expected}.  Received size {got}, shape {TensorShape(shape)}"
            )
    return ""


# Dtypes and types.


def _dtype(value: Any) -> DType:
    composite = isinstance(value, (RaggedTensor, SparseTensor))
    return value.dtype if composite else _tensor(value).dtype


def assert_type(tensor: Any, tf_type: Any, message: Any = None, name: str | None = None) -> None:
    """Check that `tensor` has the dtype `tf_type`; TypeError if not.

    >>> import tape_compat as tf
    >>> tf.debugging.assert_type(1.0, tf.float32)
    """
    wanted, found = as_dtype(tf_type), _dtype(tensor)
    if found is not wanted:
        raise TypeError(f"{_prefix(message)}tensor must be of type {wanted!r}; got {found!r}")


def assert_integer(x: Any, message: Any = None, name: str | None = None) -> None:
    """Check that `x` has an integer dtype; TypeError if not."""
    found = _tensor(x).dtype
    if not found.is_integer:
        raise TypeError(
            f'{_prefix(message)}Expected "x" to be integer type.  Found: tensor of dtype {found}'
        )


def is_numeric_tensor(tensor: Any) -> bool:
    """Whether `tensor` is a Tensor of numbers; bool and string are none, nor are Variables.

    >>> import tape_compat as tf
    >>> [tf.debugging.is_numeric_tensor(tf.constant(x)) for x in (1.5, True, "a")]
    [True, False, False]
    """
    return isinstance(tensor, Tensor) and tensor.dtype.is_numeric


def assert_same_float_dtype(tensors: Iterable[Any] | None = None, dtype: Any = None) -> DType:
    """The one float dtype of all `tensors` and of `dtype`; float32 if none is given.

    Args:
      tensors: Tensors and Variables; None among them are skipped.
      dtype: a dtype, or None for that of the first tensor.
    Raises: ValueError if dtypes differ, or the dtype is no float.

    >>> import tape_compat as tf
    >>> tf.debugging.assert_same_float_dtype([tf.constant(1.0), tf.Variable(2.0)])
    tf.float32
    """
    wanted = None if dtype is None else as_dtype(dtype)
    first = ""
    for index, tensor in enumerate(tensors or ()):
        if tensor is None:
            continue
        if wanted is None:
            wanted, first = tensor.dtype, f" as `tensors[{index}]`"
        elif tensor.dtype is not wanted:
            raise ValueError(
                f"`tensors[{index}]`, type={tensor.dtype}, must be of the same type "
                f"({wanted}){first}."
            )
    wanted = wanted or float32
    if not wanted.is_floating:
        raise ValueError(f"Expected floating point type, got {wanted}.")
    return wanted


def assert_proper_iterable(values: Any) -> None:
    """Check that `values` is an iterable of things: no Tensor, array or string.

    Raises: TypeError.

    >>> import tape_compat as tf
    >>> tf.debugging.assert_proper_iterable([tf.constant(1), tf.constant(2)])
    """
    if isinstance(values, (Tensor, np.ndarray, str, bytes)):
        raise TypeError(
            'Expected argument "values" to be a "proper" iterable.  Found: ' + str(type(values))
        )
    if not hasattr(values, "__iter__"):
        raise TypeError(f'Expected argument "values" to be iterable.  Found: {type(values)}')
