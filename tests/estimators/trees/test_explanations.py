"""What features count for goes by the columns that a model was trained with."""

from __future__ import annotations

import pytest

from weft.estimators.trees.explanations import importances
from weft.proto.boosted_trees_pb2 import TreeEnsemble


def _ensemble(*gains: tuple[int, float]) -> bytes:
    """One tree with a split for each feature and its gain."""
    ensemble = TreeEnsemble(tree_weights=[0.5])
    tree = ensemble.trees.add()
    for feature, gain in gains:
        node = tree.nodes.add()
        node.bucketized_split.feature_id = feature
        node.metadata.gain = gain
    return ensemble.SerializeToString()


def test_gains_are_summed_by_column_and_weighted_by_tree() -> None:
    found = importances(_ensemble((0, 2.0), (1, 6.0), (2, 2.0)), ["a", "b", "a"], normalize=False)
    assert list(found.items()) == [("b", 3.0), ("a", 2.0)]
    assert importances(_ensemble((0, 2.0), (1, 6.0)), ["a", "b"], normalize=True) == {"b": 0.75, "a": 0.25}


def test_trees_of_other_columns_are_refused() -> None:
    with pytest.raises(ValueError, match="splits by feature 7, but there are 2: it was trained with other feature columns"):
        importances(_ensemble((7, 1.0)), ["a", "b"], normalize=False)
