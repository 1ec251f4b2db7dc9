"""The ops of boosted trees that have no state; the others are tested in tests/ops/trees."""

from __future__ import annotations

import numpy as np

from weft.testing.op_checks import Case

_NODES = np.array([0, 1, 0, 1], np.int32)
_BUCKETS = [np.array([0, 1, 2, 0], np.int32), np.array([1, 1, 0, 2], np.int32)]
_GRADIENTS, _HESSIANS = np.float32([[1], [2], [-3], [4]]), np.float32([[1], [0.5], [1], [2]])
_SUMMARY = np.float32(
    [
        [[[1, 1], [0, 0], [-3, 1]], [[4, 2], [2, 0.5], [0, 0]]],
        [[[-3, 1], [1, 1], [0, 0]], [[0, 0], [2, 0.5], [4, 2]]],
    ]
)
_NONE = np.float32(0)

CASES = [
    Case("BoostedTreesMakeStatsSummary", [_NODES, _GRADIENTS, _HESSIANS, _BUCKETS], {"max_splits": 2, "num_buckets": 3},
         expected=lambda *given: _SUMMARY, sweep=False),
    # Of the first feature: the root's gain is 1 + 9 less 4 / 2; the other node gains 16 / 2 + 4 / 0.5 less 36 / 2.5.
    Case("BoostedTreesCalculateBestGainsPerFeature",
         [np.array([0, 2], np.int32), list(_SUMMARY), _NONE, _NONE, _NONE, _NONE], {"max_splits": 2},
         expected=lambda *given: (
             np.array([0, 1]), np.array([0, 1]), np.float32([8, 1.6]), np.float32([8, 1.6]), np.array([0, 0]), np.array([0, 1]),
             np.float32([[-1], [-2]]), np.float32([[3], [-4]]), np.float32([[3], [-4]]), np.float32([[-1], [-2]])),
         sweep=False),
    Case("BoostedTreesBucketize", [[np.float32([-5, 1, 1.5, 3, 9])], [np.float32([1, 2, 3])]],
         expected=lambda *given: np.array([0, 0, 1, 2, 2]), sweep=False),
    Case("BoostedTreesMakeQuantileSummaries", [[np.float32([2, 1, 2])], np.float32([1, 3, 0.5]), np.float32(0.01)],
         expected=lambda *given: np.float32([[1, 3, 0, 3], [2, 1.5, 3, 4.5]]), sweep=False),
]  # fmt: skip
