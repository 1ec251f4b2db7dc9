"""A lease passes between threads: who stays back is woken when it may try again."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

from tests.distributed.waiting import until
from weft.channel.waiting.lease import Lease
from weft.channel.waiting.wakeup_pipe import WakeupPipe

PATIENCE_S = 20.0


def free_lease() -> Lease:
    lease = Lease()
    lease.give_as_owner()
    return lease


def test_the_owner_leaves_the_lease_free_for_as_long_as_it_is_told() -> None:
    lease, pipe = free_lease(), WakeupPipe()
    lease.rules.linger_s = 1e6
    assert lease.take(pipe)
    lease.give()
    with ThreadPoolExecutor() as pool:
        taken = pool.submit(lease.take_as_owner)
        until(lambda: bool(lease._owner._waiters))  # type: ignore[attr-defined]
        assert lease.take(pipe)
        lease.give()
        assert not taken.done()
        lease.stop()
        assert not taken.result(PATIENCE_S)


def test_the_owner_reads_when_that_time_is_over() -> None:
    lease = free_lease()
    lease.rules.linger_s = 0.0
    assert lease.take(WakeupPipe())
    lease.give()
    assert lease.take_as_owner()


def test_a_waiter_that_stayed_back_is_woken() -> None:
    lease, first, second = free_lease(), WakeupPipe(), WakeupPipe()
    assert lease.take(first)
    second.may_sleep = True
    assert not lease.take(second)
    lease.give()
    assert not second.may_sleep
    assert lease.take(second)
    lease.give()


def test_a_message_wakes_those_who_are_told_of_it_by_nobody_else() -> None:
    lease, awaiting, told = free_lease(), WakeupPipe(), WakeupPipe()
    assert lease.take(WakeupPipe())
    awaiting.awaits_message = True
    for pipe in (awaiting, told):
        pipe.may_sleep = True
        assert not lease.take(pipe)
    lease.tell_waiters()
    assert not awaiting.may_sleep  # it was woken
    assert told.may_sleep


def test_an_owner_that_sleeps_is_woken_when_the_last_waiter_has_gone() -> None:
    lease, reading, waiting = free_lease(), WakeupPipe(), WakeupPipe()
    lease.rules.linger_s = 0.0
    assert lease.take(reading)
    assert not lease.take(waiting)
    with ThreadPoolExecutor() as pool:
        taken = pool.submit(lease.take_as_owner)
        until(lambda: bool(lease._owner._waiters))  # type: ignore[attr-defined]
        lease.give()
        assert not taken.done()
        lease.leave(waiting)
        assert taken.result(PATIENCE_S)


def test_nobody_reads_a_connection_that_has_ended_and_its_waiters_are_woken() -> None:
    lease, pipe = free_lease(), WakeupPipe()
    lease.stop()
    pipe.may_sleep = True
    assert not lease.take(pipe)
    assert not lease.take_as_owner()
    lease.note_closed()
    assert not pipe.may_sleep
    lease.leave(pipe)


def test_only_one_of_many_threads_reads() -> None:
    lease, readers, most = free_lease(), [0], [0]

    def read() -> None:
        pipe = WakeupPipe()
        for _ in range(200):
            if lease.take(pipe):
                readers[0] += 1
                most[0] = max(most[0], readers[0])
                readers[0] -= 1
                lease.give()
            else:
                lease.leave(pipe)

    threads = [threading.Thread(target=read) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == [1]
