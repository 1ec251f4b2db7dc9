"""The trees of a forest and what their leaves know, as a graph's resources, and how checkpoints have them."""

from __future__ import annotations

from collections.abc import Sequence

from weft.estimators.forest.hparams import ForestHParams, build_params_proto
from weft.framework.building.aliases import DynamicShape, Nest, TensorLike
from weft.framework.graphs.collections import GraphKeys
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.types.printed import printed
from weft.ops.forest import growth_nodes, tree_nodes
from weft.ops.variables.get_variable import get_variable
from weft.ops.variables.saveable_object import SaveableObject, SaveSpec
from weft.proto.random_forest_pb2 import TensorForestParams
from weft.training.resources import register_resource

_DOOR = "tf.contrib.tensor_forest.tensor_forest"


class TreeVariableSavable(SaveableObject):
    """A tree in a checkpoint.

    Args:
        params: the forest's parameters, with their message.
        tree_handle, stats_handle: the handles of the tree and of what its leaves know, None for none.
        create_op: initializes the tree.
        name: the name in the checkpoint.
    """

    def __init__(
        self, params: ForestHParams, tree_handle: Tensor, stats_handle: Tensor | None, create_op: Operation, name: str
    ) -> None:
        super().__init__(tree_handle, [SaveSpec(tree_nodes.tree_serialize(tree_handle), "", name)], name)
        self.params = params
        self._create_op = create_op

    def restore(self, restored_tensors: Sequence[Tensor], restored_shapes: Sequence[DynamicShape] | None) -> Operation:
        """Make the nodes that were read those of the tree."""
        with get_default_graph().control_dependencies([self._create_op]):
            made: Operation = tree_nodes.tree_deserialize(self.op, restored_tensors[0], params=self.params.text)
        return made


class FertileStatsVariableSavable(SaveableObject):
    """What the leaves of a tree know, in a checkpoint.

    Args:
        params: the forest's parameters, with their message.
        stats_handle: its handle.
        create_op: initializes it.
        name: the name in the checkpoint.
    """

    def __init__(self, params: ForestHParams, stats_handle: Tensor, create_op: Operation, name: str) -> None:
        written = growth_nodes.fertile_stats_serialize(stats_handle, params=params.text)
        super().__init__(stats_handle, [SaveSpec(written, "", name)], name)
        self.params = params
        self._create_op = create_op

    def restore(self, restored_tensors: Sequence[Tensor], restored_shapes: Sequence[DynamicShape] | None) -> Operation:
        """Make what was read that which leaves know."""
        with get_default_graph().control_dependencies([self._create_op]):
            made: Operation = growth_nodes.fertile_stats_deserialize(self.op, restored_tensors[0], params=self.params.text)
        return made


def tree_variable(
    params: ForestHParams, tree_config: TensorLike, stats_handle: Tensor | None, name: str, container: str | None = None
) -> Tensor:
    """A tree, which sessions initialize and checkpoints have.

    Args:
        params: the forest's parameters, with their message.
        tree_config: its nodes as a message, `[] string`; empty for one leaf.
        stats_handle: the handle of what its leaves know; None for a tree that does not grow.
        name: its name.
        container: the container of its state.

    Returns:
        The handle, `[] resource`.
    """
    graph = get_default_graph()
    with graph.name_scope(name) as scope:
        handle: Tensor = tree_nodes.decision_tree_resource_handle_op(container=container or "", shared_name=scope, name=scope)
        create = tree_nodes.create_tree_variable(handle, tree_config, params=params.text)
        register_resource(handle, create, tree_nodes.tree_is_initialized_op(handle))
        graph.add_to_collection(
            GraphKeys.SAVEABLE_OBJECTS, TreeVariableSavable(params, handle, stats_handle, create, handle.name)
        )
    return handle


def fertile_stats_variable(
    params: ForestHParams, stats_config: TensorLike, name: str, container: str | None = None
) -> Tensor:  # fmt: skip
    """What the leaves of a tree know, which sessions initialize and checkpoints have.

    Args:
        params: the forest's parameters, with their message.
        stats_config: it as a message, `[] string`; empty for a root that has seen nothing.
        name: its name.
        container: the container of its state.

    Returns:
        The handle, `[] resource`.
    """
    graph = get_default_graph()
    with graph.name_scope(name) as scope:
        handle: Tensor = growth_nodes.fertile_stats_resource_handle_op(container=container or "", shared_name=scope, name=scope)
        create = growth_nodes.create_fertile_stats_variable(handle, stats_config, params=params.text)
        register_resource(handle, create, growth_nodes.fertile_stats_is_initialized_op(handle))
        graph.add_to_collection(GraphKeys.SAVEABLE_OBJECTS, FertileStatsVariableSavable(params, handle, create, handle.name))
    return handle


class TreeVariables:
    """A tree, `tree`, and what its leaves know, `stats`, as handles.

    Args:
        params: the forest's parameters, filled; they get the message of them.
        tree_num: the number of the tree.
        training: whether it grows; without, there are no `stats`.
        tree_config, tree_stat: messages to begin with; empty for none.
    """

    def __init__(
        self, params: ForestHParams, tree_num: int, training: bool, tree_config: TensorLike = "", tree_stat: TensorLike = ""
    ) -> None:
        if not isinstance(getattr(params, "params_proto", None), TensorForestParams):
            params.params_proto = build_params_proto(params)
        params.serialized_params_proto = params.params_proto.SerializeToString(deterministic=True)
        self.stats: Tensor | None = None
        if training:
            self.stats = fertile_stats_variable(params, tree_stat, self.get_tree_name("stats", tree_num))
        self.tree = tree_variable(params, tree_config, self.stats, self.get_tree_name("tree", tree_num))

    __repr__ = printed(_DOOR, lambda variables: variables.tree.op.name)

    def get_tree_name(self, name: str, num: int) -> str:
        """The name of a part of the tree.

        Args:
            name: the part.
            num: the number of the tree.
        """
        return f"{name}-{num}"


class ForestVariables:
    """The variables of all trees, by their numbers.

    Args:
        params: the forest's parameters, filled.
        device_assigner: a device, or a function that gives one for each tree; None for the one that holds.
        training: whether the trees grow.
        tree_variables_class: makes the variables of a tree, as TreeVariables does.
        tree_configs, tree_stats: messages to begin with, one for each tree.
    """

    def __init__(
        self, params: ForestHParams, device_assigner: Nest, training: bool = True,
        tree_variables_class: type[TreeVariables] = TreeVariables, tree_configs: Sequence[TensorLike] | None = None,
        tree_stats: Sequence[TensorLike] | None = None,
    ) -> None:  # fmt: skip
        graph = get_default_graph()
        with graph.device(device_assigner):
            # All of a tree is where its variable of no elements is put.
            self.device_dummies = [get_variable(f"device_dummy_{number}", shape=0) for number in range(params.num_trees)]
        self.variables: list[TreeVariables] = []
        for number, dummy in enumerate(self.device_dummies):
            given: dict[str, TensorLike] = {}
            if tree_configs is not None:
                given["tree_config"] = tree_configs[number]
            if tree_stats is not None:
                given["tree_stat"] = tree_stats[number]
            with graph.device(dummy.device):
                self.variables.append(tree_variables_class(params, number, training, **given))

    __repr__ = printed(_DOOR, lambda variables: f"{len(variables.variables)} trees")

    def __setitem__(self, t: int, val: TreeVariables) -> None:
        self.variables[t] = val

    def __getitem__(self, t: int) -> TreeVariables:
        return self.variables[t]
