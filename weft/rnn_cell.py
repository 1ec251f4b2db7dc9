"""tf.nn.rnn_cell: the cells of recurrent networks. This module only re-exports."""

from __future__ import annotations

from weft.ops.rnn_cell import RNNCell as RNNCell
from weft.ops.rnn_cells import BasicLSTMCell as BasicLSTMCell
from weft.ops.rnn_cells import BasicRNNCell as BasicRNNCell
from weft.ops.rnn_cells import GRUCell as GRUCell
from weft.ops.rnn_cells import LSTMCell as LSTMCell
from weft.ops.rnn_cells import LSTMStateTuple as LSTMStateTuple
from weft.ops.rnn_wrappers import DeviceWrapper as DeviceWrapper
from weft.ops.rnn_wrappers import DropoutWrapper as DropoutWrapper
from weft.ops.rnn_wrappers import MultiRNNCell as MultiRNNCell
from weft.ops.rnn_wrappers import ResidualWrapper as ResidualWrapper
