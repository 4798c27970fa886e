"""What is left of `tf.compat.v1`: errors by their codes, files, values of composite tensors."""

from __future__ import annotations

import os
from typing import Any

from ...checkpoint.reader import CheckpointReader
from ...core import errors
from ...core.paths import local_path
from ...core.shapes import as_shape
from ...ops.products import matmul
from ...values.convert import convert
from ...values.tensor import Tensor
from .renamed import renamed


class TFRecordCompressionType:
    """How files of records are compressed."""

    NONE = 0
    ZLIB = 1
    GZIP = 2


sparse_matmul = renamed(
    matmul,
    "a b transpose_a=False transpose_b=False a_is_sparse=False b_is_sparse=False name=None",
    "sparse_matmul",
)

# -- errors --------------------------------------------------------------------------------------


def _by_code() -> dict[int, type]:
    found = {}
    for kind in vars(errors).values():
        if isinstance(kind, type) and issubclass(kind, errors.OpError):
            code = getattr(errors, _constant(kind.__name__), None)
            if code is not None:
                found.setdefault(code, kind)  # those of the same name are raised only
    return found


def _constant(name: str) -> str:
    """'NOT_FOUND' for 'NotFoundError'."""
    plain = name.removesuffix("Error")
    parts = "".join(f"_{c}" if c.isupper() else c for c in plain).lstrip("_")
    return parts.upper()


def exception_type_from_error_code(error_code: int) -> type:
    """The class of errors with a code. Raises: KeyError for none.

    >>> import tape_compat as tf
    >>> tf.compat.v1.errors.exception_type_from_error_code(5).__name__
    'NotFoundError'
    """
    return _by_code()[error_code]


def error_code_from_exception_type(cls: type) -> Any:
    """The code of a class of errors."""
    for code, kind in _by_code().items():
        if kind is cls:
            return code
    return errors.UnknownError(None, None, f"Unknown class {cls}", None)


# -- files ---------------------------------------------------------------------------------------


def checkpoint_exists(checkpoint_prefix: Any) -> bool:
    """Whether there is a checkpoint with this path."""
    return os.path.exists(f"{local_path(os.fspath(checkpoint_prefix))}.index")


def NewCheckpointReader(filepattern: Any) -> CheckpointReader:
    """A reader of the checkpoint with this path. Raises: NotFoundError if there is none."""
    return CheckpointReader(filepattern)


# -- placeholders --------------------------------------------------------------------------------


def placeholder_with_default(input: Any, shape: Any, name: str | None = None) -> Tensor:
    """`input`, which nothing is fed in place of. Raises: ValueError for another shape."""
    value = convert(input)
    value.shape.assert_is_compatible_with(as_shape(shape))
    return value
