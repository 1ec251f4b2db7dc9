"""tensorflow.python.ops, for programs that import by this path. This module only re-exports."""

from __future__ import annotations

from weft.python.ops import array_ops as array_ops
from weft.python.ops import clip_ops as clip_ops
from weft.python.ops import control_flow_ops as control_flow_ops
from weft.python.ops import data_flow_ops as data_flow_ops
from weft.python.ops import init_ops as init_ops
from weft.python.ops import math_ops as math_ops
from weft.python.ops import random_ops as random_ops
from weft.python.ops import rnn as rnn
from weft.python.ops import rnn_cell as rnn_cell
from weft.python.ops import script_ops as script_ops
from weft.python.ops import state_ops as state_ops
from weft.python.ops import string_ops as string_ops
from weft.python.ops import variable_scope as variable_scope
from weft.python.ops import variables as variables
