"""CPU time of the parts of a program as its variables grow in number: building, first values, steps, saving, restoring."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from benchmarks.framework import framework
from benchmarks.timing import Point, Points

FLOATS = 10
STEPS = 20


def model(count: int) -> Points:
    """CPU seconds of each part of a program that trains, saves and restores so many small variables, in one process."""
    tf = framework()
    figures: dict[str, float] = {}

    def timed(name: str, call: Callable[[], object], times: int = 1) -> None:
        before = time.process_time()
        for _ in range(times):
            call()
        figures[name] = (time.process_time() - before) / times

    graph = tf.Graph()
    with graph.as_default(), tempfile.TemporaryDirectory() as folder:
        before = time.process_time()
        held = [tf.get_variable(f"held{number}", [FLOATS], initializer=tf.ones_initializer()) for number in range(count)]
        loss = tf.add_n([tf.reduce_sum(tf.square(each)) for each in held])
        step = tf.train.MomentumOptimizer(1e-6, 0.9).minimize(loss)
        saver = tf.train.Saver()
        initial = tf.global_variables_initializer()
        figures["build"] = time.process_time() - before
        path = str(Path(folder) / "model")
        with tf.Session() as session:
            timed("init", lambda: session.run(initial))
            timed("first", lambda: session.run(step))
            timed("step", lambda: session.run(step), STEPS)
            timed("save", lambda: saver.save(session, path))
        with tf.Session() as session:
            timed("restore", lambda: saver.restore(session, path))
    return Points([Point(count, figures)])
