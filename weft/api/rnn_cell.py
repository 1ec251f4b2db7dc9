"""tf.nn.rnn_cell: the cells of recurrent networks. This module only re-exports."""

from __future__ import annotations

from weft.models.rnn.cell import RNNCell as RNNCell
from weft.models.rnn.cells import BasicLSTMCell as BasicLSTMCell
from weft.models.rnn.cells import BasicRNNCell as BasicRNNCell
from weft.models.rnn.cells import GRUCell as GRUCell
from weft.models.rnn.cells import LSTMCell as LSTMCell
from weft.models.rnn.cells import LSTMStateTuple as LSTMStateTuple
from weft.models.rnn.wrappers import DeviceWrapper as DeviceWrapper
from weft.models.rnn.wrappers import DropoutWrapper as DropoutWrapper
from weft.models.rnn.wrappers import MultiRNNCell as MultiRNNCell
from weft.models.rnn.wrappers import ResidualWrapper as ResidualWrapper
