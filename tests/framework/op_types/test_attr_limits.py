"""Limits of attributes, at building and at importing."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from tensorboard.compat.proto import graph_pb2

import weft as tf


def _pool(**changes: object) -> Callable[[], object]:
    attrs = {"ksize": [1, 2, 2, 1], "strides": [1, 1, 1, 1], "padding": "VALID", **changes}
    return lambda: tf.raw_ops.MaxPool(input=np.zeros((1, 4, 4, 1), np.float32), **attrs)


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (_pool(padding="MOST"), "padding' of 'MaxPool' Op passed string 'MOST' not in"),
        (_pool(ksize=[2, 2]), "ksize' of 'MaxPool' Op passed list of length 2 less than minimum 4"),
        (
            lambda: tf.raw_ops.SpaceToDepth(input=np.zeros((1, 2, 2, 1), np.float32), block_size=1),
            "passed 1 less than minimum 2",
        ),
    ],
)
def test_building_refuses_what_is_outside(build: Callable[[], object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        build()


@pytest.mark.parametrize(
    ("attr", "message"),
    [
        ("padding", 'Value for attr \'padding\' of "MOST" is not in the list of allowed values: "SAME", "VALID", "EXPLICIT"'),
        ("ksize", "Length for attr 'ksize' of 1 must be at least minimum 4"),
    ],
)
def test_importing_refuses_what_is_outside(attr: str, message: str) -> None:
    with tf.Graph().as_default() as graph:
        _pool()()
        graph_def = graph_pb2.GraphDef.FromString(graph.as_graph_def().SerializeToString())
    node = next(node for node in graph_def.node if node.op == "MaxPool")
    if attr == "padding":
        node.attr["padding"].s = b"MOST"
    else:
        node.attr["ksize"].list.i[:] = [1]
    with tf.Graph().as_default(), pytest.raises(ValueError, match=message):
        tf.import_graph_def(graph_def, name="")
