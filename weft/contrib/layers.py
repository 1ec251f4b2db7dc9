"""tf.contrib.layers: layers over model variables, regularizers and initializers. This module only re-exports."""

from __future__ import annotations

from weft.ops.fan_initializers import variance_scaling_initializer as variance_scaling_initializer
from weft.ops.fan_initializers import xavier_initializer as xavier_initializer
from weft.ops.fan_initializers import xavier_initializer_conv2d as xavier_initializer_conv2d
from weft.ops.model_layers import avg_pool2d as avg_pool2d
from weft.ops.model_layers import batch_norm as batch_norm
from weft.ops.model_layers import conv2d as conv2d
from weft.ops.model_layers import conv2d as convolution2d
from weft.ops.model_layers import dropout as dropout
from weft.ops.model_layers import flatten as flatten
from weft.ops.model_layers import fully_connected as fully_connected
from weft.ops.model_layers import max_pool2d as max_pool2d
from weft.ops.regularizers import apply_regularization as apply_regularization
from weft.ops.regularizers import l1_l2_regularizer as l1_l2_regularizer
from weft.ops.regularizers import l1_regularizer as l1_regularizer
from weft.ops.regularizers import l2_regularizer as l2_regularizer
from weft.ops.regularizers import sum_regularizer as sum_regularizer

__all__ = ["convolution2d"]
