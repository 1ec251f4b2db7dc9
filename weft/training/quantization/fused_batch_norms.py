"""Folding batch norms of one node into the layers before them: scaled weights and a bias take their place."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from weft.autodiff.registration import RegisterGradient
from weft.framework.graphs.graph import Graph, get_default_graph
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.types import dtypes
from weft.ops.array.shape_ops import reshape, size
from weft.ops.math.casting import cast
from weft.ops.math.elementwise import add, mul, sub
from weft.ops.math.unary import rsqrt
from weft.training.quantization.edges import rewire
from weft.training.quantization.folded_layers import channel_shape, folded_layer, to_space
from weft.training.quantization.patterns import ANYTHING, Found, matches, of_type
from weft.training.quantization.statistics import Average, Statistics, corrections

_NORMS: Final = "FusedBatchNorm FusedBatchNormV3"
_INPUTS, _WEIGHTS, _GAMMA, _BETA, _MEAN, _VARIANCE = (of_type("") for _ in range(6))
_LAYER: Final = of_type("Conv2D DepthwiseConv2dNative MatMul", _INPUTS, _WEIGHTS)
_DILATED: Final = of_type("BatchToSpaceND", _LAYER, ANYTHING, ANYTHING)
_READ: Final = of_type("Identity", (_DILATED, _LAYER))
_OUTPUT: Final = (_READ, _LAYER, _DILATED)
# A product has no height and width: it is reshaped before its batch norm, and back behind it.
_AS_IMAGES: Final = of_type("Reshape", _OUTPUT, ANYTHING)
_NORM: Final = of_type(_NORMS, (_AS_IMAGES, *_OUTPUT), _GAMMA, _BETA, _MEAN, _VARIANCE)
_BACK: Final = of_type("Reshape", _NORM, ANYTHING)
_AVERAGE, _DECAY = of_type(""), of_type("")
_DISTANCE: Final = of_type("Sub", _AVERAGE, _NORM)
_MOVE: Final = of_type("Mul", _DISTANCE, _DECAY)

# The name by which gradients are asked for: those of a batch norm's own node leave out what its statistics depend on.
_GRADIENT: Final = "FoldFusedBatchNormGrad"


@dataclass(frozen=True)
class _BatchNorm:
    """A batch norm and the layer before it; its statistics are there in training, the moving ones otherwise."""

    layer: Operation
    node: Operation
    output: Tensor
    inputs: Tensor
    weights: Tensor
    gamma: Tensor
    beta: Tensor
    mean: Tensor
    variance: Tensor
    dilated: Operation | None
    statistics: Statistics | None


def fold_fused_batch_norms(graph: Graph, freeze_delay: int | None) -> None:
    """Let those behind a batch norm take the layer before it with folded weights.

    Args:
        graph: the graph, which is changed.
        freeze_delay: the run from which on moving averages stand still and are used in training; never when None.
    """
    for norm in _batch_norms(graph):
        scope = norm.layer.name.rpartition("/")[0]
        scope = f"{scope}/" if scope else ""
        with graph.as_default(), graph.name_scope(scope):
            made = _folded(norm, freeze_delay, scope)
            if rewire(made, norm.output) == 0:
                raise ValueError(f"Folding batch norms failed, {norm.output.name} had no outputs.")


def _folded(norm: _BatchNorm, freeze_delay: int | None, scope: str) -> Tensor:
    corrected = None
    with get_default_graph().name_scope(f"{scope}BatchNorm_Fold/"):
        factor = norm.gamma * rsqrt(norm.variance + norm.node.attrs["epsilon"])
        bias = sub(norm.beta, norm.mean * factor, name="bias")
        if norm.statistics is not None:
            corrected = corrections(norm.statistics, freeze_delay)
        scale = None if corrected is None else corrected.scale
        shape = channel_shape(norm.layer, norm.weights)
        if shape is not None:
            factor = reshape(factor, shape, name="scale_reshape")
            scale = None if scale is None else reshape(scale, shape, name="correction_reshape")
    weights = norm.weights if scale is None else mul(scale, norm.weights, name="correction_mult")
    made = folded_layer(norm.layer, norm.inputs, mul(weights, factor, name="mul_fold"), _folded_name(norm.layer))
    if norm.dilated is not None and norm.layer.type == "DepthwiseConv2dNative":
        behind = norm.layer.outputs[0].consumers()[0]
        made = to_space(behind, made, _folded_name(behind))
    if corrected is not None:
        made = mul(corrected.back, made, name="post_conv_mul")
        made = add(made, corrected.offset, name="correction_add")
    return add(made, bias, name="add_fold")


def _folded_name(op: Operation) -> str:
    return f"{op.name.rpartition('/')[2]}_Fold"


def _batch_norms(graph: Graph) -> list[_BatchNorm]:
    by_layer: dict[Operation, _BatchNorm] = {}
    averages = _averages(graph)
    for found in matches((_BACK, _NORM), graph):
        norm = _batch_norm(found, averages)
        if norm is not None:
            by_layer.setdefault(norm.layer, norm)
    return list(by_layer.values())


def _averages(graph: Graph) -> dict[Tensor, Average]:
    """The moving averages of batch norms, by what they follow: a mean or a variance."""
    averages = {}
    for found in matches(_MOVE, graph):
        distance = found.op(_DISTANCE)
        assert distance is not None
        averages[distance.inputs[1]] = Average(distance.inputs[0], _there(found.tensor(_DECAY)))
    return averages


def _batch_norm(found: Found, averages: Mapping[Tensor, Average]) -> _BatchNorm | None:
    layer, node, back = found.op(_LAYER), found.op(_NORM), found.op(_BACK)
    assert layer is not None
    assert node is not None
    if layer.type == "MatMul" and back is None:
        return None  # the Reshape behind it is another match
    output = node.outputs[0] if layer.type != "MatMul" or back is None else back.outputs[0]
    if not output.consumers():
        return None
    inputs, weights, gamma, beta, mean, variance = (
        _there(found.tensor(each)) for each in (_INPUTS, _WEIGHTS, _GAMMA, _BETA, _MEAN, _VARIANCE)
    )
    statistics = None
    if node.attrs["is_training"]:
        node.attrs["_gradient_op_type"] = _GRADIENT
        mean, variance = node.outputs[1], _biased(node, _there(found.tensor(_LAYER)))
        statistics = _statistics(node, gamma, variance, averages)
    return _BatchNorm(
        layer, node, output, inputs, weights, gamma, beta, mean, variance, found.op(_DILATED), statistics
    )  # fmt: skip


def _there(tensor: Tensor | None) -> Tensor:
    assert tensor is not None
    return tensor


def _biased(node: Operation, layer: Tensor) -> Tensor:
    """The variance that the batch norm normalizes by: what it gives is corrected for the size of the batch."""
    scope = node.name.rpartition("/")[0]
    with get_default_graph().name_scope(f"{scope}/" if scope else ""):
        count = cast(size(layer) / size(node.outputs[1]), dtypes.float32)
        return mul(node.outputs[2], (count - 1) / count, name="Undo_Bessel_Correction")


def _statistics(node: Operation, gamma: Tensor, variance: Tensor, averages: Mapping[Tensor, Average]) -> Statistics:
    mean, spread = averages.get(node.outputs[1]), averages.get(node.outputs[2])
    if mean is None or spread is None:
        raise ValueError(
            f"{node.name!r}: expected moving averages of mean and variance, found none: the batch norm is training, and "
            "folding it needs them. Build the model with the updates of its averages."
        )
    return Statistics(gamma, node.outputs[1], variance, mean, spread, node.attrs["epsilon"])


@RegisterGradient(_GRADIENT)
def _gradients_of_statistics(
    node: Operation, _: Tensor, of_mean: Tensor, of_variance: Tensor, *others: Tensor
) -> list[Tensor | None]:
    """The gradients of the inputs through mean and variance alone: the outputs of a batch norm that was folded go nowhere."""
    images = node.inputs[0]
    count = cast(size(images) / size(of_mean), dtypes.float32)
    through_mean = of_mean / count
    through_variance = 2 * of_variance * (images - node.outputs[1]) / (count - 1)
    return [through_mean + through_variance, None, None, None, None]
