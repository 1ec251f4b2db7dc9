"""How fast checkpoints are written and read, beside a plain file of as many bytes in the same run."""

from __future__ import annotations

import os
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from benchmarks.framework import framework
from benchmarks.timing import Point, Points

VARIABLES, ROUNDS = 16, 3


def checkpoint(size_bytes: int) -> Points:
    """What a plain write with fsync takes, over what saving as many bytes in sixteen variables takes; the same of reading."""
    tf = framework()
    floats = size_bytes // (4 * VARIABLES)
    values = np.random.default_rng(0).random(floats, np.float32)
    with tf.Graph().as_default(), tempfile.TemporaryDirectory() as folder:
        fed = tf.placeholder(tf.float32, [floats])
        held = [tf.get_variable(f"held{number}", initializer=tf.zeros([floats])) for number in range(VARIABLES)]
        assigned = tf.group(*[each.assign(fed) for each in held])
        saver = tf.train.Saver()
        plain, path = Path(folder) / "plain", str(Path(folder) / "model")
        with tf.Session() as session:
            session.run(assigned, {fed: values})
            saved = _share(lambda: _write(plain, values), lambda: saver.save(session, path, write_meta_graph=False))
        with tf.Session() as session:
            restored = _share(lambda: _read(plain, floats), lambda: saver.restore(session, path))
    return Points([Point(size_bytes, {"saved": saved, "restored": restored})])


def _share(plain: Callable[[], object], own: Callable[[], object]) -> float:
    """The median of what the plain way takes over what the other takes, in turns."""
    shares = []
    for _ in range(ROUNDS):
        plain_s = _seconds(plain)
        shares.append(plain_s / _seconds(own))
    return statistics.median(shares)


def _seconds(call: Callable[[], object]) -> float:
    before = time.perf_counter()
    call()
    return time.perf_counter() - before


def _write(path: Path, values: np.ndarray) -> None:
    with path.open("wb", buffering=0) as file:
        for _ in range(VARIABLES):
            file.write(values.data)
        os.fsync(file.fileno())


def _read(path: Path, floats: int) -> None:
    # All are there at once, as a model's variables are.
    arrays = [np.empty(floats, np.float32) for _ in range(VARIABLES)]
    with path.open("rb") as file:
        for array in arrays:
            file.readinto(array)
