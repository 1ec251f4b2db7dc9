"""Which replicas a synchronous update waits for."""

from __future__ import annotations

import json
import threading
from typing import Any

import pytest

import weft as tf
from weft.framework.building.op_context import StepOwner
from weft.ops.data_flow.contributors import Contributors
from weft.platform.waits import wait_notice
from weft.training.sessions.stall_watch import StallWatch


class Owner:
    def __init__(self, name: str) -> None:
        self.name = name
        self.is_closed = self.is_away = False


def report(step: int, count: int, needed: int | None = 3, replicas: list[dict[str, Any]] | None = None) -> dict[str, Any]:
    return {"step": step, "count": count, "needed": needed, "replicas": replicas or []}


def replica(index: int, count: int, age_s: float = 0.0, has_left: bool = False) -> dict[str, Any]:
    name = f"/job:worker/replica:0/task:{index}#aa"
    return {"name": name, "count": count, "age_s": age_s, "has_left": has_left}


def test_sessions_are_counted_for_each_update() -> None:
    first, second = Owner("a"), Owner("b")
    contributors = Contributors()
    for owner, now, is_fresh in ((first, 1.0, True), (second, 2.0, True), (first, 3.0, True), (second, 4.0, False)):
        typed: StepOwner = owner
        contributors.note(typed, now, is_fresh)
    assert [(r["name"], r["count"], r["age_s"]) for r in contributors.report(5.0)] == [("a", 2, 2.0), ("b", 1, 1.0)]
    contributors.begin_again()
    second.is_away = True
    assert [(r["count"], r["has_left"]) for r in contributors.report(5.0)] == [(0, False), (0, True)]
    assert [r["name"] for r in contributors.report(700.0)] == ["a"]


def test_a_step_that_is_unfinished_twice_is_a_stall() -> None:
    watch = StallWatch()
    assert watch.look([report(5, 1)]) is None
    assert watch.look([report(6, 1)]) is None
    stalled = [report(6, 1, replicas=[replica(0, 1), replica(4, 0, has_left=True), replica(12, 0, age_s=41.3)])]
    assert watch.look(stalled) == (
        "Step 6 has 1/3 gradients; missing: /job:worker/task:4 (left), /job:worker/task:12 (late 41 s)"
    )
    assert watch.look([report(7, 0)]) is None


def test_the_accumulator_with_the_fewest_gradients_tells() -> None:
    watch = StallWatch()
    reports = [report(2, 2), report(2, 1), report(3, 0, needed=None), report(2, 5)]
    assert watch.look(reports) is None
    assert watch.look(reports) == "Step 2 has 1/3 gradients; missing: replicas that have given none so far"


def test_a_stall_is_told_again_only_when_others_are_missing() -> None:
    watch = StallWatch()
    assert watch.look([report(5, 1, replicas=[replica(0, 1), replica(1, 0)])]) is None
    assert watch.look([report(5, 1, replicas=[replica(0, 1), replica(1, 0, age_s=20.0)])]) is not None
    assert watch.look([report(5, 1, replicas=[replica(0, 1), replica(1, 0, age_s=30.0)])]) is None
    assert watch.look([report(5, 1, replicas=[replica(0, 1), replica(2, 0)])]) is not None


def test_nothing_is_told_while_no_chief_waits_or_all_gradients_are_there() -> None:
    watch = StallWatch()
    for _ in range(2):
        assert watch.look([report(2, 3), report(2, 0, needed=None)]) is None


def test_replicas_that_all_do_something_else_wait_for_nothing() -> None:
    watch, evaluating = StallWatch(), [replica(0, 0, age_s=20.0), replica(1, 0, age_s=20.0)]
    assert [watch.look([report(5, 0, replicas=evaluating)]) for _ in range(3)] == [None] * 3
    assert [watch.look([report(0, 0)]) for _ in range(3)] == [None] * 3
    left = [replica(0, 0, age_s=20.0), replica(1, 0, has_left=True)]
    assert watch.look([report(5, 0, replicas=left)]) is None
    told = watch.look([report(5, 0, replicas=left)])
    assert told == "Step 5 has 0/3 gradients; missing: /job:worker/task:0 (late 20 s), /job:worker/task:1 (left)"


