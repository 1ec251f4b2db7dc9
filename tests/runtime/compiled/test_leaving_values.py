"""Many small results that leave the task come out of compiled code as one array, and are what they were."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from weft.protocol.tensor_blob import COPIED_BYTES
from weft.runtime.compiled.engine import outputs_of
from weft.runtime.compiled.leaving_values import LeavingValues, join


def _made(count: int, leaving: list[int], elements: int = 3) -> tuple[Any, list[Any]]:
    """The outputs of a compiled function that makes vectors, scalars and numbers of another type, and what they should be."""

    def function(x: Any) -> list[Any]:
        vectors = [x * place for place in range(count)]
        return [*vectors, *(each.sum() for each in vectors), *(each.astype(jnp.int32) for each in vectors)]

    x = np.ones(elements, np.float32)
    return jax.jit(lambda value: join(function(value), leaving))(x), [np.asarray(each) for each in function(x)]


def _check(results: Any, expected: list[Any]) -> None:
    values = outputs_of(results)
    assert len(values) == len(expected)
    for value, wanted in zip(values, expected, strict=True):
        assert (value.shape, value.dtype) == (wanted.shape, wanted.dtype)
        np.testing.assert_array_equal(value, wanted)


@pytest.mark.parametrize("leaving", [list(range(60)), list(range(0, 60, 2)), list(range(20, 60)), list(range(40, 60))])
def test_joined_results_are_what_they_were(leaving: list[int]) -> None:
    results, expected = _made(20, leaving)
    assert isinstance(results, LeavingValues)
    _check(results, expected)
    values = outputs_of(results)
    assert all(isinstance(values[place], np.ndarray) == (place in leaving) for place in range(60))


@pytest.mark.parametrize(
    ("count", "leaving", "elements"), [(20, [], 3), (3, list(range(6)), 3), (20, list(range(20)), COPIED_BYTES)]
)
def test_few_or_large_results_stay_as_they_are(count: int, leaving: list[int], elements: int) -> None:
    results, expected = _made(count, leaving, elements)
    assert not isinstance(results, LeavingValues)
    _check(results, expected)
