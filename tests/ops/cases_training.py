"""The pure ops around optimizers; their updates are tested in tests/train."""

from __future__ import annotations

import numpy as np

from weft.testing.op_checks import Case

_VALUES = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0], [7.0, 8.0]])
_INDICES = np.array([3, 1, 3, 0], np.int32)
# One example, which has feature 7 of {3, 7} and two dense ones.
_EXAMPLE = [
    [np.array([0])], [np.array([7])], [], [np.float32([[1.5, -2]])], np.float32([2]), np.float32([1]), [np.array([3, 7])],
    [np.float32([0.5, 0.3])], [np.float32([0.1, -0.2])], np.float32([[0.4, 0.1, 0.2, 0.7]]),
]  # fmt: skip
_ASCENT = {"l1": 0.05, "l2": 1.05, "num_loss_partitions": 3, "num_inner_iterations": 1}
# TensorFlow 1.15.5's: dual variable, primal and dual loss, and what is added to the weight of the sparse feature.
_ASCENDED = {
    "logistic_loss": (0.39495113, 0.84995645, -1.3460233, -0.009616881),
    "squared_loss": (0.39915827, 0.13270408, -0.63999999, -0.0016033351),
    "hinge_loss": (0.40879312, 0.72857141, -0.80000001, 0.016748769),
    "smooth_hinge_loss": (0.39915827, 0.13270408, -0.63999999, -0.0016033351),
    "poisson_loss": (0.37337303, 2.5053124, -1.8129908, -0.050718077),
}


def _ascended(dual: float, primal: float, conjugate: float, added: float) -> tuple[np.ndarray, ...]:
    return np.float32([[dual, primal, conjugate, 2]]), np.float32([0, added]), np.float32([1.5 * added, -2 * added])


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
    *(
        Case("SdcaOptimizerV2", _EXAMPLE, {"loss_type": loss, **_ASCENT}, variant=loss, sweep=False, tolerance=1e-5,
             expected=lambda *_, found=found: _ascended(*found))
        for loss, found in _ASCENDED.items()
    ),
    Case("SdcaOptimizer", _EXAMPLE, {"loss_type": "hinge_loss", **_ASCENT}, sweep=False, tolerance=1e-5,
         expected=lambda *_: _ascended(*_ASCENDED["hinge_loss"])),
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
