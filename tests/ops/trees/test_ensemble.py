"""Ensembles of trees grow, are pruned, and are written as in TensorFlow 1.15.5, whose bytes and numbers these are."""

from __future__ import annotations

import base64
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import weft as tf
from weft.framework.nodes.operation import Operation, Tensor
from weft.proto.boosted_trees_pb2 import TreeEnsemble

_OPS = tf.raw_ops
_FEATURES = [np.array([0, 1, 2, 3, 0, 1, 2, 3], np.int32), np.array([3, 2, 1, 0, 0, 0, 1, 1], np.int32)]
_Change = Callable[[Tensor], Operation]

_BIASDEPTH = (
    b"Cm0KFxIGCAEYASACyjAMDQAAAEASBR0AAEA/ChUSBBgDIATKMAwNAAAAPxIFHXsULj8KFxIGEAIYBSAGyjAMDQAAgD4SBR09Clc/CgcKBR2Q"
    b"wjU/CgcKBR3D9Sg/CgcKBR2ZmVk/CgcKBR0Urkc/CmYKEBIGCAEYASACyjAFDQAAAEAKFRIEGAMgBMowDA0AAAA/EgUdKVyPvQoXEgYQAhgF"
    b"IAbKMAwNAACAPhIFHetRuD0KBwoFHQrXI70KBwoFHexRuL0KBwoFHczMzD0KBwoFHYzC9TwKBAoCCgASDAAAgD8AAIA/AACAPxoEEAIYARoE"
    b"EAIYARoAIgYIAhAEIAE="
)
_PRUNE2 = (
    b"CmgKEBIGCAEYASACyjAFDQAAAEAKBwoFHSlcj70KFxIGEAIYAyAEyjAMDQAAgD4SBR3rUbg9ChcSBhABGAUgBsowDA3NzMw9EgUdzMzMPQoH"
    b"CgUdjML1PAoHCgUdj8L1PQoHCgUdmZkZPgokChASBggBGAEgAsowBQ0AAABACgcKBR0pXI+9CgcKBR3rUbg9EggAAIA/AACAPxqYARADGAEi"
    b"BhIEAAAAACIICAESBAAAAAAiCAgCEgQAAAAAIggIARIEkML1vCIICAESBAzXozwiCAgDEgQAAAAAIggIBBIEAAAAACIICAESBJDCdb0iCAgB"
    b"EgQI1yO8IggIARIEENcjPCIICAESBAvXoz0iCAgFEgQAAAAAIggIBhIEAAAAACIICAQSBJDC9bwiCAgEEgQK1yO9GgIQASIICAIQBBgBIAM="
)
_BIASPRUNE = (
    b"CgkKBwoFHQAAQD8KBAoCCgASCAAAgD8AAIA/GjwQAhgBIgYSBAAAAAAiBhIEENcjvSIGEgQA16M8IgYSBDBcj70iBhIEINejvCIGEgQA1yM8"
    b"IgYSBADXIzwaACIGCAEQAiAB"
)


def _update(splits: dict[int, list[tuple[float, ...]]], max_depth: int = 2, pruning_mode: int = 0) -> _Change:
    """An update by splits, by feature: node, gain, threshold, left and right."""
    columns = [list(zip(*each, strict=True)) for each in splits.values()]

    def make(handle: Tensor) -> Operation:
        made: Operation = _OPS.BoostedTreesUpdateEnsemble(
            tree_ensemble_handle=handle, feature_ids=np.array(list(splits), np.int32),
            node_ids=[np.int32(each[0]) for each in columns], gains=[np.float32(each[1]) for each in columns],
            thresholds=[np.int32(each[2]) for each in columns],
            left_node_contribs=[np.float32(each[3])[:, None] for each in columns],
            right_node_contribs=[np.float32(each[4])[:, None] for each in columns],
            max_depth=max_depth, learning_rate=0.1, pruning_mode=pruning_mode,
        )  # fmt: skip
        return made

    return make


def _bias(gradient: float, hessian: float) -> _Change:
    def make(handle: Tensor) -> Operation:
        made: Operation = _OPS.BoostedTreesCenterBias(
            tree_ensemble_handle=handle, mean_gradients=[[gradient]], mean_hessians=[[hessian]], l1=0.0, l2=0.0
        )
        return made

    return make


_ROOT: dict[int, list[tuple[float, ...]]] = {0: [(0, 1.5, 1, 0.3, -0.2)], 1: [(0, 2.0, 0, -0.7, 0.9)]}
_LAYER: dict[int, list[tuple[float, ...]]] = {
    0: [(1, 0.5, 0, 0.3, -0.2), (2, 0.25, 2, 0.1, -0.6)],
    1: [(1, 0.5, 1, -0.7, 0.9)],
}
_LOSING: dict[int, list[tuple[float, ...]]] = {
    0: [(1, -0.5, 0, 0.3, -0.2), (2, 0.25, 2, 0.1, -0.6)],
    1: [(1, -0.6, 1, -0.7, 0.9)],
}
_LAST: dict[int, list[tuple[float, ...]]] = {
    0: [(3, -0.5, 0, 0.3, -0.2), (4, -0.25, 2, 0.1, -0.6), (5, 0.1, 1, 0.2, 0.5), (6, -0.1, 1, 0.3, 0.4)],
    1: [(3, -0.6, 1, -0.7, 0.9)],
}


