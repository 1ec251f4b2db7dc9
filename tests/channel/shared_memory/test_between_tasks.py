"""Large tensors between two tasks of this host: what was assigned or fetched stays as it is, however many follow."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import weft as tf
from weft.channel.shared_memory.borrower import SegmentBorrower
from weft.channel.shared_memory.lender import SegmentLender
from weft.channel.shared_memory.segment import IS_SUPPORTED
from weft.distributed.server.local_cluster import LocalCluster
from weft.distributed.server.server import Server

pytestmark = pytest.mark.skipif(not IS_SUPPORTED, reason="there is no such memory on this platform")

SIZE = 100_000


@pytest.fixture(scope="module")
def target() -> Iterator[str]:
    """A worker in this process, beside a parameter server in another."""
    with LocalCluster(ps=1, worker=1) as cluster:
        cluster.kill("worker", 0)
        with Server(cluster.spec, "worker", 0) as server:
            yield server.target


@pytest.fixture(autouse=True)
def _fresh_graph() -> Iterator[None]:
    with tf.Graph().as_default():
        yield


@pytest.fixture
def lent(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The numbers of the segments that the worker has put payloads into."""
    numbers: list[int] = []
    put = SegmentLender.put

    def noting(lender: SegmentLender, parts: Any, size_bytes: int) -> int | None:
        number = put(lender, parts, size_bytes)
        if number is not None:
            numbers.append(number)
        return number

    monkeypatch.setattr(SegmentLender, "put", noting)
    return numbers


@pytest.fixture
def borrowed(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The numbers of the segments that the worker has found payloads in."""
    numbers: list[int] = []
    take = SegmentBorrower.take

    def noting(borrower: SegmentBorrower, number: int, size_bytes: int) -> Any:
        numbers.append(number)
        return take(borrower, number, size_bytes)

    monkeypatch.setattr(SegmentBorrower, "take", noting)
    return numbers


def test_what_another_task_assigned_stays_while_more_is_sent(target: str, lent: list[int]) -> None:
    with tf.device("/job:worker"):
        value = tf.placeholder(tf.float32, [SIZE])
        sent = value * 2.0
    with tf.device("/job:ps"):
        kept, other = (tf.get_variable(name, [SIZE], initializer=tf.zeros_initializer()) for name in ("kept", "other"))
        keep, pass_on = kept.assign(sent).op, other.assign(sent).op
        add = kept.assign_add(sent).op
    with tf.Session(target) as session:
        session.run(tf.global_variables_initializer())
        session.run(keep, {value: np.full(SIZE, 1, np.float32)})
        for number in range(2, 12):
            session.run(pass_on, {value: np.full(SIZE, number, np.float32)})
        np.testing.assert_array_equal(session.run(kept), np.full(SIZE, 2, np.float32))
        np.testing.assert_array_equal(session.run(other), np.full(SIZE, 22, np.float32))
        for _ in range(10):
            session.run(add, {value: np.ones(SIZE, np.float32)})
        np.testing.assert_array_equal(session.run(kept), np.full(SIZE, 22, np.float32))
    assert len(lent) >= 21
    assert len(set(lent)) < 10  # used again


def test_what_was_fetched_stays_while_more_is_sent(target: str, borrowed: list[int]) -> None:
    with tf.device("/job:ps"):
        variable = tf.get_variable("variable", [SIZE], initializer=tf.zeros_initializer())
        raised = variable.assign_add(tf.ones([SIZE]))
    with tf.device("/job:worker"):
        seen = tf.identity(raised)
    with tf.Session(target) as session:
        session.run(variable.initializer)
        fetched = [session.run(seen) for _ in range(10)]
    for number, array in enumerate(fetched, 1):
        np.testing.assert_array_equal(array, np.full(SIZE, number, np.float32))
    assert len(borrowed) >= 10
