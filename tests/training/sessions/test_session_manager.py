"""SessionManager: sessions whose model is ready."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import weft as tf
from weft.distributed.server.local_cluster import free_addresses
from weft.training.sessions.model_readiness import ChiefWatch
from weft.training.sessions.presence import presence_of


@pytest.fixture
def server() -> Iterator[Any]:
    with tf.train.Server.create_local_server() as running:
        yield running


def manager(**arguments: Any) -> tf.train.SessionManager:
    return tf.train.SessionManager(ready_op=tf.report_uninitialized_variables(), **arguments)


def test_a_model_is_initialized_by_op_and_function() -> None:
    value = tf.Variable(1.0)
    double = value.assign(value * 2)
    made = manager()
    with made.prepare_session("", init_op=tf.global_variables_initializer(), init_fn=lambda s: s.run(double)) as session:
        assert session.run(value) == 2.0


def test_what_the_init_op_needs_can_be_fed() -> None:
    fed = tf.placeholder(tf.float32, [])
    value = tf.Variable(fed)
    init = tf.global_variables_initializer()
    with manager().prepare_session("", init_op=init, init_feed_dict={fed: 5.0}) as session:
        assert session.run(value) == 5.0


def test_nothing_to_initialize_with_is_an_error() -> None:
    tf.Variable(1.0)
    with pytest.raises(RuntimeError, match="no init_op or init_fn or local_init_op was given"):
        manager().prepare_session("")


def test_a_model_that_stays_without_values_is_an_error() -> None:
    tf.Variable(1.0, name="left")
    ready, init = tf.report_uninitialized_variables(), tf.no_op(name="nothing")
    with pytest.raises(RuntimeError, match=r"did not make model ready\.  Init op: nothing, .*Variables not initialized: left"):
        tf.train.SessionManager(ready_op=ready).prepare_session("", init_op=init)


def test_local_initialization_waits_for_the_global_one() -> None:
    shared = tf.Variable(3.0)
    local = tf.Variable(shared.initialized_value() * 2, collections=[tf.GraphKeys.LOCAL_VARIABLES])
    made = manager(
        local_init_op=local.initializer, ready_for_local_init_op=tf.report_uninitialized_variables(tf.global_variables())
    )
    with made.prepare_session("", init_op=shared.initializer) as session:
        assert session.run(local) == 6.0
    with pytest.raises(RuntimeError, match="did not make model ready for local_init"):
        made.prepare_session("", init_op=tf.no_op())
    with pytest.raises(ValueError, match="you must also pass a local_init_op"):
        manager(ready_for_local_init_op=tf.constant([]))


def test_a_checkpoint_is_restored_rather_than_initialized(tmp_path: Path) -> None:
    value = tf.Variable(1.0)
    saver, init, set_it = tf.train.Saver(), tf.global_variables_initializer(), value.assign(7.0)
    made = manager()
    arguments = {"saver": saver, "checkpoint_dir": str(tmp_path)}
    session, is_ready = made.recover_session("", **arguments)
    assert not is_ready
    session.run([init])
    session.run(set_it)
    path = saver.save(session, str(tmp_path / "model"), global_step=3)
    session.close()
    session, is_ready = made.recover_session("", **arguments)
    assert is_ready
    assert session.run(value) == 7.0
    session.close()
    with made.prepare_session("", init_op=init, saver=saver, checkpoint_filename_with_path=path) as session:
        assert session.run(value) == 7.0
    with pytest.raises(ValueError, match="Can not provide both"):
        made.prepare_session("", init_op=init, checkpoint_filename_with_path=path, **arguments)


def test_waiting_sees_what_the_chief_does(server: Any) -> None:
    value = tf.Variable(1.0)
    init = tf.global_variables_initializer()
    made = manager(recovery_wait_secs=0.05)
    found: list[float] = []

    def wait() -> None:
        with made.wait_for_session(server.target, max_wait_secs=60) as session:
            found.append(session.run(value))

    thread = threading.Thread(target=wait, daemon=True)
    thread.start()
    with tf.Session(server.target) as chief:
        chief.run(init)
        thread.join(60)
    assert found == [1.0]


@pytest.mark.parametrize("is_declared", [True, False], ids=["reads the model", "reads nothing"])
def test_a_replica_that_waits_runs_its_local_init_op_once(
    server: Any, monkeypatch: pytest.MonkeyPatch, is_declared: bool
) -> None:
    begun, seen = threading.Event(), threading.Event()
    look = ChiefWatch.look

    def note_look(self: ChiefWatch, missing: Any) -> str:
        told = look(self, missing)
        if self.is_chief_initializing and not missing:
            seen.set()
        return told

    def give_other_values(session: Any) -> None:
        begun.set()
        assert seen.wait(60)
        session.run(session.graph.get_operation_by_name("finish"))

    def initialize() -> None:
        with tf.Graph().as_default():
            one = tf.Variable(77.0, name="one")
            one.assign(5.0, name="finish")
            manager().prepare_session(server.target, init_op=one.initializer, init_fn=give_other_values)

    monkeypatch.setattr(ChiefWatch, "look", note_look)
    one, ran = tf.Variable(77.0, name="one"), []
    local = tf.py_func(lambda value: ran.append(float(value)), [one if is_declared else tf.constant(5.0)], [])
    ready = tf.report_uninitialized_variables(tf.global_variables()) if is_declared else None
    chief = threading.Thread(target=initialize, daemon=True)
    chief.start()
    assert begun.wait(60)
    with manager(local_init_op=local, ready_for_local_init_op=ready).wait_for_session(server.target, max_wait_secs=60):
        assert ran == [5.0]
    chief.join(60)


def test_waiting_tells_that_the_chief_has_not_begun(server: Any) -> None:
    tf.Variable(1.0, name="a")
    tf.Variable(1.0, name="b")
    with pytest.raises(tf.errors.DeadlineExceededError) as raised:
        manager().wait_for_session(server.target, max_wait_secs=0.05)
    assert "Session was not ready after waiting 0.05 secs" in raised.value.message
    assert "The chief has not initialized the model yet" in raised.value.message


def test_waiting_for_a_server_that_is_not_there_ends_in_time() -> None:
    gone, own = free_addresses(2)
    with tf.device("/job:ps/task:0"):
        tf.Variable(1.0)
    server = tf.train.Server({"ps": [gone], "worker": [own]}, "worker", 0)
    with server, pytest.raises(tf.errors.DeadlineExceededError) as raised:
        manager().wait_for_session(server.target, max_wait_secs=0.5)
    assert "Session was not ready after waiting 0.5 secs" in raised.value.message
    assert f"/job:ps/replica:0/task:0 at {gone}" in raised.value.message
    assert "Parameter servers end with the training" in raised.value.message


def test_waiting_tells_which_variables_the_chief_does_not_have(server: Any) -> None:
    shared = tf.Variable(1.0, name="shared")
    tf.Variable(1.0, name="only_here_1")
    made = manager()
    with tf.Session(server.target) as chief:
        chief.run(shared.initializer)
        with pytest.raises(tf.errors.DeadlineExceededError) as raised:
            made.wait_for_session(server.target, max_wait_secs=0.05)
    assert "Variables not initialized: only_here_1." in raised.value.message
    assert "not in the chief's graph" in raised.value.message


def test_an_old_ready_op_may_raise() -> None:
    value = tf.Variable(1.0)
    made = tf.train.SessionManager(ready_op=tf.assert_variables_initialized())
    with made.prepare_session("", init_op=value.initializer) as session:
        assert session.run(value) == 1.0


def test_a_scaffold_fills_what_is_not_given() -> None:
    tf.Variable(1.0)
    tf.Variable(1.0, collections=[tf.GraphKeys.LOCAL_VARIABLES])
    tf.summary.scalar("one", 1.0)
    scaffold = tf.train.Scaffold().finalize()
    graph = tf.get_default_graph()
    assert graph.finalized
    parts = (scaffold.init_op, scaffold.ready_op, scaffold.ready_for_local_init_op, scaffold.local_init_op, scaffold.summary_op)
    keys = ("INIT_OP", "READY_OP", "READY_FOR_LOCAL_INIT_OP", "LOCAL_INIT_OP", "SUMMARY_OP")
    for part, key in zip(parts, keys, strict=True):
        assert graph.get_collection(getattr(tf.GraphKeys, key)) == [part]
    assert graph.get_collection(tf.GraphKeys.SAVERS) == [scaffold.saver]
    with tf.Session() as session:
        assert session.run(scaffold.ready_for_local_init_op).tolist() == [b"Variable"]
        session.run(scaffold.init_op)
        assert session.run(scaffold.ready_op).tolist() == [b"Variable_1"]
        session.run(scaffold.local_init_op)
        assert session.run(scaffold.ready_op).size == 0


def test_a_scaffold_can_be_copied_in_part() -> None:
    first, second = tf.no_op(), tf.no_op()
    calls = []
    original = tf.train.Scaffold(init_op=first, local_init_op=first, init_fn=lambda scaffold, session: calls.append(scaffold))
    copy = tf.train.Scaffold(init_op=second, copy_from_scaffold=original)
    assert (copy.init_op, copy.local_init_op) == (second, first)
    assert copy.init_fn is not None
    copy.init_fn(None)
    assert calls == [copy]
    with pytest.raises(TypeError, match="not a Scaffold instance"):
        tf.train.Scaffold(copy_from_scaffold=1)  # type: ignore[arg-type]


def in_graph_of_its_own(build: Any) -> Any:
    with tf.Graph().as_default():
        return build()


def prepare(target: str, directory: Path | None, start: float, **arguments: Any) -> Any:
    """A chief's session of a model of two variables and a step, which begin with `start`; gives what it finds."""

    def build() -> Any:
        step = tf.train.get_or_create_global_step()
        one, two = tf.Variable(start, name="one"), tf.Variable(start, name="two")
        scaffold = tf.train.Scaffold(saver=tf.train.Saver())
        creator = tf.train.ChiefSessionCreator(scaffold, target, checkpoint_dir=str(directory or "") or None, **arguments)
        more, ask = [one.assign_add(1.0), two.assign_add(1.0), step.assign_add(1)], [one, two, step]
        return creator.create_session(), scaffold.saver, more, ask

    return in_graph_of_its_own(build)


