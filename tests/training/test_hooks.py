"""The hooks that come with training sessions."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from tensorboard.compat.proto import event_pb2

import weft as tf
from weft.platform.waits import wait_notice
from weft.training.hooks import hook_timer


@pytest.fixture(autouse=True)
def _close_writers() -> Iterator[None]:
    yield
    tf.summary.FileWriterCache.clear()


@pytest.fixture
def told(caplog: pytest.LogCaptureFixture) -> Iterator[list[str]]:
    """What was logged."""
    logger = tf.logging.get_logger()
    logger.addHandler(caplog.handler)
    with caplog.at_level(logging.INFO, logger=logger.name):
        yield _Messages(caplog)
    logger.removeHandler(caplog.handler)


class _Messages(list[str]):
    def __init__(self, caplog: pytest.LogCaptureFixture) -> None:
        self._caplog = caplog

    def __iter__(self) -> Iterator[str]:
        # A record comes twice when the logger hands it on to the root's handler as well.
        return iter([record.getMessage() for record in {id(each): each for each in self._caplog.records}.values()])


def events(directory: Path) -> list[Any]:
    tf.summary.FileWriterCache.clear()
    return [event for path in sorted(directory.glob("events*")) for event in tf.train.summary_iterator(str(path))]


def train(runs: int, *hooks: Any) -> None:
    increment = tf.train.get_or_create_global_step().assign_add(1)
    with tf.train.MonitoredSession(hooks=hooks) as session:
        for _ in range(runs):
            if session.should_stop():
                break
            session.run(increment)


def test_training_stops_at_a_step_or_after_some() -> None:
    step = tf.train.get_or_create_global_step()
    increment = step.assign_add(1)
    for hook, reached in ((tf.train.StopAtStepHook(last_step=3), 3), (tf.train.StopAtStepHook(num_steps=2), 2)):
        with tf.train.MonitoredSession(hooks=[hook]) as session:
            while not session.should_stop():
                last = session.run(increment)
        assert last == reached


def test_the_loop_may_count_more_than_one_step_in_a_run() -> None:
    increment = tf.train.get_or_create_global_step().assign_add(10)
    with tf.train.MonitoredSession(hooks=[tf.train.StopAtStepHook(last_step=25)]) as session:
        while not session.should_stop():
            last = session.run(increment)
    assert last == 30


@pytest.mark.parametrize("arguments", [{}, {"num_steps": 1, "last_step": 1}])
def test_stopping_needs_one_of_two_arguments(arguments: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="num_steps"):
        tf.train.StopAtStepHook(**arguments)


def test_hooks_that_count_need_a_global_step() -> None:
    for hook in (tf.train.StopAtStepHook(last_step=1), tf.train.StepCounterHook(), tf.train.GlobalStepWaiterHook(1)):
        with pytest.raises(RuntimeError, match=f"Global step should be created to use {type(hook).__name__}"):
            tf.train.MonitoredSession(hooks=[hook])


def test_a_loss_that_is_no_number_ends_training() -> None:
    loss = tf.placeholder_with_default(np.float32("nan"), [])
    session = tf.train.SingularMonitoredSession(hooks=[tf.train.NanTensorHook(loss)])
    session.run(loss, {loss: 1.0})
    with pytest.raises(tf.train.NanLossDuringTrainingError, match="NaN loss during training"):
        session.run(loss)
    session.close()
    with tf.train.MonitoredSession(hooks=[tf.train.NanTensorHook(loss, fail_on_nan_loss=False)]) as session:
        session.run(loss, {loss: 1.0})
        assert not session.should_stop()
        session.run(loss)
        assert session.should_stop()


def test_checkpoints_are_saved_at_first_every_so_many_steps_and_at_the_end(tmp_path: Path) -> None:
    saver = tf.train.Saver([tf.train.get_or_create_global_step()], max_to_keep=None)
    calls: list[str] = []

    class Listener(tf.train.CheckpointSaverListener):
        def begin(self) -> None:
            calls.append("begin")

        def before_save(self, session: Any, global_step_value: int) -> None:
            calls.append(f"before {global_step_value}")

        def after_save(self, session: Any, global_step_value: int) -> None:
            calls.append(f"after {global_step_value}")

        def end(self, session: Any, global_step_value: int) -> None:
            calls.append(f"end {global_step_value}")

    hook = tf.train.CheckpointSaverHook(str(tmp_path), save_steps=2, saver=saver, listeners=[Listener()])
    train(5, hook)
    saved = sorted(path.stem for path in tmp_path.glob("*.index"))
    assert saved == ["model.ckpt-0", "model.ckpt-2", "model.ckpt-4", "model.ckpt-5"]
    assert calls == ["begin", *(f"{when} {n}" for n in (0, 2, 4, 5) for when in ("before", "after")), "end 5"]
    assert (tmp_path / "graph.pbtxt").exists()
    logs = [(e.step, e.session_log.status) for e in events(tmp_path) if e.HasField("session_log")]
    assert logs == [(n, event_pb2.SessionLog.CHECKPOINT) for n in (0, 2, 4, 5)]


def test_a_listener_can_ask_to_stop(tmp_path: Path) -> None:
    class Listener(tf.train.CheckpointSaverListener):
        def after_save(self, session: Any, global_step_value: int) -> bool:
            return global_step_value == 3

    step = tf.train.get_or_create_global_step()
    saver = tf.train.Saver()
    train(100, tf.train.CheckpointSaverHook(str(tmp_path), save_steps=1, saver=saver, listeners=[Listener()]))
    assert step is not None
    assert tf.train.latest_checkpoint(str(tmp_path)) == str(tmp_path / "model.ckpt-3")


def test_the_saver_comes_from_one_place(tmp_path: Path) -> None:
    tf.train.get_or_create_global_step()
    with pytest.raises(ValueError, match="cannot provide both saver and scaffold"):
        tf.train.CheckpointSaverHook(str(tmp_path), save_steps=1, saver=tf.train.Saver(), scaffold=tf.train.Scaffold())


@pytest.mark.parametrize("hook", [tf.train.CheckpointSaverHook, tf.train.SummarySaverHook, tf.train.SecondOrStepTimer])
def test_either_steps_or_seconds_are_given(hook: Any, tmp_path: Path) -> None:
    names = ("every_steps", "every_secs") if hook is tf.train.SecondOrStepTimer else ("save_steps", "save_secs")
    others = {
        tf.train.CheckpointSaverHook: {"checkpoint_dir": str(tmp_path)},
        tf.train.SummarySaverHook: {"scaffold": tf.train.Scaffold()},
        tf.train.SecondOrStepTimer: {},
    }[hook]
    with pytest.raises(ValueError, match="every_secs"):
        hook(**others)
    with pytest.raises(ValueError, match="every_secs"):
        hook(**others, **dict.fromkeys(names, 1))


def test_the_step_counter_writes_steps_per_second(tmp_path: Path, told: list[str]) -> None:
    train(7, tf.train.StepCounterHook(every_n_steps=3, output_dir=str(tmp_path)))
    found = [(e.step, v.tag) for e in events(tmp_path) for v in e.summary.value]
    assert found == [(4, "global_step/sec"), (7, "global_step/sec")]
    assert any(message.startswith("global_step/sec: ") for message in told)


def test_the_step_counter_warns_when_nothing_counts(told: list[str]) -> None:
    tf.train.get_or_create_global_step()
    one = tf.constant(1)
    with tf.train.MonitoredSession(hooks=[tf.train.StepCounterHook()]) as session:
        for _ in range(3):
            session.run(one)
    assert any("The global step has not grown" in message for message in told)


def test_a_run_that_reads_after_its_update_and_the_next_before_it_alarm_nobody(told: list[str]) -> None:
    tf.train.get_or_create_global_step()
    hook = tf.train.StepCounterHook()
    hook.begin()
    for read in (1, 2, 2, 3, 4, 4, 5, 5, 5):
        assert not any("has not grown" in message for message in told)
        context = SimpleNamespace(session=SimpleNamespace(run=lambda _, read=read: read))
        hook.after_run(context, SimpleNamespace(results=read))
    assert any("The global step has not grown in the last runs: it is 5." in message for message in told)


def test_tensors_are_logged_every_so_many_runs(told: list[str]) -> None:
    step = tf.train.get_or_create_global_step()
    last = tf.identity(tf.constant(5), name="five")
    train(5, tf.train.LoggingTensorHook({"five": "five", "other": last + 1}, every_n_iter=2))
    lines = [message for message in told if "five" in message]
    assert step is not None
    assert lines[0] == "five = 5, other = 6"
    assert all(line.startswith("five = 5, other = 6 (") for line in lines[1:])
    assert len(lines) == 3


def test_tensors_are_logged_at_the_end_in_the_programs_form(told: list[str]) -> None:
    five = tf.constant(5, name="five")
    hook = tf.train.LoggingTensorHook([five], at_end=True, formatter=lambda values: f"got {values[five]}")
    train(3, hook)
    assert [message for message in told if message.startswith("got")] == ["got 5"]


@pytest.mark.parametrize("arguments", [{}, {"every_n_iter": 1, "every_n_secs": 1}, {"every_n_iter": 0}])
def test_logging_checks_its_arguments(arguments: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="every_n_iter"):
        tf.train.LoggingTensorHook(["x"], **arguments)


def test_summaries_are_written_every_so_many_steps(tmp_path: Path) -> None:
    value = tf.Variable(1.0)
    summary = tf.summary.scalar("value", value)
    train(5, tf.train.SummarySaverHook(save_steps=2, output_dir=str(tmp_path), summary_op=summary))
    written = events(tmp_path)
    assert [(e.step, v.tag) for e in written for v in e.summary.value] == [(1, "value"), (3, "value"), (5, "value")]
    starts = [e.step for e in written if e.session_log.status == event_pb2.SessionLog.START]
    assert starts == [1]


def test_a_summary_may_be_named_before_it_is_there(tmp_path: Path) -> None:
    hook = tf.train.SummarySaverHook(save_steps=1, output_dir=str(tmp_path), summary_op="value:0")
    tf.summary.scalar("value", 1.0)
    train(1, hook)
    assert [v.tag for e in events(tmp_path) for v in e.summary.value] == ["value"]


def test_a_training_session_writes_summaries_and_steps_by_default(tmp_path: Path) -> None:
    tf.summary.scalar("value", tf.Variable(1.0))
    increment = tf.train.get_or_create_global_step().assign_add(1)
    every_step = {"save_summaries_steps": 1, "log_step_count_steps": 1}
    with tf.train.MonitoredTrainingSession(checkpoint_dir=str(tmp_path), **every_step) as session:
        for _ in range(3):
            session.run(increment)
    tags = {value.tag for event in events(tmp_path) for value in event.summary.value}
    assert tags >= {"value", "global_step/sec"}


def test_a_replica_waits_for_the_global_step() -> None:
    step = tf.train.get_or_create_global_step()
    hook = tf.train.GlobalStepWaiterHook(wait_until_step=3)
    increment = step.assign_add(1)

    class Advance(tf.train.SessionRunHook):
        def after_create_session(self, session: Any, coord: Any) -> None:
            tf.train.LooperThread.loop(coord, 0.01, session.run, args=(increment,))

    with tf.train.MonitoredSession(hooks=[Advance(), hook]) as session:
        assert session.run(step) >= 3


def test_a_replica_that_is_held_back_says_for_what(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    monkeypatch.setattr(wait_notice, "FIRST_S", 0.0)
    step = tf.train.get_or_create_global_step()
    increment = step.assign_add(1)

    class Advance(tf.train.SessionRunHook):
        def after_create_session(self, session: Any, coord: Any) -> None:
            tf.train.LooperThread.loop(coord, 0.01, session.run, args=(increment,))

    with tf.train.MonitoredSession(hooks=[Advance(), tf.train.GlobalStepWaiterHook(wait_until_step=3)]) as session:
        session.run(step)
    assert re.search(r"GlobalStepWaiterHook has held this replica back for \d+ s: the global step is", caplog.text)
    assert "and it begins at 3. The others bring it there" in caplog.text


def test_final_ops_are_run_at_the_end() -> None:
    step = tf.train.get_or_create_global_step()
    fed = tf.placeholder_with_default(0, [])
    hook = tf.train.FinalOpsHook({"step": step, "fed": fed}, final_ops_feed_dict={fed: 4})
    train(3, hook)
    assert hook.final_ops_values == {"step": 3, "fed": 4}


def test_a_feed_function_feeds_every_run() -> None:
    fed = tf.placeholder(tf.int32, [])
    numbers = iter(range(10))
    with tf.train.MonitoredSession(hooks=[tf.train.FeedFnHook(lambda: {fed: next(numbers)})]) as session:
        assert [session.run(fed) for _ in range(3)] == [0, 1, 2]


def test_a_timer_triggers_by_steps_or_by_time() -> None:
    timer = tf.train.SecondOrStepTimer(every_steps=3)
    assert timer.should_trigger_for_step(0)
    assert timer.update_last_triggered_step(0) == (None, None)
    assert [timer.should_trigger_for_step(n) for n in range(5)] == [False, False, False, True, True]
    elapsed_s, steps = timer.update_last_triggered_step(4)
    assert elapsed_s is not None
    assert steps == 4
    assert timer.last_triggered_step() == 4
    timer.reset()
    assert timer.should_trigger_for_step(4)
    by_time = tf.train.SecondOrStepTimer(every_secs=0)
    by_time.update_last_triggered_step(1)
    assert not by_time.should_trigger_for_step(1)
    assert by_time.should_trigger_for_step(2)


def test_a_clock_that_is_set_back_keeps_no_timer_from_its_step(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = SimpleNamespace(monotonic=lambda: 100.0, time=lambda: 1e9)
    monkeypatch.setattr(hook_timer, "time", clock)
    timer = tf.train.SecondOrStepTimer(every_secs=60)
    timer.update_last_triggered_step(1)
    clock.time = lambda: 0.0
    assert not timer.should_trigger_for_step(2)
    clock.monotonic = lambda: 160.0
    assert timer.should_trigger_for_step(2)
    assert timer.update_last_triggered_step(2) == (60.0, 1)


def test_the_step_counter_is_quiet_where_replicas_join_their_gradients(told: list[str]) -> None:
    step = tf.train.get_or_create_global_step()
    weight = tf.get_variable("w", [], initializer=tf.zeros_initializer())
    optimizer = tf.train.SyncReplicasOptimizer(tf.train.GradientDescentOptimizer(0.1), 1)
    optimizer.minimize(weight * weight, global_step=step)
    one = tf.constant(1)
    with tf.train.MonitoredSession(hooks=[tf.train.StepCounterHook()]) as session:
        for _ in range(3):
            session.run(one)
    assert not any("The global step has not grown" in message for message in told)


def test_timelines_come_to_the_process_own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    count = tf.assign_add(tf.train.get_or_create_global_step(), 1)
    with tf.train.MonitoredSession(hooks=[tf.train.ProfilerHook(save_steps=2)]) as session:
        for _ in range(5):
            session.run(count)
    tf.summary.FileWriterCache.clear()
    assert sorted(path.name for path in tmp_path.glob("timeline-*.json")) == ["timeline-2.json", "timeline-4.json"]
    assert len(list(tmp_path.glob("events.out.tfevents.*"))) == 1


def test_a_loss_that_is_no_number_is_told_with_a_step_in_floats():
    tf.get_variable("global_step", [], initializer=tf.constant_initializer(3))
    loss = tf.log(tf.constant(-1.0))
    session = tf.train.SingularMonitoredSession(hooks=[tf.train.NanTensorHook(loss)])
    with pytest.raises(tf.train.NanLossDuringTrainingError, match="global step at 3"):
        session.run(loss)


def test_programs_find_the_hook_of_a_synchronous_optimizer() -> None:
    optimizer = tf.train.SyncReplicasOptimizer(tf.train.GradientDescentOptimizer(0.1), 1)
    assert optimizer.make_session_run_hook(is_chief=True)._sync_optimizer is optimizer


def test_replicas_begin_and_end_without_what_a_program_lets_its_update_wait_for() -> None:
    batch = tf.data.Dataset.range(3).make_one_shot_iterator().get_next()
    weight = tf.get_variable("w", [], initializer=tf.zeros_initializer())
    step = tf.train.get_or_create_global_step()
    optimizer = tf.train.SyncReplicasOptimizer(tf.train.GradientDescentOptimizer(0.1), 1)
    with tf.control_dependencies([batch]):
        train_op = optimizer.minimize(weight + 1.0, global_step=step)
    with tf.train.MonitoredTrainingSession(hooks=[optimizer.make_session_run_hook(True)]) as session:
        while not session.should_stop():
            session.run(train_op)
