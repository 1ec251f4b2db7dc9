"""Growth: what the leaves of a tree know while it grows, the resource behind the nodes of `growth_nodes`."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from google.protobuf.message import DecodeError

from weft.errors import InvalidArgumentError, UnimplementedError
from weft.framework.building.aliases import Array
from weft.ops.forest.class_stats import ClassStats
from weft.ops.forest.draws import Draws
from weft.ops.forest.inputs import ColumnType, Inputs, Targets
from weft.ops.forest.leaf_stats import LeafStats, NumberStats
from weft.ops.forest.node_tests import Comparison, NodeTest
from weft.ops.forest.resource import ForestResource
from weft.ops.forest.tree import Tree
from weft.proto.decision_tree_pb2 import InequalityTest
from weft.proto.random_forest_pb2 import (
    STATS_FIXED_SIZE_SPARSE_GINI,
    STATS_LEAST_SQUARES_REGRESSION,
    FertileStats,
    TensorForestParams,
)


class Growth(ForestResource):
    """The leaves that may be split, by their nodes. Safe from any thread; a step sees it before or after another's change."""

    _CALLED = "The stats of a tree are"

    def __init__(self) -> None:
        super().__init__()
        self._leaves: dict[int, LeafStats] = {}

    def _restore(self, params: TensorForestParams, serialized: bytes) -> None:
        """Take on the leaves of a message, or the root of an empty one; InvalidArgumentError when it is none."""
        try:
            slots = FertileStats.FromString(serialized).node_to_slot
        except DecodeError as error:
            raise InvalidArgumentError.of(f"Unable to parse stats config: {error}") from error
        leaves = {}
        for slot in slots:
            leaves[slot.node_id] = _leaf(params, slot.depth)
            leaves[slot.node_id].unpack(slot)
        self._params, self._leaves = params, leaves or {0: _leaf(params, 0)}

    def serialize(self, params: TensorForestParams) -> bytes:
        """The message of all leaves; with what they know if the parameters want that in checkpoints."""
        with self._lock:
            self._checked()
            stats = FertileStats()
            for node, leaf in sorted(self._leaves.items()):
                slot = stats.node_to_slot.add(node_id=node, depth=leaf.depth)
                if params.checkpoint_stats:
                    leaf.pack(slot)
            return stats.SerializeToString(deterministic=True)

    def process(self, inputs: Inputs, targets: Targets, leaf_ids: Array, seed: int) -> Array:
        """Let leaves see the examples that have come to them: `[batch] int32 -> [n] int32`, the leaves that can be split.

        Args:
            inputs: the examples.
            targets: their labels.
            leaf_ids: their leaves.
            seed: the seed of the features that are chosen, by which each batch chooses; 0 for others each time.
        """
        with self._lock:
            params = self._checked()
            # Each batch begins with the same numbers, as in TensorFlow.
            draws = Draws(seed)
            counted: dict[int, list[int]] = {}
            if params.collate_examples:
                for node, examples in _by_leaf(leaf_ids.tolist()).items():
                    # What comes with the last candidate is not counted: TensorFlow throws it away.
                    if not self._considered(node, examples, inputs, targets, draws):
                        counted[node] = examples
            else:
                for example, node in enumerate(leaf_ids.tolist()):
                    if not self._considered(node, [example], inputs, targets, draws):
                        counted.setdefault(node, []).append(example)
            finished = {node for node in {*leaf_ids.tolist()} - counted.keys() if self._leaves[node].is_finished}
            for node, examples in counted.items():
                if self._leaves[node].add(inputs, targets, np.array(examples, np.intp)):
                    finished.add(node)
        return np.array(sorted(finished), np.int32)

    def grow(self, tree: Tree, finished: Iterable[int]) -> None:
        """Split leaves by their best candidates, as far as the tree may grow; a leaf without a useful one begins anew."""
        with self._lock:
            params = self._checked()
            for node in finished:
                if tree.size >= params.max_nodes:
                    return
                leaf = self._leaf_at(node)
                best = leaf.best()
                if best is None:
                    self._leaves[node] = _leaf(params, leaf.depth)
                    continue
                for child in tree.split(node, best):
                    self._leaves[child] = _leaf(params, leaf.depth + 1)
                del self._leaves[node]

    def _considered(
        self, node: int, examples: Iterable[int], inputs: Inputs, targets: Targets, draws: Draws
    ) -> bool:  # fmt: skip
        """Take candidates from examples until the leaf has all; whether it lacked any."""
        leaf = self._leaf_at(node)
        if leaf.is_initialized:
            return False
        for example in examples:
            leaf.consider(self._drawn(inputs, example, draws), inputs, targets, example)
            if leaf.is_initialized:
                break
        return True

    def _drawn(self, inputs: Inputs, example: int, draws: Draws) -> NodeTest:
        feature, kind, value = inputs.sample(example, draws)
        if kind is ColumnType.CATEGORICAL:
            return NodeTest(feature, Comparison.EQUAL, value)
        is_closed = self._checked().inequality_test_type == InequalityTest.LESS_OR_EQUAL
        return NodeTest(feature, Comparison.LESS_OR_EQUAL if is_closed else Comparison.LESS, value)

    def _leaf_at(self, node: int) -> LeafStats:
        if node not in self._leaves:
            raise InvalidArgumentError.of(f"Node {node} is no leaf that grows; there are {len(self._leaves)}")
        return self._leaves[node]


def _by_leaf(leaf_ids: list[int]) -> dict[int, list[int]]:
    found: dict[int, list[int]] = {}
    for example, node in enumerate(leaf_ids):
        found.setdefault(node, []).append(example)
    return found


def _leaf(params: TensorForestParams, depth: int) -> LeafStats:
    if params.stats_type == STATS_LEAST_SQUARES_REGRESSION:
        return NumberStats(params, depth)
    if params.stats_type == STATS_FIXED_SIZE_SPARSE_GINI:
        raise UnimplementedError.of(
            "weft's forests have no leaves of STATS_FIXED_SIZE_SPARSE_GINI: STATS_SPARSE_GINI counts all classes, as "
            "ForestHParams(model_name='all_sparse') has it"
        )
    return ClassStats(params, depth)
