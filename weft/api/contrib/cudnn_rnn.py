"""tf.contrib.cudnn_rnn: cuDNN's recurrent layers, by XLA on any device, and their cells. This module only re-exports."""

from __future__ import annotations

from weft.models.rnn.cudnn import CudnnCompatibleGRUCell as CudnnCompatibleGRUCell
from weft.models.rnn.cudnn import CudnnCompatibleLSTMCell as CudnnCompatibleLSTMCell
from weft.models.rnn.cudnn import CudnnGRU as CudnnGRU
from weft.models.rnn.cudnn import CudnnLSTM as CudnnLSTM
from weft.models.rnn.cudnn import CudnnRNNRelu as CudnnRNNRelu
from weft.models.rnn.cudnn import CudnnRNNTanh as CudnnRNNTanh
