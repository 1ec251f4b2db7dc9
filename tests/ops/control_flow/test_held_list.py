"""Lists that never change, against lists that are copied for each change."""

from __future__ import annotations

import random

import numpy as np
import pytest

from weft import errors
from weft.framework.types import dtypes
from weft.ops.control_flow.held_list import HeldList


def numbers(held: HeldList) -> list[float | None]:
    return [None if value is None else float(value) for value in held.values()]


def test_every_version_stays_what_it_was() -> None:
    chance = random.Random(1)
    versions = [(HeldList(dtypes.float32, ()), list[float | None]())]
    for step in range(500):
        held, plain = chance.choice(versions)
        value = np.float32(step)
        kind = chance.choice(("push", "push", "set", "pop"))
        if kind == "push" or not plain:
            versions.append((held.push(value), [*plain, float(value)]))
        elif kind == "set":
            index = chance.randrange(len(plain))
            versions.append((held.set(index, value), [*plain[:index], float(value), *plain[index + 1 :]]))
        else:
            shorter, last = held.pop()
            assert last is not None
            assert float(last) == plain[-1]
            versions.append((shorter, plain[:-1]))
    chance.shuffle(versions)
    assert [numbers(held) for held, _ in versions] == [plain for _, plain in versions]


def test_sums_take_what_is_missing_for_zeros() -> None:
    one, two = np.float32(1), np.float32(2)
    first, second = HeldList(dtypes.float32, (), [one, None, None]), HeldList(dtypes.float32, (), [two, two, None])
    total = first + second
    assert isinstance(total, HeldList)
    assert numbers(total) == [3, 2, None]
    with pytest.raises(errors.InvalidArgumentError, match="different lengths: 3 and one of 0"):
        _ = first + HeldList(dtypes.float32, ())
