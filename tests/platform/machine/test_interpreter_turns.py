"""How much small work is done in one go."""

from __future__ import annotations

import sys

import pytest

from weft.platform.machine.interpreter_turns import LEAST, pieces_in_a_turn


@pytest.mark.parametrize(("pieces", "expected"), [(1, 1), (LEAST - 0.5, 1), (LEAST + 0.5, LEAST), (10.5, 10), (1e6, 32)])
def test_as_many_as_fit_but_no_few_and_no_crowd(pieces: float, expected: int) -> None:
    assert pieces_in_a_turn(sys.getswitchinterval() / pieces) == expected


def test_what_takes_no_time_is_done_as_often_as_anything() -> None:
    assert pieces_in_a_turn(0.0) == 32
