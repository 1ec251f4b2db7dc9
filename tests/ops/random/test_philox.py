"""The generator's words: few blocks, which Python's numbers make, are those of many, which NumPy makes."""

from __future__ import annotations

import numpy as np
import pytest

from weft.ops.random import philox
from weft.ops.random.pieces import Scratch


@pytest.mark.parametrize("begin", [0, 2**32 - 3, 2**40 + 5, 2**64 - 40])
@pytest.mark.parametrize(("seed", "seed2"), [(0, 0), (3, 2**63 - 1), (-1, -7)])
def test_few_blocks_have_the_words_of_many(begin: int, seed: int, seed2: int) -> None:
    stream = philox.stream_of_seeds(seed, seed2)
    index = np.arange(40, dtype=np.uint64) + np.uint64(begin)
    many = np.stack(philox.words32(stream, index, Scratch(40)))
    for low, high in ((0, 1), (1, 5), (38, 40), (7, 7)):
        few = philox.words32(stream, index[low:high], Scratch(1))
        np.testing.assert_array_equal(np.stack(few), many[:, low:high])
