"""Coordinator: stopping threads together."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable

import pytest

import weft as tf
from weft.platform.waits import wait_notice
from weft.training import coordinator, stop_wait
from weft.training.coordinator import SessionThread


def start(target: Callable[[], object], coord: tf.train.Coordinator) -> threading.Thread:
    def run() -> None:
        with coord.stop_on_exception():
            target()

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    return thread


def fail(error: Exception) -> Callable[[], object]:
    def raise_it() -> None:
        raise error

    return raise_it


def test_a_stop_is_seen_by_all_threads() -> None:
    coord = tf.train.Coordinator()
    threads = [start(coord.wait_for_stop, coord) for _ in range(3)]
    assert not coord.should_stop()
    assert not coord.wait_for_stop(0.01)
    coord.request_stop()
    coord.join(threads)
    assert coord.should_stop()
    assert coord.joined
    assert not any(thread.is_alive() for thread in threads)


def test_join_raises_the_first_exception() -> None:
    coord = tf.train.Coordinator()
    first = start(fail(KeyError("first")), coord)
    first.join()
    second = start(fail(ValueError("second")), coord)
    with pytest.raises(KeyError, match="first"):
        coord.join([first, second])
    with pytest.raises(KeyError, match="first"):
        coord.raise_requested_exception()


def test_registered_threads_are_joined() -> None:
    coord = tf.train.Coordinator()
    thread = start(coord.wait_for_stop, coord)
    coord.register_thread(thread)
    coord.request_stop()
    coord.join()
    assert not thread.is_alive()


def test_the_end_of_the_input_is_a_clean_stop() -> None:
    coord = tf.train.Coordinator()
    coord.join([start(fail(tf.errors.OutOfRangeError(None, None, "end")), coord)])
    assert coord.should_stop()


def test_other_exceptions_can_be_made_clean() -> None:
    coord = tf.train.Coordinator(clean_stop_exception_types=(StopIteration,))
    coord.join([start(fail(StopIteration()), coord)])
    coord.clear_stop()
    with pytest.raises(tf.errors.OutOfRangeError):
        coord.join([start(fail(tf.errors.OutOfRangeError(None, None, "end")), coord)])


def test_an_exception_after_join_is_raised_at_once() -> None:
    coord = tf.train.Coordinator()
    coord.request_stop()
    coord.join([])
    coord.request_stop()
    with pytest.raises(ValueError, match="late"):
        coord.request_stop(ValueError("late"))
    coord.clear_stop()
    assert not coord.should_stop()
    assert not coord.joined


def test_exc_info_is_taken_as_well() -> None:
    coord = tf.train.Coordinator()
    try:
        raise ValueError("found")
    except ValueError:
        coord.request_stop(sys.exc_info())
    with pytest.raises(ValueError, match="found"):
        coord.join([])


def test_something_else_than_an_exception_is_refused() -> None:
    with pytest.raises(ValueError, match="must be an exception"):
        tf.train.Coordinator().request_stop("no")


def test_threads_that_do_not_stop_are_named() -> None:
    coord = tf.train.Coordinator()
    release = threading.Event()
    thread = threading.Thread(target=release.wait, name="stubborn", daemon=True)
    thread.start()
    coord.request_stop()
    with pytest.raises(RuntimeError, match="Coordinator stopped with threads still running: stubborn"):
        coord.join([thread], stop_grace_period_secs=0.01)
    coord.join([thread], stop_grace_period_secs=0.01, ignore_live_threads=True)
    release.set()
    thread.join()


def test_a_looper_calls_until_the_stop() -> None:
    coord = tf.train.Coordinator()
    calls = []

    def call(word: str, *, more: str) -> None:
        calls.append(word + more)
        if len(calls) == 3:
            coord.request_stop()

    looper = tf.train.LooperThread.loop(coord, 0.0, call, args=("a",), kwargs={"more": "b"})
    coord.join()
    assert not looper.is_alive()
    assert calls == ["ab"] * 3


def test_a_looper_may_be_a_subclass() -> None:
    coord = tf.train.Coordinator()
    calls = []

    class Looper(tf.train.LooperThread):
        def start_loop(self) -> None:
            calls.append("start")

        def run_loop(self) -> None:
            calls.append("run")
            coord.request_stop()

        def stop_loop(self) -> None:
            calls.append("stop")

    Looper(coord, None).start()
    coord.join()
    assert calls == ["start", "run", "stop"]


def test_a_looper_checks_its_arguments() -> None:
    with pytest.raises(ValueError, match="must be a Coordinator"):
        tf.train.LooperThread(None, 1)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="require that you also pass 'target'"):
        tf.train.LooperThread(tf.train.Coordinator(), 1, args=(1,))


def test_join_says_for_whom_it_waits(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    monkeypatch.setattr(wait_notice, "FIRST_S", 0.01)
    tf.logging.set_verbosity(tf.logging.WARN)
    coord, ended = tf.train.Coordinator(), threading.Event()
    filler = SessionThread(target=ended.wait, name="QueueRunnerThread-files", daemon=True)
    worker = threading.Thread(target=ended.wait, name="worker", daemon=True)
    stop = threading.Timer(0.2, coord.request_stop)
    for thread in (filler, worker, stop):
        thread.start()
    with caplog.at_level("WARNING"):
        coord.join([filler])
        with pytest.raises(RuntimeError, match="still running: worker"):
            coord.join([worker], stop_grace_period_secs=0.2)
    ended.set()
    first, *_, last = [record.getMessage() for record in caplog.records if "Coordinator.join" in record.getMessage()]
    assert "still run: QueueRunnerThread-files. Nobody has asked them to stop" in first
    assert "call coord.request_stop() before" in first
    assert "still run: worker. They were asked to stop" in last


def _warnings_of(caplog: pytest.LogCaptureFixture, who: str) -> list[str]:
    return [record.getMessage() for record in caplog.records if who in record.getMessage()]


def test_join_tells_of_threads_that_stand_before_anybody_has_asked_for_a_stop(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(wait_notice, "FIRST_S", 0.01)
    coord, ended = tf.train.Coordinator(), threading.Event()
    monkeypatch.setattr(stop_wait.tf_logging, "warning", _then(stop_wait.tf_logging.warning, ended.set))
    worker = threading.Thread(target=lambda: ended.wait(), name="worker")
    worker.start()
    with caplog.at_level("WARNING"):
        coord.join([worker])
    (text,) = _warnings_of(caplog, "Coordinator.join")
    assert "nobody has asked for a stop. The threads stand: worker at test_coordinator.py:" in text
    assert "coord.request_stop()" in text


def test_waiting_for_a_stop_tells_that_nobody_is_there_to_ask_for_it(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(wait_notice, "FIRST_S", 0.01)
    coord = tf.train.Coordinator()
    monkeypatch.setattr(coordinator, "others_of_program", lambda registered: list(registered))
    monkeypatch.setattr(stop_wait.tf_logging, "warning", _then(stop_wait.tf_logging.warning, coord.request_stop))
    with caplog.at_level("WARNING"):
        assert coord.wait_for_stop()
    (text,) = _warnings_of(caplog, "Coordinator.wait_for_stop")
    assert "No thread of the program runs that could ask for it" in text


def test_a_wait_for_a_stop_that_has_an_end_tells_nothing(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(wait_notice, "FIRST_S", 0.01)
    with caplog.at_level("WARNING"):
        assert not tf.train.Coordinator().wait_for_stop(0.1)
    assert _warnings_of(caplog, "Coordinator.wait_for_stop") == []


def _then(function: Callable[..., object], act: Callable[[], object]) -> Callable[..., None]:
    """The function, and something that is done after it."""

    def both(*args: object) -> None:
        function(*args)
        act()

    return both
