"""Arrays whose memory begins where XLA can use it."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest

from weft.platform.machine.aligned_memory import aligned_copy, aligned_empty, aligned_memory, is_aligned, lent


@pytest.mark.parametrize("shape", [(), (0,), (3,), (5, 7), (1000, 3)])
@pytest.mark.parametrize("dtype", [np.bool_, np.float32, np.complex128])
def test_an_array_begins_at_an_aligned_address(shape: tuple[int, ...], dtype: type) -> None:
    for _ in range(4):
        array = aligned_empty(shape, dtype)
        assert array.shape == shape
        assert array.dtype == dtype
        assert is_aligned(array) or not array.size
        assert array.flags.writeable


def test_an_array_of_objects_holds_none() -> None:
    assert aligned_empty((2,), object).tolist() == [None, None]


def test_a_copy_is_contiguous_and_has_memory_of_its_own() -> None:
    array = np.arange(6.0).reshape(2, 3).T
    assert not is_aligned(array)
    copy = aligned_copy(array)
    assert is_aligned(copy)
    assert np.array_equal(copy, array)
    assert not np.may_share_memory(copy, array)


def test_lent_memory_is_seen_by_nobody_once_the_lent_array_is_dead() -> None:
    memory = aligned_memory(64)
    array = lent(memory, (4, 4), np.dtype(np.float32))
    assert is_aligned(array)
    assert array.flags.writeable
    lease = weakref.ref(array)
    view = array.reshape(-1)[2:]
    del array
    again = np.frombuffer(view.data, np.uint8)
    del view
    assert lease() is not None
    del again
    gc.collect()
    assert lease() is None
