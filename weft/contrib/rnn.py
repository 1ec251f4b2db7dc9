"""tf.contrib.rnn: recurrent cells and networks by their former names. This module only re-exports."""

from __future__ import annotations

from weft.ops.rnn.cell import LayerRNNCell as LayerRNNCell
from weft.ops.rnn.cell import RNNCell as RNNCell
from weft.ops.rnn.cells import BasicLSTMCell as BasicLSTMCell
from weft.ops.rnn.cells import BasicRNNCell as BasicRNNCell
from weft.ops.rnn.cells import GRUCell as GRUCell
from weft.ops.rnn.cells import LSTMBlockCell as LSTMBlockCell
from weft.ops.rnn.cells import LSTMCell as LSTMCell
from weft.ops.rnn.cells import LSTMStateTuple as LSTMStateTuple
from weft.ops.rnn.static import static_bidirectional_rnn as static_bidirectional_rnn
from weft.ops.rnn.static import static_rnn as static_rnn
from weft.ops.rnn.static import static_state_saving_rnn as static_state_saving_rnn
from weft.ops.rnn.wrappers import DeviceWrapper as DeviceWrapper
from weft.ops.rnn.wrappers import DropoutWrapper as DropoutWrapper
from weft.ops.rnn.wrappers import MultiRNNCell as MultiRNNCell
from weft.ops.rnn.wrappers import ResidualWrapper as ResidualWrapper
