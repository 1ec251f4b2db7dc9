"""k-means in mini-batches moves centers by the counts of their points, as the rule in NumPy does."""

from __future__ import annotations

import numpy as np
import pytest

import weft as tf

_POINTS = np.random.default_rng(2).normal(size=(5, 12, 2)).astype(np.float32)
_FIRST = _POINTS[0, :3]


def _moved(centers: np.ndarray, seen: np.ndarray, counts: np.ndarray, points: np.ndarray) -> None:
    nearest = np.square(points[:, None] - seen).sum(-1).argmin(1)
    for cluster in range(len(centers)):
        own = points[nearest == cluster]
        if len(own):
            centers[cluster] += (own.sum(0) - len(own) * centers[cluster]) / (counts[cluster] + len(own))
            counts[cluster] += len(own)


@pytest.mark.parametrize("steps", [1, 2, 3])
def test_mini_batches_move_centers_and_are_taken_after_some_steps(steps: int) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        points = tf.placeholder(tf.float32, [None, 2])
        kmeans = tf.contrib.factorization.KMeans(points, 3, _FIRST, use_mini_batch=True, mini_batch_steps_per_iteration=steps)
        graph = kmeans.training_graph()
        session.run(tf.global_variables_initializer())
        session.run(graph.init_op, {points: _POINTS[0]})
        moving, seen = _FIRST.copy(), _FIRST.copy()
        counts, wait = np.full(3, 1 if steps == 1 else 0), steps
        for batch in _POINTS:
            session.run(graph.training_op, {points: batch})
            before = moving.copy() if steps == 1 else seen.copy()
            if steps > 1 and wait <= 0:
                seen, counts, wait = moving.copy(), np.zeros(3, int), steps - 1
            elif steps > 1:
                wait -= 1
            _moved(moving, before, counts, batch)
            np.testing.assert_allclose(session.run("clusters:0"), moving if steps == 1 else seen, rtol=1e-5)
