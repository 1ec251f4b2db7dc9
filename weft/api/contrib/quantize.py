"""tf.contrib.quantize: graphs made ones that simulate quantization. This module only re-exports."""

from __future__ import annotations

from weft.training.quantization.rewrites import create_eval_graph as create_eval_graph
from weft.training.quantization.rewrites import create_training_graph as create_training_graph
from weft.training.quantization.rewrites import experimental_create_eval_graph as experimental_create_eval_graph
from weft.training.quantization.rewrites import (
    experimental_create_training_graph as experimental_create_training_graph,
)
