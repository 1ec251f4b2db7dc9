"""tf.contrib.slim.nets.overfeat: OverFeat. This module only re-exports."""

from __future__ import annotations

from weft.models.nets.alexnet import overfeat as overfeat
from weft.models.nets.alexnet import overfeat_arg_scope as overfeat_arg_scope
from weft.models.nets.image_classifier import trunc_normal as trunc_normal
