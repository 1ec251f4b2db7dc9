"""Large arrays in small pages."""

from __future__ import annotations

import gc
import mmap
import re
import sys
from pathlib import Path

import numpy as np
import pytest

from weft.platform.machine.small_pages import empty_in_small_pages


def _huge_kb(array: np.ndarray) -> tuple[int, str]:
    """The kilobytes of huge pages where an array lies, and the flags of its mapping."""
    address = array.__array_interface__["data"][0]
    for part in re.split(
        r"(?m)^(?=[0-9a-f]+-[0-9a-f]+ )", Path("/proc/self/smaps").read_text(encoding="ascii", errors="replace")
    ):
        bounds = re.match(r"([0-9a-f]+)-([0-9a-f]+) ", part)
        if bounds and int(bounds[1], 16) <= address < int(bounds[2], 16):
            return int(re.search(r"AnonHugePages:\s+(\d+)", part)[1]), re.search(r"VmFlags:(.*)", part)[1]  # type: ignore[index]
    raise AssertionError(f"no mapping has {address:x}")


@pytest.mark.skipif(sys.platform != "linux" or not hasattr(mmap, "MADV_HUGEPAGE"), reason="Linux tells of pages")
def test_pages_are_small_while_it_is_filled_and_may_be_joined_then() -> None:
    setting = Path("/sys/kernel/mm/transparent_hugepage/enabled")
    if not setting.exists() or "[always]" in setting.read_text():
        pytest.skip("the system joins pages by itself")
    array, may_join = empty_in_small_pages((5 << 18, 4), np.float32)
    array[...] = 1.0
    assert _huge_kb(array)[0] == 0
    may_join()
    assert "hg" in _huge_kb(array)[1].split()
    np.testing.assert_array_equal(array, np.ones((5 << 18, 4), np.float32))


def test_an_array_keeps_its_memory() -> None:
    array, may_join = empty_in_small_pages((3 << 20,), np.float64)
    may_join()
    part = array[::2]
    part[...] = 2.0
    del array, may_join
    gc.collect()
    assert part.sum() == 2.0 * len(part)


@pytest.mark.parametrize("shape", [(), (0, 4), (3, 5)])
def test_a_small_array_is_numpys_own(shape: tuple[int, ...]) -> None:
    array, may_join = empty_in_small_pages(shape, np.float32)
    may_join()
    assert array.shape == shape
    assert array.dtype == np.float32
    assert array.flags.writeable
