"""An update of a slot sees the value before it, whoever else updates."""

from __future__ import annotations

import threading

from weft.framework.dtypes import float32, int32
from weft.runtime.variable_slot import VariableSlot, locks_of


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
