"""A fresh default graph for each test."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import weft as tf


@pytest.fixture(autouse=True)
def fresh_graph() -> Iterator[None]:
    with tf.Graph().as_default():
        yield
