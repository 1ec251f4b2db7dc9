"""tf.bitwise: logic on the bits of integers."""

from __future__ import annotations

from weft.ops.math.comparison import bitwise_and as bitwise_and
from weft.ops.math.comparison import bitwise_or as bitwise_or
from weft.ops.math.comparison import bitwise_xor as bitwise_xor
from weft.ops.math.comparison import invert as invert
from weft.ops.math.comparison import left_shift as left_shift
from weft.ops.math.comparison import right_shift as right_shift
