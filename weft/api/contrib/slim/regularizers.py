"""The regularizers of tf.contrib.layers as a module of slim. This module only re-exports."""

from __future__ import annotations

from weft.ops.variables.regularizers import apply_regularization as apply_regularization
from weft.ops.variables.regularizers import l1_l2_regularizer as l1_l2_regularizer
from weft.ops.variables.regularizers import l1_regularizer as l1_regularizer
from weft.ops.variables.regularizers import l2_regularizer as l2_regularizer
from weft.ops.variables.regularizers import sum_regularizer as sum_regularizer
