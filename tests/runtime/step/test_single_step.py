"""A partition of one stage runs on the calling thread, whatever of it is fed, and in whatever order it is fetched."""

from __future__ import annotations

import numpy as np

import weft as tf
from tests.runtime.conftest import MakeParts
from tests.runtime.step.test_step import Run
from weft.runtime.step.single_step import SingleStep


def test_one_stage_is_run_without_bookkeeping(make_parts: MakeParts) -> None:
    x = tf.placeholder(tf.float32)
    executor = Run(make_parts([tf.square(x)], [x])["a"]).executor
    assert SingleStep(executor, [0], [(False, 0)]).run([np.float32(3)]) == [9]


def test_feeds_and_fetches_have_the_places_that_the_caller_gives_them(make_parts: MakeParts) -> None:
    x, y = tf.placeholder(tf.float32), tf.placeholder(tf.float32)
    executor = Run(make_parts([x - y, x + y], [x, y])["a"]).executor
    unused, six, four = np.float32(0), np.float32(6), np.float32(4)
    step = SingleStep(executor, [1, 2], [(False, 1), (True, 0), (False, 0), (True, 1)])
    assert step.run([unused, six, four]) == [10, 0, 2, 6]
