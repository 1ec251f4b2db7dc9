"""Beyond 2 GB: one tensor of 3 GB is fed, pulled, pushed, fetched, saved and restored, with few copies."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import weft as tf
from weft.distributed.server.local_cluster import LocalCluster

_SIZE = 750_000_000
_BYTES = 4 * _SIZE
_NEEDED_BYTES = 13 << 30


def _field(path: str, key: str) -> int:
    for line in Path(path).read_text().splitlines():
        if line.startswith(f"{key}:"):
            return int(line.split()[1]) << 10
    return 0


@pytest.fixture
def cluster() -> Iterator[LocalCluster]:
    if _field("/proc/meminfo", "MemAvailable") < _NEEDED_BYTES:
        pytest.skip(f"needs {_NEEDED_BYTES >> 30} GiB of free memory")
    with LocalCluster(ps=1, worker=1) as running:
        yield running


def _values() -> Any:
    values = np.zeros(_SIZE, np.float32)
    values[0], values[-1] = 1, 2
    return values


class Peaks:
    """The largest memory of each process since `measure` began, in tensors of the test's size."""

    def __init__(self, cluster: LocalCluster) -> None:
        self._pids = [os.getpid(), *(cluster.process_id(job, 0) for job in ("ps", "worker"))]

    def measure(self, action: Callable[[], object]) -> tuple[object, list[float]]:
        for pid in self._pids:
            Path(f"/proc/{pid}/clear_refs").write_text("5")
        result = action()
        return result, sorted((_field(f"/proc/{pid}/status", "VmHWM") / _BYTES for pid in self._pids), reverse=True)


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_one_tensor_of_three_gigabytes_goes_everywhere(cluster: LocalCluster, tmp_path: Path) -> None:
    with tf.device("/job:ps/task:0"):
        v = tf.get_variable("v", [_SIZE], tf.float32, tf.zeros_initializer(), use_resource=False)
    with tf.device("/job:worker/task:0"):
        x = tf.placeholder(tf.float32, [_SIZE])
        ends = tf.gather(tf.identity(v), [0, _SIZE - 1])
        push = tf.assign(v, tf.fill([_SIZE], 5.0)).op
    feed = tf.assign(v, x).op
    saver = tf.train.Saver()
    peaks = Peaks(cluster)
    with tf.Session(cluster.target("worker", 0)) as sess:
        _, held = peaks.measure(lambda: sess.run(feed, {x: _values()}))
        # The worker, which hands it on, and the parameter server have it once each.
        assert sum(held) < 2.7
        assert sess.run(ends).tolist() == [1.0, 2.0]
        path = saver.save(sess, str(tmp_path / "m"), write_meta_graph=False)
        _, held = peaks.measure(lambda: sess.run(push))
        assert sum(held) < 3.7
        assert sess.run(ends).tolist() == [5.0, 5.0]
        saver.restore(sess, path)
        fetched = sess.run(v)
        assert [fetched[0], fetched[1], fetched[-1]] == [1.0, 0.0, 2.0]
