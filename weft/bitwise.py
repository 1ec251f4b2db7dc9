"""tf.bitwise: logic on the bits of integers."""

from __future__ import annotations

from weft.ops.comparison import bitwise_and as bitwise_and
from weft.ops.comparison import bitwise_or as bitwise_or
from weft.ops.comparison import bitwise_xor as bitwise_xor
from weft.ops.comparison import invert as invert
from weft.ops.comparison import left_shift as left_shift
from weft.ops.comparison import right_shift as right_shift
