"""Batch normalization of frozen graphs, folded into the weights in front of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Final

import numpy as np
from tensorboard.compat.proto import graph_pb2, node_def_pb2

from weft.client.graph_transforms.nodes import constant, with_nodes
from weft.client.graph_transforms.request import Request
from weft.framework.importing.subgraph import node_name
from weft.framework.types import tensor_util

_PRODUCTS: Final = frozenset({"Conv2D", "MatMul", "DepthwiseConv2dNative"})
_FUSED: Final = frozenset({"FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3"})
_Statistics = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, float]
_EPSILON: Final = 1e-4  # the default of FusedBatchNorm


class _Graph:
    """A graph that is being folded: its nodes by name, and how often each is read."""

    def __init__(self, graph: graph_pb2.GraphDef, request: Request) -> None:
        self.nodes = {node.name: node for node in graph.node}
        self._reads = Counter(node_name(item) for node in graph.node for item in node.input)
        items = (item.partition(":") for node in graph.node for item in node.input)
        self._further = {name for name, _, output in items if output not in ("", "0")}
        self._kept = request.kept
        self.changed: dict[str, list[node_def_pb2.NodeDef]] = {}

    def is_read_further(self, name: str) -> bool:
        """Whether a node's outputs behind the first are read, too."""
        return name in self._further

    def array(self, item: str) -> np.ndarray | None:
        """What a constant holds; None for another node."""
        node = self.nodes.get(item.removesuffix(":0"))
        return None if node is None or node.op != "Const" else tensor_util.make_ndarray(node.attr["value"].tensor)

    def product(self, item: str) -> node_def_pb2.NodeDef | None:
        """The product with constant weights that an input is, if nothing else reads it or them; channels are its last size."""
        node = self.nodes.get(item.removesuffix(":0"))
        if node is None or node.op not in _PRODUCTS or node.name in self.changed or len(node.input) != 2:
            return None
        if self.array(node.input[1]) is None or not (self._is_read_once(node.name) and self._is_read_once(node.input[1])):
            return None
        return None if _is_channels_first(node) or ("transpose_b" in node.attr and node.attr["transpose_b"].b) else node

    def _is_read_once(self, item: str) -> bool:
        name = node_name(item)
        return self._reads[name] == 1 and name not in self._kept

    def fold(self, product: node_def_pb2.NodeDef, name: str, factors: np.ndarray) -> None:
        """Put the product, under another name, in the place of itself, its weights times a number for each channel."""
        weights = self.array(product.input[1])
        assert weights is not None
        wide = factors.reshape(weights.shape[-2:]) if product.op == "DepthwiseConv2dNative" else factors
        scaled = constant(node_name(product.input[1]), (weights * wide).astype(weights.dtype))
        made = node_def_pb2.NodeDef()
        made.CopyFrom(product)
        made.name = name
        self.changed[product.name], self.changed[scaled.name] = [made], [scaled]

    def replace(self, node: node_def_pb2.NodeDef, made: list[node_def_pb2.NodeDef]) -> None:
        """Put others in the place of a node, and of the constants that it alone reads."""
        self.changed[node.name] = made
        for name in map(node_name, node.input):
            if self.array(name) is not None and self._is_read_once(name):
                self.changed[name] = []

    def folded(self, graph: graph_pb2.GraphDef) -> graph_pb2.GraphDef:
        """The graph as it is by now."""
        made = [new for node in graph.node for new in self.changed.get(node.name, [node])]
        return with_nodes(graph, made)


def fold_batch_norms(graph: graph_pb2.GraphDef, request: Request) -> graph_pb2.GraphDef:
    """The graph without the factors, a number for each channel, that convolutions and matrix products are multiplied by."""
    return _each(graph, request, _fold_factor)


def fold_old_batch_norms(graph: graph_pb2.GraphDef, request: Request) -> graph_pb2.GraphDef:
    """The graph with a sum in the place of each node of batch normalization that follows a convolution."""
    return _each(graph, request, _fold_node)


def _each(
    graph: graph_pb2.GraphDef, request: Request, fold: Callable[[_Graph, node_def_pb2.NodeDef], None]
) -> graph_pb2.GraphDef:
    state = _Graph(graph, request)
    for node in graph.node:
        fold(state, node)
    return state.folded(graph)


def _is_channels_first(node: node_def_pb2.NodeDef) -> bool:
    return "data_format" in node.attr and node.attr["data_format"].s not in (b"", b"NHWC")


def _channels(product: node_def_pb2.NodeDef, weights: np.ndarray) -> int:
    return int(np.prod(weights.shape[-2:] if product.op == "DepthwiseConv2dNative" else weights.shape[-1:]))


def _fold_factor(graph: _Graph, node: node_def_pb2.NodeDef) -> None:
    if node.op != "Mul" or len(node.input) != 2:
        return
    product, factors = graph.product(node.input[0]), graph.array(node.input[1])
    if product is None or factors is None:
        return
    weights = graph.array(product.input[1])
    assert weights is not None
    if factors.ndim == 1 and factors.size == _channels(product, weights):
        graph.fold(product, node.name, factors)
        graph.replace(node, [])


def _fold_node(graph: _Graph, node: node_def_pb2.NodeDef) -> None:
    found = _statistics(graph, node)
    product = None if found is None else graph.product(node.input[0])
    if product is None or product.op != "Conv2D" or found is None or graph.is_read_further(node.name):
        return
    mean, variance, scale, offset, epsilon = found
    factors = scale / np.sqrt(variance + epsilon)
    graph.fold(product, product.name, factors)
    moved = constant(f"{product.name}_bn_offset", (offset - mean * factors).astype(mean.dtype))
    inputs = [product.name, moved.name]
    summed = node_def_pb2.NodeDef(name=node.name, op="BiasAdd", input=inputs, device=node.device)
    summed.attr["T"].CopyFrom(node.attr["T"])
    graph.replace(node, [moved, summed])


def _statistics(graph: _Graph, node: node_def_pb2.NodeDef) -> _Statistics | None:
    """Mean, variance, scale, offset and epsilon of a node of batch normalization whose inputs are constants."""
    arrays = [graph.array(item) for item in node.input[1:5]]
    if len(arrays) != 4 or any(each is None for each in arrays):
        return None
    first, second, third, fourth = (np.asarray(each) for each in arrays)
    if node.op == "BatchNormWithGlobalNormalization":
        is_scaled = "scale_after_normalization" in node.attr and node.attr["scale_after_normalization"].b
        scale = fourth if is_scaled else np.ones_like(fourth)
        return first, second, scale, third, node.attr["variance_epsilon"].f
    # In training, which is the default, the numbers are the batch's own.
    if node.op not in _FUSED or "is_training" not in node.attr or node.attr["is_training"].b or _is_channels_first(node):
        return None
    return third, fourth, first, second, node.attr["epsilon"].f if "epsilon" in node.attr else _EPSILON
