"""Kullback-Leibler divergences, by the classes of the two distributions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...diagnostics.assertions import Assert
from ...ops.elementwise import is_nan
from ...ops.reductions import reduce_all
from ...ops.selection import where

Divergence = Callable[..., Any]

_REGISTERED: dict[tuple[type, type], Divergence] = {}


class RegisterKL:
    """Decorator: the function gives the divergence of a distribution of the first class from one of
    the second.

    Raises: TypeError for what cannot be called; ValueError where there is one for the two classes.

    >>> import tape_compat as tf
    >>> distributions = tf.compat.v1.distributions
    >>> class Point(distributions.Normal):
    ...     pass
    >>> @distributions.RegisterKL(Point, Point)
    ... def divergence(a, b, name=None):
    ...     return tf.abs(a.loc - b.loc)
    >>> distributions.kl_divergence(Point(0.0, 1.0), Point(3.0, 1.0)).numpy().item()
    3.0
    """

    def __init__(self, dist_cls_a: type, dist_cls_b: type) -> None:
        self._key = (dist_cls_a, dist_cls_b)

    def __call__(self, kl_fn: Divergence) -> Divergence:
        """Notes `kl_fn(a, b, name=None)`."""
        if not callable(kl_fn):
            raise TypeError(f"kl_fn must be callable, received: {kl_fn}")
        if self._key in _REGISTERED:
            a, b = self._key
            raise ValueError(
                f"KL({a.__name__} || {b.__name__}) has already been registered to: "
                f"{_REGISTERED[self._key]}"
            )
        _REGISTERED[self._key] = kl_fn
        return kl_fn


def _registered(a: type, b: type) -> Divergence | None:
    """That of the nearest classes above both."""
    found = [
        (i + j, _REGISTERED[one, other])
        for i, one in enumerate(a.__mro__)
        for j, other in enumerate(b.__mro__)
        if (one, other) in _REGISTERED
    ]
    return min(found, key=lambda each: each[0])[1] if found else None


def kl_divergence(
    distribution_a: Any, distribution_b: Any, allow_nan_stats: bool = True, name: str | None = None
) -> Any:
    """The Kullback-Leibler divergence E_a[log a(X) - log b(X)], in nats.

    Args:
      allow_nan_stats: if false, the result is checked for NaN.
    Returns: a Tensor of the batch shapes broadcast.
    Raises: NotImplementedError if there is none for the two classes (see `RegisterKL`).

    >>> import tape_compat as tf
    >>> distributions = tf.compat.v1.distributions
    >>> a, b = distributions.Normal(0.0, 1.0), distributions.Normal(2.0, 1.0)
    >>> distributions.kl_divergence(a, b).numpy().item()
    2.0
    """
    kinds = type(distribution_a), type(distribution_b)
    function = _registered(*kinds)
    if function is None:
        raise NotImplementedError(
            "No KL(distribution_a || distribution_b) registered for distribution_a type "
            f"{kinds[0].__name__} and distribution_b type {kinds[1].__name__}"
        )
    found = function(distribution_a, distribution_b, name=name)
    if not allow_nan_stats:
        defined = ~is_nan(found)
        Assert(
            reduce_all(defined),
            [
                f"KL calculation between {distribution_a.name} and {distribution_b.name} returned "
                "NaN values (and was called with allow_nan_stats=False). Values:",
                found,
            ],
        )
        found = where(defined, found, 0.0)
    return found
