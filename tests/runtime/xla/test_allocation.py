"""A process keeps the memory that it frees, and is never told to keep less of it again."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
from typing import Any

import pytest

from weft.runtime.xla import allocation


def test_who_keeps_all_is_not_told_to_keep_some(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[tuple[int, int]] = []

    class Library:
        def __init__(self, name: Any) -> None: ...

        def mallopt(self, parameter: int, value: int) -> None:
            told.append((parameter, value))

    monkeypatch.setattr(ctypes, "CDLL", Library)
    monkeypatch.setattr(allocation, "_kept", allocation._Kept())
    allocation.keep_some_freed_memory()
    some = list(told)
    allocation.keep_freed_memory()
    every = list(told)
    allocation.keep_some_freed_memory()
    assert [parameter for parameter, _ in some] == [parameter for parameter, _ in every[3:]] == [-3, -1, -8]
    assert all(after > before for (_, before), (_, after) in zip(some[:2], every[3:5], strict=True))
    assert some[2] == every[5] == (-8, 1), "all threads share one heap"
    assert told == every


_FAULTS = """
import resource
import numpy as np
import weft as tf

x = tf.placeholder(tf.float32, [48, 1024, 8])
y = tf.reduce_sum(tf.cumsum(tf.matmul(x, tf.ones([48, 8, 512])), axis=1))
config = tf.ConfigProto()
config.graph_options.optimizer_options.global_jit_level = tf.OptimizerOptions.ON_1
with tf.Session(config=config) as session:
    feed = {x: np.ones([48, 1024, 8], np.float32)}
    faults = []
    for _ in range(8):
        before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
        session.run(y, feed)
        faults.append(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
    print(min(faults))
"""


@pytest.mark.skipif(not hasattr(ctypes.CDLL(None), "mallopt"), reason="another C library than glibc")
def test_a_compiled_step_finds_the_memory_of_the_ones_before() -> None:
    # XLA's threads may still hold a step's memory when the next one begins, so the process grows over the first few steps.
    environment = {key: value for key, value in os.environ.items() if key != "XLA_FLAGS"}  # slower code than programs get
    ran = subprocess.run(
        [sys.executable, "-c", _FAULTS], capture_output=True, text=True, timeout=120, check=True, env=environment
    )
    assert int(ran.stdout) < 2_000, "its arrays of 100 MB are 24,576 pages"
