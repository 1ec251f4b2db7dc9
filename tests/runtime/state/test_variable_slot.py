"""An update of a slot sees the value before it, whoever else updates."""

from __future__ import annotations

import gc
import threading
import weakref
from collections.abc import Callable
from typing import Any

import jax
import numpy as np
import pytest

from weft.framework.types.dtypes import as_dtype, float32, int32
from weft.platform.machine.aligned_memory import is_aligned
from weft.protocol.messages import Push
from weft.protocol.tensor_blob import own_memory
from weft.protocol.tensor_frame import encode
from weft.runtime.state.variable_slot import VariableSlot, locks_of
from weft.runtime.state.variable_values import value_of


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


def _change(slot: VariableSlot, number: float) -> None:
    with slot.lock:
        taken = slot.take()
        taken[...] = number
        slot.put(taken)


def _own(value: np.ndarray) -> VariableSlot:
    """A slot whose value lies in memory of its own, as after a first update in place."""
    slot = _holding(value)
    with slot.lock:
        slot.put(slot.take())
    return slot


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "int8", "complex64", "bool"])
@pytest.mark.parametrize("shape", [(4, 2), (3,), (1,), ()])
def test_an_array_that_nobody_else_sees_is_changed_in_place(shape: tuple[int, ...], dtype: str) -> None:
    slot = _own(np.zeros(shape, as_dtype(dtype).as_numpy_dtype))
    address = slot.value.ctypes.data
    for number in (1, 0, 1):
        _change(slot, number)
        assert slot.value.ctypes.data == address
        assert not slot.value.flags.writeable
        assert is_aligned(slot.value)
        assert (slot.value == slot.value.dtype.type(number)).all()


def test_an_array_from_elsewhere_is_copied_once() -> None:
    given = _rows()
    slot = _holding(given)
    _change(slot, 9.0)
    np.testing.assert_array_equal(given, _rows())
    address = slot.value.ctypes.data
    _change(slot, 8.0)
    assert slot.value.ctypes.data == address


def test_no_rows_are_changed_in_place_too() -> None:
    slot = _own(np.empty((0, 2), np.float32))
    _change(slot, 1.0)
    assert slot.value.shape == (0, 2)


# All of them look at the array's own memory.
_LOOKS: dict[str, Callable[[Any], Any]] = {
    "itself": lambda a: a,
    "slice": lambda a: a[1:],
    "slice of a slice": lambda a: a[1:][::2, :1],
    "shape": lambda a: a.reshape(-1),
    "transpose": lambda a: np.asarray(a).T,
    "type": lambda a: a.view(np.uint8),
    "subclass": lambda a: a.view(np.recarray),
    "memoryview": memoryview,
    "memoryview of a view": lambda a: a.reshape(-1).view(np.uint8).data,
    "buffer": lambda a: np.frombuffer(a, np.float32),
    "array in a buffer": lambda a: np.ndarray((2,), np.float32, a, 8),
    "array in a memoryview": lambda a: np.ndarray((2,), np.float32, memoryview(a), 8),
    "iterator": lambda a: a.flat,
    "strides": lambda a: np.lib.stride_tricks.as_strided(a, (2, 2), (4, 4)),
    "broadcast": lambda a: np.broadcast_to(a, (3, 4, 2)),
    "message": lambda a: own_memory(a),
}


@pytest.mark.parametrize("look", _LOOKS.values(), ids=_LOOKS)
@pytest.mark.parametrize("holding", [_holding, _own])
def test_an_array_that_somebody_looks_at_is_copied(
    holding: Callable[[np.ndarray], VariableSlot], look: Callable[[np.ndarray], Any]
) -> None:
    slot = holding(_rows())
    for _ in range(2):
        seen = look(slot.value)
        before = np.array(seen)
        _change(slot, -1.0)
        np.testing.assert_array_equal(np.array(seen), before)
        assert (slot.value == -1.0).all()
        del seen
        _change(slot, 3.0)


@pytest.mark.parametrize("look", _LOOKS.values(), ids=_LOOKS)
def test_an_array_that_somebody_has_looked_at_is_changed_in_place_again(look: Callable[[np.ndarray], Any]) -> None:
    slot = _own(_rows())
    address = slot.value.ctypes.data
    seen = look(slot.value)
    del seen
    _change(slot, 5.0)
    assert slot.value.ctypes.data == address


def test_a_variable_that_was_assigned_anothers_value_is_not_changed_with_it() -> None:
    first, second = _own(_rows()), VariableSlot("w", float32)
    second.put(first.value)
    _change(second, 1.0)
    np.testing.assert_array_equal(first.value, _rows())
    second.put(first.value)
    _change(first, 2.0)
    np.testing.assert_array_equal(second.value, _rows())


def test_a_message_that_is_not_written_yet_keeps_its_tensors() -> None:
    slot = _own(np.arange(1 << 16, dtype=np.float32))
    buffers = encode(Push(7, (0,), (slot.value,)))
    before = b"".join(buffers)
    _change(slot, -1.0)
    assert b"".join(buffers) == before


def test_an_array_that_xla_looks_at_is_copied() -> None:
    slot = _own(np.arange(1 << 16, dtype=np.float32))
    before = np.array(slot.value)
    seen = jax.device_put(slot.value, may_alias=True)
    _change(slot, -1.0)
    np.testing.assert_array_equal(np.asarray(seen), before)


def test_what_is_being_computed_of_an_array_does_not_see_its_update() -> None:
    slot = _own(np.ones((400, 400), np.float32))
    slow = jax.jit(lambda a: jax.lax.fori_loop(0, 20, lambda _, b: a @ b / 400, a))
    expected = np.asarray(slow(np.ones((400, 400), np.float32)))
    for _ in range(3):
        results = slow(slot.value)
        _change(slot, -1.0)
        np.testing.assert_allclose(np.asarray(results), expected, rtol=1e-4)
        _change(slot, 1.0)


def test_readers_on_other_threads_never_see_a_change_in_what_they_have() -> None:
    slot = _own(np.zeros(1000, np.int32))
    changed = threading.Event()
    torn: list[np.ndarray] = []

    def look() -> None:
        while not changed.is_set():
            seen = value_of(slot)[10:]
            first = int(seen[0])
            if (seen != first).any() or int(seen[0]) != first:
                torn.append(seen)

    readers = [threading.Thread(target=look) for _ in range(3)]
    for reader in readers:
        reader.start()
    for number in range(2000):
        _change(slot, number)
    changed.set()
    for reader in readers:
        reader.join()
    assert not torn
    assert (slot.value == 1999).all()


def test_memory_goes_with_its_last_array() -> None:
    slot = _own(_rows())
    memory = weakref.ref(slot.value.base)
    slot.put(_rows())
    gc.collect()
    assert memory() is None


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
        reader = threading.Thread(target=lambda: seen.append(value_of(slot)))
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
