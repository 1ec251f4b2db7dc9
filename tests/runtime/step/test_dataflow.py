"""What a run of a partition has made and received, and which stages that makes ready."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import weft as tf
from weft.passes.partition import Partition
from weft.runtime.executor import Executor, Outlet
from weft.runtime.inter_op_pool import InterOpPool
from weft.runtime.state.resource_manager import ResourceManager
from weft.runtime.state.session_state import SessionState
from weft.runtime.step.dataflow import Dataflow

MakeParts = Callable[..., dict[str, Partition]]


def _executor(part: Partition) -> Executor:
    return Executor(part, SessionState(ResourceManager()), None, InterOpPool())


def test_a_stage_is_ready_when_the_last_of_its_values_has_come_and_only_then(make_parts: MakeParts) -> None:
    with tf.device("/job:b"):
        first, second = tf.random_uniform([], name="first"), tf.random_uniform([], name="second")
    part = make_parts([first + second], [])["a"]
    flow, (one, other) = Dataflow(_executor(part), []), sorted(part.recvs.values(), key=lambda edge: edge.source.name)
    assert [source.name for source in flow.awaits(one.sender)] == ["first:0", "second:0"]
    assert flow.receive([one.number], [np.float32(1)]) == []
    assert flow.receive([one.number], [np.float32(9)]) == [], "it was sent again"
    assert [source.name for source in flow.awaits(one.sender)] == ["second:0"]
    (stage,) = flow.receive([other.number], [np.float32(2)])
    assert sorted(float(flow.values[number]) for number in stage.inputs) == [1, 2]
    assert flow.unfinished == 1
    assert flow.note_run(stage) == []
    assert flow.unfinished == 0


def test_what_was_sent_is_known_from_the_moment_before(make_parts: MakeParts) -> None:
    x = tf.placeholder(tf.float32)
    made = tf.square(x)
    with tf.device("/job:b"), tf.control_dependencies([made.op]):
        end = tf.negative(made).op
    executor = _executor(make_parts([], [x], [end])["a"])
    flow = Dataflow(executor, [np.float32(3)])
    (stage,) = (each for each in executor.stages if each.sends)
    ((peer, edges, numbers),) = stage.sends
    for number in stage.outputs:
        flow.values[number] = np.float32(9)
    assert flow.sent() == []
    pushed: list[Any] = []

    class Peers(Outlet):
        def push(
            self, peer: str, step_id: int, edges: Sequence[int], tensors: Sequence[object], *, is_held: bool = False
        ) -> None:
            assert not is_held
            assert flow.sent() != [], "it is known before it is sent"
            pushed.append((peer, edges, tensors))

    flow.send(stage, Peers(), 7, is_held=False)
    assert flow.sent() == pushed == [(peer, edges, [9] * len(numbers))]
