"""NumPy's maxima of windows, and their gradient, are those that the definition gives element by element."""

from __future__ import annotations

import itertools
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from weft.ops.nn import pooling
from weft.ops.nn.numpy_pooling import serves_gradient
from weft.ops.nn.window import Window, place

Shape = tuple[int, ...]


def numbers(shape: Shape, dtype: Any = np.float32) -> Any:
    """Few different ones, so that many windows have their greatest more than once."""
    return np.random.default_rng(sum(shape)).integers(-2, 3, shape).astype(dtype)


def by_definition(x: Any, grad: Any, window: Window) -> tuple[Any, Any]:
    """The greatest element of each window, and the gradient, which goes to the first such element."""
    made, back = np.empty(window.outputs, x.dtype), np.zeros(x.shape, x.dtype)
    for at in np.ndindex(*window.outputs):
        begins = [index * stride - low for index, stride, low in zip(at, window.strides, window.low, strict=True)]
        reach = [range(begin, begin + size) for begin, size in zip(begins, window.size, strict=True)]
        places = [each for each in itertools.product(*reach) if all(0 <= i < n for i, n in zip(each, x.shape, strict=True))]
        first = max(places, key=lambda each: x[each])  # of equal ones the first
        made[at] = x[first]
        back[first] += grad[at]
    return made, back


def check(shape: Shape, size: Shape, strides: Shape, padding: str = "SAME", dtype: Any = np.float32) -> Window:
    window = place(shape, size, strides, padding)
    x, grad = numbers(shape, dtype), np.arange(1, 1 + np.prod(window.outputs)).reshape(window.outputs).astype(dtype)
    made, back = by_definition(x, grad, window)
    for found, expected in (
        (pooling.greatest(np, x, window), made),
        (pooling.greatest_gradient(np, x, made, grad, window), back),
    ):
        assert found.dtype == expected.dtype
        np.testing.assert_array_equal(found, expected)
    return window


@pytest.mark.parametrize("channels", [1, 3, 8, 16, 40])
@pytest.mark.parametrize("side", [1, 2, 3])
def test_windows_side_by_side(channels: int, side: int) -> None:
    shape = (2, 6, 12, channels)
    window = check(shape, (1, side, side, 1), (1, side, side, 1))
    assert serves_gradient(shape, window) == (side > 1)


@pytest.mark.parametrize("channels", [1, 4, 40])
@pytest.mark.parametrize(("size", "stride"), [(3, 2), (3, 1), (2, 3), (1, 2)])
@pytest.mark.parametrize("padding", ["SAME", "VALID"])
def test_windows_that_overlap_or_leave_gaps(channels: int, size: int, stride: int, padding: str) -> None:
    shape = (2, 7, 9, channels)
    window = check(shape, (1, size, size, 1), (1, stride, stride, 1), padding)
    assert not serves_gradient(shape, window)


def test_padding_and_what_is_left_over() -> None:
    assert serves_gradient((2, 7, 5, 4), check((2, 7, 5, 4), (1, 2, 3, 1), (1, 2, 3, 1)))
    assert not serves_gradient((2, 7, 5, 4), check((2, 7, 5, 4), (1, 2, 3, 1), (1, 2, 3, 1), "VALID"))


@pytest.mark.parametrize(
    ("shape", "size"),
    [
        ((2, 4, 6, 2, 3), (1, 2, 3, 2, 1)),  # volumes
        ((4, 6, 4, 3), (2, 3, 1, 1)),  # the batch too
        ((3, 4, 6, 4), (1, 1, 2, 2)),  # channels second
        ((3, 4, 4, 6), (1, 2, 2, 3)),  # over channels
        ((2, 8, 3), (1, 4, 1)),  # sequences
    ],
)
def test_any_dimensions(shape: Shape, size: Shape) -> None:
    check(shape, size, size)


@pytest.mark.parametrize("dtype", [np.float64, np.float16, ml_dtypes.bfloat16, np.int8, np.int64])
def test_types(dtype: Any) -> None:
    check((1, 4, 6, 3), (1, 2, 2, 1), (1, 2, 2, 1), dtype=dtype)


def test_a_window_without_a_number_for_its_greatest_passes_no_gradient_on() -> None:
    x = np.ones((1, 2, 4, 3), np.float32)
    x[0, 1, 0, 1] = np.nan
    window = place(x.shape, (1, 2, 2, 1), (1, 2, 2, 1), "SAME")
    made = pooling.greatest(np, x, window)
    np.testing.assert_array_equal(made[0, 0], [[1, np.nan, 1], [1, 1, 1]])
    back = pooling.greatest_gradient(np, x, made, np.full_like(made, np.inf), window)
    expected = np.zeros_like(x)
    expected[0, 0, [0, 0, 2, 2, 2], [0, 2, 0, 1, 2]] = np.inf
    np.testing.assert_array_equal(back, expected)


@pytest.mark.parametrize("shape", [(0, 4, 4, 3), (2, 4, 4, 0), (2, 1, 4, 3)])
def test_nothing_to_look_at(shape: Shape) -> None:
    window = place(shape, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")
    made = pooling.greatest(np, np.ones(shape, np.float32), window)
    assert made.shape == window.outputs
    assert pooling.greatest_gradient(np, np.ones(shape, np.float32), made, made, window).shape == shape
