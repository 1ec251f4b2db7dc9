"""Trees of random forests as operations: making one, asking it, counting in its leaves."""

from __future__ import annotations

import numpy as np

from weft.framework.building.aliases import Array, Result
from weft.framework.building.op_context import OpContext
from weft.framework.nodes.operation import Operation
from weft.framework.types.dims import Dims
from weft.ops.declaration import no_outputs, not_differentiable, op, scalar_shape
from weft.ops.forest.inputs import Inputs, Targets, spec_of
from weft.ops.forest.params import params_of
from weft.ops.forest.tree import Tree

_INPUTS = (
    "tree_handle: resource, input_data: float32, sparse_input_indices: int64, sparse_input_values: float32, "
    "sparse_input_shape: int64"
)


def tree_of(ctx: OpContext, handle: Array) -> Tree:
    """The tree of a handle."""
    return ctx.find(Tree, handle)


@op("DecisionTreeResourceHandleOp", "-> resource: resource", infer=scalar_shape, gradient=not_differentiable,
    stateful=True)  # fmt: skip
def decision_tree_resource_handle_op(ctx: OpContext, *, container: str = "", shared_name: str = "") -> Result:
    """The handle of a tree, which CreateTreeVariable initializes: `-> scalar resource`."""
    ctx.find_or_create(Tree, Tree)
    handle = np.empty((), np.object_)
    handle[()] = ctx.handle_for(Tree)
    return handle


@op("CreateTreeVariable", "tree_handle: resource, tree_config: string ->", ranks={"tree_config": 0}, infer=no_outputs,
    gradient=not_differentiable, stateful=True, at_once=True)  # fmt: skip
def create_tree_variable(ctx: OpContext, tree_handle: Array, tree_config: Array, *, params: str) -> tuple[()]:
    """Initialize a tree unless it is: `scalar resource, [] string ->`."""
    tree_of(ctx, tree_handle).create(params_of(params), tree_config.item())
    return ()


@op("TreeIsInitializedOp", "tree_handle: resource -> is_initialized: bool", infer=scalar_shape, gradient=not_differentiable,
    stateful=True, at_once=True)  # fmt: skip
def tree_is_initialized_op(ctx: OpContext, tree_handle: Array) -> Result:
    """Whether a tree is initialized: `scalar resource -> [] bool`."""
    return np.asarray(tree_of(ctx, tree_handle).is_initialized)


@op("TreeSerialize", "tree_handle: resource -> tree_config: string", infer=scalar_shape, gradient=not_differentiable,
    stateful=True, at_once=True)  # fmt: skip
def tree_serialize(ctx: OpContext, tree_handle: Array) -> Result:
    """The message of a tree: `scalar resource -> [] string`."""
    found = np.empty((), np.object_)
    found[()] = tree_of(ctx, tree_handle).serialize()
    return found


@op("TreeDeserialize", "tree_handle: resource, tree_config: string ->", ranks={"tree_config": 0}, infer=no_outputs,
    gradient=not_differentiable, stateful=True, at_once=True)  # fmt: skip
def tree_deserialize(ctx: OpContext, tree_handle: Array, tree_config: Array, *, params: str) -> tuple[()]:
    """Make the nodes of a message those of the tree: `scalar resource, [] string ->`."""
    tree_of(ctx, tree_handle).restore(params_of(params), tree_config.item())
    return ()


@op("TreeSize", "tree_handle: resource -> tree_size: int32", infer=scalar_shape, gradient=not_differentiable, stateful=True,
    at_once=True)  # fmt: skip
def tree_size(ctx: OpContext, tree_handle: Array) -> Result:
    """How many nodes a tree has: `scalar resource -> [] int32`.

    Args:
        tree_handle: [] resource, the tree.

    Returns:
        [] int32 tensor.
    """
    return np.asarray(tree_of(ctx, tree_handle).size, np.int32)


def _batch(node: Operation) -> int | None:
    dense = node.inputs[1].dims
    return dense[0] if dense is not None and len(dense) == 2 else None


def _prediction_dims(node: Operation) -> list[Dims]:
    params = params_of(node.attrs["params"])
    return [(_batch(node), params.num_outputs), (_batch(node) if params.inference_tree_paths else 0,)]


@op("TreePredictionsV4", f"{_INPUTS} -> predictions: float32, tree_paths: string", infer=_prediction_dims,
    gradient=not_differentiable, stateful=True, at_once=True)  # fmt: skip
