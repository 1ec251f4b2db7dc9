"""Rows are sorted stably, whatever their numbers, and put where fancy indexing would put them."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from weft.ops.array.row_order import accumulate_rows, are_rows, put_rows, repeated_rows, sorted_rows


@pytest.mark.parametrize("dtype", [np.int16, np.int32, np.int64])
@pytest.mark.parametrize("largest", [1, 5, 1000])
def test_equal_numbers_keep_their_order(dtype: Any, largest: int) -> None:
    indices = np.random.default_rng(0).integers(0, largest, 300).astype(dtype)
    order, ordered, is_first = sorted_rows(indices)
    np.testing.assert_array_equal(order, np.argsort(indices, kind="stable"))
    np.testing.assert_array_equal(ordered, np.sort(indices))
    np.testing.assert_array_equal(ordered[is_first], np.unique(indices))


@pytest.mark.parametrize("large", [2**40, 2**62])
def test_numbers_too_large_to_carry_their_place_are_sorted_too(large: int) -> None:
    order, ordered, is_first = sorted_rows(np.array([large, 3, large]))
    assert order.tolist() == [1, 0, 2]
    assert ordered.tolist() == [3, large, large]
    assert is_first.tolist() == [True, True, False]


@pytest.mark.parametrize("large", [20, 2**40, 2**62])
def test_the_rows_that_come_more_than_once_are_found(large: int) -> None:
    indices = np.array([7, large, 3, 9, large, 11, 3, 15, 16, 3])
    found = repeated_rows(indices, 2)
    assert found is not None
    order, ordered, is_first = found
    assert order.tolist() == [2, 6, 9, 1, 4]
    assert ordered.tolist() == [3, 3, 3, large, large]
    assert is_first.tolist() == [True, False, False, True, False]


@pytest.mark.parametrize("large", [20, 2**62])
def test_all_rows_are_ordered_where_many_come_more_than_once(large: int) -> None:
    indices = np.array([7, large, 3, 9, large, 11, 3, 15, 16, 3])
    found = repeated_rows(indices, 8)
    assert found is not None
    for part, expected in zip(found, sorted_rows(indices), strict=True):
        np.testing.assert_array_equal(part, expected)


@pytest.mark.parametrize("indices", [[], [5], [2**62, 0], range(300)])
def test_rows_that_come_once_are_not_looked_at_further(indices: Any) -> None:
    assert repeated_rows(np.array(indices, np.int64), 8) is None


def test_no_numbers_have_no_order() -> None:
    assert [part.size for part in sorted_rows(np.zeros(0, np.int32))] == [0, 0, 0]


@pytest.mark.parametrize("dtype", [np.float32, np.int8, np.complex64, ml_dtypes.bfloat16, np.bool_])
@pytest.mark.parametrize("shape", [(50,), (50, 3), (50, 2, 4), (50, 0)])
def test_rows_come_to_their_places(dtype: Any, shape: tuple[int, ...]) -> None:
    table = np.zeros(shape, dtype)
    expected = table.copy()
    rows = np.array([4, 49, 0])
    values = np.random.default_rng(0).integers(0, 5, (3, *shape[1:])).astype(dtype)
    put_rows(table, rows, values)
    expected[rows] = values
    np.testing.assert_array_equal(table, expected)


def test_no_rows_come_to_no_places() -> None:
    table = np.zeros((5, 2), np.float32)
    put_rows(table, np.zeros(0, np.int64), np.zeros((0, 2), np.float32))
    assert not table.any()


def test_rows_of_transposed_tables_come_to_their_places() -> None:
    table = np.zeros((3, 6), np.float32).T
    put_rows(table, np.array([5, 1]), np.ones((3, 2), np.float32).T)
    assert table.sum() == 6.0
    assert (table[[1, 5]] == 1.0).all()


@pytest.mark.parametrize("largest", [2**19, 2**20, 2**31 - 1, 2**53])
def test_keys_of_every_width_keep_the_order(largest: int) -> None:
    indices = np.random.default_rng(0).integers(largest - 50, largest, 4096)
    order, ordered, _ = sorted_rows(indices)
    np.testing.assert_array_equal(order, np.argsort(indices, kind="stable"))
    np.testing.assert_array_equal(ordered, np.sort(indices))


@pytest.mark.parametrize("dtype", [np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, ">i4"])
@pytest.mark.parametrize("limit", [1, 100, 2**7, 2**8, 2**15, 2**31, 2**40])
def test_numbers_are_rows_if_they_are_not_negative_and_below_the_limit(dtype: Any, limit: int) -> None:
    bounds = np.iinfo(dtype)
    for number in {bounds.min, -1, 0, limit - 1, limit, bounds.max}:
        if bounds.min <= number <= bounds.max:
            assert are_rows(np.array([[0, number]], dtype), limit) == (0 <= number < limit)
            assert are_rows(np.array(number, dtype), limit) == (0 <= number < limit)
    assert are_rows(np.zeros(0, dtype), limit)


@pytest.mark.parametrize("ufunc", [np.add, np.subtract, np.maximum, np.logical_xor])
@pytest.mark.parametrize("dtype", [np.float32, np.int64, np.bool_, ml_dtypes.bfloat16])
@pytest.mark.parametrize("inner", [(), (1,), (3, 5), (40_000,), (0,)])
def test_updates_of_repeated_rows_come_one_after_the_other(ufunc: np.ufunc, dtype: Any, inner: tuple[int, ...]) -> None:
    if dtype is np.bool_ and ufunc is np.subtract:
        pytest.skip("NumPy has no difference of truths")
    if ufunc is np.logical_xor and dtype is not np.bool_:
        pytest.skip("of truths alone")
    generator = np.random.default_rng(0)
    rows = generator.integers(-6, 6, (7, 2))
    table, updates = generator.normal(size=(6, *inner)).astype(dtype), generator.normal(size=(7, 2, *inner)).astype(dtype)
    expected = table.copy()
    ufunc.at(expected, rows, updates)
    accumulate_rows(ufunc, table, rows, updates)
    np.testing.assert_array_equal(table, expected)


def test_updates_of_transposed_tables_and_by_one_value_come_too() -> None:
    table, one = np.zeros((3, 4)).T, np.zeros((2, 2))
    accumulate_rows(np.add, table, np.array([1, 1, 3]), np.ones((3, 3)))
    accumulate_rows(np.add, one, np.array([0, 0]), np.float64(2))
    assert table.sum(1).tolist() == [0, 6, 0, 3]
    assert one.tolist() == [[4, 4], [0, 0]]
