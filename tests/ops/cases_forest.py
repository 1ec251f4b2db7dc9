"""The ops of random forests that have no state; the others are tested in tests/ops/forest and tests/estimators/forest."""

from __future__ import annotations

import numpy as np

from weft.testing.op_checks import Case

_TEXTS = np.array([[b"abc"], [b"hello world 123"]], object)

CASES = [
    Case("ReinterpretStringToFloat", [_TEXTS],
         expected=lambda *given: np.float32([[3.6637267e18], [2.5029450e18]]), sweep=False),
]  # fmt: skip
