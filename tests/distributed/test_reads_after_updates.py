"""What a worker reads of a variable elsewhere after an update is what the update has left there."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import weft as tf


@pytest.fixture(scope="module")
def target() -> Iterator[str]:
    with tf.LocalCluster(ps=1, worker=1) as cluster:
        yield cluster.target("worker", 0)


@pytest.mark.parametrize("use_resource", [False, True])
def test_a_read_on_a_worker_is_of_the_value_after_the_update(target: str, use_resource: bool) -> None:
    with tf.Graph().as_default(), tf.device("/job:ps"):
        variable = tf.Variable([1.0, 2.0], use_resource=use_resource)
        update = variable.assign_add([10.0, 10.0])
        with tf.device("/job:worker"), tf.control_dependencies([update]):
            read = variable.read_value() * 2.0
        initializer = tf.global_variables_initializer()
        with tf.Session(target) as session:
            session.run(initializer)
            assert [session.run(read).tolist() for _ in range(2)] == [[22.0, 24.0], [42.0, 44.0]]
