"""Rows of `ops/unicode_scripts.py`."""

import unicodedata

import numpy as np

from .row import Row

CODES = np.array([[65, 0x8BED], [0x41F, 32]], np.int32)
_NAMES = {"LATIN": 25, "CJK": 17, "CYRILLIC": 8, "SPACE": 0}


def _scripts(codes):
    return np.vectorize(lambda c: _NAMES[unicodedata.name(chr(c)).split()[0]])(codes)


ROWS = [Row("strings.unicode_script", [CODES], _scripts, gradient=False)]
