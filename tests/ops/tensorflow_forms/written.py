"""A graph written in TensorFlow's ops and read again, for the tests of forms."""

from __future__ import annotations

from collections.abc import Mapping, Set
from pathlib import Path
from typing import Any

import numpy as np

import weft as tf

_LISTS = Path(__file__).parents[3] / "tools"
FIRST = frozenset((_LISTS / "tensorflow_ops_1.15.txt").read_text().split())
"""The ops of TensorFlow 1.15."""
KNOWN = frozenset((_LISTS / "tensorflow_ops_2.21.txt").read_text().split())
"""Those of TensorFlow 2.21."""


def assert_the_same_in_first_ops(made: Any, fed: Mapping[str, Any] | None = None) -> None:
    """The default graph is written in ops of TensorFlow 1.15 alone, and `made` has the same value there."""
    assert_the_same_in(FIRST, made, fed)


def assert_the_same_in(ops: Set[str], made: Any, fed: Mapping[str, Any] | None = None) -> None:
    """The default graph is written in these ops alone, and `made` has the same value there."""
    name = tf.identity(made).name
    with tf.Session() as session:
        own = session.run(name, fed)
    written = tf.get_default_graph().as_graph_def()
    assert {node.op for node in written.node} - ops == set()
    with tf.Graph().as_default() as again, tf.Session(graph=again) as session:
        tf.import_graph_def(written, name="")
        found = session.run(name, fed)
    assert (found.shape, found.dtype) == (own.shape, own.dtype)
    np.testing.assert_allclose(found, own, rtol=1e-6)
