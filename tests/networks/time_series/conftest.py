"""What the tests of time series share: event files that are closed in time."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import weft as tf


@pytest.fixture(autouse=True)
def _event_files_are_closed() -> Iterator[None]:
    yield
    tf.summary.FileWriterCache.clear()
