"""tf.contrib.slim.learning: training loops for a loss and an optimizer. This module only re-exports."""

from __future__ import annotations

from weft.training.loops.slim_learning import train as train
from weft.training.loops.slim_learning import train_step as train_step
from weft.training.loops.train_op import add_slim_gradients_summaries as _add_slim_gradients_summaries
from weft.training.loops.train_op import clip_gradient_norms as clip_gradient_norms
from weft.training.loops.train_op import create_slim_train_op as _create_slim_train_op
from weft.training.loops.train_op import multiply_gradients as multiply_gradients

# Under a name of its own: type checkers take a renamed import for the module's private business.
add_gradients_summaries = _add_slim_gradients_summaries
create_train_op = _create_slim_train_op
