"""The layers that are quantized: products and convolutions with their weights, and what follows up to the activation.

weights, or weights that a batch norm was folded into
    |
product or convolution - [BatchToSpaceND] - [correction] - [bias] - [bypass] - activation - [bypass behind it]
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from weft.framework.graphs.graph import Graph
from weft.framework.nodes.operation import Operation, Tensor
from weft.training.quantization.patterns import ANYTHING, Found, matches, of_type

_PRODUCTS: Final = "Conv2D MatMul DepthwiseConv2dNative"
_SUMS: Final = "Add AddV2"
# The outputs of these are rounded; those of a relu are never rounded before it.
ACTIVATIONS: Final = frozenset(("Relu", "Relu6", "Identity"))
RELUS: Final = frozenset(("Relu", "Relu6"))

_VARIABLE: Final = of_type("Variable VariableV2")
_PART: Final = of_type("Identity", _VARIABLE)
_PARTS: Final = of_type("ConcatV2", _PART, ANYTHING, ANYTHING)
_READ: Final = of_type("Identity", (_PART, _PARTS, _VARIABLE))
_RESOURCE_READ: Final = of_type("ReadVariableOp")
_FOLDED_WEIGHTS: Final = of_type("Mul")
_LAYER: Final = of_type(_PRODUCTS, of_type(""), (_READ, _RESOURCE_READ, _FOLDED_WEIGHTS), in_any_order=True)
_DILATED: Final = of_type("BatchToSpaceND", _LAYER, ANYTHING, ANYTHING)
_OUTPUT: Final = (_DILATED, _LAYER)
# Two convolutions with nothing between them, as of separable ones.
_SEPARABLE: Final = of_type(_PRODUCTS, _OUTPUT, ANYTHING, in_any_order=True)
_CORRECTED: Final = of_type(_SUMS, of_type("Mul", ANYTHING, _OUTPUT, in_any_order=True), ANYTHING, in_any_order=True)
_FOLDED_BIAS: Final = of_type(_SUMS, _CORRECTED, ANYTHING, in_any_order=True)
# Batch norms whose averages move with the layer end in an Identity.
_FOLDED_BIAS_READ: Final = of_type("Identity", _FOLDED_BIAS)
_BIAS: Final = of_type(f"{_SUMS} BiasAdd", _OUTPUT, ANYTHING, in_any_order=True)
_BYPASS: Final = of_type(_SUMS, (_BIAS, _FOLDED_BIAS, _FOLDED_BIAS_READ), ANYTHING, in_any_order=True)
_ACTIVATION: Final = of_type(" ".join(ACTIVATIONS), (_BIAS, _FOLDED_BIAS, _FOLDED_BIAS_READ, _BYPASS, _LAYER))
_BYPASS_BEHIND: Final = of_type(_SUMS, ANYTHING, _ACTIVATION, in_any_order=True)


@dataclass(frozen=True)
class Layer:
    """A layer that is quantized.

    Attributes:
        product: the product or convolution.
        weights: its weights; None where they are something else.
        activation: what makes the output that is rounded.
        bypass: a sum with something else between the bias and the activation.
        bypass_behind: the same behind the activation.
        bias: what adds the bias, where there may be a bypass.
    """

    product: Operation
    weights: Tensor | None
    activation: Operation
    bypass: Operation | None = None
    bypass_behind: Operation | None = None
    bias: Operation | None = None


def layers(graph: Graph) -> list[Layer]:
    """The layers of a graph that are quantized, each once: by the largest pattern that it fits.

    Args:
        graph: the graph.
    """
    by_product: dict[Operation, Layer] = {}
    for layer in _candidates(graph):
        by_product.setdefault(layer.product, layer)
    return list(by_product.values())


def _candidates(graph: Graph) -> Iterator[Layer]:
    for found in matches(_BYPASS_BEHIND, graph):
        yield _whole(found)
    for found in matches(_ACTIVATION, graph):
        layer = _whole(found)
        if not _is_input_of_statistics(layer.activation):
            yield layer
    # A last layer has no activation: the bias' sum is rounded.
    for found in matches((_BIAS, _FOLDED_BIAS), graph):
        yield Layer(_there(found.op(_LAYER)), _weights(found), _there(found.op(_BIAS, _FOLDED_BIAS)))
    for found in matches(_SEPARABLE, graph):
        product = _there(found.op(_LAYER))
        yield Layer(product, found.tensor(_READ, _RESOURCE_READ), product)


def _whole(found: Found) -> Layer:
    return Layer(
        _there(found.op(_LAYER)),
        _weights(found),
        _there(found.op(_ACTIVATION)),
        found.op(_BYPASS),
        found.op(_BYPASS_BEHIND),
        found.op(_BIAS, _FOLDED_BIAS),
    )


def _weights(found: Found) -> Tensor | None:
    return found.tensor(_READ, _RESOURCE_READ, _FOLDED_WEIGHTS)


def _there(op: Operation | None) -> Operation:
    assert op is not None
    return op


def _is_input_of_statistics(activation: Operation) -> bool:
    """Whether an Identity gives the outputs of a folded layer to the batch norm that takes their mean and variance."""
    if activation.type != "Identity":
        return False
    takers = [op.type for op in activation.outputs[0].consumers()]
    return len(takers) == 1 and takers[0] in ("FusedBatchNorm", "FusedBatchNormV3")
