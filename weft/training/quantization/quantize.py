"""Rounding the weights and the outputs of layers, and the sums and products of what is rounded."""

from __future__ import annotations

from typing import Final

from weft.framework.graphs.graph import Graph
from weft.framework.nodes.operation import Operation
from weft.training.quantization.edges import Consumers
from weft.training.quantization.insertion import Settings, insert
from weft.training.quantization.layers import ACTIVATIONS, RELUS, Layer, layers
from weft.training.quantization.ranges import Levels

_SUMS_AND_PRODUCTS: Final = frozenset(("Add", "AddV2", "Mul"))
_PASSING_ON: Final = frozenset(("Reshape", "Identity", "BatchToSpaceND", "SpaceToBatchND", "MaxPool", "Max"))


def quantize(graph: Graph, settings: Settings) -> None:
    """Round what layers use and give, and what is computed of it.

    Args:
        graph: the graph, which is changed.
        settings: what holds for the whole rewrite.
    """
    consumers = Consumers(graph)
    rounded: set[Operation] = set()
    for layer in layers(graph):
        _quantize_layer(layer, consumers, settings, rounded)
    _quantize_between(graph, settings, rounded)


def _quantize_layer(layer: Layer, consumers: Consumers, settings: Settings, rounded: set[Operation]) -> None:
    context = _outer(layer.product.name)
    if layer.weights is not None:
        takers = consumers.of(layer.weights.op)
        if settings.holds(takers):
            insert(settings, layer.weights.op, takers, _within(context, "weights_quant"), settings.weights, moving=False)
    around = _outer(context) if layer.bypass else context
    _round(settings, layer.activation, consumers, _within(around, "act_quant"), least=0.0)
    rounded.add(layer.activation)
    if layer.bypass is not None and layer.bias is not None:
        _round(settings, layer.bias, consumers, _within(context, "conv_quant"), with_takers=True)
        rounded.add(layer.bias)
        # An activation behind a sum becomes a part of it when the model is converted.
        if not _is_before(layer.bypass, consumers, ACTIVATIONS):
            _round(settings, layer.bypass, consumers, _within(around, "add_quant"), with_takers=True)
            rounded.add(layer.bypass)
    behind = layer.bypass_behind
    if behind is not None and not _is_before(behind, consumers, RELUS):
        _round(settings, behind, consumers, _within(_outer(behind.name), "post_activation_bypass_quant"))
        rounded.add(behind)


def _round(
    settings: Settings, op: Operation, consumers: Consumers, name: str, with_takers: bool = False, least: float = -6.0
) -> None:
    """Round the output of an operation in the scope that is rewritten, and only if its takers are, too, where they count."""
    takers = consumers.of(op)
    if settings.holds([op, *takers] if with_takers else [op]):
        insert(settings, op, takers, name, settings.activations, least=least)


def _quantize_between(graph: Graph, settings: Settings, rounded: set[Operation]) -> None:
    """Round sums and products of what is rounded, unless a relu alone takes them."""
    consumers = Consumers(graph)
    for op in graph.get_operations():
        if _is_of_rounded(op, rounded) and settings.holds([op]):
            name = _within(op.name, f"activation_{op.type}_quant")
            insert(settings, op, consumers.of(op), name, Levels(settings.activation_bits))


def _is_of_rounded(op: Operation, rounded: set[Operation]) -> bool:
    if op in rounded or op.type not in _SUMS_AND_PRODUCTS:
        return False
    takers = op.outputs[0].consumers()
    if len(takers) == 1 and takers[0].type in RELUS:
        return False
    for tensor in op.inputs:
        source = tensor.op
        while source.type in _PASSING_ON and not _is_rounding(source):
            source = source.inputs[0].op
        if _is_rounding(source):
            return True
        if source.type in _SUMS_AND_PRODUCTS and any(_is_of_rounded(each.op, rounded) for each in source.inputs):
            return True
    return False


def _is_rounding(op: Operation) -> bool:
    return op.type == "FakeQuantWithMinMaxVars" or op.name.find("delayed_quant/Merge") > 0


def _is_before(op: Operation, consumers: Consumers, types: frozenset[str]) -> bool:
    return any(taker.type in types for taker in consumers.of(op))


def _outer(name: str) -> str:
    """The scope around a name; empty where there is none."""
    return name.rpartition("/")[0]


def _within(scope: str, name: str) -> str:
    return f"{scope}/{name}" if scope else name
