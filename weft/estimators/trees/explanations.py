"""What the features of trees count for: in all splits, and on the way of one example."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Sequence

import numpy as np

from weft.framework.building.aliases import Array
from weft.proto.boosted_trees_pb2 import DebugOutput, TreeEnsemble


def importances(serialized: bytes, names: Sequence[str], normalize: bool) -> OrderedDict[str, float]:
    """The gains of all splits by the name of the feature's column, the largest first.

    Args:
        serialized: a TreeEnsemble.
        names: the column of each feature.
        normalize: whether they are parts of their sum.

    Raises:
        ValueError: the trees have other features; to be normalized, a gain is negative, or there are no splits.
    """
    ensemble = TreeEnsemble.FromString(serialized)
    gains = np.zeros(len(names))
    found = [
        (node.bucketized_split.feature_id, weight * node.metadata.gain)
        for tree, weight in zip(ensemble.trees, ensemble.tree_weights, strict=True)
        for node in tree.nodes
        if node.HasField("bucketized_split")
    ]
    if (most := max((feature for feature, _ in found), default=-1)) >= len(names):
        raise ValueError(
            f"The ensemble splits by feature {most}, but there are {len(names)}: it was trained with other feature columns"
        )
    for feature, gain in found:
        gains[feature] += gain
    if normalize:
        if (gains < 0).any():
            raise ValueError(f"feature_importances must be non-negative to be normalized: {_by_name(names, gains)}.")
        if not gains.sum() > 0:
            raise ValueError("Trees are all empty or contain only a root node: there is nothing to normalize.")
        gains /= gains.sum()
    return _by_name(names, gains)


def contributions(serialized: bytes, names: Sequence[str], is_classification: bool) -> tuple[float, OrderedDict[str, float]]:
    """The prediction at the first root, and what the splits by each column add to it on an example's way, the most first.

    Args:
        serialized: a DebugOutput.
        names: the column of each feature.
        is_classification: whether predictions are probabilities.
    """
    path = DebugOutput.FromString(serialized)
    predictions = np.array(path.logits_path)
    if is_classification:
        predictions = 1 / (1 + np.exp(-predictions))
    changes = np.bincount(np.array(path.feature_ids, np.intp), weights=predictions[1:] - predictions[:-1], minlength=len(names))
    return predictions[0], _by_name(names, changes)


def _by_name(names: Sequence[str], values: Array | Iterable[float]) -> OrderedDict[str, float]:
    sums: dict[str, float] = {}
    for name, value in zip(names, values, strict=True):
        sums[name] = sums.get(name, 0) + value
    return OrderedDict(sorted(sums.items(), key=lambda item: abs(item[1]), reverse=True))
