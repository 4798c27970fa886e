"""Functions of `tf.compat.v1.data` on datasets."""

from __future__ import annotations

from typing import Any

from ...values import nest


def make_one_shot_iterator(dataset: Any) -> Any:
    """An iterator over a dataset.

    >>> import tape_compat as tf
    >>> int(tf.compat.v1.data.make_one_shot_iterator(tf.data.Dataset.range(3)).get_next())
    0
    """
    return iter(dataset)


def make_initializable_iterator(dataset: Any, shared_name: str | None = None) -> Any:
    """Raises: RuntimeError: it is for graphs."""
    raise RuntimeError(
        "`make_initializable_iterator()` is not supported in eager mode. Use Python-style "
        "iteration instead."
    )


def get_output_types(dataset_or_iterator: Any) -> Any:
    """The dtypes of the elements.

    >>> import tape_compat as tf
    >>> tf.compat.v1.data.get_output_types(tf.data.Dataset.range(3))
    tf.int64
    """
    return nest.map_structure(lambda spec: spec.dtype, dataset_or_iterator.element_spec)


def get_output_shapes(dataset_or_iterator: Any) -> Any:
    """The shapes of the elements."""
    return nest.map_structure(lambda spec: spec.shape, dataset_or_iterator.element_spec)


def get_output_classes(dataset_or_iterator: Any) -> Any:
    """The classes of the elements."""
    return nest.map_structure(lambda spec: spec.value_type, dataset_or_iterator.element_spec)
