"""RowOrder: lists of rows as one."""

import random

import pytest

from weft.ops.data_flow.row_order import RowOrder


def merged(old: list[int], new: list[int]) -> list[int]:
    """Two lists as one, by the rule itself."""
    found: list[int] = []
    while old and new:
        a, b = old[0], new[0]
        found.append(min(a, b))
        old, new = old[a <= b :], new[b <= a :]
    return [*found, *old, *new]


def test_rows_come_as_if_each_list_were_merged_with_all_before_it() -> None:
    rng = random.Random(5)
    for _ in range(200):
        order, expected = RowOrder(), list[int]()
        for _ in range(rng.randint(1, 4)):
            rows = rng.sample(range(12), rng.randint(0, 6))
            order.add(rows)
            expected = merged(expected, rows)
        assert order.take() == list(dict.fromkeys(expected))


def test_a_row_that_an_earlier_one_hides_still_leads_those_behind_it() -> None:
    order = RowOrder()
    for rows in ([5, 4, 1, 0], [1, 4], [5, 3]):
        order.add(rows)
    assert order.take() == [1, 4, 5, 3, 0]  # TensorFlow 1.15.5, without the rows that it repeats


def test_it_begins_anew_once_it_was_taken() -> None:
    order = RowOrder()
    order.add([3, 1])
    assert order.take() == [3, 1]
    order.add([2])
    assert order.take() == [2]


@pytest.mark.parametrize("rows", [range(20_000), range(20_000, 0, -1)], ids=["rising", "falling"])
def test_long_lists_are_no_deeper_than_python_goes(rows: range) -> None:
    order = RowOrder()
    order.add(rows)
    assert order.take() == list(rows)
