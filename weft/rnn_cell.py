"""tf.nn.rnn_cell: the cells of recurrent networks. This module only re-exports."""

from __future__ import annotations

from weft.ops.rnn.cell import RNNCell as RNNCell
from weft.ops.rnn.cells import BasicLSTMCell as BasicLSTMCell
from weft.ops.rnn.cells import BasicRNNCell as BasicRNNCell
from weft.ops.rnn.cells import GRUCell as GRUCell
from weft.ops.rnn.cells import LSTMCell as LSTMCell
from weft.ops.rnn.cells import LSTMStateTuple as LSTMStateTuple
from weft.ops.rnn.wrappers import DeviceWrapper as DeviceWrapper
from weft.ops.rnn.wrappers import DropoutWrapper as DropoutWrapper
from weft.ops.rnn.wrappers import MultiRNNCell as MultiRNNCell
from weft.ops.rnn.wrappers import ResidualWrapper as ResidualWrapper
