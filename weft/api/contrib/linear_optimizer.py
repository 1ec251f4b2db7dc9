"""tf.contrib.linear_optimizer: linear models that dual coordinate ascent trains. This module only re-exports."""

from __future__ import annotations

from weft.models.sdca.sdca_model import SdcaModel as SdcaModel
from weft.models.sdca.sdca_optimizer import SDCAOptimizer as SDCAOptimizer
from weft.models.sdca.sparse_feature_column import SparseFeatureColumn as SparseFeatureColumn
