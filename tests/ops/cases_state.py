"""The pure ops around variables; those that change state are in test_state.py."""

from __future__ import annotations

import numpy as np

from weft.testing.op_checks import Case

CASES = [
    Case(
        "UninitializedNames", [[True, False, False]], {"names": ["a", "b", "c"]},
        expected=lambda flags: np.array([b"b", b"c"], object),
    ),
    Case("IdentityMatrix", [], {"rows": 2, "columns": 3, "dtype": np.float32}, expected=lambda: np.eye(2, 3)),
]  # fmt: skip

OWN_OPS = {
    "UninitializedNames": "what report_uninitialized_variables says, in one node instead of thirty",
    "ReadyToRead": "assert_variables_initialized: a read that nothing folds away",
    "VariableValue": "the value of a variable that a branch reads",
    "IdentityMatrix": "the identity initializer, without a constant of that size in the graph",
    "OrthogonalBasis": "the orthogonal initializer, whose signs make it evenly distributed",
}
