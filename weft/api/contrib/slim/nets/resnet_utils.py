"""tf.contrib.slim.nets.resnet_utils: what residual networks are made of. This module only re-exports."""

from __future__ import annotations

from weft.models.nets.residual import Block as Block
from weft.models.nets.residual import conv2d_same as conv2d_same
from weft.models.nets.residual import resnet_arg_scope as resnet_arg_scope
from weft.models.nets.residual import stack_blocks_dense as stack_blocks_dense
from weft.models.nets.residual import subsample as subsample
