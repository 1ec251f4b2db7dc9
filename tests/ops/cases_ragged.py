"""Cases of the ops on row splits."""

from __future__ import annotations

import numpy as np

from weft.framework.types import dtypes
from weft.testing.op_checks import Case

OUTER, INNER = np.array([0, 2, 3, 5], np.int64), np.array([0, 1, 3, 3, 4, 6], np.int64)
VALUES = np.array([1, 2, 3, 4, 5, 6], np.float32)
SPLITS = np.array([0, 2, 2, 6], np.int64)
CASES = [
    Case("RaggedTensorToTensor", [np.int64(-1), VALUES, np.float32(9), [np.array(3, np.int64), np.repeat([0, 2], [2, 4])]],
         {"num_row_partition_tensors": 2, "row_partition_types": ["FIRST_DIM_SIZE", "VALUE_ROWIDS"]}, sweep=False,
         expected=lambda *parts: [[1, 2, 9, 9], [9, 9, 9, 9], [3, 4, 5, 6]]),
    Case("RaggedTensorToTensor", [np.array([2, 3], np.int64), VALUES, np.float32(9), [SPLITS]], sweep=False, variant="cut",
         attrs={"num_row_partition_tensors": 1, "row_partition_types": ["ROW_SPLITS"]},
         expected=lambda *parts: [[1, 2, 9], [9, 9, 9]]),
    Case("RaggedTensorToSparse", [[SPLITS], VALUES], {"RAGGED_RANK": 1}, sweep=False,
         expected=lambda *parts: ([[0, 0], [0, 1], [2, 0], [2, 1], [2, 2], [2, 3]], VALUES, [3, 4])),
    Case("RaggedGather", [[SPLITS], VALUES, np.array([2, 0], np.int64)],
         {"PARAMS_RAGGED_RANK": 1, "OUTPUT_RAGGED_RANK": 1, "Tsplits": dtypes.int64}, sweep=False,
         expected=lambda *parts: ([0, 4, 6], [3, 4, 5, 6, 1, 2])),
    Case("RaggedGather", [[SPLITS], VALUES, np.array([[[2, 0], [1, 0]]], np.int32)], variant="by_a_cube",
         attrs={"PARAMS_RAGGED_RANK": 1, "OUTPUT_RAGGED_RANK": 3, "Tsplits": dtypes.int64}, sweep=False,
         expected=lambda *parts: ([0, 2], [0, 2, 4], [0, 4, 6, 6, 8], [3, 4, 5, 6, 1, 2, 1, 2])),
    Case("RaggedRange", [np.array([0, 5], np.int32), np.array([3, 4], np.int32), np.array([2, -1], np.int32)], sweep=False,
         expected=lambda *parts: ([0, 2, 3], [0, 2, 5])),
    Case("RaggedRowIds", [np.array([0, 2, 2, 3], np.int64)], expected=lambda splits: [0, 0, 2], sweep=False),
    Case("RaggedSelectRows", [[OUTER, INNER, np.array([2, 0], np.int64)]], {"N": 3}, sweep=False,
         expected=lambda parts: ([0, 2, 4], [0, 1, 3, 4, 6], [3, 4, 5, 0, 1, 2])),
]  # fmt: skip

OWN_OPS = {
    "RaggedRowIds": "TensorFlow repeats the numbers of the rows by nodes that grow with the rank",
    "RaggedSelectRows": "TensorFlow selects rows of rows by as many nodes as there are splits",
}
