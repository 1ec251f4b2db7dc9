"""tensorflow.python.ops.rnn, for programs that import by this path. This module only re-exports."""

from __future__ import annotations

from weft.nn import bidirectional_dynamic_rnn as bidirectional_dynamic_rnn
from weft.nn import dynamic_rnn as dynamic_rnn
from weft.nn import static_bidirectional_rnn as static_bidirectional_rnn
from weft.nn import static_rnn as static_rnn
