"""tf.contrib.slim.nets: whole networks for images. This module only re-exports."""

from __future__ import annotations

from weft.api.contrib.slim.nets import alexnet as alexnet
from weft.api.contrib.slim.nets import inception as inception
from weft.api.contrib.slim.nets import overfeat as overfeat
from weft.api.contrib.slim.nets import resnet_utils as resnet_utils
from weft.api.contrib.slim.nets import resnet_v1 as resnet_v1
from weft.api.contrib.slim.nets import resnet_v2 as resnet_v2
from weft.api.contrib.slim.nets import vgg as vgg
