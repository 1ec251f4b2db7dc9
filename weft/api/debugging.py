"""tf.debugging: checks on tensors, made while the graph is built as far as that is possible."""

from __future__ import annotations

from weft.ops.control_flow.assertion import assert_that as _assert_that
from weft.ops.control_flow.assertion import check_numerics as check_numerics
from weft.ops.control_flow.assertion import verify_tensor_all_finite as _verify_tensor_all_finite
from weft.ops.debugging.checks import assert_equal as assert_equal
from weft.ops.debugging.checks import assert_greater as assert_greater
from weft.ops.debugging.checks import assert_greater_equal as assert_greater_equal
from weft.ops.debugging.checks import assert_integer as assert_integer
from weft.ops.debugging.checks import assert_less as assert_less
from weft.ops.debugging.checks import assert_less_equal as assert_less_equal
from weft.ops.debugging.checks import assert_near as assert_near
from weft.ops.debugging.checks import assert_negative as assert_negative
from weft.ops.debugging.checks import assert_non_negative as assert_non_negative
from weft.ops.debugging.checks import assert_non_positive as assert_non_positive
from weft.ops.debugging.checks import assert_none_equal as assert_none_equal
from weft.ops.debugging.checks import assert_positive as assert_positive
from weft.ops.debugging.checks import assert_proper_iterable as assert_proper_iterable
from weft.ops.debugging.checks import assert_same_float_dtype as assert_same_float_dtype
from weft.ops.debugging.checks import assert_type as assert_type
from weft.ops.debugging.checks import is_non_decreasing as is_non_decreasing
from weft.ops.debugging.checks import is_numeric_tensor as is_numeric_tensor
from weft.ops.debugging.checks import is_strictly_increasing as is_strictly_increasing
from weft.ops.debugging.rank_checks import assert_rank as assert_rank
from weft.ops.debugging.rank_checks import assert_rank_at_least as assert_rank_at_least
from weft.ops.debugging.rank_checks import assert_rank_in as assert_rank_in
from weft.ops.debugging.rank_checks import assert_scalar as assert_scalar
from weft.ops.debugging.shape_checks import assert_shapes as assert_shapes
from weft.ops.math.unary import is_finite as is_finite
from weft.ops.math.unary import is_inf as is_inf
from weft.ops.math.unary import is_nan as is_nan

# Under a name of its own: type checkers take a renamed import for the module's private business.
Assert = _assert_that
assert_all_finite = _verify_tensor_all_finite
