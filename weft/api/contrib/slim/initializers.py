"""The initializers of tf.contrib.layers as a module of slim. This module only re-exports."""

from __future__ import annotations

from weft.ops.variables.fan_initializers import variance_scaling_initializer as variance_scaling_initializer
from weft.ops.variables.fan_initializers import xavier_initializer as xavier_initializer
from weft.ops.variables.fan_initializers import xavier_initializer_conv2d as xavier_initializer_conv2d
