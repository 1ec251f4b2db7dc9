"""Did you mean: the known word that a misspelt one is likely to stand for."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import Final

# The graph of a large model has a hundred thousand names; who asks for a missing one waits for a tenth of a second at most.
_MOST_WORDS: Final = 20_000
_LENGTH_DIFFERENCE: Final = 4
_ALIKE: Final = 0.7
# One letter of three is a larger part than one of ten.
_SHORT: Final = 5
_ALIKE_SHORT: Final = 0.6
# What may be missing at the end, as in tf.errors.OutOfRange.
_ENDING: Final = 6


def nearest(word: str, known: Iterable[str]) -> str:
    """The most similar of the known words, or the shortest that it is the beginning of; empty where none is similar."""
    folded = word.lower()
    candidates: dict[str, str] = {}
    longer: list[str] = []
    for each, _ in zip(known, range(_MOST_WORDS), strict=False):
        if len(word) >= _SHORT and each.startswith(word) and len(each) <= len(word) + _ENDING:
            longer.append(each)
        if abs(len(each) - len(word)) > _LENGTH_DIFFERENCE:
            continue
        # Of two words that differ in case only, such as dense and Dense, the one of this word's kind.
        if each.lower() not in candidates or each[:1].islower() == word[:1].islower():
            candidates[each.lower()] = each
    if longer:
        return min(longer, key=len)
    cutoff = _ALIKE if len(word) >= _SHORT else _ALIKE_SHORT
    found = difflib.get_close_matches(folded, candidates, n=1, cutoff=cutoff)
    return candidates[found[0]] if found else ""


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """` Did you mean 'x'?`, with its leading blank, to put behind a message; empty where no known word is similar."""
    found = nearest(word, known)
    return f" Did you mean {found!r}?" if found else ""
