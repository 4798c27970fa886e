"""The scripts of characters.

`unicode_scripts.tsv` beside this file has, line by line, the code point that a range begins with,
in hexadecimal, and the number of its script in ICU, which TensorFlow gives. They were asked of
TensorFlow for all code points.
"""

from __future__ import annotations

import functools
import pkgutil
from typing import Any

import jax.numpy as jnp
import numpy as np

from ..core import dtypes
from ..core.op import Op
from ..core.refuse import check_dtype_of
from ..values.convert import convert
from ..values.dispatch import maps_composites
from ..values.record import apply
from ..values.tensor import Tensor

_LAST = 0x10FFFF


@functools.cache
def _ranges() -> tuple[np.ndarray, np.ndarray]:
    """Where ranges begin, and the scripts of these."""
    data = pkgutil.get_data(__name__, "unicode_scripts.tsv")
    assert data is not None
    rows = [line.split("\t") for line in data.decode().splitlines()]
    starts = [int(start, 16) for start, _ in rows]
    return np.array(starts, np.int32), np.array([int(script) for _, script in rows], np.int32)


def _script(codes: Any) -> Any:
    starts, scripts = _ranges()
    found = jnp.asarray(scripts)[jnp.searchsorted(jnp.asarray(starts), codes, side="right") - 1]
    return jnp.where((codes < 0) | (codes > _LAST), jnp.int32(-1), found)


def _script_on_host(codes: np.ndarray) -> np.ndarray:
    starts, scripts = _ranges()
    found = scripts[np.searchsorted(starts, codes, side="right") - 1]
    return np.where((codes < 0) | (codes > _LAST), np.int32(-1), found)


_SCRIPT = Op(_script, "UnicodeScript", differentiable=False, host=_script_on_host).bind()


@maps_composites
def unicode_script(input: Any, name: str | None = None) -> Tensor:
    """The number of the script of each code point, int32 as these; -1 for what is no code point.

    Numbers are those of ICU: 25 for Latin, 17 for Han, 0 for characters of all scripts.

    Raises: InvalidArgumentError for a tensor of another dtype, TypeError for other values.

    >>> import tape_compat as tf
    >>> tf.strings.unicode_script(tf.strings.unicode_decode("a 语", "UTF-8")).numpy().tolist()
    [25, 0, 17]
    """
    x = convert(input, None if hasattr(input, "dtype") else dtypes.int32)
    check_dtype_of(x._aval, 0, dtypes.int32, "UnicodeScript")
    return apply(_SCRIPT, (x,))
