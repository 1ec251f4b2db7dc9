"""Rows are updated in place, piece by piece, as if each row's gradients had been summed and the rule applied to all at once."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from weft.errors import InvalidArgumentError
from weft.ops.training.row_update import update_rows

ROWS, WIDTH = 3000, 32


def _rule(var: Any, accum: Any, grad: Any) -> tuple[Any, Any]:
    accum = accum + grad * grad
    return var - grad / np.sqrt(accum), accum


def _expected(tables: list[Any], indices: Any, gradients: Any) -> list[Any]:
    rows, places = np.unique(indices, return_inverse=True)
    summed = np.zeros((len(rows), *gradients.shape[1:]), gradients.dtype)
    np.add.at(summed, places, gradients)
    expected = [table.copy() for table in tables]
    for table, new in zip(expected, _rule(*(table[rows] for table in tables), summed), strict=True):
        table[rows] = new
    return expected


def _tables(shape: tuple[int, ...], dtype: Any = np.float32) -> list[Any]:
    return [np.random.default_rng(seed).random(shape).astype(dtype) for seed in (1, 2)]


# None, a few or nearly all of the rows that are named come again.
@pytest.mark.parametrize("limit", [0, ROWS, 20])
@pytest.mark.parametrize("shape", [(ROWS,), (ROWS, WIDTH), (ROWS, 2, 3)])
@pytest.mark.parametrize("count", [0, 1, 7, 2500])
def test_rows_are_updated_with_the_sums_of_their_gradients(limit: int, shape: tuple[int, ...], count: int) -> None:
    generator = np.random.default_rng(0)
    indices = generator.integers(0, limit, count, np.int32) if limit else generator.permutation(ROWS)[:count].astype(np.int32)
    gradients = generator.random((count, *shape[1:]), np.float32)
    tables = _tables(shape)
    expected = _expected(tables, indices, gradients)
    changed = update_rows(_rule, tables, indices, gradients)
    for table, new, wanted in zip(tables, changed, expected, strict=True):
        assert new is table
        np.testing.assert_allclose(new, wanted, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("dtype", [np.float16, np.float64, ml_dtypes.bfloat16])
def test_other_types_keep_their_type(dtype: Any) -> None:
    tables = _tables((20, 3), dtype)
    gradients = np.ones((5, 3), dtype)
    expected = _expected(tables, np.array([3, 1, 3, 19, 0]), gradients)
    changed = update_rows(_rule, tables, np.array([3, 1, 3, 19, 0]), gradients)
    for table, wanted in zip(changed, expected, strict=True):
        assert table.dtype == dtype
        np.testing.assert_allclose(table.astype(np.float64), wanted.astype(np.float64), rtol=1e-2)


def test_what_must_not_be_written_to_is_copied() -> None:
    tables = _tables((20, 3))
    for table in tables:
        table.flags.writeable = False
    kept = [table.copy() for table in tables]
    changed = update_rows(_rule, tables, np.array([4]), np.ones((1, 3), np.float32))
    for table, before, after in zip(tables, kept, changed, strict=True):
        np.testing.assert_array_equal(table, before)
        assert (after[4] != before[4]).all()


@pytest.mark.parametrize("wrong", [-1, 20])
def test_an_index_that_is_no_row_is_told_and_nothing_changes(wrong: int) -> None:
    tables = _tables((20, 3))
    kept = [table.copy() for table in tables]
    with pytest.raises(InvalidArgumentError, match=rf"Index {wrong} at offset 1 in indices is out of range \[0, 20\)"):
        update_rows(_rule, tables, np.array([0, wrong]), np.ones((2, 3), np.float32))
    for table, before in zip(tables, kept, strict=True):
        np.testing.assert_array_equal(table, before)


@pytest.mark.parametrize("shape", [(3, 3), (2, 1), (2,)])
def test_gradients_that_do_not_fit_are_refused(shape: tuple[int, ...]) -> None:
    with pytest.raises(InvalidArgumentError, match=r"do not fit 2 rows of a variable of shape \(20, 3\)"):
        update_rows(_rule, _tables((20, 3)), np.array([0, 1]), np.ones(shape, np.float32))
