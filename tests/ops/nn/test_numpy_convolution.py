"""NumPy's convolutions give what the definition says, element by element of the window, and so do their gradients."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from weft.ops.nn import numpy_convolution
from weft.ops.nn.numpy_convolution import convolved, filter_gradient, input_gradient, padded_by
from weft.ops.nn.window import Window, place

Shape = tuple[int, ...]


def numbers(shape: Shape, dtype: Any = np.float64) -> Any:
    return np.random.default_rng(sum(shape)).integers(-4, 5, shape).astype(dtype)


def by_definition(x: Any, filters: Any, window: Window) -> Any:
    """Whole numbers, so that every order of the sums gives the same."""
    padded = np.pad(x, ((0, 0), *window.paddings, (0, 0)))
    result = np.zeros((x.shape[0], *window.outputs, filters.shape[-1]), x.dtype)
    for position in window.positions():
        result += padded[(slice(None), *window.slices(position))] @ filters[position]
    return result


def check(
    shape: Shape, filter_shape: Shape, stride: int = 1, dilation: int = 1, padding: str = "SAME", dtype: Any = np.float64
) -> None:
    rank = len(shape) - 2
    window = place(shape[1:-1], filter_shape[:-2], (stride,) * rank, padding, (dilation,) * rank)
    x, filters = numbers(shape, dtype), numbers(filter_shape, dtype)
    expected = by_definition(x, filters, window)
    np.testing.assert_array_equal(convolved(x, filters, window), expected)
    # Both gradients by their definition: the transposes of a function that is linear in each.
    grad = numbers(expected.shape, dtype)
    of_x, of_filters = input_gradient(shape, filters, grad, window), filter_gradient(x, grad, window)
    assert (of_x.shape, of_filters.shape, of_x.dtype) == (shape, filter_shape, x.dtype)
    for seed in range(3):
        other = np.random.default_rng(seed)
        x, filters = (other.integers(-4, 5, each).astype(dtype) for each in (shape, filter_shape))
        assert (of_x * x).sum() == (by_definition(x, numbers(filter_shape, dtype), window) * grad).sum()
        assert (of_filters * filters).sum() == (by_definition(numbers(shape, dtype), filters, window) * grad).sum()


@pytest.mark.parametrize("padding", ["SAME", "VALID"])
@pytest.mark.parametrize(("stride", "dilation"), [(1, 1), (2, 1), (3, 1), (1, 2), (2, 2)])
@pytest.mark.parametrize("channels", [1, 3])
def test_images(padding: str, stride: int, dilation: int, channels: int) -> None:
    check((2, 11, 8, channels), (3, 2, channels, 4), stride, dilation, padding)


@pytest.mark.parametrize(("shape", "filters"), [((3, 9, 2), (4, 2, 3)), ((2, 5, 6, 7, 2), (2, 3, 2, 2, 3))])
@pytest.mark.parametrize("stride", [1, 2])
def test_sequences_and_volumes(shape: Shape, filters: Shape, stride: int) -> None:
    check(shape, filters, stride)


@pytest.mark.parametrize("stride", [1, 2])
def test_a_window_of_one_element(stride: int) -> None:
    check((2, 6, 5, 3), (1, 1, 3, 4), stride)


def test_strides_that_leave_elements_out_give_them_no_gradient() -> None:
    check((2, 9, 9, 2), (2, 2, 2, 3), 4, padding="VALID")


@pytest.mark.parametrize(
    ("shape", "filters"),
    [((3, 7, 6, 1), (5, 6, 1, 4)), ((2, 7, 7, 3), (7, 7, 3, 4)), ((2, 12, 2), (11, 2, 3)), ((2, 4, 4, 4, 2), (4, 3, 3, 2, 3))],
)
@pytest.mark.parametrize("stride", [1, 2])
def test_windows_that_are_few_for_the_size_of_the_images(
    monkeypatch: pytest.MonkeyPatch, shape: Shape, filters: Shape, stride: int
) -> None:
    monkeypatch.setattr(numpy_convolution, "_ROWS_BYTES", 2000)
    check(shape, filters, stride, padding="VALID")


def test_large_windows_in_few_places_lay_out_no_more_than_they_multiply(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(numpy_convolution, "_rows_of", None)
    window = place((11, 128), (5, 128), (1, 1), "VALID", (1, 1))
    grad = input_gradient((64, 11, 128, 1), np.ones((5, 128, 1, 128), np.float32), np.ones((64, 7, 1, 128), np.float32), window)
    np.testing.assert_array_equal(grad[0, :, 0, 0], 128 * np.array([1, 2, 3, 4, 5, 5, 5, 4, 3, 2, 1]))


def test_whole_numbers() -> None:
    check((2, 6, 5, 3), (3, 3, 3, 2), dtype=np.int32)


@pytest.mark.parametrize(("shape", "padding"), [((0, 5, 5, 2), "SAME"), ((2, 2, 5, 2), "VALID")])
def test_no_images_and_no_windows(shape: Shape, padding: str) -> None:
    check(shape, (3, 3, 2, 4), padding=padding)


def test_many_images_are_taken_some_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(numpy_convolution, "_ROWS_BYTES", 2 * 8 * 9 * 30 * 2)
    check((5, 6, 5, 2), (3, 3, 2, 4))
    check((5, 6, 5, 1), (3, 3, 1, 4))


def test_what_is_no_block_of_memory_is_copied() -> None:
    x = numbers((2, 3, 6, 5)).transpose(0, 2, 3, 1)
    window = place((6, 5), (3, 3), (1, 1), "SAME")
    filters = numbers((3, 3, 3, 2))
    np.testing.assert_array_equal(convolved(x, filters, window), by_definition(x, filters, window))


def test_negative_padding_cuts_and_does_not_reach_beyond() -> None:
    window = Window((1,), (1,), (1,), (-2,), (1,), (4,))
    np.testing.assert_array_equal(padded_by(numbers((1, 5, 1)), window)[0, :, 0], [*numbers((1, 5, 1))[0, 2:, 0], 0])
    window = Window((1,), (1,), (1,), (3,), (-6,), (2,))
    np.testing.assert_array_equal(padded_by(numbers((1, 5, 1)), window)[0, :, 0], [0, 0])