def abandon(session: Any) -> None:
    """End a session as the death of its process does: the note of its run stays."""
    presence = presence_of(session)
    assert presence is not None
    presence.wait_until_posted(10.0)
    presence.set_state("ready")
    presence._run = None
    session.close()


@pytest.mark.parametrize("has_directory", [True, False])
def test_a_chief_joins_the_model_of_one_that_died(server: Any, tmp_path: Path, has_directory: bool) -> None:
    directory = tmp_path if has_directory else None
    session, saver, more, ask = prepare(server.target, directory, 1.0)
    if has_directory:
        saver.save(session, str(tmp_path / "model"), global_step=0)
    session.run(more)
    abandon(session)
    session, _, _, ask = prepare(server.target, directory, 5.0)
    assert session.run(ask) == [2.0, 2.0, 1]
    session.close()
    # A session that was closed has ended the run: without a checkpoint the next begins anew.
    session, _, _, ask = prepare(server.target, directory, 5.0)
    assert session.run(ask) == ([2.0, 2.0, 1] if has_directory else [5.0, 5.0, 0])
    session.close()


def test_a_chief_with_other_checkpoints_begins_another_run(server: Any, tmp_path: Path) -> None:
    session, _, more, _ = prepare(server.target, tmp_path / "a", 1.0)
    session.run(more)
    abandon(session)
    session, _, _, ask = prepare(server.target, tmp_path / "b", 5.0)
    assert session.run(ask) == [5.0, 5.0, 0]
    session.close()


