"""The memory of devices as tensors."""

from __future__ import annotations

import numpy as np

import weft as tf
from tests.ops.both_ways import own_graph as own_graph


def test_the_memory_of_a_cpu_is_that_of_the_process() -> None:
    stats = tf.contrib.memory_stats
    asked = [stats.BytesInUse(), stats.MaxBytesInUse(name="peak"), stats.BytesLimit()]
    assert [(each.op.type, each.op.name) for each in asked] == [
        ("BytesInUse", "BytesInUse"), ("MaxBytesInUse", "peak"), ("BytesLimit", "BytesLimit"),
    ]  # fmt: skip
    with tf.Session() as session:
        in_use, peak, limit = session.run(asked)
        held = np.ones(64 << 20, np.uint8)
        more = session.run(asked[0])
    assert all(each.dtype == tf.int64 and each.shape.ndims == 0 for each in asked)
    assert 0 < in_use <= limit
    assert 0 < peak <= limit
    assert more - in_use > held.nbytes // 2
