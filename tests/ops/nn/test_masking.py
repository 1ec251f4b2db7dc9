"""`masked` gives what `where` gives, bit by bit."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from weft.ops.nn.masking import masked


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16, ml_dtypes.bfloat16, np.int8, np.int64, np.uint32])
def test_values_where_the_mask_is_set_and_zeros_elsewhere(dtype: Any) -> None:
    values = np.arange(-12, 12).reshape(4, 6).astype(dtype)
    mask = np.random.default_rng(0).random((4, 6)) < 0.5
    made = masked(np, mask, values)
    assert made.dtype == values.dtype
    np.testing.assert_array_equal(made, np.where(mask, values, np.zeros((), dtype)))


def test_what_is_not_finite_leaves_no_trace_and_stays_where_it_is_wanted() -> None:
    values = np.array([np.inf, np.nan, -np.inf, -1.0, -0.0], np.float32)
    np.testing.assert_array_equal(masked(np, np.zeros(5, bool), values), np.zeros(5))
    assert not np.signbit(masked(np, np.zeros(5, bool), values)).any()
    np.testing.assert_array_equal(masked(np, np.ones(5, bool), values), values)


def test_scalars_and_every_second_element() -> None:
    assert masked(np, np.bool_(True), np.float32(3.0)) == 3.0
    np.testing.assert_array_equal(masked(np, np.ones(3, bool), np.arange(6.0)[::2]), [0.0, 2.0, 4.0])
    assert masked(np, np.ones(2, bool), np.array([1.0, 2.0], complex)).dtype == complex
