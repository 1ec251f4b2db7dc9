"""tf.contrib.quantize: a graph made one that simulates quantization, for training or for evaluation."""

from __future__ import annotations

from typing import Final

from weft.framework.graphs.graph import Graph, get_default_graph
from weft.training.quantization.fused_batch_norms import fold_fused_batch_norms
from weft.training.quantization.insertion import Settings
from weft.training.quantization.quantize import quantize
from weft.training.quantization.unfused_batch_norms import fold_unfused_batch_norms

# How the types of ops begin that train variables.
_TRAINING: Final = ("Apply", "SparseApply", "ResourceApply", "ResourceSparseApply")


def create_training_graph(input_graph: Graph | None = None, quant_delay: int = 0) -> None:
    """Have a graph round weights and activations to 8 bits as a converted model does, so that training learns to do with it.

    Batch norms are folded into the layers before them. It is called before gradients are made, and before a session runs.

    Args:
        input_graph: the graph, which is changed; the default graph when None.
        quant_delay: the run from which on there is quantization.

    Raises:
        ValueError: the graph has operations that train variables.
    """
    _rewrite(input_graph, Settings(True, delay=quant_delay), None)


def create_eval_graph(input_graph: Graph | None = None) -> None:
    """Have a graph round weights and activations by the ranges that training has found.

    Args:
        input_graph: the graph, which is changed; the default graph when None.

    Raises:
        ValueError: the graph has operations that train variables.
    """
    _rewrite(input_graph, Settings(False), None)


def experimental_create_training_graph(
    input_graph: Graph | None = None, weight_bits: int = 8, activation_bits: int = 8, symmetric: bool = False,
    quant_delay: int = 0, freeze_bn_delay: int | None = None, scope: str | None = None,
) -> None:  # fmt: skip
    """`create_training_graph` with further choices.

    Args:
        input_graph: the graph, which is changed; the default graph when None.
        weight_bits, activation_bits: how many bits a level has.
        symmetric: whether ranges reach as far below zero as above it.
        quant_delay: the run from which on there is quantization.
        freeze_bn_delay: the run from which on batch norms use their moving averages, which stand still then; never when None.
        scope: the scope outside of which nothing is rounded; the whole graph when None.

    Raises:
        ValueError: the graph has operations that train variables.
    """
    settings = Settings(True, weight_bits, activation_bits, symmetric, quant_delay, _opened(scope))
    _rewrite(input_graph, settings, freeze_bn_delay)


def experimental_create_eval_graph(
    input_graph: Graph | None = None, weight_bits: int = 8, activation_bits: int = 8, symmetric: bool = False,
    quant_delay: int | None = None, scope: str | None = None,
) -> None:  # fmt: skip
    """`create_eval_graph` with further choices.

    Args:
        input_graph: the graph, which is changed; the default graph when None.
        weight_bits, activation_bits: how many bits a level has.
        symmetric: whether ranges reach as far below zero as above it.
        quant_delay: the run from which on there is quantization; the first when None.
        scope: the scope outside of which nothing is rounded; the whole graph when None.

    Raises:
        ValueError: the graph has operations that train variables.
    """
    _rewrite(input_graph, Settings(False, weight_bits, activation_bits, symmetric, quant_delay, _opened(scope)), None)


def _rewrite(graph: Graph | None, settings: Settings, freeze_delay: int | None) -> None:
    graph = graph or get_default_graph()
    found = next((op for op in graph.get_operations() if op.type.startswith(_TRAINING)), None)
    if found is not None:
        raise ValueError(
            f"Training op found in graph, exiting {{{found.type!r}}}: {found.name!r} trains already. Rewrite the graph before "
            "the optimizer makes its gradients."
        )
    with graph.as_default():
        fold_fused_batch_norms(graph, freeze_delay)
        fold_unfused_batch_norms(graph, settings.is_training, freeze_delay)
        quantize(graph, settings)


def _opened(scope: str | None) -> str:
    return "" if not scope else f"{scope.removesuffix('/')}/"
