"""A pipe wakes the thread that it belongs to, and nobody else's."""

import os
import select
import threading

import pytest

from weft.channel.waiting.wakeup_pipe import WakeupPipe, of_this_thread


def is_woken(pipe: WakeupPipe) -> bool:
    poll = select.poll()
    poll.register(pipe, select.POLLIN)
    return bool(poll.poll(0))


def test_a_pipe_rings_until_it_is_answered() -> None:
    pipe = WakeupPipe()
    pipe.may_sleep = True
    pipe.wake()
    assert is_woken(pipe)
    pipe.clear()
    assert not is_woken(pipe)


def test_who_is_awake_is_not_rung_for() -> None:
    pipe = WakeupPipe()
    pipe.wake()
    assert not is_woken(pipe)


def test_a_pipe_that_did_not_ring_may_be_answered() -> None:
    WakeupPipe().clear()


def test_a_pipe_that_is_full_wakes_as_well() -> None:
    pipe = WakeupPipe()
    for _ in range(100_000):
        pipe.may_sleep = True
        pipe.wake()
    assert is_woken(pipe)
    while is_woken(pipe):
        pipe.clear()


def test_each_thread_has_one_pipe() -> None:
    assert of_this_thread.pipe is of_this_thread.pipe
    found: list[WakeupPipe] = []
    thread = threading.Thread(target=lambda: found.append(of_this_thread.pipe))
    thread.start()
    thread.join()
    assert found[0] is not of_this_thread.pipe


# JAX, if a test before this one has started it, warns of every fork. The child here does not use it.
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_forked_child_has_a_pipe_of_its_own() -> None:
    parents = of_this_thread.pipe
    pid = os.fork()
    if pid == 0:
        os._exit(0 if of_this_thread.pipe is not parents else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    assert of_this_thread.pipe is parents
