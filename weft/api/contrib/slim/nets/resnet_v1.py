"""tf.contrib.slim.nets.resnet_v1: residual networks in their first form. This module only re-exports."""

from __future__ import annotations

from weft.api.contrib.slim.nets import resnet_utils as resnet_utils
from weft.models.nets.residual import resnet_arg_scope as resnet_arg_scope
from weft.models.nets.resnet_v1 import bottleneck as bottleneck
from weft.models.nets.resnet_v1 import resnet_v1 as resnet_v1
from weft.models.nets.resnet_v1 import resnet_v1_50 as resnet_v1_50
from weft.models.nets.resnet_v1 import resnet_v1_101 as resnet_v1_101
from weft.models.nets.resnet_v1 import resnet_v1_152 as resnet_v1_152
from weft.models.nets.resnet_v1 import resnet_v1_200 as resnet_v1_200
from weft.models.nets.resnet_v1 import resnet_v1_block as resnet_v1_block
