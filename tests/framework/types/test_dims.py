"""Plain shapes: broadcasting."""

from __future__ import annotations

from typing import Any

import pytest

from weft.framework.types.dims import broadcast_dims


@pytest.mark.parametrize(
    ("a", "b", "wanted"),
    [
        ((2, 3), (2, 3), (2, 3)), ((2, 1), (1, 3), (2, 3)), ((3,), (2, 3), (2, 3)), ((), (4,), (4,)), (None, (2,), None),
        ((None,), (3,), (3,)), ((None,), (1,), (None,)), ((None,), (None,), (None,)), ((1, None), (None, 1), (None, None)),
    ],
)  # fmt: skip
def test_broadcasting(a: Any, b: Any, wanted: Any) -> None:
    assert broadcast_dims(a, b) == wanted
    assert broadcast_dims(b, a) == wanted


def test_shapes_that_do_not_broadcast() -> None:
    with pytest.raises(ValueError, match=r"Incompatible shapes for broadcasting: \(2,\) and \(3,\)"):
        broadcast_dims((2,), (3,))