@pytest.mark.parametrize("has_coordinator", [False, True])
def test_an_update_that_nobody_waits_for_is_watched_with_and_without_a_coordinator(
    has_coordinator: bool, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("weft.training.sessions.stall_watch.WATCH_EVERY_S", 0.01)
    monkeypatch.setattr(wait_notice, "FIRST_S", 0.5)
    looked = threading.Event()
    looks: list[object] = []

    def look(watch: StallWatch, reports: object) -> None:
        looks.append(reports)
        if len(looks) > 60:
            looked.set()

    monkeypatch.setattr(StallWatch, "look", look)
    v, step = tf.Variable(0.0), tf.train.get_or_create_global_step()
    optimizer = tf.train.SyncReplicasOptimizer(tf.train.GradientDescentOptimizer(1.0), 1)
    train_op = optimizer.minimize(v * 1.0, global_step=step)
    runner, tokens = optimizer.get_chief_queue_runner(), optimizer.get_init_tokens_op()
    coordinator = tf.train.Coordinator() if has_coordinator else None
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(optimizer.chief_init_op)
        session.run(tokens)
        threads = runner.create_threads(session, coordinator, daemon=True, start=True)
        # The queue runner's own, one more that ends the session's queue, and the one that watches.
        assert len(threads) == (3 if has_coordinator else 1)
        session.run(train_op)
        assert looked.wait(20)
        if coordinator is not None:
            coordinator.request_stop()
    assert [record.getMessage() for record in caplog.records if record.name == "weft.accumulators"] == []


def test_an_accumulator_reports_who_gave_gradients() -> None:
    with tf.train.Server.create_local_server() as server, tf.Graph().as_default():
        accumulator = tf.ConditionalAccumulator(tf.float32, shape=[], shared_name="sums")
        apply, told = accumulator.apply_grad(1.0, local_step=0), accumulator.report()
        with tf.Session(server.target) as first, tf.Session(server.target) as second:
            first.run([apply, apply])
            second.run(apply)
            second.run(apply)
            raw = first.run(told)
    found = json.loads(raw)
    assert (found["step"], found["count"], found["needed"]) == (0, 3, None)
    assert sorted(each["count"] for each in found["replicas"]) == [1, 2]
    assert all(each["name"].startswith("/job:local") for each in found["replicas"])


def test_the_chief_tells_of_an_update_that_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("weft.training.sessions.stall_watch.WATCH_EVERY_S", 0.1)
    warnings: list[str] = []
    told = threading.Event()

    def warning(text: str, *arguments: object) -> None:
        warnings.append(text % arguments)
        if "Step 1 has 1/2 gradients" in warnings[-1]:
            told.set()

    monkeypatch.setattr("weft.training.sessions.stall_watch.tf_logging.warning", warning)
    with tf.train.Server.create_local_server() as server:
        v = tf.Variable(0.0, name="v")
        step = tf.train.get_or_create_global_step()
        optimizer = tf.train.SyncReplicasOptimizer(tf.train.GradientDescentOptimizer(1.0), 2, 2)
        train_op = optimizer.minimize(v * 1.0, global_step=step)
        with tf.train.MonitoredTrainingSession(server.target, hooks=[optimizer.make_session_run_hook(True)]) as session:
            # With the tokens of step 0 this replica gives both of its gradients and a late one; of step 1 it gives one.
            for _ in range(4):
                session.run(train_op)
            assert told.wait(20), warnings


def test_a_failed_update_ends_the_step_of_the_chief_that_waits_for_its_token() -> None:
    failures = [tf.errors.UnavailableError(None, None, "cut"), tf.errors.InvalidArgumentError(None, None, "no update")]
    waits = threading.Event()

    class Fails(tf.train.SessionRunHook):
        made = 0

        def after_create_session(self, session: Any, coord: tf.train.Coordinator) -> None:
            failure, self.made = failures[self.made], self.made + 1
            waits.clear()

            def fail() -> None:
                assert waits.wait(20)
                coord.request_stop(failure)

            threading.Thread(target=fail).start()

        def before_run(self, run_context: Any) -> None:
            waits.set()

    fails = Fails()
    v = tf.Variable(0.0, name="v")
    step = tf.train.get_or_create_global_step()
    optimizer = tf.train.SyncReplicasOptimizer(tf.train.GradientDescentOptimizer(1.0), 2, 2)
    train_op = optimizer.minimize(v * 1.0, global_step=step)
    # No tokens are there at first, and one replica's gradients make no update.
    hooks = [optimizer.make_session_run_hook(True, num_tokens=0), fails]
    with (
        pytest.raises(tf.errors.InvalidArgumentError, match="no update"),
        tf.train.MonitoredTrainingSession(hooks=hooks, save_checkpoint_secs=None) as session,
    ):
        session.run(train_op)
    assert fails.made == 2
