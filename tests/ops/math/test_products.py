"""Products of a transposed matrix with a narrow one are made the other way round in compiled code, with the same values."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import weft as tf
from weft.framework.registry import op_registry


def matrix(rows: int, columns: int, dtype: Any) -> Any:
    return np.random.default_rng(rows + columns).integers(-4, 5, (rows, columns)).astype(dtype)


def compiled(a: Any, b: Any, transpose_b: bool = False) -> tuple[Any, str]:
    kernel = op_registry.lookup("MatMul").kernel
    function = jax.jit(lambda a, b: kernel(jnp, a, b, transpose_a=True, transpose_b=transpose_b))
    with jax.enable_x64(True):
        return np.asarray(function(a, b)), function.lower(a, b).as_text()


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16, tf.bfloat16.as_numpy_dtype])
@pytest.mark.parametrize(("inner", "rows", "columns"), [(7, 40, 3), (1, 5, 1), (16, 200, 127)])
def test_narrow_products(dtype: Any, inner: int, rows: int, columns: int) -> None:
    a, b = matrix(inner, rows, dtype), matrix(inner, columns, dtype)
    for value, is_transposed in ((b, False), (np.ascontiguousarray(b.T), True)):
        made, code = compiled(a, value, is_transposed)
        assert made.dtype == dtype
        np.testing.assert_array_equal(made.astype(np.float64), a.T.astype(np.float64) @ b.astype(np.float64))
        assert "optimization_barrier" in code


@pytest.mark.parametrize(
    ("rows", "columns", "dtype"),
    [
        (300, 128, np.float32),  # wide
        (20, 20, np.float32),  # as many columns as rows
        (40, 3, np.int32),
    ],
)
def test_other_products_stay_as_they_are(rows: int, columns: int, dtype: Any) -> None:
    a, b = matrix(6, rows, dtype), matrix(6, columns, dtype)
    made, code = compiled(a, b)
    np.testing.assert_array_equal(made, a.T @ b)
    assert "optimization_barrier" not in code


def test_a_narrow_product_of_nothing() -> None:
    made, _ = compiled(np.zeros((0, 9), np.float32), np.zeros((0, 2), np.float32))
    np.testing.assert_array_equal(made, np.zeros((9, 2), np.float32))
