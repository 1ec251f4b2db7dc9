"""The size of one dimension, perhaps unknown: arithmetic, comparisons, and what is no size."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from weft.framework.types.dimension import Dimension


@pytest.mark.parametrize(
    ("compute", "wanted"),
    [
        (lambda: Dimension(3) + 2, 5), (lambda: 2 + Dimension(3), 5), (lambda: Dimension(3) - 1, 2),
        (lambda: 7 - Dimension(3), 4), (lambda: Dimension(3) * 2, 6), (lambda: 2 * Dimension(3), 6),
        (lambda: Dimension(7) // 2, 3), (lambda: 7 // Dimension(2), 3), (lambda: Dimension(7) % 4, 3),
        (lambda: 9 % Dimension(4), 1), (lambda: Dimension(None) + 1, None), (lambda: Dimension(3) * None, None),
        (lambda: Dimension(3).merge_with(None), 3), (lambda: Dimension(None).merge_with(4), 4),
        (lambda: Dimension(Dimension(3)), 3), (lambda: Dimension(np.int64(3)), 3),
    ],
)  # fmt: skip
def test_arithmetic_of_dimensions(compute: Callable[[], Dimension], wanted: int | None) -> None:
    result = compute()
    assert isinstance(result, Dimension)
    assert result.value == wanted


def test_dimensions_are_divided_by_whole_numbers_only() -> None:
    with pytest.raises(TypeError, match="please use // instead"):
        _ = Dimension(3) / 2
    with pytest.raises(TypeError, match="please use // instead"):
        _ = 6 / Dimension(3)


def test_comparing_with_an_unknown_dimension_gives_none() -> None:
    assert (Dimension(3) == 3) is True
    assert (Dimension(3) != 4) is True
    assert (Dimension(3) < 4) is True
    assert (Dimension(3) >= 4) is False
    assert (Dimension(3) == None) is None  # noqa: E711
    assert (Dimension(None) < Dimension(3)) is None
    assert Dimension(3) != "a"


def test_a_dimension_is_used_as_a_number() -> None:
    assert list(range(Dimension(3))) == [0, 1, 2]
    assert [1, 2, 3][Dimension(1)] == 2
    assert int(Dimension(3)) == 3
    with pytest.raises(TypeError, match="unknown Dimension"):
        int(Dimension(None))
    assert (str(Dimension(None)), repr(Dimension(4))) == ("?", "Dimension(4)")


@pytest.mark.parametrize(("value", "error"), [("3", TypeError), (-1, ValueError), (3.5, ValueError), ([], TypeError)])
def test_what_is_no_size_is_refused(value: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        Dimension(value)


def test_dimensions_that_differ_are_not_merged() -> None:
    with pytest.raises(ValueError, match="Dimensions 3 and 4 are not compatible"):
        Dimension(3).merge_with(4)
