"""A plan of one stage in this process runs at once, on this thread, also after the worker behind it was replaced."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import weft as tf
from tests.distributed.fake_workers import FakeWorker, device, on_both, task
from weft.distributed.master.master_session import MasterSession
from weft.distributed.worker.local_worker import LocalWorker
from weft.errors import CancelledError, UnavailableError
from weft.runtime.state.resource_manager import ResourceManager
from weft.runtime.worker import Worker


@pytest.fixture(autouse=True)
def graph() -> Iterator[tf.Graph]:
    with tf.Graph().as_default() as graph:
        yield graph


class Nowhere:
    """An outlet that drops what is pushed."""

    def push(self, peer: str, step_id: int, edges: Any, tensors: Any, *, is_held: bool = False) -> None:
        pass

    def flush(self, peer: str) -> None:
        pass

    def has_room(self, peer: str) -> bool:
        return True

    def wait_for_room(self, peer: str, start: Any) -> bool:
        return False

    def go_on(self, peer: str) -> None:
        pass


class Place:
    """A task of this process that can be restarted."""

    def __init__(self) -> None:
        self.restart(1)

    def restart(self, incarnation: int) -> None:
        self.worker = Worker(task("a"), [device("a")], incarnation, ResourceManager("a"), lambda _: Nowhere())
        self.local = LocalWorker(self.worker)

    def open_session(self) -> MasterSession:
        def find(name: str) -> Any:
            return self.local

        return MasterSession("s", tf.get_default_graph(), find, [device("a")], tf.ConfigProto(), lambda: None, list)


def test_one_stage_runs_inline() -> None:
    place = Place()
    x = tf.placeholder(tf.float32, [])
    plan = place.open_session().prepare([x], [tf.square(x), x], [])
    assert plan.runs_inline
    values, metadata = plan.run([np.float32(3)])
    assert ([float(value) for value in values], metadata) == ([9.0, 3.0], None)


def test_what_may_block_does_not() -> None:
    place = Place()
    plan = place.open_session().prepare([], [tf.FIFOQueue(1, tf.int32).dequeue()], [])
    assert not plan.runs_inline


def test_a_run_after_a_restart_is_the_new_workers() -> None:
    place = Place()
    variable = tf.Variable(5.0, name="v")
    session = place.open_session()
    initialize, read = session.prepare([], [], [variable.initializer]), session.prepare([], [variable._variable], [])
    initialize.run([])
    assert read.run([])[0] == [5]
    old = place.worker
    old.stop(UnavailableError(None, None, "stopped"))
    place.restart(2)
    with pytest.raises(tf.errors.AbortedError, match="was restarted"):
        read.run([])
    # The variable of the new worker has no value, and the old one is not asked.
    with pytest.raises(tf.errors.FailedPreconditionError, match="uninitialized value v"):
        read.run([])
    initialize.run([])
    assert read.run([])[0] == [5]
    assert old.live_steps == place.worker.live_steps == 0


def test_metadata_comes_when_it_is_asked_for() -> None:
    place = Place()
    x = tf.placeholder(tf.float32, [])
    plan = place.open_session().prepare([x], [tf.square(x, name="y")], [])
    assert not plan.run([np.float32(1)], tf.RunOptions())[1]
    _, traced = plan.run([np.float32(1)], tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE))
    assert "y" in {node.node_name for stats in traced.step_stats.dev_stats for node in stats.node_stats}
    assert not traced.partition_graphs
    _, graphs = plan.run([np.float32(1)], tf.RunOptions(output_partition_graphs=True))
    assert ["y" in {node.name for node in found.node} for found in graphs.partition_graphs] == [True]


def test_a_session_that_is_closed_while_its_tasks_are_asked_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    place = Place()
    session = place.open_session()
    plan = session.prepare([], [tf.FIFOQueue(1, tf.int32).dequeue()], [])
    run_graph = place.worker.run_graph

    def close_first(*arguments: Any) -> Any:
        session.close()
        place.worker.close_session("s")
        return run_graph(*arguments)

    monkeypatch.setattr(place.worker, "run_graph", close_first)
    with pytest.raises(CancelledError, match="Session::Close"):
        plan.run([])


def test_tasks_elsewhere_are_flushed_when_all_parts_have_been_asked_for() -> None:
    place, far = Place(), FakeWorker(task("b"))
    far.answers = [np.float32(-9)]
    workers = {task("a"): place.local, task("b"): far}
    devices = [device("a"), device("b")]
    session = MasterSession("s", tf.get_default_graph(), workers.__getitem__, devices, tf.ConfigProto(), lambda: None, list)
    x, _, here = on_both()
    assert session.prepare([x], [here], []).run([np.float32(3)])[0] == [-9]
    assert far.flushes == 1
