"""What the first values of a model's variables cost: 43 million numbers, drawn once in a fresh process, as a program does."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from benchmarks import profile
from benchmarks.framework import framework
from benchmarks.timing import Sample, once

VARIABLES, ROWS, COLUMNS = 10, 4300, 1000


def uniform() -> Sample:
    """CPU seconds of evenly distributed numbers."""
    return _initialized(framework().random_uniform)


def normal() -> Sample:
    """CPU seconds of normally distributed numbers."""
    return _initialized(framework().random_normal)


def truncated() -> Sample:
    """CPU seconds of normally distributed numbers of less than two standard deviations."""
    return _initialized(framework().truncated_normal)


def _initialized(draw: Callable[..., Any]) -> Sample:
    """CPU seconds of all threads of this process, from asking for the values to having them in the variables."""
    tf = framework()
    held = [tf.Variable(draw([ROWS, COLUMNS], seed=number)) for number in range(VARIABLES)]
    with tf.Session() as session:
        session.run(tf.constant(1.0))
        with profile.whole():
            before = time.process_time()
            session.run(tf.global_variables_initializer())
            seconds = time.process_time() - before
        least = session.run(tf.reduce_min(held[-1]))
    if not -10 < least < 0.1:
        raise AssertionError(f"the least of {ROWS * COLUMNS} numbers is {least}")
    return once(seconds)
