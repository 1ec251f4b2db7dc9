"""A misspelt word is answered with the known one that is most like it."""

from __future__ import annotations

import pytest

from weft.platform.hints.spelling import did_you_mean


@pytest.mark.parametrize(
    ("word", "known", "expected"),
    [
        ("sofmax", ["softmax", "softplus"], " Did you mean 'softmax'?"),
        ("DataSet", ["Dataset"], " Did you mean 'Dataset'?"),
        ("jobs", ["job", "task"], " Did you mean 'job'?"),
        ("OutOfRange", ["OUT_OF_RANGE", "OutOfRangeError"], " Did you mean 'OutOfRangeError'?"),
        ("dens", ["Dense", "dense"], " Did you mean 'dense'?"),
        ("Dens", ["Dense", "dense"], " Did you mean 'Dense'?"),
        ("rum", ["run", "graph"], " Did you mean 'run'?"),
        ("xyz", ["softmax"], ""),
        ("x", [], ""),
    ],
)
def test_the_nearest_word(word: str, known: list[str], expected: str) -> None:
    assert did_you_mean(word, known) == expected
