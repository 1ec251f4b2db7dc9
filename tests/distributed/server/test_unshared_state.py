"""Queues, iterators and their like without a shared name are each session's own, on its server and on other tasks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

import weft as tf


@pytest.fixture(scope="module")
def servers() -> Iterator[list[Any]]:
    workers, _ = tf.test.create_local_cluster(2, 0, protocol="grpc")
    yield workers
    for each in workers:
        each.stop()


def _queue(name: str | None) -> tuple[Any, Any]:
    queue = tf.FIFOQueue(5, [tf.int32], [[]], shared_name=name)
    return queue.enqueue(3), queue.size()


def _accumulator(name: str | None) -> tuple[Any, Any]:
    accumulator = tf.ConditionalAccumulator(tf.float32, [], shared_name=name)
    return accumulator.apply_grad(1.0), accumulator.num_accumulated()


def _iterator(name: str | None) -> tuple[Any, Any]:
    iterator = tf.data.Dataset.range(1).repeat().make_initializable_iterator(shared_name=name)
    return iterator.initializer, iterator.get_next() + 1


_KINDS: dict[str, Callable[[str | None], tuple[Any, Any]]] = {
    "queue": _queue, "accumulator": _accumulator, "iterator": _iterator,
}  # fmt: skip


def _found(target: str, build: Callable[[str | None], tuple[Any, Any]], name: str | None, task: int) -> tuple[Any, Any]:
    """What a session finds that has put something there, and what one of another graph finds besides, or its error."""
    sessions = []
    for _ in range(2):
        with tf.Graph().as_default() as graph, tf.device(f"/job:worker/task:{task}/cpu:0"):
            sessions.append((tf.Session(target, graph=graph), *build(name)))
    (first, put, look), (second, _, other) = sessions
    with first, second:
        first.run(put)
        own = int(first.run(look))
        try:
            return own, int(second.run(other))
        except tf.errors.FailedPreconditionError:
            return own, None


@pytest.mark.parametrize("task", [0, 1])
@pytest.mark.parametrize("kind", _KINDS)
def test_sessions_share_what_has_a_name_and_nothing_else(servers: list[Any], kind: str, task: int) -> None:
    assert _found(servers[0].target, _KINDS[kind], None, task) == (1, None if kind == "iterator" else 0)
    assert _found(servers[0].target, _KINDS[kind], f"{kind} {task}", task) == (1, 1)


@pytest.mark.parametrize("task", [0, 1])
def test_what_a_session_alone_has_goes_with_it(servers: list[Any], task: int) -> None:
    with tf.Graph().as_default(), tf.device(f"/job:worker/task:{task}/cpu:0"):
        put, _ = _queue(None)
        with tf.Session(servers[0].target) as session:
            session.run(put)
            assert [each.name for each in servers[task].list_state() if each.name.startswith("fifo_queue@")]
    assert not [each.name for each in servers[task].list_state() if "@" in each.name]


def test_an_evaluation_beside_the_training_does_not_end_its_input(servers: list[Any]) -> None:
    def element() -> Any:
        return tf.train.batch([tf.train.range_input_producer(4, shuffle=False).dequeue()], 2)

    def session() -> Any:
        return tf.train.MonitoredSession(tf.train.ChiefSessionCreator(master=servers[0].target))

    with tf.Graph().as_default():
        tf.train.get_or_create_global_step()
        batch = element()
        with session() as training:
            found = training.run(batch).tolist()
            with tf.Graph().as_default():
                tf.train.get_or_create_global_step()
                other = element()
                with session() as evaluation:
                    assert evaluation.run(other).tolist() == [0, 1]
            assert found + training.run(batch).tolist() == [0, 1, 2, 3]