def _grown(changes: list[_Change], ask: Callable[[Tensor], Any]) -> tuple[bytes, Any, Any]:
    with tf.Graph().as_default(), tf.Session() as session:
        handle = _OPS.BoostedTreesEnsembleResourceHandleOp(shared_name="ensemble", container="")
        create = _OPS.BoostedTreesCreateEnsemble(tree_ensemble_handle=handle, stamp_token=0, tree_ensemble_serialized="")
        is_initialized = _OPS.IsBoostedTreesEnsembleInitialized(tree_ensemble_handle=handle)
        assert not session.run(is_initialized)
        session.run(create)
        assert session.run(is_initialized)
        for change in changes:
            session.run(change(handle))
        _, serialized = session.run(_OPS.BoostedTreesSerializeEnsemble(tree_ensemble_handle=handle))
        states = session.run(_OPS.BoostedTreesGetEnsembleStates(tree_ensemble_handle=handle))
        return serialized, [np.asarray(each).tolist() for each in states], session.run(ask(handle))


def _predicted(handle: Tensor) -> Any:
    return _OPS.BoostedTreesPredict(tree_ensemble_handle=handle, bucketized_features=_FEATURES, logits_dimension=1)


def _predicted_on(nodes: list[int]) -> Callable[[Tensor], Any]:
    def ask(handle: Tensor) -> Any:
        return _OPS.BoostedTreesTrainingPredict(
            tree_ensemble_handle=handle, cached_tree_ids=np.zeros(8, np.int32), cached_node_ids=np.array(nodes, np.int32),
            bucketized_features=_FEATURES, logits_dimension=1,
        )  # fmt: skip

    return ask


def test_trees_behind_a_bias_are_tensorflows() -> None:
    changes = [_bias(-1.5, 2.0), *map(_update, (_ROOT, _LAYER, _ROOT, _LAYER))]
    serialized, states, logits = _grown(changes, _predicted)
    assert serialized == base64.b64decode(_BIASDEPTH)
    assert states == [5, 3, 2, 4, [0, 1]]
    np.testing.assert_allclose(logits[:, 0], [0.95, 0.95, 0.95, 0.57, 0.67, 0.57, 0.95, 0.81], rtol=1e-6)


def test_paths_tell_the_features_and_logits_on_the_way() -> None:
    def ask(handle: Tensor) -> Any:
        return _OPS.BoostedTreesExampleDebugOutputs(
            tree_ensemble_handle=handle, bucketized_features=_FEATURES, logits_dimension=1
        )

    *_, paths = _grown([_bias(-1.5, 2.0), *map(_update, (_ROOT, _LAYER, _ROOT, _LAYER))], ask)
    assert paths[0] == base64.b64decode(b"CgQBAAEAEhQAAEA/PQpXP5mZWT/Wo3A/MjNzPw==")
    assert paths[7] == base64.b64decode(b"CgQBAAEAEhQAAEA/PQpXPxSuRz9RuF4/KFxPPw==")


def test_a_full_tree_loses_the_splits_that_lose() -> None:
    changes = [_update(each, 3, 2) for each in (_ROOT, _LOSING, _LAST, _ROOT)]
    serialized, states, logits = _grown(changes, _predicted)
    assert serialized == base64.b64decode(_PRUNE2)
    assert states == [4, 2, 1, 4, [1, 3]]
    np.testing.assert_allclose(logits[:, 0], [0.21, 0.21, 0.24, -0.14, -0.14, -0.14, 0.24, 0.12], rtol=1e-6)


def test_examples_go_on_from_nodes_that_were_pruned() -> None:
    changes = [_update(each, 3, 2) for each in (_ROOT, _LOSING, _LAST)]
    *_, (gained, trees, nodes) = _grown(changes, _predicted_on([3, 4, 5, 6, 3, 4, 1, 2]))
    np.testing.assert_allclose(gained[:, 0], [-0.03, 0.02, 0.05, 0, -0.03, 0.02, 0, -0.06], atol=1e-7)
    assert trees.tolist() == [1] * 8
    assert nodes.tolist() == [0] * 8


def test_a_tree_that_is_pruned_whole_is_its_bias() -> None:
    root: dict[int, list[tuple[float, ...]]] = {0: [(0, -1.5, 1, 0.4, -0.2)]}
    layer: dict[int, list[tuple[float, ...]]] = {0: [(1, -0.5, 0, 0.3, -0.2), (2, -0.1, 2, 0.1, 0.1)]}
    changes = [_bias(-1.5, 2.0), _update(root, 2, 2), _update(layer, 2, 2)]
    serialized, _, logits = _grown(changes, _predicted)
    assert serialized == base64.b64decode(_BIASPRUNE)
    assert logits[:, 0].tolist() == [0.75] * 8


