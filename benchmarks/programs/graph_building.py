"""What adding a node to a graph costs."""

from __future__ import annotations

import statistics
import time
from typing import Any

from benchmarks import profile
from benchmarks.framework import framework
from benchmarks.timing import Sample

LAYERS = 100
GRAPHS = 9


def build_node() -> Sample:
    """Seconds per node of a deep chain of layers, each node made by its Python function as a program would."""
    tf = framework()
    seconds = [_seconds_per_node(tf) for _ in range(2 + GRAPHS)][2:]
    profile.steps(lambda: _seconds_per_node(tf), count=GRAPHS)
    return Sample(statistics.median(seconds), min(seconds), len(seconds))


def _seconds_per_node(tf: Any) -> float:
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [None, 64])
        weight = tf.placeholder(tf.float32, [64, 64])
        bias = tf.placeholder(tf.float32, [64])
        built_before = len(graph.get_operations())
        started = time.perf_counter()
        for _ in range(LAYERS):
            x = tf.nn.relu(tf.matmul(x, weight) + bias) * 0.5
        seconds = time.perf_counter() - started
        return seconds / (len(graph.get_operations()) - built_before)
