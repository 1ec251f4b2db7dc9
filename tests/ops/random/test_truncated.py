"""Truncated normal values are those of each group's blocks that are near enough, in order."""

from __future__ import annotations

import numpy as np
import pytest

from weft.ops.random import philox, truncated
from weft.ops.random.pieces import Scratch
from weft.ops.random.sampling import NORMAL

GROUPS = 40_000


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_group_takes_what_is_near_enough_from_its_own_blocks(dtype: type) -> None:
    rule, stream, start = NORMAL[np.dtype(dtype)], philox.stream_of_seeds(11, 12), 5
    stride = 256 * rule.per_block // 4
    made = truncated.truncated_normal(np, stream, np.uint64(start), GROUPS * rule.per_block, dtype)
    # Five blocks of each group in one row, block behind block.
    first = np.arange(GROUPS, dtype=np.uint64)[:, np.newaxis] * np.uint64(stride) + np.uint64(start)
    blocks = (first + np.arange(5, dtype=np.uint64)).ravel()
    drawn = np.empty((blocks.size, rule.per_block), rule.dtype)
    rule.fill(drawn, stream, blocks, Scratch(blocks.size))
    rows = drawn.reshape(GROUPS, -1)
    expected = [row[np.abs(row) < 2][: rule.per_block] for row in rows]
    np.testing.assert_array_equal(made.reshape(GROUPS, -1), expected)
    near_in_two = (np.abs(rows[:, : 2 * rule.per_block]) < 2).sum(1)
    assert (near_in_two < rule.per_block).any(), "no group needs a third block: take more groups"


def test_the_last_group_may_be_cut_short() -> None:
    stream, start = philox.stream_of_seeds(1, 2), np.uint64(0)
    whole = truncated.truncated_normal(np, stream, start, 12, np.float32)
    for size in range(12):
        np.testing.assert_array_equal(truncated.truncated_normal(np, stream, start, size, np.float32), whole[:size])
