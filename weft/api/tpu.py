"""tf.tpu: what programs for TPUs use where they run on CPUs and GPUs. This module only re-exports."""

from __future__ import annotations

from weft.estimators.tpu.cross_shard_optimizer import CrossShardOptimizer as CrossShardOptimizer
