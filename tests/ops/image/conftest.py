"""A graph and a way to run it for each test of images."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import weft as tf


@pytest.fixture
def run() -> Callable[[Any], Any]:
    """Runs fetches in a session of their own."""

    def run_once(fetches: Any) -> Any:
        with tf.Session() as session:
            return session.run(fetches)

    return run_once
