"""Folding batch norms that are formulas of several nodes, as `fused=False` makes them: they are found by their names.

The names are those that tf.contrib.layers gives: `LAYER/BatchNorm/batchnorm_1/mul_1` and so on.
"""

from __future__ import annotations

from typing import Final

from weft.framework.graphs.graph import Graph
from weft.framework.nodes.operation import Operation, Tensor
from weft.ops.array.filling import ones
from weft.ops.array.shape_ops import reshape
from weft.ops.math.elementwise import add, mul
from weft.ops.variables.scopes import get_variable_scope
from weft.training.quantization.edges import UNTOUCHED, Consumers, rewire
from weft.training.quantization.folded_layers import channel_shape, folded_layer, to_space
from weft.training.quantization.statistics import Average, Corrections, Statistics, corrections

_FORMULA: Final = "BatchNorm/batchnorm"
_NODES: Final = "BatchNorm/batchnorm_1/"
_ACTIVATIONS: Final = ("Relu6", "Relu", "Identity")


def fold_unfused_batch_norms(graph: Graph, is_training: bool, freeze_delay: int | None) -> None:
    """Let what follows a batch norm take the layer before it with folded weights.

    Args:
        graph: the graph, which is changed.
        is_training: whether the graph trains.
        freeze_delay: the run from which on moving averages stand still and are used in training; never when None.

    Raises:
        KeyError: a batch norm has not the names by which it is folded.
        ValueError: what follows it is not found.
    """
    consumers = Consumers(graph)
    for context in _contexts(graph):
        inverse = graph.get_operation_by_name(f"{context}{_NODES}Rsqrt")
        has_scale = sum(op.type == "Mul" for op in consumers.of(inverse)) == 1
        normalized = graph.get_operation_by_name(f"{context}{_NODES}add_1").outputs[0]
        if normalized.consumers():
            made = _folded(graph, context, has_scale, is_training, freeze_delay)
            _replace(graph, context, normalized, made)


def _contexts(graph: Graph) -> list[str]:
    """The scopes of layers with such a batch norm, each ending in `/` or empty."""
    found = (op.name.rpartition(_FORMULA) for op in graph.get_operations())
    contexts = (context for context, formula, _ in found if formula)
    return [each for each in dict.fromkeys(contexts) if not each.startswith(UNTOUCHED)]


def _replace(graph: Graph, context: str, normalized: Tensor, made: Tensor) -> None:
    taker = next(filter(None, (_op_or_none(graph, f"{context}{name}") for name in _ACTIVATIONS)), None)
    if taker is None:
        # Without an activation a sum takes it, one scope further out.
        outer = context.removesuffix("/").rpartition("/")[0]
        taker = graph.get_operation_by_name(f"{outer}/AddV2" if outer else "AddV2")
    if rewire(made, normalized, [taker]) != 1:
        raise ValueError(f"Unexpected inputs to op: {taker.name}. It was to take {normalized.name} once.")


def _op_or_none(graph: Graph, name: str) -> Operation | None:
    try:
        return graph.get_operation_by_name(name)
    except KeyError:
        return None


def _folded(graph: Graph, context: str, has_scale: bool, is_training: bool, freeze_delay: int | None) -> Tensor:
    product = graph.get_operation_by_name(f"{context}{_NODES}{'mul_1' if has_scale else 'mul'}")
    layer, dilated = product.inputs[0].op, None
    if layer.type == "BatchToSpaceND":
        layer, dilated = layer.inputs[0].op, layer
    # Made for evaluation, too, as in TensorFlow: later random nodes get their seeds by the count.
    gamma = _gamma(graph, context, has_scale)
    corrected = corrections(_statistics(graph, context, gamma), freeze_delay, context) if is_training else None
    weights, factor = layer.inputs[1], product.inputs[1]
    shape = channel_shape(layer, weights)
    if shape is not None:
        factor = reshape(factor, shape, name=f"{context}scale_reshape")
    if corrected is not None:
        scale = corrected.scale
        if shape is not None:
            scale = reshape(scale, shape, name=f"{context}correction_reshape")
        with graph.device(product.device):
            weights = mul(scale, weights, name=f"{context}correction_mult")
    folded = mul(weights, factor, name=f"{context}mul_fold")
    made = folded_layer(layer, layer.inputs[0], folded, f"{layer.name}_Fold")
    if dilated is not None:
        made = to_space(dilated, made, f"{dilated.name}_Fold")
    if corrected is not None:
        made = _corrected(graph, made, corrected, context)
    shift = graph.get_operation_by_name(f"{context}{_NODES}add_1").inputs[1]
    return add(made, shift, name=f"{context}add_fold")


def _corrected(graph: Graph, made: Tensor, corrected: Corrections, context: str) -> Tensor:
    with graph.device(made.op.device):
        made = mul(corrected.back, made, name=f"{context}post_conv_mul")
        return add(made, corrected.offset, name=f"{context}correction_add")


def _statistics(graph: Graph, context: str, gamma: Tensor) -> Statistics:
    """What the batch norm of a scope normalizes by in training."""

    def there(name: str) -> Tensor:
        return _nearest(graph, f"BatchNorm/{name}", context)

    return Statistics(
        gamma,
        there("moments/Squeeze"),
        there("moments/Squeeze_1"),
        Average(there(f"moving_mean{_read()}"), there("AssignMovingAvg/decay")),
        Average(there(f"moving_variance{_read()}"), there("AssignMovingAvg_1/decay")),
        there("batchnorm_1/add/y"),
    )


def _read() -> str:
    return "/Read/ReadVariableOp" if get_variable_scope().use_resource else "/read"


def _gamma(graph: Graph, context: str, has_scale: bool) -> Tensor:
    if not has_scale:
        return ones(_nearest(graph, f"BatchNorm/moving_mean{_read()}", context).shape)
    return _nearest(graph, f"BatchNorm/gamma{_read() if get_variable_scope().use_resource else ''}", context)


def _nearest(graph: Graph, name: str, context: str) -> Tensor:
    """The output of the operation whose name ends so, and has most of a scope's parts."""
    parts = set(context.split("/"))
    shared = {op: len(parts.intersection(op.name.split("/"))) for op in graph.get_operations() if op.name.endswith(name)}
    near = {op: count for op, count in shared.items() if count or not context}
    if not near:
        raise ValueError(
            f"Folding the batch norm of {context!r} failed: expected an operation whose name ends in {name!r}, found none. "
            "tf.contrib.layers.batch_norm makes it when `is_training` is true and `updates_collections` is its default."
        )
    return max(near, key=near.__getitem__).outputs[0]
