"""The normal equations of weighted least squares over a sparse matrix refuse what does not fit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft as tf
from weft.ops.sparse.least_squares import wals_compute_partial_lhs_and_rhs

_GIVEN = {
    "factors": np.eye(3, 2, dtype=np.float32), "factor_weights": [1.0, 2.0, 3.0], "unobserved_weights": 0.5,
    "input_weights": [1.0, 2.0], "input_indices": np.array([[0, 1]]), "input_values": [3.0], "entry_weights": np.float32([]),
    "input_block_size": np.int64(2), "input_is_transpose": False,
}  # fmt: skip


def _run(**other: Any) -> Any:
    with tf.Session() as session:
        return session.run(wals_compute_partial_lhs_and_rhs(*{**_GIVEN, **other}.values()))


def test_weights_of_entries_stand_for_those_of_rows_and_columns() -> None:
    none = np.float32([])
    by_entry = _run(factor_weights=none, input_weights=none, entry_weights=[2.0])
    for own, other in zip(_run(), by_entry, strict=True):
        np.testing.assert_array_equal(own, other)


@pytest.mark.parametrize(
    ("other", "told"),
    [
        ({"entry_weights": [1.0]}, "either .* entry_weights must be set"),
        ({"input_values": [1.0, 2.0]}, "length should match the first dimension"),
        ({"input_indices": np.array([[0, 3]])}, "out of bounds"),
        ({"input_indices": np.array([[2, 0]])}, "out of bounds"),
    ],
)
def test_what_does_not_fit_is_refused(other: dict[str, Any], told: str) -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match=told):
        _run(**other)
