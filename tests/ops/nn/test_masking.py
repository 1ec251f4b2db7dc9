"""`masked` and `chosen` give what `where` gives, bit by bit."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from weft.ops.nn.masking import chosen, masked


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


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16, ml_dtypes.bfloat16, np.int8, np.int64, np.uint32])
def test_one_value_or_the_other(dtype: Any) -> None:
    values, others = np.arange(-12, 12).reshape(4, 6).astype(dtype), np.arange(30, 54).reshape(4, 6).astype(dtype)
    mask = np.random.default_rng(0).random((4, 6)) < 0.5
    made = chosen(np, mask, values, others)
    assert made.dtype == values.dtype
    np.testing.assert_array_equal(made, np.where(mask, values, others))


def test_what_is_not_finite_stays_where_it_is_chosen() -> None:
    values, others = np.array([np.inf, np.nan, -0.0, 1.0], np.float32), np.array([2.0, -np.inf, 3.0, np.nan], np.float32)
    for mask in (np.ones(4, bool), np.zeros(4, bool), np.array([True, False, True, False])):
        made, expected = chosen(np, mask, values, others), np.where(mask, values, others)
        np.testing.assert_array_equal(made.view(np.int32), expected.view(np.int32))


def test_choices_of_scalars_rows_and_every_second_element() -> None:
    assert chosen(np, np.bool_(False), np.float32(3.0), np.float32(4.0)) == 4.0
    np.testing.assert_array_equal(chosen(np, np.array([True, False]), np.ones((3, 2)), np.zeros((3, 2))), [[1, 0]] * 3)
    np.testing.assert_array_equal(chosen(np, np.arange(3) == 1, np.arange(6.0)[::2], np.arange(6.0)[1::2]), [1.0, 2.0, 5.0])
