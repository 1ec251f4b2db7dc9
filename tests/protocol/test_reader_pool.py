"""One thread leads, one watches it, and what is held up delays nobody else."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from weft.protocol.protocol_error import LocalProtocolError
from weft.protocol.reader_pool import Poll, PoolRules, PoolStep, Role, Step, Unpoll

S = PoolStep


def pool_of(*connections: str) -> PoolRules[str]:
    """A pool whose thread 1 leads; thread 2, if there is one, watches."""
    rules: PoolRules[str] = PoolRules()
    for connection in connections:
        rules.add(connection)
    assert rules.asks(1) == [S.WAKE_SPARE, S.LEAD]
    if len(connections) > 1:
        assert rules.asks(2) == [S.WATCH]
    return rules


def test_the_first_connection_starts_a_leader_and_the_second_a_watcher() -> None:
    rules: PoolRules[str] = PoolRules()
    assert rules.add("a") == [S.START_THREAD, Poll("a")]
    assert rules.asks(1) == [S.WAKE_SPARE, S.LEAD]
    assert rules.add("b") == [S.START_THREAD, Poll("b")]
    assert rules.asks(2) == [S.WATCH]
    assert rules.add("c") == [Poll("c")]
    assert rules.roles == {1: Role.LEADER, 2: Role.WATCHER}


def test_a_leader_that_gets_on_stays_the_leader() -> None:
    rules = pool_of("a", "b")
    for _ in range(3):
        assert not rules.begins("a")
        assert rules.ends(1, "a", False) == []
        assert rules.asks(2) == [S.WATCH]


def test_a_leader_that_is_found_at_the_same_message_twice_is_deposed() -> None:
    rules = pool_of("a", "b")
    rules.begins("a")
    assert rules.asks(2) == [S.WATCH]
    assert rules.asks(2) == [Unpoll("a"), S.START_THREAD, S.WAKE_SPARE, S.LEAD]
    assert rules.roles == {1: Role.HELD_UP, 2: Role.LEADER}
    assert rules.ends(1, "a", False) == [Poll("a"), S.STOP_LEADING]
    assert rules.asks(1) == [S.WATCH]


def test_a_handler_that_steps_aside_is_replaced_by_who_watches() -> None:
    rules = pool_of("a", "b")
    rules.begins("a")
    assert rules.steps_aside(1) == [Unpoll("a"), S.START_THREAD, S.WAKE_WATCHER]
    assert rules.asks(2) == [S.WAKE_SPARE, S.LEAD]


def test_where_there_is_no_other_connection_nobody_steps_aside() -> None:
    rules = pool_of("a")
    rules.begins("a")
    assert rules.steps_aside(1) == []
    assert rules.steps_aside(7) == []


def test_a_watcher_that_sees_nothing_for_long_sleeps_until_a_message_comes() -> None:
    rules = pool_of("a", "b")
    looks = [rules.asks(2) for _ in range(6)]
    assert looks == [[S.WATCH]] * 4 + [[S.SLEEP]] * 2
    assert rules.watcher_sleeps
    assert rules.begins("a")
    assert rules.asks(2) == [S.WATCH]


def test_a_spare_that_rested_long_leaves_unless_it_is_needed() -> None:
    rules = pool_of("a", "b", "c")
    rules.begins("a")
    rules.steps_aside(1)
    assert rules.asks(2)[-1] is S.LEAD
    assert rules.asks(3) == [S.WATCH]
    rules.ends(1, "a", False)
    assert rules.asks(1) == [S.REST]
    assert rules.asks(1, has_rested_long=True) == [S.LEAVE]
    assert rules.thread_count == 2


def test_the_last_connection_ends_all_threads() -> None:
    rules = pool_of("a", "b")
    for connection, left in (("a", []), ("b", [S.WAKE_ALL])):
        rules.begins(connection)
        assert rules.withdraw(connection) == [Unpoll(connection)]
        assert rules.remove() == left
        assert rules.ends(1, connection, True) == ([S.STOP_LEADING] if left else [])
    assert [rules.asks(thread) for thread in (1, 2)] == [[S.LEAVE], [S.LEAVE]]
    assert (rules.roles, rules.thread_count, rules.polled_count) == ({}, 0, 0)


def test_a_leader_of_nothing_is_woken_to_leave() -> None:
    rules = pool_of("a", "b")
    rules.begins("a")
    rules.steps_aside(1)
    rules.asks(2)
    rules.begins("b")
    rules.withdraw("b")
    assert rules.remove() == []
    assert rules.ends(2, "b", True) == []
    rules.withdraw("a")
    assert rules.remove() == [S.WAKE_ALL]
    assert rules.woken(2) == [S.STOP_LEADING]
    assert rules.ends(1, "a", True) == [S.STOP_LEADING]


def test_a_connection_that_the_system_cannot_watch_is_forgotten() -> None:
    rules: PoolRules[str] = PoolRules()
    rules.add("a")
    assert rules.refuse("a") == [S.WAKE_ALL]
    assert rules.asks(1) == [S.LEAVE]


def test_a_change_of_role_that_no_thread_makes_is_refused() -> None:
    rules = pool_of("a", "b")
    rules.roles[2] = Role.HELD_UP
    rules.begins("a")
    rules.steps_aside(1)
    with pytest.raises(LocalProtocolError, match="a HELD_UP of 3 threads cannot become a LEADER"):
        rules.asks(2)


@pytest.mark.parametrize("seed", range(50))
def test_whatever_happens_there_is_one_leader_and_every_free_connection_is_polled(seed: int) -> None:
    rng, rules = random.Random(seed), PoolRules[str]()
    polled: set[str] = set()
    reading: dict[int, str] = {}
    started, free = 0, set[int]()

    def execute(steps: list[Step[str]]) -> None:
        nonlocal started
        for step in steps:
            match step:
                case Poll(connection=connection):
                    assert connection not in polled
                    polled.add(connection)
                case Unpoll(connection=connection):
                    polled.remove(connection)
                case S.START_THREAD:
                    started += 1
                    free.add(started)

    for i in range(6):
        execute(rules.add(f"c{i}"))
    for _ in range(400):
        leader = next((thread for thread, role in rules.roles.items() if role is Role.LEADER), None)
        event = rng.random()
        if leader is not None and leader not in reading and polled and event < 0.4:
            reading[leader] = rng.choice(sorted(polled))
            rules.begins(reading[leader])
        elif reading and event < 0.6:
            thread = rng.choice(sorted(reading))
            steps = rules.ends(thread, reading.pop(thread), False)
            execute(steps)
            if steps:
                free.add(thread)
        elif reading and event < 0.7:
            execute(rules.steps_aside(rng.choice(sorted(reading))))
        elif free:
            thread = rng.choice(sorted(free))
            steps = rules.asks(thread)
            execute(steps)
            if steps[-1] is S.LEAD:
                free.discard(thread)
        counts = Counter(rules.roles.values())
        assert counts[Role.LEADER] <= 1
        assert counts[Role.WATCHER] <= 1
        held_up = {reading[thread] for thread, role in rules.roles.items() if role is Role.HELD_UP}
        assert len(held_up) == counts[Role.HELD_UP]
        assert polled == {f"c{i}" for i in range(6)} - held_up
        assert rules.thread_count <= 6 + 2
