"""A thread that waits reads what it waits for, from several connections at once, unless somebody else does."""

import os
import select
import signal
import socket
import threading
import time
from collections.abc import Iterator

import pytest

from weft.channel.waiting.busy_poll import Poll
from weft.channel.waiting.lease import Lease
from weft.channel.waiting.wait import role, wait_until
from weft.channel.waiting.wakeup_pipe import of_this_thread
from weft.platform.process.interrupts import deferred_interrupts
from weft.platform.waits.quick_lately import QuickLately

PATIENCE_S = 30.0


class Line:
    """A source whose messages are bytes."""

    def __init__(self) -> None:
        self.sock, self.peer = socket.socketpair()
        self.lease = Lease()
        self.lease.give_as_owner()
        self.read = b""
        self.readers: list[int] = []
        self.were_alone: list[bool] = []

    @property
    def fd(self) -> int:
        return self.sock.fileno()

    @property
    def poll(self) -> Poll:
        poller = select.poll()
        poller.register(self.sock, select.POLLIN)
        return poller.poll

    def read_as_waiter(self, is_alone: bool) -> bool:
        self.readers.append(threading.get_ident())
        self.were_alone.append(is_alone)
        data = self.sock.recv(100)
        self.read += data
        if not data:
            self.lease.stop()
        return True

    def close(self) -> None:
        self.sock.close()
        self.peer.close()


@pytest.fixture
def lines() -> Iterator[list[Line]]:
    made = [Line(), Line()]
    yield made
    for line in made:
        line.close()


def wait(lines: list[Line], is_done: object, timeout_s: float | None = PATIENCE_S) -> None:
    assert callable(is_done)
    wait_until(is_done, lines, timeout_s, QuickLately())


def test_a_wait_reads_whichever_connection_has_something(lines: list[Line]) -> None:
    first, second = lines
    second.peer.send(b"b")
    wait(lines, lambda: second.read)
    first.peer.send(b"a")
    wait(lines, lambda: first.read)
    assert (first.read, second.read) == (b"a", b"b")
    assert {*first.readers, *second.readers} == {threading.get_ident()}


def test_one_who_reads_a_single_connection_is_told_so(lines: list[Line]) -> None:
    lines[0].peer.send(b"a")
    wait(lines[:1], lambda: lines[0].read)
    lines[1].peer.send(b"b")
    wait(lines, lambda: lines[1].read)
    assert (lines[0].were_alone, lines[1].were_alone) == ([True], [False])


def test_a_wait_ends_after_its_time(lines: list[Line]) -> None:
    wait(lines, lambda: False, 0.01)
    assert all(line.lease.take(of_this_thread.pipe) for line in lines)


@pytest.mark.parametrize("sources_only", [True, False], ids=["one source", "sources and a pipe"])
def test_a_signal_that_must_wait_for_the_end_of_a_block_ends_the_wait_in_it(lines: list[Line], sources_only: bool) -> None:
    noted, over = [], threading.Event()
    before = signal.signal(signal.SIGUSR1, lambda number, frame: noted.append(number))

    def send() -> None:  # again and again: one that comes just before a poll does not end it
        while not over.wait(0.05):
            os.kill(os.getpid(), signal.SIGUSR1)

    thread = threading.Thread(target=send)
    thread.start()
    began_s = time.monotonic()
    try:
        with deferred_interrupts():
            wait_until(lambda: False, lines[:1] if sources_only else lines, PATIENCE_S, QuickLately(), sources_only)
            assert not noted
        assert noted
    finally:
        over.set()
        thread.join()
        signal.signal(signal.SIGUSR1, before)
    assert time.monotonic() - began_s < PATIENCE_S
    assert all(line.lease.take(of_this_thread.pipe) for line in lines)


def test_another_thread_wakes(lines: list[Line]) -> None:
    wakeup, due = of_this_thread.pipe, threading.Event()

    def make_due() -> None:
        due.set()
        wakeup.wake()

    thread = threading.Thread(target=make_due)
    thread.start()
    wait(lines, due.is_set)
    thread.join()


def test_what_another_thread_is_reading_is_read_when_it_has_given_its_lease_back(lines: list[Line]) -> None:
    line = lines[0]
    assert line.lease.take_as_owner()
    line.peer.send(b"a")

    def give() -> None:
        line.lease.give_as_owner()

    thread = threading.Thread(target=give)
    thread.start()
    wait(lines, lambda: line.read)
    thread.join()
    assert line.readers == [threading.get_ident()]


def test_two_waiters_of_one_connection_both_end(lines: list[Line]) -> None:
    line = lines[0]
    ended = threading.Event()

    def wait_beside() -> None:
        wait([line], lambda: b"a" in line.read)
        ended.set()

    thread = threading.Thread(target=wait_beside)
    thread.start()
    line.peer.send(b"a")
    wait([line], lambda: b"a" in line.read)
    line.peer.send(b"b")
    assert ended.wait(PATIENCE_S)
    thread.join()
    wait([line], lambda: b"b" in line.read)


def test_the_end_of_a_stream_frees_the_lease_and_leaves_the_others_to_read(lines: list[Line]) -> None:
    first, second = lines
    first.peer.shutdown(socket.SHUT_RDWR)
    second.peer.send(b"b")
    wait(lines, lambda: first.lease.rules.is_stopped and second.read)
    assert not first.lease.take_as_owner()


def test_a_thread_that_handles_a_message_waits_for_its_pipe_alone(lines: list[Line]) -> None:
    lines[0].peer.send(b"a")
    role.reads = True
    try:
        wait(lines, lambda: False, 0.01)
    finally:
        role.reads = False
    assert not lines[0].read
