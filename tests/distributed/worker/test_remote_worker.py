"""A master asks a task for a part at once, or with the first value for it where the part can do nothing before."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import weft as tf
from tests.distributed.fake_workers import device, on_both, task
from weft.distributed.worker.remote_worker import RemoteWorker
from weft.passes.partition import Partition, partition
from weft.passes.prune import prune
from weft.passes.stage import Staging


class Stub:
    """The gRPC side of a task, which registers what it is given."""

    def __init__(self) -> None:
        self.answers = True
        self.deleted: list[str] = []

    def delete_session(self, session_handle: str) -> bool:
        if self.answers:
            self.deleted.append(session_handle)
        return self.answers

    def register_graph(self, session_handle: str, config: Any, part: Partition, incarnation: int) -> str:
        return f"{len(part.nodes)} nodes"


class Network:
    """The way to a task; notes what leaves."""

    tasks_here = (task("a"),)

    def __init__(self) -> None:
        self.left: list[str] = []
        self.incarnation = 7
        self.peers = self

    def connect(self, name: str) -> None:
        pass

    def incarnation_of(self, name: str) -> int:
        return self.incarnation

    def run_graph(self, *_: Any, is_held: bool, is_again: bool) -> None:
        self.left.append("held" if is_held else "asked")

    def flush(self, name: str) -> None:
        self.left.append("flushed")


@pytest.fixture
def network() -> Network:
    return Network()


@pytest.fixture
def stub() -> Stub:
    return Stub()


@pytest.fixture
def worker(network: Network, stub: Stub) -> Iterator[RemoteWorker]:
    net = network
    with tf.Graph().as_default():
        yield RemoteWorker(task("b"), stub, net)  # type: ignore[arg-type]


def part_of_b(feeds: list[tf.Tensor], fetches: list[tf.Tensor]) -> Partition:
    ops = prune(fetches, feeds, [])
    placement = {op: device("a" if op.device == "/job:a" else "b") for op in ops}
    return partition(ops, placement, Staging(ops, placement, feeds), feeds, fetches)[task("b")]


def ask(worker: RemoteWorker, part: Partition) -> None:
    handle = worker.register("s", tf.ConfigProto(), part)
    worker.run_graph(1, handle, [np.float32(1)], False, None)  # type: ignore[arg-type]


def test_a_part_that_begins_with_values_from_here_is_asked_for_with_them(worker: RemoteWorker, network: Network) -> None:
    x, _, here = on_both()
    ask(worker, part_of_b([x], [here]))
    assert network.left == ["held"]
    worker.flush()
    worker.flush()
    assert network.left == ["held", "flushed"]


def test_a_part_that_has_something_to_do_is_asked_for_at_once(worker: RemoteWorker, network: Network) -> None:
    x, _, here = on_both()
    with tf.device("/job:b"):
        at_once = tf.random_uniform([]) + here
    ask(worker, part_of_b([x], [at_once]))
    worker.flush()
    assert network.left == ["asked"]


def test_a_session_that_ends_while_its_task_is_out_of_reach_is_ended_when_that_is_back(
    worker: RemoteWorker, network: Network, stub: Stub
) -> None:
    x, _, here = on_both()
    part = part_of_b([x], [here])
    for session in ("cut", "silent", "other"):
        worker.register(session, tf.ConfigProto(), part)
    network.incarnation = 0
    worker.close_session("cut")
    network.incarnation, stub.answers = 7, False
    worker.close_session("silent")
    assert stub.deleted == []
    stub.answers = True
    worker.register("next", tf.ConfigProto(), part)
    assert sorted(stub.deleted) == ["cut", "silent"]
    worker.close_session("cut")
    worker.close_session("never")
    assert len(stub.deleted) == 2
