"""An update of a slot sees the value before it, whoever else updates."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from weft.framework.dtypes import float32, int32
from weft.runtime.state.state import SlotState
from weft.runtime.state.variable_slot import VariableSlot, locks_of


def test_a_slot_is_empty_until_it_is_updated() -> None:
    slot = VariableSlot("v", int32)
    assert slot.value is None
    assert slot.update(lambda old: 3 if old is None else 4) == 3
    assert slot.update(lambda old: old + 1) == 4
    assert slot.value == 4


def test_no_update_is_lost() -> None:
    slot = VariableSlot("v", int32)
    slot.value = 0

    def count() -> None:
        for _ in range(1000):
            slot.update(lambda old: old + 1)

    threads = [threading.Thread(target=count) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert slot.value == 4000


def test_locks_have_one_order_whoever_asks() -> None:
    slots = [VariableSlot(name, float32) for name in ("b", "a", "b")]
    locks = locks_of([*slots, slots[0]])
    assert len(locks) == 3
    assert locks[0] is slots[1].lock
    assert locks == locks_of(reversed(slots))


def _rows() -> np.ndarray:
    return np.arange(8, dtype=np.float32).reshape(4, 2)


def _holding(value: np.ndarray) -> VariableSlot:
    slot = VariableSlot("v", float32)
    slot.put(value)
    return slot


def test_an_array_that_nobody_else_sees_is_changed_in_place() -> None:
    slot = _holding(_rows())
    address = slot.value.ctypes.data
    taken = slot.take()
    taken[1] = 9.0
    slot.put(taken)
    assert slot.value.ctypes.data == address
    assert not slot.value.flags.writeable
    np.testing.assert_array_equal(slot.value[1], [9.0, 9.0])


@pytest.mark.parametrize(
    "look", [lambda a: a, lambda a: a[1:], lambda a: a.reshape(-1), memoryview, lambda a: np.asarray(a).T], ids=str
)
def test_an_array_that_somebody_looks_at_is_copied(look: Callable[[np.ndarray], Any]) -> None:
    slot = _holding(_rows())
    for _ in range(2):  # the second time it lies in memory that an earlier copy has aligned
        seen = look(slot.value)
        before = np.array(seen)
        taken = slot.take()
        taken[:] = -1.0
        slot.put(taken)
        np.testing.assert_array_equal(np.array(seen), before)
        assert (slot.value == -1.0).all()
        del seen
        slot.put(slot.value + 1.0)


def test_what_is_taken_and_not_put_back_returns_as_it_was() -> None:
    slot = _holding(_rows())
    slot.take()
    slot.put_back()
    np.testing.assert_array_equal(slot.value, _rows())
    slot.put_back()
    np.testing.assert_array_equal(slot.value, _rows())


def test_a_slot_without_a_value_has_nothing_to_take() -> None:
    assert VariableSlot("v", float32).take() is None


def test_a_reader_meanwhile_waits_for_the_update() -> None:
    slot = _holding(_rows())
    with slot.lock:
        taken = slot.take()
        with pytest.raises(RuntimeError, match="being updated"):
            np.asarray(slot.value)
        reader = threading.Thread(target=lambda: seen.append(SlotState([slot]).read(0)))
        seen: list[np.ndarray] = []
        reader.start()
        taken[:] = 5.0
        slot.put(taken)
    reader.join()
    assert (seen[0] == 5.0).all()


@pytest.mark.parametrize("value", [np.broadcast_to(np.float32(1), (4, 2)), _rows().T, np.array([[b"a"], [b"b"]], object).T])
def test_what_a_slot_holds_lies_in_one_piece(value: np.ndarray) -> None:
    slot = _holding(value[..., ::-1])
    assert slot.value.flags.c_contiguous
    np.testing.assert_array_equal(slot.value, value[..., ::-1])
