"""A bell wakes the thread that it belongs to, and nobody else's."""

import os
import select
import threading

import pytest

from weft.channel.waiting.doorbell import Doorbell, own_doorbell


def is_ringing(bell: Doorbell) -> bool:
    poll = select.poll()
    poll.register(bell, select.POLLIN)
    return bool(poll.poll(0))


def test_a_bell_rings_until_it_is_answered() -> None:
    bell = Doorbell()
    bell.may_sleep = True
    bell.ring()
    assert is_ringing(bell)
    bell.answer()
    assert not is_ringing(bell)


def test_who_is_awake_is_not_rung_for() -> None:
    bell = Doorbell()
    bell.ring()
    assert not is_ringing(bell)


def test_a_bell_that_did_not_ring_may_be_answered() -> None:
    Doorbell().answer()


def test_a_pipe_that_is_full_wakes_as_well() -> None:
    bell = Doorbell()
    for _ in range(100_000):
        bell.may_sleep = True
        bell.ring()
    assert is_ringing(bell)
    while is_ringing(bell):
        bell.answer()


def test_each_thread_has_one_bell() -> None:
    assert own_doorbell() is own_doorbell()
    found: list[Doorbell] = []
    thread = threading.Thread(target=lambda: found.append(own_doorbell()))
    thread.start()
    thread.join()
    assert found[0] is not own_doorbell()


# JAX, if a test before this one has started it, warns of every fork. The child here does not use it.
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_forked_child_has_a_bell_of_its_own() -> None:
    parents = own_doorbell()
    pid = os.fork()
    if pid == 0:
        os._exit(0 if own_doorbell() is not parents else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    assert own_doorbell() is parents
