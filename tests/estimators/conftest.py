"""What the estimator tests share: a fresh default graph, and event files that are closed in time."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import weft as tf


@pytest.fixture(autouse=True)
def _fresh_graph() -> Iterator[None]:
    tf.reset_default_graph()
    yield
    tf.reset_default_graph()
    tf.summary.FileWriterCache.clear()
