"""A damaged file of any kind is an error that says so; the full count is the command's."""

from __future__ import annotations

import pytest

from reliability.fuzz.driver import fuzz, text
from reliability.fuzz.files import MAKERS, Files


@pytest.mark.parametrize("kind", MAKERS)
def test_a_damaged_file_is_accepted_or_refused_with_a_reason(kind: str) -> None:
    target = Files(kind)
    try:
        result = fuzz(target, 25, seed=7)
    finally:
        target.close()
    assert not result.failures, text(result)
    assert result.outcomes.keys() != {"accepted"}
