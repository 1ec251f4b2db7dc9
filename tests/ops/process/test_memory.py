"""The memory of devices as tensors."""

from __future__ import annotations

import os
from pathlib import Path

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
        resident = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE")
    assert all(each.dtype == tf.int64 and each.shape.ndims == 0 for each in asked)
    assert 0 < in_use <= limit
    assert 0 < peak <= limit
    assert abs(in_use - resident) < 64 << 20
