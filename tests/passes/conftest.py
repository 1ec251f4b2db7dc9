"""A graph of its own for every test."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import weft as tf
from weft.testing.checked_passes import checked_passes


@pytest.fixture(autouse=True)
def graph() -> Iterator[tf.Graph]:
    """The default graph of the test, empty at its start."""
    with tf.Graph().as_default() as graph:
        yield graph


@pytest.fixture(autouse=True)
def validated() -> Iterator[None]:
    """What the passes make keeps their rules, in every test."""
    with checked_passes():
        yield
