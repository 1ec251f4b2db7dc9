"""tf.keras.layers: layers as classes, and functions that merge."""

from __future__ import annotations

from weft.models.layers.input_spec import InputSpec as InputSpec
from weft.networks.engine.input_layer import Input as Input
from weft.networks.engine.input_layer import InputLayer as InputLayer
from weft.networks.engine.layer import Layer as Layer
from weft.networks.layers.activation_layers import ELU as ELU
from weft.networks.layers.activation_layers import LeakyReLU as LeakyReLU
from weft.networks.layers.activation_layers import PReLU as PReLU
from weft.networks.layers.activation_layers import ReLU as ReLU
from weft.networks.layers.activation_layers import Softmax as Softmax
from weft.networks.layers.activation_layers import ThresholdedReLU as ThresholdedReLU
from weft.networks.layers.attention import AdditiveAttention as AdditiveAttention
from weft.networks.layers.attention import Attention as Attention
from weft.networks.layers.catalog import deserialize as deserialize
from weft.networks.layers.catalog import serialize as serialize
from weft.networks.layers.core import Activation as Activation
from weft.networks.layers.core import ActivityRegularization as ActivityRegularization
from weft.networks.layers.core import Dense as Dense
from weft.networks.layers.core import Dropout as Dropout
from weft.networks.layers.core import Flatten as Flatten
from weft.networks.layers.core import Lambda as Lambda
from weft.networks.layers.core import Masking as Masking
from weft.networks.layers.core import Permute as Permute
from weft.networks.layers.core import RepeatVector as RepeatVector
from weft.networks.layers.core import Reshape as Reshape
from weft.networks.layers.core import SpatialDropout1D as SpatialDropout1D
from weft.networks.layers.core import SpatialDropout2D as SpatialDropout2D
from weft.networks.layers.core import SpatialDropout3D as SpatialDropout3D
from weft.networks.layers.embeddings import Embedding as Embedding
from weft.networks.layers.feature_columns import DenseFeatures as DenseFeatures
from weft.networks.layers.merging import Add as Add
from weft.networks.layers.merging import Average as Average
from weft.networks.layers.merging import Concatenate as Concatenate
from weft.networks.layers.merging import Dot as Dot
from weft.networks.layers.merging import Maximum as Maximum
from weft.networks.layers.merging import Minimum as Minimum
from weft.networks.layers.merging import Multiply as Multiply
from weft.networks.layers.merging import Subtract as Subtract
from weft.networks.layers.merging import add as add
from weft.networks.layers.merging import average as average
from weft.networks.layers.merging import concatenate as concatenate
from weft.networks.layers.merging import dot as dot
from weft.networks.layers.merging import maximum_of as _maximum_of
from weft.networks.layers.merging import minimum_of as _minimum_of
from weft.networks.layers.merging import multiply as multiply
from weft.networks.layers.merging import subtract as subtract
from weft.networks.layers.noise import AlphaDropout as AlphaDropout
from weft.networks.layers.noise import GaussianDropout as GaussianDropout
from weft.networks.layers.noise import GaussianNoise as GaussianNoise
from weft.networks.layers.normalization import BatchNormalization as BatchNormalization
from weft.networks.layers.normalization import LayerNormalization as LayerNormalization
from weft.networks.layers.recurrent.cells import GRUCell as GRUCell
from weft.networks.layers.recurrent.cells import LSTMCell as LSTMCell
from weft.networks.layers.recurrent.cells import SimpleRNNCell as SimpleRNNCell
from weft.networks.layers.recurrent.convolutional import ConvLSTM2D as ConvLSTM2D
from weft.networks.layers.recurrent.cudnn import CuDNNGRU as CuDNNGRU
from weft.networks.layers.recurrent.cudnn import CuDNNLSTM as CuDNNLSTM
from weft.networks.layers.recurrent.layers import GRU as GRU
from weft.networks.layers.recurrent.layers import LSTM as LSTM
from weft.networks.layers.recurrent.layers import SimpleRNN as SimpleRNN
from weft.networks.layers.recurrent.own_cells import AbstractRNNCell as AbstractRNNCell
from weft.networks.layers.recurrent.rnn import RNN as RNN
from weft.networks.layers.recurrent.stacked import StackedRNNCells as StackedRNNCells
from weft.networks.layers.spatial.borders import Cropping1D as Cropping1D
from weft.networks.layers.spatial.borders import Cropping2D as Cropping2D
from weft.networks.layers.spatial.borders import Cropping3D as Cropping3D
from weft.networks.layers.spatial.borders import UpSampling1D as UpSampling1D
from weft.networks.layers.spatial.borders import UpSampling2D as UpSampling2D
from weft.networks.layers.spatial.borders import UpSampling3D as UpSampling3D
from weft.networks.layers.spatial.borders import ZeroPadding1D as ZeroPadding1D
from weft.networks.layers.spatial.borders import ZeroPadding2D as ZeroPadding2D
from weft.networks.layers.spatial.borders import ZeroPadding3D as ZeroPadding3D
from weft.networks.layers.spatial.convolutional import Conv1D as Conv1D
from weft.networks.layers.spatial.convolutional import Conv2D as Conv2D
from weft.networks.layers.spatial.convolutional import Conv2DTranspose as Conv2DTranspose
from weft.networks.layers.spatial.convolutional import Conv3D as Conv3D
from weft.networks.layers.spatial.convolutional import Conv3DTranspose as Conv3DTranspose
from weft.networks.layers.spatial.convolutional import DepthwiseConv2D as DepthwiseConv2D
from weft.networks.layers.spatial.convolutional import SeparableConv1D as SeparableConv1D
from weft.networks.layers.spatial.convolutional import SeparableConv2D as SeparableConv2D
from weft.networks.layers.spatial.local import LocallyConnected1D as LocallyConnected1D
from weft.networks.layers.spatial.local import LocallyConnected2D as LocallyConnected2D
from weft.networks.layers.spatial.pooling import AveragePooling1D as AveragePooling1D
from weft.networks.layers.spatial.pooling import AveragePooling2D as AveragePooling2D
from weft.networks.layers.spatial.pooling import AveragePooling3D as AveragePooling3D
from weft.networks.layers.spatial.pooling import GlobalAveragePooling1D as GlobalAveragePooling1D
from weft.networks.layers.spatial.pooling import GlobalAveragePooling2D as GlobalAveragePooling2D
from weft.networks.layers.spatial.pooling import GlobalAveragePooling3D as GlobalAveragePooling3D
from weft.networks.layers.spatial.pooling import GlobalMaxPooling1D as GlobalMaxPooling1D
from weft.networks.layers.spatial.pooling import GlobalMaxPooling2D as GlobalMaxPooling2D
from weft.networks.layers.spatial.pooling import GlobalMaxPooling3D as GlobalMaxPooling3D
from weft.networks.layers.spatial.pooling import MaxPooling1D as MaxPooling1D
from weft.networks.layers.spatial.pooling import MaxPooling2D as MaxPooling2D
from weft.networks.layers.spatial.pooling import MaxPooling3D as MaxPooling3D
from weft.networks.layers.wrappers import Bidirectional as Bidirectional
from weft.networks.layers.wrappers import TimeDistributed as TimeDistributed
from weft.networks.layers.wrappers import Wrapper as Wrapper

# Under a name of its own: type checkers take a renamed import for the module's private business.
maximum = _maximum_of
minimum = _minimum_of
Convolution1D = Conv1D
Convolution2D = Conv2D
Convolution2DTranspose = Conv2DTranspose
Convolution3D = Conv3D
Convolution3DTranspose = Conv3DTranspose
SeparableConvolution1D = SeparableConv1D
SeparableConvolution2D = SeparableConv2D
AvgPool1D = AveragePooling1D
AvgPool2D = AveragePooling2D
AvgPool3D = AveragePooling3D
GlobalAvgPool1D = GlobalAveragePooling1D
GlobalAvgPool2D = GlobalAveragePooling2D
GlobalAvgPool3D = GlobalAveragePooling3D
GlobalMaxPool1D = GlobalMaxPooling1D
GlobalMaxPool2D = GlobalMaxPooling2D
GlobalMaxPool3D = GlobalMaxPooling3D
MaxPool1D = MaxPooling1D
MaxPool2D = MaxPooling2D
MaxPool3D = MaxPooling3D
