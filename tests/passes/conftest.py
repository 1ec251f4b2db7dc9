"""A graph of its own for every test."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import weft as tf


@pytest.fixture(autouse=True)
def graph() -> Iterator[tf.Graph]:
    """The default graph of the test, empty at its start."""
    with tf.Graph().as_default() as graph:
        yield graph
