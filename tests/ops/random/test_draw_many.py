"""A few numbers drawn for many runs at once are those of one run after the other."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from weft.framework.registry.op_registry import lookup
from weft.framework.types import dtypes
from weft.ops.random.taking import Take


def taking_from(place: int) -> Take:
    """A stream's `take`, from a block on."""
    at = [place]

    def take(blocks: int) -> np.uint64:
        at[0], first = (at[0] + blocks) % 2**64, at[0]
        return np.uint64(first)

    return take


def drawn(name: str, place: int, *inputs: Any, **keywords: Any) -> tuple[Any, list[Any]]:
    """What five runs give at once and one after the other, and one more behind each."""
    op_def, together, apart = lookup(name), taking_from(place), taking_from(place)
    assert op_def.draw_many is not None
    many = op_def.draw_many(5, *inputs, take=together, **keywords)
    rest = op_def.kernel(np, *inputs, take=together, **keywords)
    return (None if many is None else [*many, rest]), [op_def.kernel(np, *inputs, take=apart, **keywords) for _ in range(6)]


@pytest.mark.parametrize("dtype", [dtypes.float16, dtypes.bfloat16, dtypes.float32, dtypes.float64])
@pytest.mark.parametrize("shape", [(), (3,), (2, 7)])
@pytest.mark.parametrize("place", [7, 2**64 - 300])
def test_uniform(dtype: dtypes.DType, shape: tuple[int, ...], place: int) -> None:
    many, apart = drawn("RandomUniform", place, np.array(shape, np.int32), seed=3, seed2=2**40 + 5, dtype=dtype)
    for found, expected in zip(many, apart, strict=True):
        assert found.dtype == expected.dtype
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize(
    ("kind", "low", "high"), [(np.int32, -(2**31), 2**31 - 1), (np.int64, -(2**63), 2**63 - 1), (np.int64, -5, 9)]
)
@pytest.mark.parametrize("shape", [(), (3,)])
def test_integers(kind: Any, low: int, high: int, shape: tuple[int, ...]) -> None:
    many, apart = drawn("RandomUniformInt", 9, np.array(shape, np.int32), kind(low), kind(high), seed=3, seed2=5)
    for found, expected in zip(many, apart, strict=True):
        assert found.dtype == expected.dtype
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("shape", [(0,), (17,)])
def test_none_and_many_are_left_to_the_kernel(shape: tuple[int, ...]) -> None:
    many, _ = drawn("RandomUniform", 0, np.array(shape, np.int32), seed=3, dtype=dtypes.float32)
    assert many is None


def test_an_empty_range_is_left_to_the_kernel() -> None:
    op_def, one = lookup("RandomUniformInt"), np.int32(1)
    assert op_def.draw_many is not None
    assert op_def.draw_many(5, np.array([], np.int32), one, one, take=taking_from(0)) is None