def tree_predictions_v4(
    ctx: OpContext, tree_handle: Array, input_data: Array, sparse_input_indices: Array, sparse_input_values: Array,
    sparse_input_shape: Array, *, input_spec: str, params: str,
) -> tuple[Result, Result]:  # fmt: skip
    """What the leaves of examples say, and the nodes on the way there as messages, if the parameters want these.

    `scalar resource, [batch, features], [n, 2], [n], [2] -> [batch, outputs], [batch or 0] string`

    Args:
        tree_handle: [] resource, the tree.
        input_data: [batch, features] tensor of floating numbers, float32; of rank 1 where there are sparse features alone.
        sparse_input_indices: [n, 2] int64 tensor, the places of sparse features in their order; of rank 1 for none.
        sparse_input_values: [n] float32 tensor, their values.
        sparse_input_shape: [2] int64 tensor, how many examples and features there are.
        input_spec: what the columns are, as the text of a TensorForestDataSpec.
        params: the message of the forest's parameters.

    Returns:
        [batch, outputs] float32 tensor of the parts of classes, or numbers; [batch] string tensor of TreePath messages, or [0].
    """
    inputs = Inputs(spec_of(input_spec), input_data, sparse_input_indices, sparse_input_values, sparse_input_shape)
    tree = tree_of(ctx, tree_handle)
    paths = tree.paths(inputs) if params_of(params).inference_tree_paths else []
    found = np.empty(len(paths), np.object_)
    found[:] = paths
    return tree.predict(inputs), found


@op("TraverseTreeV4", f"{_INPUTS} -> leaf_ids: int32", infer=lambda node: [(_batch(node),)], gradient=not_differentiable,
    stateful=True, at_once=True)  # fmt: skip
def traverse_tree_v4(
    ctx: OpContext, tree_handle: Array, input_data: Array, sparse_input_indices: Array, sparse_input_values: Array,
    sparse_input_shape: Array, *, input_spec: str, params: str,
) -> Result:  # fmt: skip
    """The leaves that examples come to: `scalar resource, [batch, features], [n, 2], [n], [2] -> [batch] int32`.

    Args:
        tree_handle: [] resource, the tree.
        input_data: [batch, features] tensor of floating numbers, float32; of rank 1 where there are sparse features alone.
        sparse_input_indices: [n, 2] int64 tensor, the places of sparse features in their order; of rank 1 for none.
        sparse_input_values: [n] float32 tensor, their values.
        sparse_input_shape: [2] int64 tensor, how many examples and features there are.
        input_spec: what the columns are, as the text of a TensorForestDataSpec.
        params: the message of the forest's parameters.

    Returns:
        [batch] int32 tensor, the numbers of nodes.
    """
    inputs = Inputs(spec_of(input_spec), input_data, sparse_input_indices, sparse_input_values, sparse_input_shape)
    return tree_of(ctx, tree_handle).leaves(inputs)


@op("UpdateModelV4", "tree_handle: resource, leaf_ids: int32, input_labels: float32, input_weights: float32 ->",
    ranks={"leaf_ids": 1}, infer=no_outputs, gradient=not_differentiable, stateful=True, at_once=True)  # fmt: skip
def update_model_v4(
    ctx: OpContext, tree_handle: Array, leaf_ids: Array, input_labels: Array, input_weights: Array, *, params: str
) -> tuple[()]:
    """Count the classes of examples in their leaves: `scalar resource, [batch], [batch, ...], [n] ->`.

    Args:
        tree_handle: [] resource, the tree.
        leaf_ids: [batch] int32 tensor, the leaves of the examples.
        input_labels: [batch] or [batch, outputs] float32 tensor.
        input_weights: [n] float32 tensor, the weights of the first examples; others have 1.
        params: the message of the forest's parameters.

    Returns:
        The operation.
    """
    given = params_of(params)
    targets = Targets(input_labels, input_weights, given.is_regression, given.num_outputs)
    tree_of(ctx, tree_handle).update(leaf_ids, targets)
    return ()


@op("FeatureUsageCounts", "tree_handle: resource -> feature_counts: int32",
    infer=lambda node: [(params_of(node.attrs["params"]).num_features,)], gradient=not_differentiable, stateful=True,
    at_once=True)  # fmt: skip
def feature_usage_counts(ctx: OpContext, tree_handle: Array, *, params: str) -> Result:
    """How many nodes of a tree split by each feature: `scalar resource -> [features] int32`.

    Args:
        tree_handle: [] resource, the tree.
        params: the message of the forest's parameters.

    Returns:
        [features] int32 tensor.
    """
    return tree_of(ctx, tree_handle).usage_counts(params_of(params).num_features)
