"""tensorflow.python.ops.rnn_cell, for programs that import by this path. This module only re-exports."""

from __future__ import annotations

from weft.rnn_cell import BasicLSTMCell as BasicLSTMCell
from weft.rnn_cell import BasicRNNCell as BasicRNNCell
from weft.rnn_cell import DeviceWrapper as DeviceWrapper
from weft.rnn_cell import DropoutWrapper as DropoutWrapper
from weft.rnn_cell import GRUCell as GRUCell
from weft.rnn_cell import LSTMCell as LSTMCell
from weft.rnn_cell import LSTMStateTuple as LSTMStateTuple
from weft.rnn_cell import MultiRNNCell as MultiRNNCell
from weft.rnn_cell import ResidualWrapper as ResidualWrapper
from weft.rnn_cell import RNNCell as RNNCell
