"""Ensemble: the trees of a boosted model, which grow layer by layer; the resource behind the nodes of `ensemble_nodes`."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from enum import IntEnum
from typing import Final, NamedTuple

import numpy as np
from google.protobuf.message import DecodeError

from weft.errors import FailedPreconditionError, InvalidArgumentError
from weft.framework.building.aliases import Array
from weft.ops.trees.splits import is_larger, weights_and_gains
from weft.ops.trees.tree import Split, Walk, after_pruning, check_tree, prune, split_leaf
from weft.proto.boosted_trees_pb2 import DebugOutput, TreeEnsemble

_TREE_WEIGHT: Final = 1.0  # the learning rate is in the leaves
_CENTERED: Final = 0.01  # a bias that changes by less of itself is found


class Pruning(IntEnum):
    """When splits that lose are left out: never, before they are made, or when their tree is full."""

    NONE = 0
    PRE = 1
    POST = 2


class States(NamedTuple):
    """The counts by which a model is trained on; `last_layer` is the first node of the layer to split, and the one behind."""

    stamp: int
    trees: int
    finalized_trees: int
    attempted_layers: int
    last_layer: tuple[int, int]


class Ensemble:
    """Trees whose weighted leaves add up to logits. Safe from any thread; a step sees it before or after another's change."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._stamp: int | None = None
        self._state = TreeEnsemble()
        self._walks: dict[int, Walk] = {}

    @property
    def is_initialized(self) -> bool:
        """Whether it was made or restored."""
        return self._stamp is not None

    def restore(self, stamp: int, serialized: bytes) -> None:
        """Take on the trees of a message; InvalidArgumentError when it is none."""
        state = _parsed(serialized)
        with self._lock:
            self._stamp, self._state, self._walks = stamp, state, {}

    def create(self, stamp: int, serialized: bytes) -> None:
        """As `restore`, unless it is there already."""
        if not self.is_initialized:
            self.restore(stamp, serialized)

    def serialize(self) -> tuple[int, bytes]:
        """The stamp, which changes with every change, and the message of the trees."""
        with self._lock:
            return self._stamp_now(), self._state.SerializeToString(deterministic=True)

    def states(self) -> States:
        """The counts of now."""
        with self._lock:
            state = self._state
            growing, count = state.growing_metadata, len(state.trees)
            open_trees = int(count > 0 and not state.tree_metadata[-1].is_finalized)
            # Nothing was split yet where no layer was noted: the root is to be.
            layer = (growing.last_layer_node_start, max(1, growing.last_layer_node_end))
            return States(self._stamp_now(), count, count - open_trees, growing.num_layers_attempted, layer)

    def predict(self, features: Array) -> Array:
        """The logits of examples: `[features, n] int32 -> [n] float32`."""
        with self._lock:
            self._stamp_now()
            logits = np.zeros(features.shape[1], np.float32)
            for tree in range(len(self._state.trees)):
                walk = self._walk(tree)
                leaves = walk.leaves(features, np.zeros(len(logits), np.intp))
                logits += self._weight(tree) * walk.values[leaves]
            return logits

    def predict_on(self, features: Array, trees: Array, nodes: Array) -> tuple[Array, Array, Array]:
        """What examples have gained since they were at some nodes of some trees, and where they are now.

        `[features, n] int32, [n] int32, [n] int32 -> [n] float32, [n] int32, [n] int32`; a node of -1 is none.
        """
        with self._lock:
            self._stamp_now()
            gained = np.zeros(len(trees), np.float32)
            latest = len(self._state.trees) - 1
            if latest < 0:
                return gained, np.zeros_like(trees), np.zeros_like(nodes)
            self._check_cached(trees, nodes)
            nodes = nodes.astype(np.intp)
            for tree in range(int(trees.min(initial=latest)), latest + 1):
                rows = np.flatnonzero(trees <= tree)
                # Those that come from the tree before begin at the root.
                begun = np.where(trees[rows] < tree, _ROOT, nodes[rows])
                part, nodes[rows] = self._walked_on(tree, features[:, rows], begun)
                gained[rows] += self._weight(tree) * part
            return gained, np.full_like(trees, latest), nodes.astype(np.int32)

    def paths(self, features: Array) -> list[bytes]:
        """Of each example, the features that it was split by and its logit from the root of the first tree on, as messages."""
        with self._lock:
            self._stamp_now()
            count = features.shape[1]
            bias = self._weight(0) * self._walk(0).values[0] if self._state.trees else np.float32(0)
            found = [DebugOutput(logits_path=[float(bias)]) for _ in range(count)]
            before = np.zeros(count, np.float32)
            for tree in range(len(self._state.trees)):
                walk, weight = self._walk(tree), self._weight(tree)
                nodes = np.zeros(count, np.intp)
                while len(walking := np.flatnonzero(~walk.is_leaf(nodes))):
                    split_by = walk.feature_of(nodes[walking])
                    nodes[walking] = walk.next(features[:, walking], nodes[walking])
                    logits = before[walking] + weight * walk.values[nodes[walking]]
                    for row, feature, logit in zip(walking, split_by, logits, strict=True):
                        found[row].feature_ids.append(int(feature))
                        found[row].logits_path.append(float(logit))
                before += weight * walk.values[nodes]
            return [each.SerializeToString() for each in found]

    def center(self, gradient: Array, hessian: Array, l1: Array, l2: Array) -> bool:
        """Add the best change of all logits to the first tree's root; returns whether it is still large."""
        change = np.float32(weights_and_gains(gradient, hessian, l1, l2)[0])
        with self._lock:
            stamp = self._stamp_now()
            if not self._state.trees:
                self._add_tree()
                self._state.trees[0].nodes[0].leaf.scalar = float(change)
                goes_on = True
            else:
                leaf = self._state.trees[0].nodes[0].leaf
                bias = np.float32(leaf.scalar)
                with np.errstate(divide="ignore", invalid="ignore"):
                    # Without a bias there is nothing to compare with: one that stays none is found too.
                    goes_on = bool(abs(change / bias) > _CENTERED)
                leaf.scalar = float(bias + change)
            self._walks.pop(0, None)
            self._stamp = stamp + 1
            return goes_on

    def grow(self, candidates: Sequence[tuple[int, Split]], max_depth: int, pruning: Pruning) -> None:
        """Split the leaves of the last layer by the best candidates, `(node, split)`; a tree that is full gets a successor."""
        with self._lock:
            stamp, state = self._stamp_now(), self._state
            if not state.trees:
                self._add_tree()
            growing, metadata, tree = state.growing_metadata, state.tree_metadata[-1], state.trees[-1]
            growing.num_trees_attempted += int(metadata.num_layers_grown == 0)
            growing.num_layers_attempted += 1
            before = len(tree.nodes)
            for node, split in sorted(_best_by_node(candidates).items()):
                if pruning != Pruning.PRE or split.gain >= 0:
                    split_leaf(tree, node, split)
            if len(tree.nodes) > before:
                self._walks.pop(len(state.trees) - 1, None)
                metadata.num_layers_grown += 1
                growing.last_layer_node_start, growing.last_layer_node_end = before, len(tree.nodes)
                if metadata.num_layers_grown >= max_depth:
                    self._finish_tree(pruning)
            self._stamp = stamp + 1

    def _finish_tree(self, pruning: Pruning) -> None:
        state = self._state
        state.tree_metadata[-1].is_finalized = True
        if pruning == Pruning.POST:
            prune(state.trees[-1], state.tree_metadata[-1])
        self._add_tree()
        state.growing_metadata.last_layer_node_start, state.growing_metadata.last_layer_node_end = 0, 1

    def _add_tree(self) -> None:
        self._state.trees.add().nodes.add().leaf.SetInParent()
        self._state.tree_weights.append(_TREE_WEIGHT)
        self._state.tree_metadata.add()

    def _walked_on(self, tree: int, features: Array, nodes: Array) -> tuple[Array, Array]:
        """What examples gain in one tree below some nodes, and the leaves that they come to."""
        walk = self._walk(tree)
        is_begun = nodes != _ROOT
        starts, changes = after_pruning(self._state.tree_metadata[tree], np.where(is_begun, nodes, 0))
        # The part of the node where an example was is in its logit already.
        known = np.where(is_begun, changes - walk.values[starts], np.float32(0))
        leaves = walk.leaves(features, np.where(is_begun, starts, 0))
        return known + walk.values[leaves], leaves

    def _check_cached(self, trees: Array, nodes: Array) -> None:
        latest = len(self._state.trees) - 1
        if trees.size and not 0 <= trees.min() <= trees.max() <= latest:
            raise InvalidArgumentError.of(
                f"cached_tree_ids has {trees.min()} to {trees.max()}; the ensemble has {latest + 1} trees"
            )
        if nodes.min(initial=_ROOT) < _ROOT:
            raise InvalidArgumentError.of(f"cached_node_ids has node {nodes.min()}; {_ROOT} stands for none")
        for tree in np.unique(trees):
            most = nodes[trees == tree].max()
            size = len(self._state.tree_metadata[tree].post_pruned_nodes_meta) or len(self._state.trees[tree].nodes)
            if most >= size:
                raise InvalidArgumentError.of(f"cached_node_ids has node {most} of tree {tree}, which has {size} nodes")

    def _walk(self, tree: int) -> Walk:
        if tree not in self._walks:
            self._walks[tree] = Walk(self._state.trees[tree])
        return self._walks[tree]

    def _weight(self, tree: int) -> np.float32:
        return np.float32(self._state.tree_weights[tree])

    def _stamp_now(self) -> int:
        if self._stamp is None:
            raise FailedPreconditionError.of(
                "The tree ensemble is not initialized: run its initializer, or restore a checkpoint, before it is used"
            )
        return self._stamp


