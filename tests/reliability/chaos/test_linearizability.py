"""The checkers find what cannot have happened, and accept whatever can."""

from __future__ import annotations

import math
import random
from collections import deque
from typing import Any

import pytest

from reliability.chaos.history import FAIL, OK, UNKNOWN, Operation, until
from reliability.chaos.linearizability import check_counter, check_queue, check_register


def op(kind: str, value: Any, start: float, end: float = math.inf, status: str = "") -> Operation:
    status = status or (UNKNOWN if end == math.inf else OK)
    is_input = kind in ("add", "write", "enqueue")
    return Operation("p", "x", kind, value if is_input else None, None if is_input else value, status, start, end)


def test_a_counter_may_lack_only_what_is_not_over() -> None:
    assert not check_counter([op("add", 1, 0, 1), op("read", 1, 2, 3)])
    assert not check_counter([op("add", 1, 0, 5), op("read", 0, 2, 3)])
    assert "lost" in check_counter([op("add", 1, 0, 1), op("read", 0, 2, 3)])[0]
    assert "twice" in check_counter([op("add", 1, 0, 1), op("read", 2, 2, 3)])[0]


@pytest.mark.parametrize("value", [0, 1])
def test_an_addition_of_unknown_fate_may_count_or_not(value: int) -> None:
    assert not check_counter([op("add", 1, 0), op("read", value, 2, 3)])


def test_an_addition_that_failed_does_not_count() -> None:
    assert check_counter([op("add", 1, 0, 1, FAIL), op("read", 1, 2, 3)])


def test_a_register_shows_the_last_write() -> None:
    writes = [op("write", 1, 0, 1), op("write", 2, 2, 3)]
    assert not check_register([*writes, op("read", 2, 4, 5)])
    assert check_register([*writes, op("read", 1, 4, 5)])
    assert not check_register([op("write", 1, 0, 3), op("write", 2, 0, 3), op("read", 1, 4, 5)])


def test_two_readers_agree_on_the_order_of_writes() -> None:
    both = [op("write", 1, 0, 9), op("write", 2, 0, 9)]
    assert not check_register([*both, op("read", 1, 1, 2), op("read", 2, 3, 4)])
    assert check_register([*both, op("read", 1, 1, 2), op("read", 2, 3, 4), op("read", 1, 5, 6)])


def test_a_write_of_unknown_fate_may_show_late_or_never() -> None:
    unknown = [op("write", 1, 0, 1), op("write", 2, 2)]
    assert not check_register([*unknown, op("read", 1, 4, 5)])
    assert not check_register([*unknown, op("read", 1, 4, 5), op("read", 2, 6, 7)])
    assert check_register([*unknown, op("read", 2, 4, 5), op("read", 1, 6, 7)])


def test_a_queue_gives_each_element_once_and_in_order() -> None:
    into = [op("enqueue", 1, 0, 1), op("enqueue", 2, 2, 3)]
    assert not check_queue([*into, op("dequeue", 1, 4, 5), op("dequeue", 2, 6, 7)], is_drained=True)
    assert "2 times" in check_queue([*into, op("dequeue", 1, 4, 5), op("dequeue", 1, 6, 7)])[0]
    assert "before it" in check_queue([*into, op("dequeue", 2, 4, 5), op("dequeue", 1, 6, 7)])[0]
    assert "never put in" in check_queue([op("dequeue", 3, 4, 5)])[0]
    assert "lost" in check_queue([*into, op("dequeue", 1, 4, 5)], is_drained=True)[0]
    assert not check_queue([*into, op("dequeue", 1, 4, 5), op("dequeue", None, 6)], is_drained=True)


def test_a_history_that_is_cut_off_leaves_open_what_was_not_over() -> None:
    before = until([op("add", 1, 0, 1), op("add", 1, 2, 6), op("read", 2, 7, 8)], 5)
    assert [(each.kind, each.status) for each in before] == [("add", OK), ("add", UNKNOWN)]


@pytest.mark.parametrize("seed", range(5))
def test_histories_of_real_objects_are_accepted(seed: int) -> None:
    source = random.Random(seed)
    counter, register, queue = 0, None, deque[int]()
    histories: dict[str, list[Operation]] = {"counter": [], "register": [], "queue": []}
    for number in range(150):
        start, end = number - source.random() * 3, number + source.random() * 3
        lost = source.random() < 0.1
        match source.randrange(6):
            case 0:
                counter += 1
                histories["counter"].append(op("add", 1, start, math.inf if lost else end))
            case 1:
                histories["counter"].append(op("read", counter, start, end))
            case 2:
                register = number
                histories["register"].append(op("write", number, start, math.inf if lost else end))
            case 3:
                histories["register"].append(op("read", register, start, end))
            case 4:
                queue.append(number)
                histories["queue"].append(op("enqueue", number, start, end))
            case _ if queue:
                histories["queue"].append(op("dequeue", queue.popleft(), start, end))
    histories["queue"] += [op("dequeue", value, 200 + i, 200.5 + i) for i, value in enumerate(queue)]
    assert not check_counter(histories["counter"])
    assert not check_register(histories["register"])
    assert not check_queue(histories["queue"], is_drained=True)
