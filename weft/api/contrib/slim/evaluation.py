"""tf.contrib.slim.evaluation: metrics of checkpoints, once or again and again. This module only re-exports."""

from __future__ import annotations

from weft.training.loops.slim_evaluation import evaluate_once as evaluate_once
from weft.training.loops.slim_evaluation import evaluation_loop as evaluation_loop
from weft.training.saving.checkpoint_wait import checkpoints_iterator as checkpoints_iterator
from weft.training.saving.checkpoint_wait import wait_for_new_checkpoint as wait_for_new_checkpoint
