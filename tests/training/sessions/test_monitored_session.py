"""MonitoredSession: hooks, clean and other ends, recovery, checkpoints."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import weft as tf
from weft.training.sessions.coordinated_session import CoordinatedSession
from weft.training.sessions.hooked_session import HookedSession

ABORTED = tf.errors.AbortedError(None, None, "lost")
UNAVAILABLE = tf.errors.UnavailableError(None, None, "gone")


class Recorder(tf.train.SessionRunHook):
    """Writes down what it is called with; asks for `fetches`, feeds `feeds`."""

    def __init__(self, fetches: Any = None, feeds: Any = None, options: Any = None) -> None:
        self.calls: list[str] = []
        self.results: list[Any] = []
        self.values: Any = None
        self._args = tf.train.SessionRunArgs(fetches, feeds, options)

    def begin(self) -> None:
        self.calls.append("begin")

    def after_create_session(self, session: Any, coord: Any) -> None:
        self.calls.append("after_create_session")
        self.coord = coord

    def before_run(self, run_context: Any) -> Any:
        self.calls.append("before_run")
        return self._args

    def after_run(self, run_context: Any, run_values: Any) -> None:
        self.calls.append("after_run")
        self.results.append(run_values.results)
        self.values = run_values

    def end(self, session: Any) -> None:
        self.calls.append("end")


class RaiseOnce(tf.train.SessionRunHook):
    """Raises an error after some run, once."""

    def __init__(self, run: int, error: Exception) -> None:
        self._left = run
        self._error = error
        self.creations = 0

    def after_create_session(self, session: Any, coord: Any) -> None:
        self.creations += 1
        self.coord = coord

    def after_run(self, run_context: Any, run_values: Any) -> None:
        self._left -= 1
        if self._left == 0:
            raise self._error


def counter() -> tuple[Any, Any]:
    step = tf.train.get_or_create_global_step()
    return step, step.assign_add(1)


def test_hooks_are_called_in_order() -> None:
    one = tf.constant(1)
    hook = Recorder()
    with tf.train.MonitoredSession(hooks=[hook]) as session:
        assert session.run(one) == 1
    assert hook.calls == ["begin", "after_create_session", "before_run", "after_run", "end"]


def test_hooks_get_what_they_ask_for_and_the_program_what_it_asks_for() -> None:
    x, y = tf.placeholder(tf.int32, []), tf.placeholder(tf.int32, [])
    first, second = Recorder({"sum": x + y}), Recorder([x * y], {y: 5})
    with tf.train.MonitoredSession(hooks=[first, second, Recorder()]) as session:
        assert session.run([x, y], feed_dict={x: 3}) == [3, 5]
    assert (first.results, second.results) == ([{"sum": 8}], [[15]])


def test_no_tensor_is_fed_twice() -> None:
    x = tf.placeholder(tf.int32, [])
    one, two = [Recorder(feeds={x: 1})], [Recorder(feeds={x: 1}), Recorder(feeds={x: 1})]
    twice = "Same tensor is fed by Recorder and by"
    with tf.train.MonitoredSession(hooks=one) as session, pytest.raises(RuntimeError, match=f"{twice} the program"):
        session.run(x, feed_dict={x: 2})
    with tf.train.MonitoredSession(hooks=two) as session, pytest.raises(RuntimeError, match=f"{twice} another hook"):
        session.run(x)


def test_run_options_of_all_are_merged() -> None:
    options = [
        tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE),
        tf.RunOptions(timeout_in_ms=60000, output_partition_graphs=True),
    ]
    hooks = [Recorder(options=each) for each in options]
    metadata = tf.RunMetadata()
    one = tf.constant(1)
    with tf.train.MonitoredSession(hooks=hooks) as session:
        session.run(one, options=tf.RunOptions(timeout_in_ms=50000), run_metadata=metadata)
    merged = hooks[0].values.options
    assert (merged.trace_level, merged.timeout_in_ms, merged.output_partition_graphs) == (3, 60000, True)
    assert hooks[0].values.run_metadata is metadata
    assert metadata.step_stats.dev_stats


def test_a_hook_can_ask_to_stop() -> None:
    class Stop(tf.train.SessionRunHook):
        def after_run(self, run_context: Any, run_values: Any) -> None:
            run_context.request_stop()

    one = tf.constant(1)
    with tf.train.MonitoredSession(hooks=[Stop()]) as session:
        assert not session.should_stop()
        assert session.run(one) == 1
        assert session.should_stop()
        with pytest.raises(RuntimeError, match="Run called even after should_stop requested"):
            session.run(one)


@pytest.mark.parametrize("error", [tf.errors.OutOfRangeError(None, None, "end"), StopIteration()])
@pytest.mark.parametrize("make", [tf.train.MonitoredSession, tf.train.SingularMonitoredSession])
def test_the_end_of_the_input_ends_the_block_silently(make: Callable[..., Any], error: Exception) -> None:
    tf.no_op()
    hook = Recorder()
    with make(hooks=[hook]) as session:
        raise error
    assert session.should_stop()
    assert hook.calls[-1] == "end"


@pytest.mark.parametrize("make", [tf.train.MonitoredSession, tf.train.SingularMonitoredSession])
def test_another_error_passes_without_the_hooks_end(make: Callable[..., Any]) -> None:
    tf.no_op()
    hook = Recorder()
    with pytest.raises(ZeroDivisionError), make(hooks=[hook]) as session:
        raise ZeroDivisionError
    assert session.should_stop()
    assert "end" not in hook.calls


@pytest.mark.timeout(20)
def test_an_interrupt_does_not_wait_for_threads() -> None:
    tf.no_op()
    hook = Recorder()
    release = threading.Event()
    thread = threading.Thread(target=release.wait, daemon=True)
    thread.start()

    def interrupted() -> None:
        with tf.train.MonitoredSession(hooks=[hook]):
            hook.coord.register_thread(thread)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    release.set()
    thread.join()


def test_a_threads_error_surfaces_at_the_end() -> None:
    one = tf.constant(1)
    hook = Recorder()
    session = tf.train.MonitoredSession(hooks=[hook])
    session.run(one)
    hook.coord.request_stop(ValueError("of the thread"))
    assert session.should_stop()
    with pytest.raises(ValueError, match="of the thread"):
        session.close()


@pytest.mark.parametrize("error", [ABORTED, UNAVAILABLE])
def test_a_lost_task_means_a_new_session_and_the_same_step_again(error: Exception, tmp_path: Path) -> None:
    _, increment = counter()
    hook = RaiseOnce(3, error)
    with tf.train.MonitoredTrainingSession(checkpoint_dir=str(tmp_path), save_checkpoint_steps=1, hooks=[hook]) as session:
        seen = [session.run(increment) for _ in range(5)]
        assert not session.should_stop()
    assert hook.creations == 2
    # The third step was saved before it was lost, so it is made once more.
    assert seen == [1, 2, 4, 5, 6]


def test_a_task_lost_while_hooks_are_told_means_a_new_session() -> None:
    class RaiseAtFirst(tf.train.SessionRunHook):
        creations = 0

        def after_create_session(self, session: Any, coord: Any) -> None:
            self.creations += 1
            if self.creations == 1:
                raise ABORTED

    hook = RaiseAtFirst()
    one = tf.constant(1)
    with tf.train.MonitoredSession(hooks=[hook]) as session:
        assert session.run(one) == 1
    assert hook.creations == 2


def test_a_task_lost_by_a_thread_means_a_new_session() -> None:
    one = tf.constant(1)
    hook = RaiseOnce(0, ABORTED)
    with tf.train.MonitoredSession(hooks=[hook]) as session:
        hook.coord.request_stop(ABORTED)
        assert not session.should_stop()
        assert hook.creations == 2
        assert session.run(one) == 1


def test_an_error_that_a_threads_lost_task_explains_is_recovered_from() -> None:
    one = tf.constant(1)
    hook = RaiseOnce(1, ValueError("of the consequence"))
    with tf.train.MonitoredSession(hooks=[hook]) as session:
        hook.coord.request_stop(UNAVAILABLE)
        assert session.run(one) == 1
    assert hook.creations == 2


def test_a_signal_that_comes_while_a_task_is_lost_ends_the_program_with_its_code(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("WEFT_STOP_SIGNALS", "SIGUSR1")
    monkeypatch.setenv("WEFT_STOP_GRACE_S", "0.5")

    class Returns(tf.train.ChiefSessionCreator):
        """Its second session waits for a task that does not come back."""

        made = 0

        def create_session(self) -> Any:
            self.made += 1
            if self.made == 2:
                signal.raise_signal(signal.SIGUSR1)
                threading.Event().wait(60)
            return super().create_session()

    step, recorder = tf.train.get_or_create_global_step(), Recorder()

    def train() -> None:
        with tf.train.MonitoredSession(Returns(), hooks=[recorder, RaiseOnce(1, UNAVAILABLE)]) as session:
            session.run(step)
            session.run(step)

    with caplog.at_level("WARNING"), pytest.raises(SystemExit) as ended:
        train()
    assert ended.value.code == 128 + signal.SIGUSR1
    assert "end" not in recorder.calls
    assert "SIGUSR1 came while a task was lost: the model is what the last checkpoint has" in caplog.text


def test_a_singular_session_is_not_recovered() -> None:
    one = tf.constant(1)
    hook = RaiseOnce(1, ABORTED)
    with pytest.raises(tf.errors.AbortedError), tf.train.SingularMonitoredSession(hooks=[hook]) as session:
        session.run(one)
    assert hook.creations == 1


def test_another_error_is_not_recovered_from() -> None:
    one = tf.constant(1)
    hook = RaiseOnce(1, tf.errors.InvalidArgumentError(None, None, "wrong"))
    with pytest.raises(tf.errors.InvalidArgumentError), tf.train.MonitoredSession(hooks=[hook]) as session:
        session.run(one)
    assert hook.creations == 1


def test_the_graph_is_closed_inside_and_open_again_after() -> None:
    tf.no_op()
    with tf.train.MonitoredSession(), pytest.raises(RuntimeError, match="Graph is finalized"):
        tf.no_op()
    tf.no_op()
    tf.train.Scaffold().finalize()
    with tf.train.MonitoredSession():
        pass
    assert tf.get_default_graph().finalized


def test_a_graph_that_cannot_be_initialized_is_left_open() -> None:
    graph = tf.get_default_graph()
    graph.add_to_collection("init_op", tf.no_op())
    graph.add_to_collection("init_op", tf.no_op())
    with pytest.raises(RuntimeError, match="More than one item in the collection"):
        tf.train.MonitoredSession()
    assert not graph.finalized


def test_hooks_may_add_to_the_graph_when_they_begin() -> None:
    class Adds(tf.train.SessionRunHook):
        def begin(self) -> None:
            self.value = tf.constant(7)

        def before_run(self, run_context: Any) -> Any:
            return tf.train.SessionRunArgs(self.value)

        def after_run(self, run_context: Any, run_values: Any) -> None:
            self.seen = run_values.results

    hook = Adds()
    with tf.train.MonitoredSession(hooks=[hook]) as session:
        session.run(hook.value)
    assert hook.seen == 7


def test_a_step_function_runs_with_and_without_hooks() -> None:
    step, increment = counter()
    hook = Recorder(step)

    def twice(step_context: Any) -> Any:
        without = step_context.session.run(increment)
        return without, step_context.run_with_hooks(increment)

    with tf.train.MonitoredSession(hooks=[hook]) as session:
        assert session.run_step_fn(twice) == (1, 2)
        assert len(hook.results) == 1

        def stop(step_context: Any) -> None:
            step_context.request_stop()

        session.run_step_fn(stop)
    assert session.should_stop()


def test_a_step_function_may_be_a_method_and_takes_nothing_else() -> None:
    one = tf.constant(1)

    class Model:
        def step(self, step_context: Any) -> Any:
            return step_context.session.run(one)

    with tf.train.MonitoredSession() as session:
        assert session.run_step_fn(Model().step) == 1
        for wrong in (lambda: 1, lambda step_context, other: 1, lambda context: 1):
            with pytest.raises(ValueError, match="`step_fn` may either have one `step_context` argument"):
                session.run_step_fn(wrong)


def test_training_goes_on_from_the_last_checkpoint(tmp_path: Path) -> None:
    _, increment = counter()
    for last in (4, 9):
        hook = tf.train.StopAtStepHook(last_step=last)
        with tf.train.MonitoredTrainingSession(checkpoint_dir=str(tmp_path), hooks=[hook]) as session:
            while not session.should_stop():
                reached = session.run(increment)
        assert reached == last
        assert tf.train.latest_checkpoint(str(tmp_path)) == str(tmp_path / f"model.ckpt-{last}")
        tf.get_default_graph().clear_collection("global_step_read_op_cache")


@pytest.mark.parametrize("seconds", [0, None])
def test_checkpoints_can_be_left_out(seconds: int | None, tmp_path: Path) -> None:
    _, increment = counter()
    with tf.train.MonitoredTrainingSession(checkpoint_dir=str(tmp_path), save_checkpoint_secs=seconds) as session:
        session.run(increment)
    assert tf.train.latest_checkpoint(str(tmp_path)) is None


def test_chief_only_hooks_are_the_chiefs() -> None:
    one = tf.constant(1)
    hook = Recorder()
    with tf.train.MonitoredTrainingSession(chief_only_hooks=[hook]) as session:
        session.run(one)
    with tf.train.MonitoredTrainingSession(is_chief=False, chief_only_hooks=[hook]) as session:
        session.run(one)
    assert hook.calls.count("begin") == 1


def test_a_users_hook_ends_after_the_checkpoint(tmp_path: Path) -> None:
    _, increment = counter()
    found = []

    class Look(tf.train.SessionRunHook):
        def end(self, session: Any) -> None:
            found.append(tf.train.latest_checkpoint(str(tmp_path)))

    with tf.train.MonitoredTrainingSession(checkpoint_dir=str(tmp_path), hooks=[Look()]) as session:
        session.run(increment)
    assert found == [str(tmp_path / "model.ckpt-1")]


def test_a_closed_session_says_so() -> None:
    one = tf.constant(1)
    session = tf.train.MonitoredSession()
    assert session.graph is tf.get_default_graph()
    session.close()
    assert session.graph is None
    with pytest.raises(RuntimeError, match="closed MonitoredSession"):
        session.run(one)
    with pytest.raises(RuntimeError, match="Session is already closed"):
        session.close()


def test_a_session_has_hooks_or_a_coordinator_alone():
    stop = tf.train.StopAtStepHook(num_steps=1)
    step = tf.train.get_or_create_global_step()
    add = tf.assign_add(step, 1)
    stop.begin()
    with tf.Session() as plain:
        plain.run(step.initializer)
        stop.after_create_session(plain, None)
        hooked = HookedSession(plain, [stop])
        hooked.run(add)
        assert hooked.should_stop()
        coord = tf.train.Coordinator()
        coordinated = CoordinatedSession(plain, coord)
        assert coordinated.run(step) == 1
        coord.request_stop()
        assert coordinated.should_stop()


@pytest.mark.parametrize(("make", "levels"), [(tf.train.MonitoredTrainingSession, 4), (tf.train.SingularMonitoredSession, 3)])
def test_programs_find_the_plain_session_where_tensorflow_has_it(make, levels):
    with make() as session:
        plain = session
        for _ in range(levels):
            plain = plain._sess
            assert plain.graph is session.graph
            assert plain.sess_str == b""
        assert type(plain) is tf.Session
        creator = session._coordinated_creator
        assert creator.tf_sess is plain
        assert not creator.coord.should_stop()


@pytest.mark.parametrize("error", [tf.errors.AbortedError(None, None, None), tf.errors.UnavailableError(None, None, None)])
def test_a_step_is_repeated_after_an_error_that_says_nothing(error):
    one = tf.constant(1)
    lose = RaiseOnce(1, error)
    with tf.train.MonitoredSession(hooks=[lose], retry_policy=tf.train.RetryPolicy(first_wait_s=0)) as session:
        assert session.run(one) == 1
    assert lose.creations == 2


def test_an_error_that_says_nothing_reaches_the_program():
    one = tf.constant(1)
    lose = RaiseOnce(1, tf.errors.FailedPreconditionError(None, None, None))
    with tf.train.MonitoredSession(hooks=[lose]) as session, pytest.raises(tf.errors.FailedPreconditionError):
        session.run(one)


def test_each_thread_has_scopes_of_its_own_in_any_case():
    graph = tf.get_default_graph()
    graph.switch_to_thread_local()
    made = []
    with graph.device("/cpu:0"):
        thread = threading.Thread(target=lambda: made.append(graph.create_op("NoOp", [], [])))
        thread.start()
        thread.join()
    assert made[0].device == ""
