"""Masks of weights: variables of zeros and ones by which pruning takes weights out, and the collections that have them."""

from __future__ import annotations

from typing import Final, Protocol

from weft.framework.building.aliases import DTypeLike, Nest, VariableLike
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.operation import Tensor
from weft.ops.math.elementwise import mul
from weft.ops.nn.norm import zero_fraction
from weft.ops.variables.get_variable import get_variable
from weft.ops.variables.initializers import Ones, Zeros
from weft.ops.variables.scopes import ScopeLike
from weft.ops.variables.variable_scope import variable_scope

_MASKS: Final = "masks"
_THRESHOLDS: Final = "thresholds"
_MASKED_WEIGHTS: Final = "masked_weights"
_WEIGHTS: Final = "kernel"
# By this name `strip_pruning_vars_fn` finds the products.
_MASKED_WEIGHT: Final = "weights/masked_weight"


class _MakesVariables(Protocol):
    """A layer or a cell."""

    def add_variable(self, *args: Nest, **kwargs: Nest) -> VariableLike:
        """The variable of a name."""
        ...


def mask_of(layer: _MakesVariables, shape: list[int]) -> VariableLike:
    """A layer's mask, all ones at first.

    Args:
        layer: the layer.
        shape: the shape of its weights.
    """
    return layer.add_variable("mask", shape, None, Ones(), trainable=False)


def threshold_of(layer: _MakesVariables) -> VariableLike:
    """A layer's threshold, zero at first, below which weights are taken out.

    Args:
        layer: the layer.
    """
    return layer.add_variable("threshold", [], None, Zeros(), trainable=False)


def masked(weights: VariableLike, mask: VariableLike, threshold: VariableLike) -> Tensor:
    """The weights that are left, after all four were put in collections, once for each mask.

    Args:
        weights: the weights.
        mask: zeros and ones.
        threshold: below which weights are taken out.
    """
    left = mul(mask, weights, name=_MASKED_WEIGHT)
    graph = get_default_graph()
    if not any(each is mask for each in graph.get_collection(_MASKS)):
        for collection, each in ((_THRESHOLDS, threshold), (_MASKS, mask), (_MASKED_WEIGHTS, left), (_WEIGHTS, weights)):
            graph.add_to_collection(collection, each)
    return left


def apply_mask(x: VariableLike, scope: ScopeLike = "") -> Tensor:
    """The weights that pruning leaves: a product with a variable `mask`, made with a variable `threshold`.

    Args:
        x: the weights, a variable.
        scope: the variable scope of mask and threshold, below the one that is open.
    """
    kind: DTypeLike = x.dtype.base_dtype
    with variable_scope(scope):
        mask = get_variable("mask", x.get_shape(), kind, Ones(), trainable=False)
    with variable_scope(scope):
        threshold = get_variable("threshold", [], kind, Zeros(), trainable=False)
    return masked(x, mask, threshold)


def get_masked_weights() -> list[Tensor]:
    """The products of weights and masks in the default graph."""
    return get_default_graph().get_collection(_MASKED_WEIGHTS)


def get_masks() -> list[VariableLike]:
    """The masks in the default graph."""
    return get_default_graph().get_collection(_MASKS)


def get_thresholds() -> list[VariableLike]:
    """The thresholds in the default graph."""
    return get_default_graph().get_collection(_THRESHOLDS)


def get_weights() -> list[VariableLike]:
    """The weights that have masks in the default graph."""
    return get_default_graph().get_collection(_WEIGHTS)


def get_weight_sparsity() -> list[Tensor]:
    """How much of each of the weights is taken out: a scalar tensor for each mask."""
    return [zero_fraction(mask) for mask in get_masks()]
