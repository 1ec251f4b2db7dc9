"""Ensembles of boosted trees as operations: making one, asking it, growing it."""

from __future__ import annotations

from itertools import chain

import numpy as np

from weft.errors import InvalidArgumentError
from weft.framework.building.aliases import Array, Result
from weft.framework.building.op_context import OpContext
from weft.framework.nodes.operation import Operation
from weft.framework.types.dims import Dims
from weft.ops.declaration import no_outputs, not_differentiable, op, scalar_shape
from weft.ops.trees.ensemble import Ensemble, Pruning
from weft.ops.trees.tree import Split


def _ensemble(ctx: OpContext, handle: Array) -> Ensemble:
    return ctx.find(Ensemble, handle)


@op("BoostedTreesEnsembleResourceHandleOp", "-> resource: resource", infer=scalar_shape, gradient=not_differentiable,
    stateful=True)  # fmt: skip
def boosted_trees_ensemble_resource_handle_op(ctx: OpContext, *, container: str = "", shared_name: str = "") -> Result:
    """The handle of an ensemble, which BoostedTreesCreateEnsemble initializes: `-> scalar resource`."""
    ctx.find_or_create(Ensemble, Ensemble)
    handle = np.empty((), np.object_)
    handle[()] = ctx.handle_for(Ensemble)
    return handle


@op("BoostedTreesCreateEnsemble", "tree_ensemble_handle: resource, stamp_token: int64, tree_ensemble_serialized: string ->",
    ranks={"stamp_token": 0, "tree_ensemble_serialized": 0}, infer=no_outputs, gradient=not_differentiable, stateful=True,
    at_once=True)  # fmt: skip
def boosted_trees_create_ensemble(
    ctx: OpContext, tree_ensemble_handle: Array, stamp_token: Array, tree_ensemble_serialized: Array
) -> tuple[()]:
    """Initialize an ensemble unless it is: `scalar resource, [] int64, [] string ->`."""
    _ensemble(ctx, tree_ensemble_handle).create(int(stamp_token), tree_ensemble_serialized.item())
    return ()


@op("IsBoostedTreesEnsembleInitialized", "tree_ensemble_handle: resource -> is_initialized: bool", infer=scalar_shape,
    gradient=not_differentiable, stateful=True, at_once=True)  # fmt: skip
def is_boosted_trees_ensemble_initialized(ctx: OpContext, tree_ensemble_handle: Array) -> Result:
    """Whether an ensemble is initialized: `scalar resource -> [] bool`."""
    return np.asarray(_ensemble(ctx, tree_ensemble_handle).is_initialized)


@op("BoostedTreesSerializeEnsemble", "tree_ensemble_handle: resource -> stamp_token: int64, tree_ensemble_serialized: string",
    infer=scalar_shape, gradient=not_differentiable, stateful=True, at_once=True)  # fmt: skip
def boosted_trees_serialize_ensemble(ctx: OpContext, tree_ensemble_handle: Array) -> tuple[Result, Result]:
    """The ensemble as a message, and its stamp: `scalar resource -> [] int64, [] string`."""
    stamp, serialized = _ensemble(ctx, tree_ensemble_handle).serialize()
    return np.asarray(stamp, np.int64), np.array(serialized, np.object_)


@op("BoostedTreesDeserializeEnsemble",
    "tree_ensemble_handle: resource, stamp_token: int64, tree_ensemble_serialized: string ->",
    ranks={"stamp_token": 0, "tree_ensemble_serialized": 0}, infer=no_outputs, gradient=not_differentiable, stateful=True,
    at_once=True)  # fmt: skip
def boosted_trees_deserialize_ensemble(
    ctx: OpContext, tree_ensemble_handle: Array, stamp_token: Array, tree_ensemble_serialized: Array
) -> tuple[()]:
    """Make the trees of a message those of the ensemble: `scalar resource, [] int64, [] string ->`."""
    _ensemble(ctx, tree_ensemble_handle).restore(int(stamp_token), tree_ensemble_serialized.item())
    return ()


def _state_dims(node: Operation) -> list[Dims]:
    return [(), (), (), (), (2,)]


