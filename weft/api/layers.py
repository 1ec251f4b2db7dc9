"""tf.layers: layers as classes that keep their variables, and as functions that make and call one."""

from __future__ import annotations

from weft.models.layers.conv import Conv1D as Conv1D
from weft.models.layers.conv import Conv2D as Conv2D
from weft.models.layers.conv import Conv2DTranspose as Conv2DTranspose
from weft.models.layers.conv import Conv3D as Conv3D
from weft.models.layers.conv import Conv3DTranspose as Conv3DTranspose
from weft.models.layers.conv_functions import conv1d as conv1d
from weft.models.layers.conv_functions import conv2d as conv2d
from weft.models.layers.conv_functions import conv2d_transpose as conv2d_transpose
from weft.models.layers.conv_functions import conv3d as conv3d
from weft.models.layers.conv_functions import conv3d_transpose as conv3d_transpose
from weft.models.layers.core import Dense as Dense
from weft.models.layers.core import Dropout as Dropout
from weft.models.layers.core import Flatten as Flatten
from weft.models.layers.core import dense as dense
from weft.models.layers.core import dropout as dropout
from weft.models.layers.core import flatten as flatten
from weft.models.layers.input_spec import InputSpec as InputSpec
from weft.models.layers.layer import Layer as Layer
from weft.models.layers.named_objects import told_by as _told_by
from weft.models.layers.norm import BatchNormalization as BatchNormalization
from weft.models.layers.norm import batch_normalization as batch_normalization
from weft.models.layers.pool import AveragePooling1D as AveragePooling1D
from weft.models.layers.pool import AveragePooling2D as AveragePooling2D
from weft.models.layers.pool import AveragePooling3D as AveragePooling3D
from weft.models.layers.pool import MaxPooling1D as MaxPooling1D
from weft.models.layers.pool import MaxPooling2D as MaxPooling2D
from weft.models.layers.pool import MaxPooling3D as MaxPooling3D
from weft.models.layers.pool import average_pooling1d as average_pooling1d
from weft.models.layers.pool import average_pooling2d as average_pooling2d
from weft.models.layers.pool import average_pooling3d as average_pooling3d
from weft.models.layers.pool import max_pooling1d as max_pooling1d
from weft.models.layers.pool import max_pooling2d as max_pooling2d
from weft.models.layers.pool import max_pooling3d as max_pooling3d
from weft.models.layers.separable import SeparableConv1D as SeparableConv1D
from weft.models.layers.separable import SeparableConv2D as SeparableConv2D
from weft.models.layers.separable import separable_conv1d as separable_conv1d
from weft.models.layers.separable import separable_conv2d as separable_conv2d

_told_by("weft.networks.objects")
