"""Tree: one tree of a random forest, the resource behind the nodes of `tree_nodes`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np
from google.protobuf.message import DecodeError

from weft.errors import InvalidArgumentError
from weft.framework.building.aliases import Array
from weft.ops.forest.inputs import Inputs, Targets
from weft.ops.forest.node_tests import NodeTest, goes_left, read_test, write_test
from weft.ops.forest.resource import ForestResource
from weft.proto.decision_tree_pb2 import Leaf, Model, TreeNode
from weft.proto.random_forest_pb2 import (
    MODEL_DENSE_CLASSIFICATION,
    MODEL_REGRESSION,
    TensorForestParams,
    TreePath,
)

_NONE: Final = -1


class Split(NamedTuple):
    """How a leaf is split, and what its children begin with: counts of classes, or means; `[outputs] float32`."""

    test: NodeTest
    left: Array
    right: Array


class _Nodes(NamedTuple):
    """The nodes as arrays; of a leaf, feature and children are -1. Not changed once it is made."""

    feature: Array
    comparison: Array
    number: Array
    children: Array


class Tree(ForestResource):
    """A tree whose leaves count classes, or hold numbers. Safe from any thread; a step sees it before or after a change."""

    _CALLED = "The tree is"

    def __init__(self) -> None:
        super().__init__()
        self._tests: list[NodeTest | None] = []
        self._children: list[tuple[int, int]] = []
        self._values = np.zeros((0, 0), np.float32)
        self._nodes: _Nodes | None = None

    def _restore(self, params: TensorForestParams, serialized: bytes) -> None:
        """Take on the nodes of a message, or one leaf of an empty one; InvalidArgumentError when it is none."""
        try:
            nodes = Model.FromString(serialized).decision_tree.nodes
        except DecodeError as error:
            raise InvalidArgumentError.of(f"Unable to parse tree config: {error}") from error
        tests: list[NodeTest | None] = []
        children: list[tuple[int, int]] = []
        values = np.zeros((max(len(nodes), 1), params.num_outputs), np.float32)
        for number, node in enumerate(nodes):
            match node.WhichOneof("node_type"):
                case "leaf":
                    tests.append(None)
                    children.append((_NONE, _NONE))
                    _read_leaf(node.leaf, values[number])
                case "binary_node":
                    below = (node.binary_node.left_child_id.value, node.binary_node.right_child_id.value)
                    # So no way leads back to where it came from.
                    if not all(number < child < len(nodes) for child in below):
                        raise InvalidArgumentError.of(
                            f"Unable to parse tree config: node {number} of {len(nodes)} has the children {below}, which have "
                            "to stand behind it"
                        )
                    tests.append(read_test(node.binary_node))
                    children.append(below)
                case _:
                    raise InvalidArgumentError.of(f"Unable to parse tree config: node {number} is no leaf and no binary node")
        self._tests, self._children = tests or [None], children or [(_NONE, _NONE)]
        self._values, self._nodes, self._params = values, None, params

    def serialize(self) -> bytes:
        """The message of all nodes."""
        with self._lock:
            self._checked()
            model = Model()
            model.decision_tree.nodes.extend(self._message(number) for number in range(len(self._tests)))
            return model.SerializeToString(deterministic=True)

    @property
    def size(self) -> int:
        """How many nodes there are."""
        with self._lock:
            self._checked()
            return len(self._tests)

    def leaves(self, inputs: Inputs) -> Array:
        """The leaves that examples come to: `-> [batch] int32`."""
        with self._lock:
            return self._ways(inputs)[-1].astype(np.int32)

    def predict(self, inputs: Inputs) -> Array:
        """The parts of classes in the leaves that examples come to, or the numbers there: `-> [batch, outputs] float32`."""
        with self._lock:
            params = self._checked()
            found: Array = self._values[self._ways(inputs)[-1]]
        if params.is_regression or not found.size:
            return found
        # Added up one by one, as TensorFlow adds them.
        sums = np.cumsum(found, axis=1)[:, -1:]
        return np.divide(found, sums, out=found, where=sums > 0)

    def paths(self, inputs: Inputs) -> list[bytes]:
        """The nodes that examples pass, as messages."""
        with self._lock:
            ways = self._ways(inputs)
            messages = {int(number): self._message(int(number)) for number in np.unique(ways)}
            found = []
            for passed in np.stack(ways, axis=1).tolist():
                # Those that are at their leaf stay there.
                end = passed.index(passed[-1]) + 1
                found.append(TreePath(nodes_visited=[messages[number] for number in passed[:end]]).SerializeToString())
            return found

    def update(self, leaves: Array, targets: Targets) -> None:
        """Count the classes of examples in their leaves; numbers change with splits alone: `[batch] int32 ->`."""
        with self._lock:
            params = self._checked()
            if params.leaf_type == MODEL_REGRESSION:
                return
            if len(leaves) and not 0 <= leaves.min() <= leaves.max() < len(self._tests):
                raise InvalidArgumentError.of(
                    f"leaf_ids are {leaves.min()} to {leaves.max()}, but the tree has {len(self._tests)} nodes"
                )
            np.add.at(self._values, (leaves, targets.classes), targets.weights)

    def split(self, leaf: int, split: Split) -> Sequence[int]:
        """Split a leaf; returns its children, which go behind all nodes.

        Raises:
            InvalidArgumentError: there is no such leaf.
        """
        with self._lock:
            self._checked()
            count = len(self._tests)
            if not 0 <= leaf < count or self._tests[leaf] is not None:
                raise InvalidArgumentError.of(f"Node {leaf} is no leaf of the tree, which has {count} nodes")
            self._tests[leaf], self._children[leaf] = split.test, (count, count + 1)
            self._tests += [None, None]
            self._children += [(_NONE, _NONE)] * 2
            self._values = np.concatenate([self._values, [split.left, split.right]])
            self._nodes = None
            return count, count + 1

    def usage_counts(self, features: int) -> Array:
        """How many nodes split by each feature: `-> [features] int32`."""
        with self._lock:
            self._checked()
            used = [test.feature for test in self._tests if test is not None]
        if used and max(used) >= features:
            raise InvalidArgumentError.of(
                f"The tree splits by feature {max(used)}, but the forest's num_features is {features}"
            )
        return np.bincount(np.array(used, np.intp), minlength=features).astype(np.int32)

    def _ways(self, inputs: Inputs) -> list[Array]:
        """The nodes where examples are, from the root down to their leaves: a list of `[batch]`."""
        self._checked()
        if self._nodes is None:
            self._nodes = _as_arrays(self._tests, self._children)
        nodes = self._nodes
        ways = [np.zeros(inputs.count, np.intp)]
        walking = np.flatnonzero(nodes.feature[ways[0]] != _NONE)
        while len(walking):
            now = ways[-1].copy()
            at = now[walking]
            values = inputs.values(walking, nodes.feature[at])
            is_left = goes_left(values, nodes.comparison[at], nodes.number[at])
            now[walking] = nodes.children[at, np.where(is_left, 0, 1)]
            walking = walking[nodes.feature[now[walking]] != _NONE]
            ways.append(now)
        return ways

    def _message(self, number: int) -> TreeNode:
        node, test = TreeNode(), self._tests[number]
        # TensorFlow's root has no number.
        if number:
            node.node_id.value = number
        if test is not None:
            node.binary_node.left_child_id.value, node.binary_node.right_child_id.value = self._children[number]
            write_test(test, node.binary_node)
            return node
        node.leaf.SetInParent()
        if self._checked().leaf_type in (MODEL_DENSE_CLASSIFICATION, MODEL_REGRESSION):
            for value in self._values[number].tolist():
                node.leaf.vector.value.add().float_value = value
        else:
            for index in np.flatnonzero(self._values[number]).tolist():
                node.leaf.sparse_vector.sparse_value[index].float_value = float(self._values[number, index])
        return node


def _as_arrays(tests: Sequence[NodeTest | None], children: Sequence[tuple[int, int]]) -> _Nodes:
    return _Nodes(
        np.array([_NONE if test is None else test.feature for test in tests], np.intp),
        np.array([0 if test is None else test.comparison for test in tests], np.intp),
        np.array([0 if test is None else test.number for test in tests], np.float32),
        np.array(children, np.intp),
    )


def _read_leaf(leaf: Leaf, values: Array) -> None:
    if leaf.WhichOneof("leaf") == "sparse_vector":
        given = {key: value.float_value for key, value in leaf.sparse_vector.sparse_value.items()}
    else:
        given = {key: value.float_value for key, value in enumerate(leaf.vector.value)}
    if given and not 0 <= min(given) <= max(given) < len(values):
        raise InvalidArgumentError.of(
            f"Unable to parse tree config: a leaf has output {max(given)}, the forest's parameters say {len(values)} outputs"
        )
    for key, value in given.items():
        values[key] = value
