"""tf.contrib.slim.nets.resnet_v2: residual networks in their second form. This module only re-exports."""

from __future__ import annotations

from weft.api.contrib.slim.nets import resnet_utils as resnet_utils
from weft.models.nets.residual import resnet_arg_scope as resnet_arg_scope
from weft.models.nets.resnet_v2 import bottleneck as bottleneck
from weft.models.nets.resnet_v2 import resnet_v2 as resnet_v2
from weft.models.nets.resnet_v2 import resnet_v2_50 as resnet_v2_50
from weft.models.nets.resnet_v2 import resnet_v2_101 as resnet_v2_101
from weft.models.nets.resnet_v2 import resnet_v2_152 as resnet_v2_152
from weft.models.nets.resnet_v2 import resnet_v2_200 as resnet_v2_200
from weft.models.nets.resnet_v2 import resnet_v2_block as resnet_v2_block