def test_splits_that_lose_are_not_made_when_pruning_comes_first() -> None:
    _, states, logits = _grown([_update({0: [(0, -1.0, 1, 0.3, -0.2)]}, 1, 1)] * 2, _predicted)
    assert states == [2, 1, 0, 2, [0, 1]]
    assert not logits.any()


def test_of_equal_gains_the_first_feature_splits() -> None:
    *_, logits = _grown([_update({1: [(0, 2.0, 1, 0.3, -0.2)], 0: [(0, 2.0, 0, -0.7, 0.9)]})], _predicted)
    np.testing.assert_allclose(logits[:, 0], [-0.07, 0.09, 0.09, 0.09, -0.07, 0.09, 0.09, 0.09], rtol=1e-6)


def test_without_trees_logits_are_zero() -> None:
    *_, logits = _grown([], _predicted)
    assert not logits.any()
    *_, (gained, trees, nodes) = _grown([], _predicted_on([-1] * 8))
    assert not gained.any()
    assert not trees.any()
    assert not nodes.any()


@pytest.mark.parametrize(
    ("changes", "ask", "told"),
    [
        ([_update({0: [(3, 1.0, 0, 0.1, 0.1)]})], _predicted, "Node 3 is no leaf"),
        ([_update(_ROOT, pruning_mode=5)], _predicted, "pruning_mode is 0 for none"),
        ([_update(_ROOT)], _predicted_on([9] * 8), "cached_node_ids has node 9"),
        ([_update(_ROOT)], _predicted_on([-2] * 8), "cached_node_ids has node -2; -1 stands for none"),
        ([_update({7: [(0, 1.0, 0, 0.1, 0.1)]})], _predicted, "splits by feature 7, but bucketized_features has 2"),
    ],
)
def test_what_does_not_fit_is_refused(changes: list[_Change], ask: Callable[[Tensor], Any], told: str) -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match=told):
        _grown(changes, ask)


def test_an_ensemble_that_nobody_made_is_refused() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        handle = _OPS.BoostedTreesEnsembleResourceHandleOp(shared_name="none", container="")
        with pytest.raises(tf.errors.FailedPreconditionError, match="not initialized"):
            session.run(_predicted(handle))


def _ensemble_of(*splits: tuple[int, int, int], nodes: int = 3, weights: int = 1) -> TreeEnsemble:
    """One tree whose first nodes are split, each by a feature into two nodes."""
    ensemble = TreeEnsemble(tree_weights=[1.0] * weights)
    tree = ensemble.trees.add()
    ensemble.tree_metadata.add()
    for _ in range(nodes):
        tree.nodes.add().leaf.scalar = 1.0
    for node, (feature, left, right) in zip(tree.nodes, splits, strict=False):
        split = node.bucketized_split
        split.feature_id, split.left_id, split.right_id = feature, left, right
    return ensemble


def _pruned_to(node: int) -> TreeEnsemble:
    ensemble = _ensemble_of()
    ensemble.tree_metadata[0].post_pruned_nodes_meta.add(new_node_id=node, logit_change=[0.0])
    return ensemble


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    ("ensemble", "told"),
    [
        (_ensemble_of((0, 0, 1)), "tree 0: node 0 has the children 0 and 1, which have to stand behind it among 3 nodes"),
        (_ensemble_of((0, 1, 2), (0, 0, 2)), "node 1 has the children 0 and 2"),
        (_ensemble_of((0, 1, 3)), "the children 1 and 3"),
        (_ensemble_of((-5, 1, 2)), "node 0 splits by feature -5"),
        (_ensemble_of(nodes=0), "tree 0: it has no nodes"),
        (_ensemble_of(weights=2), "it has 1 trees, 2 weights and 1 metadata"),
        (_pruned_to(3), "node 0 was pruned to node 3 of 3"),
    ],
    ids=lambda value: None if isinstance(value, str) else "",
)
def test_a_damaged_ensemble_is_refused_before_anybody_walks_through_it(ensemble: TreeEnsemble, told: str) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        handle = _OPS.BoostedTreesEnsembleResourceHandleOp(shared_name="damaged", container="")
        restore = _OPS.BoostedTreesDeserializeEnsemble(
            tree_ensemble_handle=handle, stamp_token=1, tree_ensemble_serialized=ensemble.SerializeToString()
        )
        with pytest.raises(tf.errors.InvalidArgumentError, match=f"Unable to parse tree ensemble proto: .*{told}"):
            session.run(restore)
        with pytest.raises(tf.errors.FailedPreconditionError, match="not initialized"):
            session.run(_predicted(handle))
