"""tf.saved_model.main_op: operations that make a loaded model ready. This module only re-exports."""

from __future__ import annotations

from weft.training.saved_model.main_op import main_op as main_op
from weft.training.saved_model.main_op import main_op_with_restore as main_op_with_restore