@op("BoostedTreesGetEnsembleStates", "tree_ensemble_handle: resource -> stamp_token: int64, num_trees: int32, "
    "num_finalized_trees: int32, num_attempted_layers: int32, last_layer_nodes_range: int32", infer=_state_dims,
    gradient=not_differentiable, stateful=True, at_once=True)  # fmt: skip
def boosted_trees_get_ensemble_states(ctx: OpContext, tree_ensemble_handle: Array) -> Array:
    """The stamp, how many trees there are, are finalized, and layers were tried, and the range of nodes to split.

    `scalar resource -> [] int64, [], [], [], [2]`
    """
    stamp, *counts, last_layer = _ensemble(ctx, tree_ensemble_handle).states()
    return (np.asarray(stamp, np.int64), *(np.asarray(each, np.int32) for each in counts), np.asarray(last_layer, np.int32))


def _batch(node: Operation, first: int) -> int | None:
    sizes = [each.dims[0] for each in node.inputs[first:] if each.dims]
    return next((size for size in sizes if size is not None), None)


def _stacked(bucketized_features: list[Array]) -> Array:
    """Features as one array `[features, batch]`."""
    if len({each.shape for each in bucketized_features}) > 1:
        raise InvalidArgumentError.of(
            "bucketized_features have to be of one batch, found the shapes "
            f"{sorted({tuple(each.shape) for each in bucketized_features})}"
        )
    return np.stack(bucketized_features)


def _check_dimension(logits_dimension: int) -> None:
    if logits_dimension != 1:
        raise InvalidArgumentError.of(f"Trees have one logit for each example: logits_dimension is {logits_dimension}, not 1")


@op("BoostedTreesPredict", "tree_ensemble_handle: resource, bucketized_features: num_bucketized_features*int32 -> "
    "logits: float32", ranks={"bucketized_features": 1}, infer=lambda node: [(_batch(node, 1), node.attrs["logits_dimension"])],
    gradient=not_differentiable, stateful=True, at_once=True, limits={"num_bucketized_features": 1})  # fmt: skip
def boosted_trees_predict(
    ctx: OpContext, tree_ensemble_handle: Array, bucketized_features: list[Array], *, logits_dimension: int
) -> Result:
    """The logits of examples: `scalar resource, num_bucketized_features*[batch] -> [batch, 1]`."""
    _check_dimension(logits_dimension)
    return _ensemble(ctx, tree_ensemble_handle).predict(_stacked(bucketized_features))[:, None]


@op("BoostedTreesTrainingPredict", "tree_ensemble_handle: resource, cached_tree_ids: int32, cached_node_ids: int32, "
    "bucketized_features: num_bucketized_features*int32 -> partial_logits: float32, tree_ids: int32, node_ids: int32",
    ranks={"cached_tree_ids": 1, "cached_node_ids": 1, "bucketized_features": 1},
    infer=lambda node: [(_batch(node, 1), node.attrs["logits_dimension"]), (_batch(node, 1),), (_batch(node, 1),)],
    gradient=not_differentiable, stateful=True, at_once=True, limits={"num_bucketized_features": 1})  # fmt: skip
def boosted_trees_training_predict(
    ctx: OpContext, tree_ensemble_handle: Array, cached_tree_ids: Array, cached_node_ids: Array,
    bucketized_features: list[Array], *, logits_dimension: int,
) -> tuple[Result, Result, Result]:  # fmt: skip
    """What examples have gained since they were at some nodes, and the trees and nodes where they are now.

    `scalar resource, [batch], [batch], num_bucketized_features*[batch] -> [batch, 1], [batch], [batch]`
    """
    _check_dimension(logits_dimension)
    features = _stacked(bucketized_features)
    if not len(cached_tree_ids) == len(cached_node_ids) == features.shape[1]:
        raise InvalidArgumentError.of(
            f"Expected as many examples in each input, found {len(cached_tree_ids)} cached_tree_ids, {len(cached_node_ids)} "
            f"cached_node_ids and {features.shape[1]} of each feature"
        )
    gained, trees, nodes = _ensemble(ctx, tree_ensemble_handle).predict_on(features, cached_tree_ids, cached_node_ids)
    return gained[:, None], trees, nodes


@op("BoostedTreesExampleDebugOutputs", "tree_ensemble_handle: resource, bucketized_features: num_bucketized_features*int32 -> "
    "examples_debug_outputs_serialized: string", ranks={"bucketized_features": 1}, infer=lambda node: [(_batch(node, 1),)],
    gradient=not_differentiable, stateful=True, at_once=True, limits={"num_bucketized_features": 1})  # fmt: skip
