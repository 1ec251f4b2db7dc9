"""Trees of an ensemble: walked by whole batches as arrays, grown and pruned as the messages that checkpoints have of them."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from weft.errors import InvalidArgumentError
from weft.framework.building.aliases import Array
from weft.proto.boosted_trees_pb2 import Tree, TreeMetadata, TreeNode

_NONE: Final = -1


class Split(NamedTuple):
    """A split of a leaf by a feature: examples of buckets up to the threshold go left."""

    feature: int
    threshold: int
    gain: float
    left: np.float32
    right: np.float32


class Walk:
    """A tree as arrays. Not changed once it is made.

    Args:
        tree: the message.
    """

    def __init__(self, tree: Tree) -> None:
        nodes = tree.nodes
        splits = [each.bucketized_split if each.HasField("bucketized_split") else None for each in nodes]
        self._feature = np.array([_NONE if each is None else each.feature_id for each in splits], np.intp)
        self._threshold = np.array([0 if each is None else each.threshold for each in splits], np.int32)
        self._children = np.array(
            [(_NONE, _NONE) if each is None else (each.left_id, each.right_id) for each in splits], np.intp
        )
        self.values = np.array([_value(each) for each in nodes], np.float32)
        """The logit of each node, of one that has been split as it was before; `[nodes] float32`."""

    def is_leaf(self, nodes: Array) -> Array:
        """Whether nodes are leaves: `[n] -> [n] bool`."""
        return self._feature[nodes] == _NONE

    def leaves(self, features: Array, nodes: Array) -> Array:
        """The leaves below some nodes that examples come to: `[features, n] int32, [n] -> [n]`."""
        nodes = nodes.copy()
        walking = np.flatnonzero(~self.is_leaf(nodes))
        while len(walking):
            nodes[walking] = self.next(features[:, walking], nodes[walking])
            walking = walking[~self.is_leaf(nodes[walking])]
        return nodes

    def next(self, features: Array, nodes: Array) -> Array:
        """The children of nodes, none a leaf, that examples come to: `[features, n] int32, [n] -> [n]`."""
        which = self._feature[nodes]
        if len(which) and which.max() >= len(features):
            raise InvalidArgumentError.of(
                f"The ensemble splits by feature {which.max()}, but bucketized_features has {len(features)}: it was trained "
                "with other feature columns"
            )
        is_right = features[which, np.arange(len(nodes))] > self._threshold[nodes]
        return self._children[nodes, is_right.astype(np.intp)]

    def feature_of(self, nodes: Array) -> Array:
        """The features by which nodes are split: `[n] -> [n]`."""
        return self._feature[nodes]


def _value(node: TreeNode) -> float:
    return node.leaf.scalar if node.HasField("leaf") else node.metadata.original_leaf.scalar


def check_tree(tree: Tree, metadata: TreeMetadata) -> None:
    """Refuse a tree that came from elsewhere and cannot be walked to an end.

    Raises:
        InvalidArgumentError: it has no nodes, a split that no example could pass, or notes of pruning that lead nowhere.
    """
    count = len(tree.nodes)
    if not count:
        raise InvalidArgumentError.of("it has no nodes")
    for number, node in enumerate(tree.nodes):
        if not node.HasField("bucketized_split"):
            continue
        split = node.bucketized_split
        # So no way leads back to where it came from.
        if not all(number < child < count for child in (split.left_id, split.right_id)):
            raise InvalidArgumentError.of(
                f"node {number} has the children {split.left_id} and {split.right_id}, which have to stand behind it among "
                f"{count} nodes"
            )
        if split.feature_id < 0:
            raise InvalidArgumentError.of(f"node {number} splits by feature {split.feature_id}")
    for number, noted in enumerate(metadata.post_pruned_nodes_meta):
        if not 0 <= noted.new_node_id < count or not noted.logit_change:
            raise InvalidArgumentError.of(f"node {number} was pruned to node {noted.new_node_id} of {count}, or by no change")


def split_leaf(tree: Tree, node_id: int, split: Split) -> None:
    """Split a leaf; the children go behind all nodes.

    Raises:
        InvalidArgumentError: there is no such leaf.
    """
    if not 0 <= node_id < len(tree.nodes) or not tree.nodes[node_id].HasField("leaf"):
        raise InvalidArgumentError.of(f"Node {node_id} is no leaf of the tree that grows, which has {len(tree.nodes)} nodes")
    node = tree.nodes[node_id]
    value = np.float32(node.leaf.scalar)
    # TensorFlow's file of a tree without bias has nothing of the root as a leaf.
    if node_id or value:
        node.metadata.original_leaf.SetInParent()
        node.metadata.original_leaf.CopyFrom(node.leaf)
    node.metadata.gain = split.gain
    made = node.bucketized_split
    made.feature_id, made.threshold = split.feature, split.threshold
    made.left_id, made.right_id = len(tree.nodes), len(tree.nodes) + 1
    for change in split.left, split.right:
        tree.nodes.add().leaf.scalar = float(value + change)


def prune(tree: Tree, metadata: TreeMetadata) -> None:
    """Make leaves of splits that lose and have leaves alone below them, the deepest first; note what became of each node."""
    merged: dict[int, tuple[int, np.float32]] = {}
    _prune_below(tree, 0, merged)
    if not merged:
        return
    kept = [number for number in range(len(tree.nodes)) if number not in merged]
    numbers = {old: new for new, old in enumerate(kept)}
    for number in range(len(tree.nodes)):
        change, current = np.float32(0), number
        while current in merged:
            current, step = merged[current]
            change += step
        metadata.post_pruned_nodes_meta.add(new_node_id=numbers[current], logit_change=[float(change)])
    nodes = [tree.nodes[number] for number in kept]
    pruned = Tree(nodes=nodes)
    for node in pruned.nodes:
        if node.HasField("bucketized_split"):
            split = node.bucketized_split
            split.left_id, split.right_id = numbers[split.left_id], numbers[split.right_id]
    tree.CopyFrom(pruned)


def _prune_below(tree: Tree, node_id: int, merged: dict[int, tuple[int, np.float32]]) -> None:
    node = tree.nodes[node_id]
    if node.HasField("leaf"):
        return
    children = (node.bucketized_split.left_id, node.bucketized_split.right_id)
    for child in children:
        _prune_below(tree, child, merged)
    if node.metadata.gain >= 0 or not all(tree.nodes[child].HasField("leaf") for child in children):
        return
    value = np.float32(node.metadata.original_leaf.scalar)
    for child in children:
        merged[child] = (node_id, value - np.float32(tree.nodes[child].leaf.scalar))
    node.leaf.scalar = float(value)
    node.ClearField("metadata")


def after_pruning(metadata: TreeMetadata, nodes: Array) -> tuple[Array, Array]:
    """The nodes of a tree that nodes have become, and what that changes of their logits: `[n] -> [n], [n] float32`."""
    noted = metadata.post_pruned_nodes_meta
    if not noted:
        return nodes, np.zeros(len(nodes), np.float32)
    if len(nodes) and nodes.max() >= len(noted):
        raise InvalidArgumentError.of(f"cached_node_ids has node {nodes.max()} of a tree that had {len(noted)} nodes")
    new = np.array([each.new_node_id for each in noted], np.intp)
    change = np.array([each.logit_change[0] for each in noted], np.float32)
    return new[nodes], change[nodes]
