"""Cases of the ops on row splits."""

from __future__ import annotations

import numpy as np

from weft.testing.op_checks import Case

OUTER, INNER = np.array([0, 2, 3, 5], np.int64), np.array([0, 1, 3, 3, 4, 6], np.int64)
CASES = [
    Case("RaggedRange", [np.array([0, 5], np.int32), np.array([3, 4], np.int32), np.array([2, -1], np.int32)], sweep=False,
         expected=lambda *parts: ([0, 2, 3], [0, 2, 5])),
    Case("RaggedRowIds", [np.array([0, 2, 2, 3], np.int64)], expected=lambda splits: [0, 0, 2], sweep=False),
    Case("RaggedSelectRows", [[OUTER, INNER, np.array([2, 0], np.int64)]], {"N": 3}, sweep=False,
         expected=lambda parts: ([0, 2, 4], [0, 1, 3, 4, 6], [3, 4, 5, 0, 1, 2])),
]  # fmt: skip
