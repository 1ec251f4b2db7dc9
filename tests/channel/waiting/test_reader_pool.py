"""A pool reads many connections with few threads, and none of them waits for another."""

from __future__ import annotations

import contextlib
import os
import queue
import select
import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.distributed.waiting import until
from weft.channel.waiting import reader_pool
from weft.channel.waiting.busy_poll import Found
from weft.channel.waiting.reader_pool import ReaderPool
from weft.platform.waits.quick_lately import QuickLately

pytestmark = pytest.mark.skipif(not reader_pool.IS_AVAILABLE, reason="needs epoll")

PATIENCE_S = 20.0
Handler = Callable[["Line"], None]


class Line:
    """A connection: one byte is one message."""

    def __init__(self, handler: Handler) -> None:
        self.far, self._near = socket.socketpair()
        self._handler = handler
        self.finished = threading.Semaphore(0)

    @property
    def fd(self) -> int:
        return self._near.fileno()

    def read_ready(self) -> bool:
        try:
            data = self._near.recv(1, socket.MSG_DONTWAIT)
        except BlockingIOError:
            return True
        if data:
            self._handler(self)
        return bool(data)

    def release(self) -> None:
        self._near.close()
        self.finished.release()


class Lines:
    """A pool with its connections."""

    def __init__(self) -> None:
        self.pool = ReaderPool("test")
        self.all: list[Line] = []

    def add(self, handler: Handler) -> Line:
        line = Line(handler)
        self.all.append(line)
        self.pool.add(line)
        return line

    def end(self) -> None:
        for line in self.all:
            line.far.close()
        for line in self.all:
            assert line.finished.acquire(timeout=PATIENCE_S)
            assert not line.finished.acquire(blocking=False)
        self.pool.join()


@pytest.fixture
def lines() -> Iterator[Lines]:
    before = open_descriptors()
    opened = Lines()
    yield opened
    opened.end()
    assert not readers()
    assert open_descriptors() <= before


@pytest.fixture
def unwatched(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader_pool, "WATCH_S", 1e6)


def readers() -> set[threading.Thread]:
    return {thread for thread in threading.enumerate() if thread.name == "weft-read-test"}


def open_descriptors() -> set[str]:
    return {os.readlink(path) for path in Path("/proc/self/fd").iterdir() if path.exists()}


def test_one_thread_handles_the_messages_of_all(lines: Lines) -> None:
    handled: queue.SimpleQueue[threading.Thread] = queue.SimpleQueue()
    sources = [lines.add(lambda line: handled.put(threading.current_thread())) for _ in range(20)]
    for source in sources:
        source.far.send(b"x")
    threads = {handled.get(timeout=PATIENCE_S) for _ in sources}
    assert len(threads) == 1
    assert len(readers()) <= 2


def wait_for(event: threading.Event) -> None:
    assert event.wait(PATIENCE_S)


def test_a_handler_that_does_not_return_holds_up_its_connection_only(lines: Lines) -> None:
    other, done = threading.Event(), threading.Event()

    def block(line: Line) -> None:
        wait_for(other)
        done.set()

    held_up, free = lines.add(block), lines.add(lambda line: other.set())
    held_up.far.send(b"x")
    free.far.send(b"x")
    wait_for(done)


@pytest.mark.usefixtures("unwatched")
def test_who_steps_aside_is_replaced_at_once(lines: Lines) -> None:
    began, other, done = threading.Event(), threading.Event(), threading.Event()

    def block(line: Line) -> None:
        lines.pool.step_aside()
        began.set()
        wait_for(other)
        done.set()

    held_up, free = lines.add(block), lines.add(lambda line: other.set())
    held_up.far.send(b"x")
    wait_for(began)
    free.far.send(b"x")
    wait_for(done)


@pytest.mark.usefixtures("unwatched")
def test_a_connection_that_is_held_up_is_read_again_afterwards_and_in_order(lines: Lines) -> None:
    free_was_read = threading.Event()
    events: queue.SimpleQueue[str] = queue.SimpleQueue()

    def block(line: Line) -> None:
        lines.pool.step_aside()
        wait_for(free_was_read)
        events.put("held up")

    def note(line: Line) -> None:
        events.put("free")
        free_was_read.set()

    held_up, free = lines.add(block), lines.add(note)
    held_up.far.send(b"xxx")
    free.far.send(b"x")
    assert [events.get(timeout=PATIENCE_S) for _ in range(4)] == ["free", "held up", "held up", "held up"]


