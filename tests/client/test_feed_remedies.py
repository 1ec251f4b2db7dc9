"""What is fed and does not fit is answered with what would."""

from __future__ import annotations

import numpy as np
import pytest

from weft.client import feed_remedies


@pytest.mark.parametrize(
    ("value", "remedy"),
    [
        (iter([1.0]), "list(value) has its items."),
        ({1.0}, "list(value) has its items."),
        (len, "It can be called: feed what len() returns."),
        (["a.png"], "'a.png' is the name of a file"),
        ("seven", "A text is no number"),
        ({"x": 1.0}, "such as value[key]"),
    ],
)
def test_what_makes_an_array_of_a_value(value: object, remedy: str) -> None:
    assert remedy in feed_remedies.for_value(value, "")


def test_rows_of_other_lengths_and_plain_numbers() -> None:
    assert feed_remedies.for_value([[1], [2, 3]], "an inhomogeneous shape") == " Its rows have different lengths: pad them."
    assert feed_remedies.for_value(np.zeros(3), "") == ""


@pytest.mark.parametrize(
    ("dims", "shape", "remedy"),
    [
        ((None, 28, 28, 1), (10, 28, 28), "np.expand_dims(value, -1)"),
        ((None, 3), (3,), "value[None]"),
        ((None,), (10, 1), "np.squeeze(value, -1)"),
        ((None, 28, 28, 3), (10, 3, 28, 28), "np.transpose(value, (0, 2, 3, 1))"),
        ((None, 784), (10, 28, 28), "np.reshape(value, [-1, 784])"),
        ((None, 3), (10, 4), ""),
    ],
)
def test_what_gives_an_array_the_shape(dims: tuple[int | None, ...], shape: tuple[int, ...], remedy: str) -> None:
    assert remedy in feed_remedies.for_shape(dims, shape) if remedy else feed_remedies.for_shape(dims, shape) == ""
