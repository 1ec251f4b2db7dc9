"""Runs of a random op go on behind the numbers of those before, whatever their sizes; in loops, branches and functions too.

The numbers are those of TensorFlow 1.15.5.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import weft as tf
from tests.ops.both_ways import each_way, own_graph, session

_ = own_graph

SIZES = {
    "uniform": (
        lambda n: tf.random_uniform([n], seed=3),
        [[0.38693, 0.36003, 0.97688], [0.94217, 0.58012, 0.36421], [0.23663, 0.70082], [], [0.08602, 0.03711, 0.89816]],
    ),
    "normal": (
        lambda n: tf.random_normal([n], seed=3),
        [[1.06166, -0.87858, 0.11187], [-0.16651, -0.30235, -1.27365], [-1.61738, -0.51636], [], [0.51182, 2.1551, -0.42111]],
    ),
    "truncated": (
        lambda n: tf.truncated_normal([n], seed=3),
        [[1.06166, -0.87858, 0.11187], [-0.16651, -0.30235, -1.27365], [-1.61738, -0.51636], [], [0.51182, -0.42111, 0.19358]],
    ),
    "integers": (
        lambda n: tf.random_uniform([n], 0, 1000, tf.int32, seed=3),
        [[767, 183, 500], [990, 38, 441], [997, 92], [], [234, 456, 249]],
    ),
    "multinomial": (
        lambda n: tf.multinomial([[0.1, 0.2, 0.3, 0.4]], n, seed=3), [[0, 3, 0], [3, 3, 3], [2, 1], [], [2, 2, 2]]
    ),
    "dropout": (
        lambda n: tf.nn.dropout(tf.ones([n]), keep_prob=0.5, seed=3), [[0, 0, 2], [2, 2, 0], [0, 2], [], [0, 0, 2]]
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", SIZES)
@each_way
def test_runs_of_changing_sizes(name: str, way: str) -> None:
    make, wanted = SIZES[name]
    n = tf.placeholder(tf.int32, [])
    drawn = make(n)
    with session(way) as sess:
        found = [sess.run(drawn, {n: size}).ravel()[:3] for size in (3, 5, 2, 0, 4)]
    for each, numbers in zip(found, wanted, strict=True):
        np.testing.assert_allclose(each, numbers, atol=2e-5)


def test_kernels_that_draw_by_rejection_and_shuffles() -> None:
    n = tf.placeholder(tf.int32, [])
    gamma, poisson = tf.random_gamma([n], [0.3], seed=3), tf.random_poisson([3.0], [n], seed=3)
    shuffled = tf.random_shuffle(tf.range(n), seed=3)
    with session("interpreted") as sess:
        gammas = [sess.run(gamma, {n: size}).ravel()[:2] for size in (3, 5, 2, 4)]
        poissons = [sess.run(poisson, {n: size}).ravel()[:3].tolist() for size in (3, 5, 2, 4)]
        orders = [sess.run(shuffled, {n: size})[:3].tolist() for size in (7, 3, 9, 1, 5)]
    np.testing.assert_allclose(gammas, [[2e-05, 0.00291], [1.81677, 1.0597], [1.43953, 0.00018], [0.00235, 0.00074]], atol=2e-5)
    assert poissons == [[3, 3, 2], [4, 3, 3], [5, 2], [3, 3, 2]]
    assert orders == [[1, 2, 0], [1, 2, 0], [1, 8, 4], [0], [0, 2, 3]]


def _in_loop(n: Any) -> Any:
    return tf.while_loop(lambda i, x: i < n, lambda i, x: (i + 1, x * 10 + tf.random_uniform([2], seed=3)), [0, tf.zeros([2])])[
        1
    ]


def _in_map(n: Any) -> Any:
    return tf.map_fn(lambda a: a + tf.random_uniform([], seed=3), tf.zeros([n]), parallel_iterations=1)


def _behind_gradient(n: Any) -> Any:
    w = tf.constant(1.0)
    start = tf.cast(n, tf.float32)
    y = tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a * w * tf.random_uniform([], seed=3)), [0, start])[1]
    return tf.gradients(y, w)[0]


LOOPS: dict[str, tuple[Callable[[Any], Any], list[Any]]] = {
    "loop": (_in_loop, [[4.0650, 3.6760], [0.9181, 0.9435], [30.4061, 70.8932]]),
    "map_fn": (_in_map, [[0.38693, 0.66334], [0.19575], [0.94217, 0.91808, 0.47964]]),
    "gradient": (_behind_gradient, [0.30146, 1.24466, 0.04868]),
}


@pytest.mark.parametrize("name", LOOPS)
@each_way
def test_iterations_draw_one_behind_the_other(name: str, way: str) -> None:
    make, wanted = LOOPS[name]
    n = tf.placeholder(tf.int32, [])
    drawn = make(n)
    with session(way) as sess:
        for size, numbers in zip((2, 1, 3), wanted, strict=True):
            np.testing.assert_allclose(sess.run(drawn, {n: size}), numbers, atol=1e-4)


@each_way
def test_a_condition_that_draws(way: str) -> None:
    loop = tf.while_loop(
        lambda i, x: tf.random_uniform([], seed=3) < 0.9, lambda i, x: (i + 1, x + tf.random_uniform([], seed=5)), [0, 0.0]
    )
    with session(way) as sess:
        found = [sess.run(loop) for _ in range(4)]
    assert [int(count) for count, _ in found] == [3, 0, 10, 3]
    np.testing.assert_allclose([total for _, total in found], [1.1343, 0.0, 4.4901, 1.3282], atol=1e-4)


@each_way
def test_a_branch_that_is_not_taken_draws_nothing(way: str) -> None:
    p = tf.placeholder(tf.bool, [])
    drawn = tf.cond(p, lambda: tf.random_uniform([3], seed=3), lambda: tf.random_uniform([3], seed=4))
    with session(way) as sess:
        found = [sess.run(drawn, {p: taken})[0] for taken in (True, False, True, False, True)]
    np.testing.assert_allclose(found, [0.38693, 0.95658, 0.94217, 0.99764, 0.27954], atol=2e-5)


def test_elements_of_a_dataset_draw_one_behind_the_other() -> None:
    sizes = tf.data.Dataset.from_tensor_slices([3, 5, 2, 4])
    sums = sizes.map(lambda n: tf.reduce_sum(tf.random_uniform([n], seed=3))).make_one_shot_iterator().get_next()
    with tf.Session() as sess:
        np.testing.assert_allclose([sess.run(sums) for _ in range(4)], [1.72384, 3.07704, 0.93744, 1.83987], atol=2e-5)
