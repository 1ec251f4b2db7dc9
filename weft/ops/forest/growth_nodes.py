"""The growth of random forests as operations: showing examples to leaves, splitting those that have seen enough."""

from __future__ import annotations

from typing import Final

import numpy as np

from weft.errors import InvalidArgumentError
from weft.framework.building.aliases import Array, Result
from weft.framework.building.op_context import OpContext
from weft.ops.declaration import no_outputs, not_differentiable, op, scalar_shape
from weft.ops.forest.growth import Growth
from weft.ops.forest.inputs import Inputs, Targets, spec_of
from weft.ops.forest.params import params_of
from weft.ops.forest.tree_nodes import tree_of
from weft.ops.strings.portable_hash import murmur_hash_64

_SEED: Final = 0xC70F6907
"""That of the hash of the C++ library with which TensorFlow is built."""


@op("FertileStatsResourceHandleOp", "-> resource: resource", infer=scalar_shape, gradient=not_differentiable,
    stateful=True)  # fmt: skip
def fertile_stats_resource_handle_op(ctx: OpContext, *, container: str = "", shared_name: str = "") -> Result:
    """The handle of what leaves know, which CreateFertileStatsVariable initializes: `-> scalar resource`."""
    ctx.find_or_create(Growth, Growth)
    handle = np.empty((), np.object_)
    handle[()] = ctx.handle_for(Growth)
    return handle


@op("CreateFertileStatsVariable", "stats_handle: resource, stats_config: string ->", ranks={"stats_config": 0},
    infer=no_outputs, gradient=not_differentiable, stateful=True, at_once=True)  # fmt: skip
def create_fertile_stats_variable(ctx: OpContext, stats_handle: Array, stats_config: Array, *, params: str) -> tuple[()]:
    """Initialize what leaves know unless it is: `scalar resource, [] string ->`."""
    ctx.find(Growth, stats_handle).create(params_of(params), stats_config.item())
    return ()


@op("FertileStatsIsInitializedOp", "stats_handle: resource -> is_initialized: bool", infer=scalar_shape,
    gradient=not_differentiable, stateful=True, at_once=True)  # fmt: skip
def fertile_stats_is_initialized_op(ctx: OpContext, stats_handle: Array) -> Result:
    """Whether what leaves know is initialized: `scalar resource -> [] bool`."""
    return np.asarray(ctx.find(Growth, stats_handle).is_initialized)


@op("FertileStatsSerialize", "stats_handle: resource -> stats_config: string", infer=scalar_shape,
    gradient=not_differentiable, stateful=True, at_once=True)  # fmt: skip
def fertile_stats_serialize(ctx: OpContext, stats_handle: Array, *, params: str) -> Result:
    """The message of what leaves know: `scalar resource -> [] string`."""
    found = np.empty((), np.object_)
    found[()] = ctx.find(Growth, stats_handle).serialize(params_of(params))
    return found


@op("FertileStatsDeserialize", "stats_handle: resource, stats_config: string ->", ranks={"stats_config": 0},
    infer=no_outputs, gradient=not_differentiable, stateful=True, at_once=True)  # fmt: skip
def fertile_stats_deserialize(ctx: OpContext, stats_handle: Array, stats_config: Array, *, params: str) -> tuple[()]:
    """Make what a message says that which leaves know: `scalar resource, [] string ->`."""
    ctx.find(Growth, stats_handle).restore(params_of(params), stats_config.item())
    return ()


@op("ProcessInputV4", "tree_handle: resource, stats_handle: resource, input_data: float32, sparse_input_indices: int64, "
    "sparse_input_values: float32, sparse_input_shape: int64, input_labels: float32, input_weights: float32, "
    "leaf_ids: int32 -> finished_nodes: int32", ranks={"leaf_ids": 1}, infer=lambda node: [(None,)],
    gradient=not_differentiable, stateful=True, at_once=True)  # fmt: skip
def process_input_v4(
    ctx: OpContext, tree_handle: Array, stats_handle: Array, input_data: Array, sparse_input_indices: Array,
    sparse_input_values: Array, sparse_input_shape: Array, input_labels: Array, input_weights: Array, leaf_ids: Array, *,
    random_seed: int, input_spec: str, params: str,
) -> Result:  # fmt: skip
    """Show examples to their leaves; gives the leaves that have seen enough.

    `scalar resource, scalar resource, [batch, features], [n, 2], [n], [2], [batch, ...], [m], [batch] -> [k] int32`

    Args:
        tree_handle: [] resource, the tree.
        stats_handle: [] resource, what its leaves know.
        input_data: [batch, features] tensor of floating numbers, float32; of rank 1 where there are sparse features alone.
        sparse_input_indices: [n, 2] int64 tensor, the places of sparse features in their order; of rank 1 for none.
        sparse_input_values: [n] float32 tensor, their values.
        sparse_input_shape: [2] int64 tensor, how many examples and features there are.
        input_labels: [batch] or [batch, outputs] float32 tensor.
        input_weights: [m] float32 tensor, the weights of the first examples; others have 1.
        leaf_ids: [batch] int32 tensor, the leaves of the examples.
        random_seed: the seed of the features that leaves choose; 0 for others each time.
        input_spec: what the columns are, as the text of a TensorForestDataSpec.
        params: the message of the forest's parameters.

    Returns:
        [k] int32 tensor, the numbers of leaves.
    """
    given = params_of(params)
    inputs = Inputs(spec_of(input_spec), input_data, sparse_input_indices, sparse_input_values, sparse_input_shape)
    targets = Targets(input_labels, input_weights, given.is_regression, given.num_outputs)
    if not len(leaf_ids) == len(targets.numbers) == inputs.count:
        raise InvalidArgumentError.of(
            f"Expected a label and a leaf for each of {inputs.count} examples, found {len(targets.numbers)} labels and "
            f"{len(leaf_ids)} leaves"
        )
    return ctx.find(Growth, stats_handle).process(inputs, targets, leaf_ids, random_seed)


@op("GrowTreeV4", "tree_handle: resource, stats_handle: resource, finished_nodes: int32 ->", ranks={"finished_nodes": 1},
    infer=no_outputs, gradient=not_differentiable, stateful=True, at_once=True)  # fmt: skip
def grow_tree_v4(
    ctx: OpContext, tree_handle: Array, stats_handle: Array, finished_nodes: Array, *, params: str
) -> tuple[()]:  # fmt: skip
    """Split leaves by the best of what they have considered: `scalar resource, scalar resource, [k] ->`.

    Args:
        tree_handle: [] resource, the tree.
        stats_handle: [] resource, what its leaves know.
        finished_nodes: [k] int32 tensor, the leaves.
        params: the message of the forest's parameters.

    Returns:
        The operation.
    """
    ctx.find(Growth, stats_handle).grow(tree_of(ctx, tree_handle), finished_nodes.tolist())
    return ()


@op("ReinterpretStringToFloat", "input_data: string -> output_data: float32", infer=lambda node: [node.inputs[0].dims],
    gradient=not_differentiable)  # fmt: skip
def reinterpret_string_to_float(ctx: OpContext, input_data: Array) -> Result:
    """A number for each text, which tells it from most others: `[...] -> [...]`.

    Args:
        input_data: [...] string tensor.

    Returns:
        [...] float32 tensor.
    """
    numbers = [murmur_hash_64(each, _SEED) for each in input_data.ravel()]
    return np.array(numbers, np.uint64).astype(np.float32).reshape(input_data.shape)
