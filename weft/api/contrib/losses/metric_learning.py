"""tf.contrib.losses.metric_learning: losses of embeddings. This module only re-exports."""

from __future__ import annotations

from weft.models.metric_learning import contrastive_loss as contrastive_loss
from weft.models.metric_learning import lifted_struct_loss as lifted_struct_loss
from weft.models.metric_learning import npairs_loss as npairs_loss
from weft.models.metric_learning import triplet_semihard_loss as triplet_semihard_loss
