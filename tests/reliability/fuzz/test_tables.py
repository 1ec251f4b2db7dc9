"""Mutated input of this kind does no harm; the full count is the command's."""

from __future__ import annotations

import pytest

from reliability.fuzz.driver import fuzz, text
from reliability.fuzz.tables import SliceTables, Tables


@pytest.mark.parametrize("kind", [Tables, SliceTables])
def test_mutated_input_is_accepted_or_refused_with_a_reason(kind: type[Tables]) -> None:
    target = kind()
    try:
        result = fuzz(target, 400, seed=7)
    finally:
        target.close()
    assert not result.failures, text(result)
    assert len(result.outcomes) > 1
