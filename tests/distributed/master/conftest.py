"""The passes of a session are validated in every test."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from weft.testing.checked_passes import checked_passes


@pytest.fixture(autouse=True)
def validated() -> Iterator[None]:
    """What the passes make keeps their rules, in every test."""
    with checked_passes():
        yield
