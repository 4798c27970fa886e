"""Decompositions that XLA has for CPUs alone. On accelerators the host does them, in the midst of a
program; TensorFlow has no others for them either."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import scipy.linalg


def _complex(dtype: Any) -> Any:
    return jnp.promote_types(dtype, jnp.complex64)


def _on_host(function: Callable[[Any], Any], results: Any, a: Any) -> Any:
    return jax.pure_callback(function, results, a, vmap_method="expand_dims")


def eig(a: Any) -> tuple[Any, Any]:
    """Eigenvalues [..., n] and eigenvectors [..., n, n], complex, of matrices [..., n, n]."""
    if jax.default_backend() == "cpu":
        values, vectors = jnp.linalg.eig(a)
        return values, vectors
    dtype = _complex(a.dtype)
    results = jax.ShapeDtypeStruct(a.shape[:-1], dtype), jax.ShapeDtypeStruct(a.shape, dtype)
    return _on_host(_eig, results, a)


def eigvals(a: Any) -> Any:
    """Eigenvalues [..., n], complex, of matrices [..., n, n]."""
    return jnp.linalg.eigvals(a) if jax.default_backend() == "cpu" else eig(a)[0]


def root(a: Any) -> Any:
    """The principal square root of a matrix [n, n], complex."""
    if jax.default_backend() == "cpu":
        return jax.scipy.linalg.sqrtm(a)
    return _on_host(_roots, jax.ShapeDtypeStruct(a.shape, _complex(a.dtype)), a)


def _eig(a: Any) -> tuple[np.ndarray, np.ndarray]:
    """As XLA: not a number where a matrix has such an element, which NumPy refuses."""
    a = np.asarray(a)
    finite = np.isfinite(a).all((-2, -1))[..., None]
    found = np.linalg.eig(np.where(finite[..., None], a, 0))
    dtype = _complex(a.dtype)
    values, vectors = (x.astype(dtype) for x in found)
    values[~finite[..., 0]] = vectors[~finite[..., 0]] = complex(np.nan, np.nan)
    return values, vectors


def _roots(a: Any) -> np.ndarray:
    matrices = np.asarray(a).reshape(-1, *a.shape[-2:])
    return np.stack([_root(matrix) for matrix in matrices]).reshape(a.shape)


def _root(a: np.ndarray) -> np.ndarray:
    """Not a number for a matrix with such an element, which SciPy refuses. SciPy warns of one that
    is singular, XLA does not."""
    dtype = _complex(a.dtype)
    if not np.isfinite(a).all():
        return np.full(a.shape, complex(np.nan, np.nan), dtype)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return np.asarray(scipy.linalg.sqrtm(a), dtype)
