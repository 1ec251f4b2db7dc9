"""Runs in the client's own process, where the framework itself is all that costs."""

from __future__ import annotations

import numpy as np

from benchmarks.framework import framework, have_code_made_beside_steps
from benchmarks.timing import Sample, seconds_per_call


def constant() -> Sample:
    """Seconds to fetch a scalar constant."""
    tf = framework()
    value = tf.constant(1.0)
    with tf.Session() as session:
        return seconds_per_call(lambda: session.run(value))


def assign_add() -> Sample:
    """Seconds to add to a scalar variable and fetch it."""
    have_code_made_beside_steps()
    tf = framework()
    counter = tf.Variable(0.0)
    update = tf.assign_add(counter, 1.0)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return seconds_per_call(lambda: session.run(update))


def feed() -> Sample:
    """Seconds to feed 100 floats from a NumPy array and fetch their doubles."""
    have_code_made_beside_steps()
    tf = framework()
    x = tf.placeholder(tf.float32, [100])
    doubled = x * 2.0
    values = np.arange(100, dtype=np.float32)
    with tf.Session() as session:
        return seconds_per_call(lambda: session.run(doubled, {x: values}))
