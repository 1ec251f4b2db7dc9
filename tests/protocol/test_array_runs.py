"""What was joined end to end is taken apart as it was."""

from __future__ import annotations

import numpy as np
import pytest

from weft.protocol.array_runs import JoinedArrays


@pytest.mark.parametrize(
    "shapes", [[], [()], [(), (), ()], [(3,), (3,), (2, 2), (3,)], [(0,), (0, 2), (1,)], [(1,) * 20, (1,) * 20], [(2, 3)] * 5]
)
def test_arrays_come_apart_as_they_were_joined(shapes: list[tuple[int, ...]]) -> None:
    random = np.random.RandomState(0)
    arrays = [np.asarray(random.standard_normal(shape)) for shape in shapes]
    flat = np.concatenate([np.empty(0), *(array.reshape(-1) for array in arrays)])
    parts = list(JoinedArrays(shapes).split(flat))
    assert [part.shape for part in parts] == shapes
    for part, array in zip(parts, arrays, strict=True):
        np.testing.assert_array_equal(part, array)
        assert not part.size or np.shares_memory(part, flat)
