"""Where to split the nodes of a layer: sums of gradients and hessians by bucket, and the gain of each split between buckets.

A leaf with the gradient `g` and the hessian `h` of its examples' losses has the weight that makes
`g w + (h + l2) w^2 / 2 + l1 |w|` least; its gain is twice what that takes off the loss (Chen and Guestrin 2016).
"""

from __future__ import annotations

from typing import Final

import numpy as np

from weft.errors import InvalidArgumentError
from weft.framework.building.aliases import Array, Result
from weft.framework.building.op_context import OpContext
from weft.framework.nodes.operation import Operation
from weft.framework.types.dims import Dims, merge_dims
from weft.ops.declaration import not_differentiable, op

_TINY: Final = np.float32(1e-15)


def weights_and_gains(gradients: Array, hessians: Array, l1: np.float32, l2: np.float32) -> tuple[Array, Array]:
    """The best weights of leaves, and their gains: `[...] float32, [...] float32 -> [...] float32, [...] float32`."""
    shrunk = gradients
    if l1 > 0:
        shrunk = np.where(gradients > l1, gradients - l1, np.where(gradients < -l1, gradients + l1, np.float32(0)))
    curved = hessians + l2
    is_flat = curved <= _TINY
    weights = np.where(is_flat, np.float32(0), -shrunk / np.where(is_flat, np.float32(1), curved))
    return weights, -shrunk * weights


def is_larger(gain: Array, other: Array) -> Array:
    """Whether a gain is larger than another, and not by rounding alone."""
    return gain - other >= _TINY


def _summary_dims(node: Operation) -> list[Dims]:
    attrs = node.attrs
    merge_dims(node.inputs[1].dims, node.inputs[2].dims)
    return [(attrs["num_features"], attrs["max_splits"], attrs["num_buckets"], 2)]


@op("BoostedTreesMakeStatsSummary", "node_ids: int32, gradients: float32, hessians: float32, "
    "bucketized_features_list: num_features*int32 -> stats_summary: float32",
    ranks={"node_ids": 1, "gradients": 2, "hessians": 2, "bucketized_features_list": 1}, infer=_summary_dims,
    gradient=not_differentiable, limits={"max_splits": 1, "num_buckets": 1, "num_features": 1})  # fmt: skip
def boosted_trees_make_stats_summary(
    ctx: OpContext, node_ids: Array, gradients: Array, hessians: Array, bucketized_features_list: list[Array], *,
    max_splits: int, num_buckets: int,
) -> Result:  # fmt: skip
    """The sums of gradients and of hessians of the examples in each bucket of each feature in each node.

    `[batch], [batch, 1], [batch, 1], num_features*[batch] -> [num_features, max_splits, num_buckets, 2]`
    """
    statistics = np.concatenate([gradients[:, :1], hessians[:, :1]], axis=1)
    _check_below(node_ids, max_splits, "node_ids", "max_splits")
    # In double precision, as TensorFlow: splits that part the examples alike have to gain the same.
    summary = np.zeros((len(bucketized_features_list), max_splits, num_buckets, 2))
    for own, buckets in zip(summary, bucketized_features_list, strict=True):
        _check_below(buckets, num_buckets, "bucketized_features_list", "num_buckets")
        if not buckets.shape == node_ids.shape == statistics.shape[:1]:
            raise InvalidArgumentError.of(
                f"Expected as many examples in each input, found {len(node_ids)} node_ids, {len(statistics)} gradients and "
                f"{len(buckets)} buckets of a feature"
            )
        np.add.at(own, (node_ids, buckets), statistics)
    return summary.astype(np.float32)


def _check_below(values: Array, limit: int, name: str, limit_name: str) -> None:
    if values.size and not 0 <= values.min() <= values.max() < limit:
        raise InvalidArgumentError.of(
            f"{name} have to be within [0, {limit_name}), which is {limit}: found {values.min()} and {values.max()}"
        )


def _best_dims(node: Operation) -> list[Dims]:
    count = node.attrs["num_features"]
    # The statistics of all features are of as many nodes and buckets.
    dims: Dims = (node.attrs["max_splits"], None, 2)
    for each in node.inputs[1 : 1 + count]:
        dims = merge_dims(dims, each.dims)
    return [(None,)] * (3 * count) + [(None, 1)] * (2 * count)


_Lists = tuple[list[Array], list[Array], list[Array], list[Array], list[Array]]


@op("BoostedTreesCalculateBestGainsPerFeature", "node_id_range: int32, stats_summary_list: num_features*float32, l1: float32, "
    "l2: float32, tree_complexity: float32, min_node_weight: float32 -> node_ids_list: num_features*int32, "
    "gains_list: num_features*float32, thresholds_list: num_features*int32, left_node_contribs_list: num_features*float32, "
    "right_node_contribs_list: num_features*float32", ranks={"node_id_range": 1, "stats_summary_list": 3, "l1": 0, "l2": 0,
    "tree_complexity": 0, "min_node_weight": 0}, infer=_best_dims, gradient=not_differentiable,
    limits={"max_splits": 1, "num_features": 1})  # fmt: skip
def boosted_trees_calculate_best_gains_per_feature(
    ctx: OpContext, node_id_range: Array, stats_summary_list: list[Array], l1: Array, l2: Array, tree_complexity: Array,
    min_node_weight: Array, *, max_splits: int,
) -> Array:  # fmt: skip
    """The best split of each node in a range for each feature: nodes, gains, thresholds, and what left and right children add.

    Nodes whose hessian is below `min_node_weight` are left out.

    `[2], num_features*[max_splits, num_buckets, 2], [], [], [], [] -> num_features*[n], num_features*[n], num_features*[n],
    num_features*[n, 1], num_features*[n, 1]`
    """
    first, last = node_id_range.tolist()
    if not 0 <= first <= last <= max_splits:
        raise InvalidArgumentError.of(
            f"node_id_range has to be within [0, {max_splits}], which max_splits tells: [{first}, {last}]"
        )
    found = [
        _best_splits(first, summary[first:last], l1, l2, tree_complexity, min_node_weight) for summary in stats_summary_list
    ]
    return tuple(part for kind in zip(*found, strict=True) for part in kind)


def _best_splits(
    first: int, summary: Array, l1: Array, l2: Array, tree_complexity: Array, min_node_weight: Array
) -> tuple[Array, Array, Array, Array, Array]:
    """The best splits of nodes by one feature: `[nodes, buckets, 2]` statistics, of nodes from `first` on."""
    # Added up bucket by bucket in single precision, in the order in which TensorFlow does.
    left = np.add.accumulate(summary, axis=1, dtype=np.float32)
    total = left[:, -1]
    heavy = np.flatnonzero(total[:, 1] >= min_node_weight)
    left, total = left[heavy], total[heavy]
    right = total[:, None] - left
    _, own_gains = weights_and_gains(total[:, 0], total[:, 1], l1, l2)
    left_weights, left_gains = weights_and_gains(left[..., 0], left[..., 1], l1, l2)
    right_weights, right_gains = weights_and_gains(right[..., 0], right[..., 1], l1, l2)
    gains = left_gains + right_gains
    best = np.zeros(len(heavy), np.int32)
    rows = np.arange(len(heavy))
    for bucket in range(1, gains.shape[1]):
        best[is_larger(gains[:, bucket], gains[rows, best])] = bucket
    return (
        (heavy + first).astype(np.int32),
        gains[rows, best] - own_gains - tree_complexity,
        best,
        left_weights[rows, best][:, None],
        right_weights[rows, best][:, None],
    )
