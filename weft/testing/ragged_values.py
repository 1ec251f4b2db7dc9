"""Ragged values as the assertions of tf.test.TestCase compare them: by their rows, as nested lists."""

from __future__ import annotations

import numpy as np

from weft.framework.building.aliases import Nest
from weft.ops.ragged.value import RaggedTensorValue


def is_ragged(value: object) -> bool:
    """Whether it is the value of a ragged tensor."""
    return isinstance(value, RaggedTensorValue)


def rows_of(value: Nest) -> Nest:
    """The value as nested lists."""
    if isinstance(value, RaggedTensorValue):
        return value.to_list()
    if isinstance(value, list | tuple):
        return [rows_of(each) for each in value]
    return np.asarray(value).tolist()


def rank_of(value: Nest) -> int | None:
    """How many dimensions are ragged; None of lists, which do not tell."""
    if isinstance(value, RaggedTensorValue):
        return value.ragged_rank
    return None if isinstance(value, list | tuple) else 0


def differences(a: Nest, b: Nest, rtol: float, atol: float, path: str = "") -> list[str]:
    """What tells two nests of lists apart, where numbers within `atol + rtol * abs(b)` are the same."""
    if isinstance(a, list) != isinstance(b, list):
        return [f"one of them has rows at {path or 'the top'}: {a!r} and {b!r}"]
    if not isinstance(a, list):
        return [] if np.allclose(a, b, rtol, atol, equal_nan=True) else [f"{a!r} and {b!r} at {path}"]
    if len(a) != len(b):
        return [f"lengths {len(a)} and {len(b)} at {path or 'the top'}"]
    pairs = enumerate(zip(a, b, strict=True))
    return [each for place, (x, y) in pairs for each in differences(x, y, rtol, atol, f"{path}[{place}]")]
