"""tf.contrib.grid_rnn: grids of recurrent cells. This module only re-exports."""

from __future__ import annotations

from weft.models.grid_rnn.cells import Grid1BasicLSTMCell as Grid1BasicLSTMCell
from weft.models.grid_rnn.cells import Grid1BasicRNNCell as Grid1BasicRNNCell
from weft.models.grid_rnn.cells import Grid1LSTMCell as Grid1LSTMCell
from weft.models.grid_rnn.cells import Grid2BasicLSTMCell as Grid2BasicLSTMCell
from weft.models.grid_rnn.cells import Grid2BasicRNNCell as Grid2BasicRNNCell
from weft.models.grid_rnn.cells import Grid2GRUCell as Grid2GRUCell
from weft.models.grid_rnn.cells import Grid2LSTMCell as Grid2LSTMCell
from weft.models.grid_rnn.cells import Grid3LSTMCell as Grid3LSTMCell
from weft.models.grid_rnn.network import GridRNNCell as GridRNNCell
