"""Did you mean: the known word that a misspelt one is likely to stand for."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import Final

# The graph of a large model has a hundred thousand names; who asks for a missing one waits for a tenth of a second at most.
_MOST_WORDS: Final = 20_000
_LENGTH_DIFFERENCE: Final = 4
_ALIKE: Final = 0.7


def nearest(word: str, known: Iterable[str]) -> str:
    """The most similar of the known words; empty where none is similar."""
    folded = word.lower()
    candidates: dict[str, str] = {}
    for each, _ in zip(known, range(_MOST_WORDS), strict=False):
        if abs(len(each) - len(word)) <= _LENGTH_DIFFERENCE:
            candidates.setdefault(each.lower(), each)
    found = difflib.get_close_matches(folded, candidates, n=1, cutoff=_ALIKE)
    return candidates[found[0]] if found else ""


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """` Did you mean 'x'?`, with its leading blank, to put behind a message; empty where no known word is similar."""
    found = nearest(word, known)
    return f" Did you mean {found!r}?" if found else ""
