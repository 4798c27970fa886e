"""`tf.debugging`: assertions on values, shapes and types."""

from ._src.diagnostics.assertions import (
    Assert as Assert,
    assert_all_finite as assert_all_finite,
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
    assert_proper_iterable as assert_proper_iterable,
    assert_rank as assert_rank,
    assert_rank_at_least as assert_rank_at_least,
    assert_rank_in as assert_rank_in,
    assert_same_float_dtype as assert_same_float_dtype,
    assert_scalar as assert_scalar,
    assert_shapes as assert_shapes,
    assert_type as assert_type,
    check_numerics as check_numerics,
    is_numeric_tensor as is_numeric_tensor,
)
from ._src.diagnostics.numerics import (
    disable_check_numerics as disable_check_numerics,
    enable_check_numerics as enable_check_numerics,
)
from ._src.function.tracebacks import (
    disable_traceback_filtering as disable_traceback_filtering,
    enable_traceback_filtering as enable_traceback_filtering,
    is_traceback_filtering_enabled as is_traceback_filtering_enabled,
)
from ._src.interop.names import face as _face
from ._src.library.config import (
    get_log_device_placement as get_log_device_placement,
    set_log_device_placement as set_log_device_placement,
)

_face(__name__)
