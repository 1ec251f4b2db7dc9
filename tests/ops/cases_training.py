"""The pure ops around optimizers; their updates are tested in tests/train."""

from __future__ import annotations

import numpy as np

from weft.testing.op_checks import Case

_VALUES = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0], [7.0, 8.0]])
_INDICES = np.array([3, 1, 3, 0], np.int32)

CASES = [
    Case(
        "SumRepeatedRows", [_VALUES, _INDICES],
        expected=lambda values, indices: (
            np.array([values[3], values[1], values[0] + values[2], 0 * values[0]]), np.array([0, 1, 3, 3]),
        ),
    ),
    Case("SumRepeatedRows", [np.zeros((0, 2)), np.zeros(0, np.int64)], expected=lambda v, i: (v, i), variant="none"),
    Case(
        "SumDistinctRows", [_VALUES, _INDICES], known_shape=False,
        expected=lambda values, indices: (
            np.array([values[3], values[1], values[0] + values[2]]), np.array([0, 1, 3]),
        ),
    ),
]  # fmt: skip

WITHOUT_CASE = {"CallExported": "its function comes with the node; tests/train/test_optax_optimizer.py"}

OWN_OPS = {
    "AccumulatorJoin": "tells which replicas a synchronous update is made by",
    "AccumulatorLeave": "tells which replicas a synchronous update is made by",
    "AccumulatorLimit": "lets a synchronous update be made of fewer gradients when a replica is gone",
    "AccumulatorRestart": "lets replicas that train in step go back to a checkpoint",
    "AccumulatorReport": "tells what a synchronous update waits for",
    "ReplicaBoardLeave": "tells which replicas a synchronous update waits for",
    "ReplicaBoardPost": "tells which replicas a synchronous update waits for",
    "ReplicaBoardRead": "tells which replicas a synchronous update waits for",
    "ShardQueueTake": "hands out the shards of an input to whoever trains, and again when somebody has left",
    "CallExported": "holds a JAX function, which TensorFlow does by XlaCallModule in another serial form",
    "SumRepeatedRows": "sums slices of one index without a number of results that depends on the indices",
    "SumDistinctRows": "Unique and UnsortedSegmentSum in one host op, for updates that programs write themselves",
}