_ROOT: Final = -1


def _parsed(serialized: bytes) -> TreeEnsemble:
    try:
        state = TreeEnsemble.FromString(serialized)
    except DecodeError as error:
        raise InvalidArgumentError.of(f"Unable to parse tree ensemble proto: {error}") from error
    counts = (len(state.trees), len(state.tree_weights), len(state.tree_metadata))
    if len(set(counts)) > 1:
        raise InvalidArgumentError.of(
            "Unable to parse tree ensemble proto: it has {} trees, {} weights and {} metadata".format(*counts)
        )
    for number, (tree, metadata) in enumerate(zip(state.trees, state.tree_metadata, strict=True)):
        try:
            check_tree(tree, metadata)
        except InvalidArgumentError as error:
            raise InvalidArgumentError.of(f"Unable to parse tree ensemble proto: tree {number}: {error.message}") from None
    return state


def _best_by_node(candidates: Sequence[tuple[int, Split]]) -> dict[int, Split]:
    """The candidate of the largest gain for each node; of several such, that of the first feature."""
    best: dict[int, Split] = {}
    for node, split in candidates:
        known = best.get(node)
        if known is None or _is_better(split, known):
            best[node] = split
    return best


def _is_better(split: Split, known: Split) -> bool:
    gain, other = np.float32(split.gain), np.float32(known.gain)
    if is_larger(gain, other) or is_larger(other, gain):
        return bool(is_larger(gain, other))
    return split.feature < known.feature
