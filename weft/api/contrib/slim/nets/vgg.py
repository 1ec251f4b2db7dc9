"""tf.contrib.slim.nets.vgg: VGG. This module only re-exports."""

from __future__ import annotations

from weft.models.nets.vgg import vgg_16 as vgg_16
from weft.models.nets.vgg import vgg_19 as vgg_19
from weft.models.nets.vgg import vgg_a as vgg_a
from weft.models.nets.vgg import vgg_arg_scope as vgg_arg_scope
from weft.models.nets.vgg import vgg_d as vgg_d
from weft.models.nets.vgg import vgg_e as vgg_e