def test_a_chief_restores_what_lives_where_it_is_told_to(server: Any, tmp_path: Path) -> None:
    session, saver, more, _ = prepare(server.target, tmp_path, 1.0)
    saver.save(session, str(tmp_path / "model"), global_step=0)
    session.run(more)
    abandon(session)
    session, _, _, ask = prepare(server.target, tmp_path, 5.0, restore="always")
    assert session.run(ask) == [1.0, 1.0, 0]
    session.close()
    with pytest.raises(ValueError, match=r"restore must be one of 'shard', 'whole', 'always', or None, got 'half'"):
        manager(restore="half")


def test_a_checkpoint_of_a_later_step_than_what_lives_is_restored(server: Any, tmp_path: Path) -> None:
    session, saver, more, ask = prepare(server.target, tmp_path, 1.0)
    session.run(more)
    saver.save(session, str(tmp_path / "model"), global_step=1)
    abandon(session)
    with tf.Graph().as_default(), tf.Session(server.target) as other:
        step = tf.train.get_or_create_global_step()
        other.run(step.assign(0))
    session, _, _, ask = prepare(server.target, tmp_path, 5.0)
    assert session.run(ask) == [2.0, 2.0, 1]
    session.close()


def wait_as_replica(target: str) -> Any:
    def build() -> Any:
        tf.train.get_or_create_global_step()
        tf.Variable(0.0, name="one"), tf.Variable(0.0, name="two")
        return tf.train.WorkerSessionCreator(tf.train.Scaffold(), target, max_wait_secs=0.5).create_session()

    return in_graph_of_its_own(build)


def test_nobody_goes_on_with_a_model_that_a_chief_has_left_half_restored(
    server: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    session, saver, more, _ = prepare(server.target, tmp_path, 1.0)
    session.run(more)
    saver.save(session, str(tmp_path / "model"), global_step=1)
    abandon(session)
    with tf.Graph().as_default(), tf.Session(server.target) as other:
        other.run([tf.train.get_or_create_global_step().assign(0), tf.Variable(0.0, name="one").assign(77.0)])

    def restore_the_step_and_die(self: Any, session: Any, path: str) -> None:
        tf.train.get_global_step(session.graph).load(1, session)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(tf.train.Saver, "restore", restore_the_step_and_die)
        with pytest.raises(KeyboardInterrupt):
            prepare(server.target, tmp_path, 5.0)
    with pytest.raises(tf.errors.DeadlineExceededError, match="The chief has gone while it gave the model its values"):
        wait_as_replica(server.target)
    session, _, _, ask = prepare(server.target, tmp_path, 5.0)
    assert session.run(ask) == [2.0, 2.0, 1]
    wait_as_replica(server.target).close()
    session.close()


def test_a_program_with_a_ready_op_of_its_own_is_asked_for_values_all_the_same(server: Any, tmp_path: Path) -> None:
    def build() -> Any:
        value = tf.Variable(1.0, use_resource=False)
        nothing = tf.constant([], tf.string)
        scaffold = tf.train.Scaffold(ready_op=nothing, ready_for_local_init_op=nothing)
        session = tf.train.ChiefSessionCreator(scaffold, server.target, checkpoint_dir=str(tmp_path)).create_session()
        assert tf.get_default_graph().finalized
        return session, value

    session, value = in_graph_of_its_own(build)
    session.run(value.initializer)
    abandon(session)
    session, value = in_graph_of_its_own(build)
    assert session.run(value) == 1.0
    session.close()
