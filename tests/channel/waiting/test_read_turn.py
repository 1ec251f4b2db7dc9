"""Who waits for a message finds the turn to read it; the connection's own thread reads when nobody waits."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

from weft.channel.waiting.doorbell import Doorbell
from weft.channel.waiting.read_turn import ReadTurn

PATIENCE_S = 20.0


def test_the_connection_s_thread_leaves_the_turn_free_for_as_long_as_it_is_told() -> None:
    turn = ReadTurn()
    turn.linger_s = 1e6
    assert turn.take_alone()
    turn.give_alone()
    with ThreadPoolExecutor() as pool:
        taken = pool.submit(turn.take)
        for _ in range(2000):
            if turn._thread_turn._waiters:  # type: ignore[attr-defined]
                break
            threading.Event().wait(0.01)
        assert turn.take_alone()
        turn.give_alone()
        assert not taken.done()
        turn.stop()
        assert not taken.result(PATIENCE_S)


def test_the_connection_s_thread_reads_when_that_time_is_over() -> None:
    turn = ReadTurn()
    turn.linger_s = 0.0
    assert turn.take_alone()
    turn.give_alone()
    assert turn.take()


def test_only_one_reads_and_who_has_waited_for_the_turn_is_rung() -> None:
    turn, bell = ReadTurn(), Doorbell()
    assert turn.take_alone()
    assert not turn.take_alone()
    assert not turn.enter(bell)
    bell.may_sleep = True
    turn.give_alone()
    assert not bell.may_sleep  # it has rung
    assert turn.take_free()
    turn.leave(bell, True)


def test_nobody_takes_the_turn_of_a_connection_that_has_ended() -> None:
    turn = ReadTurn()
    turn.stop()
    assert not turn.take_alone()
    assert not turn.take()
