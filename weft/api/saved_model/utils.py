"""tf.saved_model.utils: describing tensors. This module only re-exports."""

from __future__ import annotations

from weft.training.saved_model.signatures import build_tensor_info as build_tensor_info
from weft.training.saved_model.signatures import build_tensor_info_from_op as build_tensor_info_from_op
from weft.training.saved_model.signatures import get_tensor_from_tensor_info as get_tensor_from_tensor_info
