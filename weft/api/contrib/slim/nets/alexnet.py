"""tf.contrib.slim.nets.alexnet: AlexNet. This module only re-exports."""

from __future__ import annotations

from weft.models.nets.alexnet import alexnet_v2 as alexnet_v2
from weft.models.nets.alexnet import alexnet_v2_arg_scope as alexnet_v2_arg_scope
from weft.models.nets.image_classifier import trunc_normal as trunc_normal
