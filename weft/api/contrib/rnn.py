"""tf.contrib.rnn: recurrent cells and networks by their former names. This module only re-exports."""

from __future__ import annotations

from weft.models.rnn.cell import LayerRNNCell as LayerRNNCell
from weft.models.rnn.cell import RNNCell as RNNCell
from weft.models.rnn.cells import BasicLSTMCell as BasicLSTMCell
from weft.models.rnn.cells import BasicRNNCell as BasicRNNCell
from weft.models.rnn.cells import GRUCell as GRUCell
from weft.models.rnn.cells import LSTMBlockCell as LSTMBlockCell
from weft.models.rnn.cells import LSTMCell as LSTMCell
from weft.models.rnn.cells import LSTMStateTuple as LSTMStateTuple
from weft.models.rnn.convolutional import Conv1DLSTMCell as Conv1DLSTMCell
from weft.models.rnn.convolutional import Conv2DLSTMCell as Conv2DLSTMCell
from weft.models.rnn.convolutional import Conv3DLSTMCell as Conv3DLSTMCell
from weft.models.rnn.convolutional import ConvLSTMCell as ConvLSTMCell
from weft.models.rnn.fused import FusedRNNCell as FusedRNNCell
from weft.models.rnn.fused import FusedRNNCellAdaptor as FusedRNNCellAdaptor
from weft.models.rnn.fused import LSTMBlockFusedCell as LSTMBlockFusedCell
from weft.models.rnn.fused import TimeReversedFusedRNN as TimeReversedFusedRNN
from weft.models.rnn.gated import CoupledInputForgetGateLSTMCell as CoupledInputForgetGateLSTMCell
from weft.models.rnn.gated import GRUBlockCell as GRUBlockCell
from weft.models.rnn.gated import GRUBlockCellV2 as GRUBlockCellV2
from weft.models.rnn.gated import LayerNormBasicLSTMCell as LayerNormBasicLSTMCell
from weft.models.rnn.gated import NASCell as NASCell
from weft.models.rnn.gated import UGRNNCell as UGRNNCell
from weft.models.rnn.independent import IndRNNCell as IndRNNCell
from weft.models.rnn.independent import IndyGRUCell as IndyGRUCell
from weft.models.rnn.independent import IndyLSTMCell as IndyLSTMCell
from weft.models.rnn.independent import SRUCell as SRUCell
from weft.models.rnn.projections import AttentionCellWrapper as AttentionCellWrapper
from weft.models.rnn.projections import EmbeddingWrapper as EmbeddingWrapper
from weft.models.rnn.projections import HighwayWrapper as HighwayWrapper
from weft.models.rnn.projections import InputProjectionWrapper as InputProjectionWrapper
from weft.models.rnn.projections import OutputProjectionWrapper as OutputProjectionWrapper
from weft.models.rnn.stacked import stack_bidirectional_dynamic_rnn as stack_bidirectional_dynamic_rnn
from weft.models.rnn.stacked import stack_bidirectional_rnn as stack_bidirectional_rnn
from weft.models.rnn.stacked import transpose_batch_time as transpose_batch_time
from weft.models.rnn.static import static_bidirectional_rnn as static_bidirectional_rnn
from weft.models.rnn.static import static_rnn as static_rnn
from weft.models.rnn.static import static_state_saving_rnn as static_state_saving_rnn
from weft.models.rnn.step import best_effort_input_batch_size as best_effort_input_batch_size
from weft.models.rnn.wrappers import DeviceWrapper as DeviceWrapper
from weft.models.rnn.wrappers import DropoutWrapper as DropoutWrapper
from weft.models.rnn.wrappers import MultiRNNCell as MultiRNNCell
from weft.models.rnn.wrappers import ResidualWrapper as ResidualWrapper
