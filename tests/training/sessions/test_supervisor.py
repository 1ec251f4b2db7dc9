"""Supervisor: the older training session."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest
from tensorboard.backend.event_processing.event_file_loader import RawEventFileLoader
from tensorboard.compat.proto import event_pb2

import weft as tf
from weft.training.sessions.supervisor_services import SVStepCounterThread, SVSummaryThread, SVTimerCheckpointThread


def events(directory: Path) -> list[Any]:
    paths = sorted(directory.glob("events*"), key=lambda path: int(path.name.rpartition(".")[2]))
    return [event_pb2.Event.FromString(data) for path in paths for data in RawEventFileLoader(str(path)).Load()]


def model() -> tuple[Any, Any]:
    step = tf.Variable(0, name="global_step", trainable=False)
    return step, step.assign_add(1)


def test_a_session_is_managed(tmp_path: Path) -> None:
    step, increment = model()
    supervisor = tf.train.Supervisor(logdir=str(tmp_path), save_summaries_secs=0, save_model_secs=0)
    with supervisor.managed_session() as session:
        while not supervisor.should_stop():
            if session.run(increment) == 5:
                supervisor.saver.save(session, supervisor.save_path, global_step=supervisor.global_step)
                supervisor.request_stop()
    assert tf.train.latest_checkpoint(str(tmp_path)) == str(tmp_path / "model.ckpt-5")
    with supervisor.managed_session() as session:
        assert not supervisor.should_stop()
        assert session.run(step) == 5
    kinds = [event.WhichOneof("what") for event in events(tmp_path)]
    assert kinds[:4] == ["file_version", "graph_def", "meta_graph_def", "session_log"]
    states = [event.session_log.status for event in events(tmp_path) if event.HasField("session_log")]
    assert states[0] == event_pb2.SessionLog.START
    assert states[-1] == event_pb2.SessionLog.STOP


def test_the_end_of_the_input_is_silent_and_other_errors_are_not() -> None:
    model()
    supervisor = tf.train.Supervisor()
    with supervisor.managed_session():
        raise tf.errors.OutOfRangeError(None, None, "end")
    with pytest.raises(ZeroDivisionError), supervisor.managed_session():
        raise ZeroDivisionError
    with pytest.raises(ValueError, match="of the thread"), supervisor.managed_session() as session:
        supervisor.request_stop(ValueError("of the thread"))
    with pytest.raises(RuntimeError, match="closed Session"):
        session.run(tf.get_default_graph().get_operations()[0])


@pytest.mark.timeout(20)
def test_an_interrupt_does_not_wait_for_threads() -> None:
    model()
    supervisor = tf.train.Supervisor()
    release = threading.Event()
    thread = threading.Thread(target=release.wait, daemon=True)
    thread.start()

    def interrupted() -> None:
        with supervisor.managed_session():
            supervisor.coord.register_thread(thread)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    release.set()
    thread.join()


def test_services_save_and_summarize(tmp_path: Path) -> None:
    _, increment = model()
    tf.summary.scalar("seven", 7.0)
    supervisor = tf.train.Supervisor(logdir=str(tmp_path), save_summaries_secs=0.01, save_model_secs=0.01)
    wanted = {"seven", "global_step/sec"}
    with supervisor.managed_session() as session:
        while not (tmp_path / "checkpoint").exists() or not wanted <= tags(tmp_path):
            session.run(increment)
            supervisor.summary_writer.flush()


def tags(directory: Path) -> set[str]:
    return {value.tag for event in events(directory) for value in event.summary.value}


def test_the_program_can_write_summaries_itself(tmp_path: Path) -> None:
    _, increment = model()
    summary = tf.summary.scalar("own", 1.0)
    supervisor = tf.train.Supervisor(logdir=str(tmp_path), summary_op=None)
    assert supervisor.summary_op is None
    with supervisor.managed_session() as session:
        session.run(increment)
        supervisor.summary_computed(session, session.run(summary))
    assert [event.step for event in events(tmp_path) for value in event.summary.value if value.tag == "own"] == [1]
    with tf.Graph().as_default(), pytest.raises(RuntimeError, match="requires a summary writer"):
        tf.train.Supervisor().summary_computed(None, b"")


def test_a_function_is_called_until_the_stop() -> None:
    model()
    supervisor = tf.train.Supervisor()
    calls: list[int] = []
    enough = threading.Event()

    def call(number: int) -> None:
        calls.append(number)
        if len(calls) > 2:
            enough.set()

    with supervisor.managed_session():
        supervisor.loop(0.001, call, args=(3,))
        assert enough.wait(30)
    assert set(calls) == {3}


def test_queue_runners_are_started() -> None:
    queue = tf.FIFOQueue(1, tf.int32, shapes=[])
    tf.train.add_queue_runner(tf.train.QueueRunner(queue, [queue.enqueue(4)]))
    take = queue.dequeue()
    with tf.train.Supervisor().managed_session() as session:
        assert session.run(take) == 4


def test_a_replica_waits_for_the_chief() -> None:
    with tf.train.Server.create_local_server() as server:
        with tf.device("/job:local/task:0"):
            step, _ = model()
        chief = tf.train.Supervisor()
        tf.get_default_graph()._unsafe_unfinalize()
        replica = tf.train.Supervisor(is_chief=False, recovery_wait_secs=0.05)
        with pytest.raises(RuntimeError, match="Only chief supervisor"):
            replica.start_standard_services(None)
        found: list[Any] = []

        def wait() -> None:
            with replica.prepare_or_wait_for_session(server.target) as session:
                found.append(session.run(step))

        thread = threading.Thread(target=wait, daemon=True)
        thread.start()
        with chief.prepare_or_wait_for_session(server.target):
            thread.join(60)
        chief.stop()
    assert found == [0]


def test_a_replicas_variables_need_devices() -> None:
    tf.Variable(1.0, name="nowhere")
    with pytest.raises(ValueError, match=r"all Variables must have their device set: 'nowhere'"):
        tf.train.Supervisor(is_chief=False)


def test_parts_come_from_their_collections() -> None:
    init = tf.no_op()
    tf.get_default_graph().add_to_collection(tf.GraphKeys.INIT_OP, init)
    step = tf.Variable(0.0, name="global_step")
    supervisor = tf.train.Supervisor(saver=None)
    assert supervisor.init_op is init
    assert supervisor.saver is None
    # It is no integer.
    assert supervisor.global_step is None
    assert step.graph.finalized


def test_old_names_still_work() -> None:
    model()
    supervisor = tf.train.Supervisor()
    with supervisor.PrepareSession():
        supervisor.RequestStop()
        supervisor.WaitForStop()
        assert supervisor.ShouldStop()
        supervisor.Stop()


def test_a_step_in_floats_counts_on_a_server(tmp_path: Path) -> None:
    step = tf.get_variable("global_step", [], initializer=tf.constant_initializer(0), trainable=False)
    weight = tf.get_variable("w", [2])
    train = tf.train.GradientDescentOptimizer(0.1).minimize(tf.reduce_sum(weight), global_step=step)
    supervisor = tf.train.Supervisor(logdir=str(tmp_path), global_step=step, save_model_secs=0)
    with tf.train.Server.create_local_server() as server, supervisor.prepare_or_wait_for_session(server.target) as session:
        session.run(train)
        assert session.run([train, step])[1] in (1.0, 2.0)
        supervisor.saver.save(session, supervisor.save_path, global_step=supervisor.global_step)
    assert tf.train.latest_checkpoint(str(tmp_path)) == str(tmp_path / "model.ckpt-2")


@pytest.mark.parametrize("kind", [SVSummaryThread, SVStepCounterThread, SVTimerCheckpointThread])
def test_services_of_a_session_that_the_program_has_closed_do_not_fail_the_stop(kind: Any, tmp_path: Path) -> None:
    step, _ = model()
    tf.summary.scalar("step", step)
    supervisor = tf.train.Supervisor(logdir=str(tmp_path))
    with supervisor.prepare_or_wait_for_session(start_standard_services=False) as session:
        service = kind(supervisor, session)
        service.start_loop()
        service.run_loop()
    service.run_loop()
    supervisor.stop()


def test_a_checkpoint_that_fails_in_an_open_session_is_told(tmp_path: Path) -> None:
    model()
    supervisor = tf.train.Supervisor(logdir=str(tmp_path))
    session = supervisor.prepare_or_wait_for_session(start_standard_services=False)
    (tmp_path / "checkpoint").mkdir()
    with pytest.raises((tf.errors.OpError, OSError)):
        SVTimerCheckpointThread(supervisor, session).run_loop()
    supervisor.stop()
