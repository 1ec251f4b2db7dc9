"""tf.contrib.quantize: the rewrites of graphs for quantization, which weft refuses. This module only re-exports."""

from __future__ import annotations

from weft.training.contributed.quantized_training import create_eval_graph as create_eval_graph
from weft.training.contributed.quantized_training import create_training_graph as create_training_graph
from weft.training.contributed.quantized_training import experimental_create_eval_graph as experimental_create_eval_graph
from weft.training.contributed.quantized_training import (
    experimental_create_training_graph as experimental_create_training_graph,
)
