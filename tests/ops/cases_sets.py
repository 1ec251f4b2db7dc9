"""Cases of set operations, distinct slices and quantization."""

from __future__ import annotations

import numpy as np

from weft.framework.types import dtypes
from weft.testing.op_checks import Case

X = np.array([[-1.2, 0.31, 0.02], [0.77, 1.6, -0.4]], np.float32)
GRADS = np.array([[1, 2, 3], [4, 5, 6]], np.float32)
LOW, HIGH = np.float32(-0.5), np.float32(1)
# The range moved so that zero is one of its 256 values, and the distance of those.
STEP = np.float32(1.5 / 255)
NUDGED = (-85 * STEP, 170 * STEP)


def _rounded(x, *limits):
    return np.round((np.clip(x, *NUDGED) - NUDGED[0]) / STEP) * STEP + NUDGED[0]


def _gradients(g, x, *limits):
    return np.where((x >= NUDGED[0]) & (x <= NUDGED[1]), g, 0), g[x < NUDGED[0]].sum(), g[x > NUDGED[1]].sum()


def _by_channel(g, x, *limits):
    below, above = np.where(x < NUDGED[0], g, 0), np.where(x > NUDGED[1], g, 0)
    return g - below - above, below.sum(0), above.sum(0)


ARGS = {"min": -0.5, "max": 1.0}
LOWS, HIGHS = np.full(3, LOW), np.full(3, HIGH)
QUANTIZATION = [
    Case("FakeQuantWithMinMaxArgs", [X], ARGS, expected=_rounded, gradient=False),
    Case("FakeQuantWithMinMaxArgsGradient", [GRADS, X], ARGS, expected=lambda g, x: _gradients(g, x)[0]),
    Case("FakeQuantWithMinMaxVars", [X, LOW, HIGH], expected=_rounded, gradient=False),
    Case("FakeQuantWithMinMaxVarsGradient", [GRADS, X, LOW, HIGH], expected=_gradients),
    Case("FakeQuantWithMinMaxVarsPerChannel", [X, LOWS, HIGHS], expected=_rounded, gradient=False),
    Case("FakeQuantWithMinMaxVarsPerChannelGradient", [GRADS, X, LOWS, HIGHS], expected=_by_channel),
    Case("QuantizeAndDequantizeV2", [X, LOW, HIGH], {"range_given": True}, gradient=False, tolerance=5e-2,
         expected=lambda x, low, high: np.round(np.clip(x, -128 / 127, 1) * 127) / 127),
    Case("QuantizeAndDequantizeV3", [X, LOW, HIGH, np.int32(8)], gradient=False, tolerance=5e-2, sweep=False,
         expected=lambda x, low, high, bits: np.round(np.clip(x, -128 / 127, 1) * 127) / 127),
    Case("QuantizeAndDequantizeV4", [X, LOW, HIGH], {"range_given": True}, gradient=False, tolerance=5e-2, sweep=False,
         expected=lambda x, low, high: np.round(np.clip(x, -128 / 127, 1) * 127) / 127),
    Case("QuantizeAndDequantizeV4Grad", [GRADS, X, LOW, HIGH], sweep=False,
         expected=lambda g, x, low, high: (np.where((x >= low) & (x <= high), g, 0), 0, 0)),
    Case("QuantizeV2", [X, LOW, HIGH], {"T": dtypes.quint8},
         expected=lambda x, low, high: (np.round((np.clip(x, low, high) - low) / STEP), low, high)),
    Case("QuantizeV2", [X, LOW, HIGH], {"T": dtypes.qint8, "mode": "SCALED"}, variant="scaled",
         expected=lambda x, low, high: (np.round(np.clip(x * 127, -128, 127)), np.float32(-128 / 127), 1.0)),
]  # fmt: skip

SPARSE = (np.array([[0, 0], [0, 1], [2, 0]], np.int64), np.array([5, 5, 7], np.int32), np.array([3, 2], np.int64))
OTHER = (np.array([[0, 0], [1, 0], [2, 0]], np.int64), np.array([5, 6, 8], np.int32), np.array([3, 1], np.int64))
ROWS_A, ROWS_B = np.array([[1, 2, 3], [4, 5, 5]], np.int32), np.array([[2, 3], [5, 6]], np.int32)
SETS = [
    Case("SetSize", [*SPARSE], expected=lambda *parts: [1, 0, 1], sweep=False),
    Case("DenseToDenseSetOperation", [ROWS_A, ROWS_B], {"set_operation": "intersection"}, sweep=False,
         expected=lambda a, b: ([[0, 0], [0, 1], [1, 0]], [2, 3, 5], [2, 2])),
    Case("DenseToSparseSetOperation", [np.array([[5], [6], [7]], np.int32), *OTHER], {"set_operation": "a-b"}, sweep=False,
         expected=lambda *parts: ([[2, 0]], [7], [3, 1])),
    Case("SparseToSparseSetOperation", [*SPARSE, *OTHER], {"set_operation": "union"}, sweep=False,
         expected=lambda *parts: ([[0, 0], [1, 0], [2, 0], [2, 1]], [5, 6, 7, 8], [3, 2])),
    Case("UniqueV2", [np.array([[1, 2], [3, 4], [1, 2]], np.int32), np.array([0], np.int64)], sweep=False,
         expected=lambda x, axis: ([[1, 2], [3, 4]], [0, 1, 0])),
    Case("UniqueWithCountsV2", [np.array([[1, 3, 1], [2, 4, 2]], np.int32), np.array([-1], np.int64)], sweep=False,
         expected=lambda x, axis: ([[1, 3], [2, 4]], [0, 1, 0], [2, 1])),
]  # fmt: skip

CASES = [*QUANTIZATION, *SETS]
WITHOUT_CASE = {"Dequantize": "arrays do not tell quantized types from integers; the differential programs have it"}
