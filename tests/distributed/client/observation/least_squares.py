"""A small model on a cluster of a parameter server and a worker, for tests that look at a cluster while it trains."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

import weft as tf


class LeastSquares(NamedTuple):
    """The graph, what a session runs first, and what it then runs again and again."""

    graph: tf.Graph
    init: tf.Operation
    step: tf.Operation
    fed: tf.Tensor

    def train(self, session: tf.Session) -> None:
        """Make one step."""
        session.run(self.step, {self.fed: np.ones((4, 8), np.float32)})


def least_squares() -> LeastSquares:
    """Weights on the parameter server, and their loss on the worker."""
    with tf.Graph().as_default() as graph:
        with tf.device("/job:ps/task:0"):
            weights = tf.get_variable("weights", [8, 2], initializer=tf.zeros_initializer())
        with tf.device("/job:worker/task:0"):
            fed = tf.placeholder(tf.float32, [None, 8])
            loss = tf.reduce_sum(tf.square(tf.matmul(fed, weights) - 1.0))
        step = tf.train.GradientDescentOptimizer(1e-3).minimize(loss)
        return LeastSquares(graph, tf.global_variables_initializer(), step, fed)
