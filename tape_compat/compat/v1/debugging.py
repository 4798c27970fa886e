"""`tf.compat.v1.debugging`: assertions."""

from ..._src.interop.version1 import face as _face
from ..._src.library.version1.arrays import (
    assert_all_finite as assert_all_finite,
)
from ..._src.library.version1.assertions import (
    assert_equal as assert_equal,
    assert_greater as assert_greater,
    assert_greater_equal as assert_greater_equal,
    assert_integer as assert_integer,
    assert_less as assert_less,
    assert_less_equal as assert_less_equal,
    assert_near as assert_near,
    assert_negative as assert_negative,
    assert_non_negative as assert_non_negative,
    assert_non_positive as assert_non_positive,
    assert_none_equal as assert_none_equal,
    assert_positive as assert_positive,
    assert_rank as assert_rank,
    assert_rank_at_least as assert_rank_at_least,
    assert_rank_in as assert_rank_in,
    assert_scalar as assert_scalar,
    assert_shapes as assert_shapes,
    assert_type as assert_type,
)

_face(__name__)