def boosted_trees_example_debug_outputs(
    ctx: OpContext, tree_ensemble_handle: Array, bucketized_features: list[Array], *, logits_dimension: int
) -> Result:
    """The splits that examples pass and their logits on the way, as messages.

    `scalar resource, num_bucketized_features*[batch] -> [batch] string`
    """
    _check_dimension(logits_dimension)
    paths = _ensemble(ctx, tree_ensemble_handle).paths(_stacked(bucketized_features))
    found = np.empty(len(paths), np.object_)
    found[:] = paths
    return found


@op("BoostedTreesCenterBias", "tree_ensemble_handle: resource, mean_gradients: float32, mean_hessians: float32, l1: float32, "
    "l2: float32 -> continue_centering: bool", ranks={"mean_gradients": 2, "mean_hessians": 2, "l1": 0, "l2": 0},
    infer=scalar_shape, gradient=not_differentiable, stateful=True, at_once=True)  # fmt: skip
def boosted_trees_center_bias(
    ctx: OpContext, tree_ensemble_handle: Array, mean_gradients: Array, mean_hessians: Array, l1: Array, l2: Array
) -> Result:
    """Move all logits towards the labels' mean; tells whether there is more to do.

    `scalar resource, [1, 1], [1, 1], [], [] -> [] bool`
    """
    ensemble = _ensemble(ctx, tree_ensemble_handle)
    if mean_gradients.shape != (1, 1) or mean_hessians.shape != (1, 1):
        raise InvalidArgumentError.of(
            f"mean_gradients and mean_hessians have to be of shape [1, 1], found {mean_gradients.shape} and "
            f"{mean_hessians.shape}"
        )
    return np.asarray(ensemble.center(mean_gradients[0, 0], mean_hessians[0, 0], l1, l2))


@op("BoostedTreesUpdateEnsemble", "tree_ensemble_handle: resource, feature_ids: int32, node_ids: num_features*int32, "
    "gains: num_features*float32, thresholds: num_features*int32, left_node_contribs: num_features*float32, "
    "right_node_contribs: num_features*float32, max_depth: int32, learning_rate: float32 ->",
    ranks={"feature_ids": 1, "node_ids": 1, "gains": 1, "thresholds": 1, "left_node_contribs": 2, "right_node_contribs": 2,
    "max_depth": 0, "learning_rate": 0}, infer=no_outputs, gradient=not_differentiable, stateful=True, at_once=True,
    limits={"num_features": 0, "pruning_mode": 0})  # fmt: skip
def boosted_trees_update_ensemble(
    ctx: OpContext, tree_ensemble_handle: Array, feature_ids: Array, node_ids: list[Array], gains: list[Array],
    thresholds: list[Array], left_node_contribs: list[Array], right_node_contribs: list[Array], max_depth: Array,
    learning_rate: Array, *, pruning_mode: int,
) -> tuple[()]:  # fmt: skip
    """Split the nodes of the last layer by the best of what each feature offers.

    `scalar resource, [num_features], num_features*[n], num_features*[n], num_features*[n], num_features*[n, 1],
    num_features*[n, 1], [], [] ->`
    """
    if not 0 <= pruning_mode <= max(Pruning):
        raise InvalidArgumentError.of(f"pruning_mode is 0 for none, 1 before a split or 2 after a tree, found {pruning_mode}")
    if len(feature_ids) != len(node_ids):
        raise InvalidArgumentError.of(f"Expected a feature id for each of {len(node_ids)} features, found {len(feature_ids)}")
    parts = zip(feature_ids, node_ids, thresholds, gains, left_node_contribs, right_node_contribs, strict=True)
    candidates = chain.from_iterable(
        (
            (int(node), Split(int(feature), int(threshold), float(gain), learning_rate * left, learning_rate * right))
            for node, threshold, gain, left, right in zip(nodes, limits, own_gains, lefts[:, 0], rights[:, 0], strict=True)
        )
        for feature, nodes, limits, own_gains, lefts, rights in parts
    )
    _ensemble(ctx, tree_ensemble_handle).grow(list(candidates), int(max_depth), Pruning(pruning_mode))
    return ()