def test_all_but_one_may_be_held_up(lines: Lines, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader_pool, "IDLE_S", 0.01)
    began, last = threading.Semaphore(0), threading.Event()

    def block(line: Line) -> None:
        began.release()
        wait_for(last)

    held_up = [lines.add(block) for _ in range(12)]
    free = lines.add(lambda line: last.set())
    for line in held_up:
        line.far.send(b"x")
        assert began.acquire(timeout=PATIENCE_S)
    assert len(readers()) <= len(held_up) + 2
    free.far.send(b"x")
    until(lambda: len(readers()) <= 2)


@pytest.mark.usefixtures("unwatched")
def test_with_one_connection_there_is_nobody_to_step_aside_for(lines: Lines) -> None:
    handled: queue.SimpleQueue[int] = queue.SimpleQueue()

    def step_aside(line: Line) -> None:
        lines.pool.step_aside()
        handled.put(threading.get_ident())

    only = lines.add(step_aside)
    only.far.send(b"xx")
    assert handled.get(timeout=PATIENCE_S) == handled.get(timeout=PATIENCE_S)
    assert len(readers()) == 1


def test_a_connection_that_comes_while_the_only_one_is_held_up_is_read(lines: Lines) -> None:
    began, other, done = threading.Event(), threading.Event(), threading.Event()

    def block(line: Line) -> None:
        began.set()
        wait_for(other)
        done.set()

    lines.add(block).far.send(b"x")
    wait_for(began)
    lines.add(lambda line: other.set()).far.send(b"x")
    wait_for(done)


def test_the_leader_of_nothing_ends_when_the_connection_does_that_was_held_up(lines: Lines) -> None:
    other, go_on = threading.Event(), threading.Event()

    def block(line: Line) -> None:
        lines.pool.step_aside()
        wait_for(go_on)

    held_up, free = lines.add(block), lines.add(lambda line: other.set())
    held_up.far.send(b"x")
    free.far.send(b"x")
    wait_for(other)
    free.far.close()
    assert free.finished.acquire(timeout=PATIENCE_S)
    free.finished.release()
    held_up.far.close()
    go_on.set()
    until(lambda: not readers())


def test_a_pool_without_connections_has_no_threads_and_begins_again(lines: Lines) -> None:
    handled: queue.SimpleQueue[str] = queue.SimpleQueue()
    for _ in range(3):
        for line in [lines.add(lambda line: handled.put("x")) for _ in range(3)]:
            line.far.send(b"x")
            assert handled.get(timeout=PATIENCE_S)
            line.far.close()
        until(lambda: not readers())


def look(quick: QuickLately, poll: Callable[[int], Found]) -> Found:
    """Look without ever sleeping."""
    pause = threading.Event()
    while not (found := poll(0)):
        pause.wait(0.001)
    return found


@pytest.mark.parametrize("leader_sleeps", [True, False])
def test_a_follower_sleeps_while_nothing_comes_and_watches_again_afterwards(
    leader_sleeps: bool, lines: Lines, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reader_pool, "WATCH_S", 1e-4)
    if not leader_sleeps:
        monkeypatch.setattr(reader_pool, "busy_poll", look)
    other, done = threading.Event(), threading.Event()

    def block(line: Line) -> None:
        wait_for(other)
        done.set()

    held_up, free = lines.add(block), lines.add(lambda line: other.set())
    until(lambda: lines.pool.rules.watcher_sleeps)
    held_up.far.send(b"x")
    free.far.send(b"x")
    wait_for(done)


# JAX, if a test before this one has started it, warns of every fork. The child here does not use it.
@pytest.mark.filterwarnings("ignore:os.fork")
def test_a_forked_child_gives_its_copy_up_and_the_parent_goes_on(lines: Lines) -> None:
    handled: queue.SimpleQueue[str] = queue.SimpleQueue()
    line = lines.add(lambda line: handled.put("x"))
    pid = os.fork()
    if pid == 0:
        with contextlib.suppress(ValueError):
            lines.pool._poll.poll(0)
            os._exit(1)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    line.far.send(b"x")
    assert handled.get(timeout=PATIENCE_S)
    assert select.epoll is type(lines.pool._poll)
