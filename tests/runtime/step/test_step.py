"""A partition runs stage by stage as its values come: feeds, other stages' results, messages."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

import weft as tf
from tests.runtime.conftest import MakeParts
from weft.errors import CancelledError, InvalidArgumentError
from weft.passes.partition import Partition
from weft.runtime.executor import Executor
from weft.runtime.inter_op_pool import InterOpPool
from weft.runtime.state.resource_manager import ResourceManager
from weft.runtime.state.session_state import SessionState
from weft.runtime.step.step import Step

PATIENCE_S = 20.0


class Outbox:
    """An outlet that keeps what leaves the task."""

    def __init__(self) -> None:
        self.pushed: list[tuple[str, dict[int, Any]]] = []
        self.is_full = False
        self.waiting: list[Callable[[], None]] = []
        self.gone_on: list[str] = []
        self.story: list[str] = []
        self.flushed = threading.Event()

    def has_room(self, peer: str) -> bool:
        return not self.is_full

    def wait_for_room(self, peer: str, start: Callable[[], None]) -> bool:
        self.waiting.append(start)
        return True

    def go_on(self, peer: str) -> None:
        self.gone_on.append(peer)

    def push(self, peer: str, step_id: int, edges: Sequence[int], tensors: Sequence[Any], *, is_held: bool = False) -> None:
        self.pushed.append((peer, dict(zip(edges, tensors, strict=True))))
        self.story.append("held" if is_held else "sent")

    def flush(self, peer: str) -> None:
        self.story.append(f"flushed to {peer}")
        self.flushed.set()


class Run:
    """An executor of one partition and its steps."""

    def __init__(self, partition: Partition) -> None:
        self.outbox = Outbox()
        self.executor = Executor(partition, SessionState(ResourceManager()), self.outbox, InterOpPool())
        self.is_over = threading.Event()

    def step(self, *feeds: Any) -> Step:
        self.is_over.clear()
        step = Step(self.executor, 7, [np.asarray(feed, np.float32) for feed in feeds], lambda step: self.is_over.set())
        step.start()
        return step

    def fetch(self, *feeds: Any) -> list[Any]:
        step = self.step(*feeds)
        assert self.is_over.wait(PATIENCE_S)
        assert step.error is None
        return [np.asarray(value).tolist() for value in step.fetches]


def test_a_step_gives_its_fetches(make_parts: MakeParts) -> None:
    x = tf.placeholder(tf.float32)
    y = tf.square(x)
    run = Run(make_parts([y, x, y], [x])["a"])
    assert [run.fetch(n) for n in range(8)] == [[float(n * n)] for n in range(8)]


def test_stages_follow_each_other(make_parts: MakeParts) -> None:
    x = tf.placeholder(tf.float32)
    result = tf.square(tf.py_func(lambda value: value + 1, [tf.square(x)], tf.float32))
    run = Run(make_parts([result], [x])["a"])
    assert run.executor.single is None
    assert [run.fetch(n) for n in range(8)] == [[float((n * n + 1) ** 2)] for n in range(8)]


def test_a_stage_that_waits_for_a_message_runs_when_it_comes(make_parts: MakeParts) -> None:
    with tf.device("/job:b"):
        there = tf.random_uniform([], name="there")
    x = tf.placeholder(tf.float32, name="x")
    here = tf.identity(there * x)
    part = make_parts([here], [x])["a"]
    run = Run(part)
    step = run.step(3)
    assert not step.is_done
    (edge,) = [edge.number for edge in part.recvs.values()]
    step.receive([edge], [np.float32(5)])
    assert step.is_done
    assert np.asarray(step.fetches[0]) == 15


def test_what_the_last_stage_sends_goes_out_with_the_end_of_the_part(make_parts: MakeParts) -> None:
    x = tf.placeholder(tf.float32, name="x")
    first = tf.square(x)
    last = tf.py_func(lambda value: value + 1, [first], tf.float32)
    with tf.device("/job:b"):
        end = tf.group(tf.negative(first), tf.negative(last))
    run = Run(make_parts([], [x], [end])["a"])
    outbox = run.outbox
    Step(run.executor, 7, [np.float32(3)], lambda step: outbox.story.append("told of the end")).start()
    assert outbox.flushed.wait(PATIENCE_S)  # the end is told before the thread of the last stage goes on
    assert [story[:15] for story in outbox.story] == ["sent", "held", "told of the end", "flushed to /job"]


def test_what_this_process_asked_for_is_not_held(make_parts: MakeParts) -> None:
    x = tf.placeholder(tf.float32, name="x")
    first = tf.square(x)
    with tf.device("/job:b"):
        end = tf.negative(first).op
    run = Run(make_parts([], [x], [end])["a"])
    actions: deque[Callable[[], None]] = deque()

    class Thread:
        def put(self, action: Callable[[], None]) -> None:
            actions.append(action)

    Step(run.executor, 7, [np.float32(3)], lambda step: None, None, Thread()).start()
    assert run.outbox.story == ["sent"]


def test_a_message_may_come_before_the_start(make_parts: MakeParts) -> None:
    with tf.device("/job:b"):
        there = tf.random_uniform([], name="there")
    x = tf.placeholder(tf.float32, name="x")
    part = make_parts([there * x], [x])["a"]
    done: list[Step] = []
    step = Step(Run(part).executor, 7, [np.float32(3)], done.append)
    step.receive([edge.number for edge in part.recvs.values()], [np.float32(5)])
    step.start()
    assert np.asarray(step.fetches[0]) == 15
    assert done == [step]


def test_what_one_stage_makes_for_a_peer_leaves_in_one_message(make_parts: MakeParts) -> None:
    x = tf.placeholder(tf.float32)
    a, b = tf.square(x), tf.negative(x)
    with tf.device("/job:b"), tf.control_dependencies([a.op]):
        end = tf.add(a, b).op
    with tf.device("/job:c"):
        other = tf.negative(a).op
    run = Run(make_parts([], [x], [end, other])["a"])
    run.step(3)
    assert run.is_over.wait(PATIENCE_S)
    assert sorted((peer[:6], sorted(np.asarray(v).item() for v in values.values())) for peer, values in run.outbox.pushed) == [
        ("/job:b", [-3.0, 9.0]), ("/job:c", [9.0]),
    ]  # fmt: skip


def test_a_partition_without_nodes_is_done_at_once() -> None:
    run = Run(Partition("/job:a/replica:0/task:0"))
    assert run.fetch() == []


def test_an_aborted_step_wakes_what_blocks_and_ends_once(make_parts: MakeParts) -> None:
    entered, opened = threading.Event(), threading.Event()

    def block() -> Any:
        entered.set()
        opened.wait(PATIENCE_S)
        return np.float32(1)

    node = tf.py_func(block, [], tf.float32)
    run = Run(make_parts([tf.square(node)])["a"])
    step = run.step()
    assert entered.wait(PATIENCE_S)
    reason = CancelledError(None, None, "enough")
    step.abort(reason)
    step.abort(InvalidArgumentError(None, None, "too late"))
    assert step.is_done
    assert step.error is reason
    opened.set()


def test_a_node_that_fails_ends_the_step_with_its_error(make_parts: MakeParts) -> None:
    x = tf.placeholder(tf.float32)
    bad = tf.check_numerics(tf.py_func(lambda value: value, [x], tf.float32), "not a number", name="bad")
    run = Run(make_parts([tf.square(bad)], [x])["a"])
    step = run.step(np.nan)
    assert run.is_over.wait(PATIENCE_S)
    assert isinstance(step.error, InvalidArgumentError)
    assert step.error.op is bad.op


def test_feeds_must_be_as_many_as_the_partition_has(make_parts: MakeParts) -> None:
    x = tf.placeholder(tf.float32)
    run = Run(make_parts([tf.square(x)], [x])["a"])
    with pytest.raises(ValueError, match="zip"):
        run.step(1, 2)


def test_a_stage_waits_for_a_peer_that_is_behind(make_parts: MakeParts) -> None:
    x = tf.placeholder(tf.float32)
    sent = tf.square(x)
    with tf.device("/job:b"):
        used = tf.negative(sent)
    run = Run(make_parts([used], [x])["a"])
    run.outbox.is_full = True
    step = run.step(3)
    assert not step.is_done
    assert run.outbox.pushed == []
    (start,) = run.outbox.waiting
    start()
    assert run.is_over.wait(PATIENCE_S)
    ((peer, values),) = run.outbox.pushed
    assert [float(value) for value in values.values()] == [9.0]
    assert step.error is None
    assert run.outbox.gone_on == [peer]


def test_a_step_that_was_given_up_meanwhile_sends_nothing(make_parts: MakeParts) -> None:
    x = tf.placeholder(tf.float32)
    sent = tf.square(x)
    with tf.device("/job:b"):
        used = tf.negative(sent)
    run = Run(make_parts([used], [x])["a"])
    run.outbox.is_full = True
    step = run.step(3)
    step.abort(CancelledError(None, None, "given up"))
    gone_on = threading.Event()
    run.outbox.go_on = lambda peer: gone_on.set()  # type: ignore[method-assign]
    run.outbox.waiting[0]()
    assert gone_on.wait(PATIENCE_S)
    assert run.outbox.pushed == []
