"""A tensor of another rank than a layer takes is answered with what gives it the rank."""

from __future__ import annotations

import pytest

from weft.framework.rank_remedies import rank_remedy


@pytest.mark.parametrize(
    ("wanted", "found", "remedy"),
    [
        (4, 3, "tf.expand_dims(x, -1)"),
        (3, 2, "return_sequences=True"),
        (2, 4, "tf.layers.flatten(x)"),
        (4, 2, "tf.reshape(x, [-1, height, width, channels])"),
        (7, 2, ""),
    ],
)
def test_what_gives_it_the_rank(wanted: int, found: int, remedy: str) -> None:
    assert remedy in rank_remedy(wanted, found)
