"""tf.contrib.autograph: the former place of tf.autograph. This module only re-exports."""

from __future__ import annotations

from weft.ops.array.stacking import stack as stack
from weft.translation.convert import convert as convert
from weft.translation.convert import do_not_convert as do_not_convert
from weft.translation.convert import to_code as to_code
from weft.translation.convert import to_graph as to_graph
from weft.translation.options import Feature as Feature
from weft.translation.options import set_element_type as set_element_type
from weft.translation.options import set_loop_options as set_loop_options
