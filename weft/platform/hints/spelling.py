"""Did you mean: the known word that a misspelt one is likely to stand for."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
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
# Of names that differ in their scopes only, a few say where to look.
_SHOWN_SCOPES: Final = 3


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


def nearest_in_scopes(name: str, known: Iterable[str]) -> list[str]:
    """The names that one in another scope may stand for: `model/output` for `output`; a few at most, the shortest first."""
    names = list(known)
    last = name.rpartition("/")[2]
    for found in (
        [each for each in names if each.endswith(f"/{name}")],
        [each for each in names if "/" in name and each.rpartition("/")[2] == last],
    ):
        if found:
            return sorted(found, key=len)[:_SHOWN_SCOPES]
    similar = nearest(name, names)
    if similar:
        return [similar]
    # A misspelt name in a scope that was left out.
    meant = nearest(last, (each.rpartition("/")[2] for each in names))
    return sorted((each for each in names if meant and each.rpartition("/")[2] == meant), key=len)[:_SHOWN_SCOPES]


def one_of(names: Sequence[str]) -> str:
    """` Did you mean 'x' or 'y'?` of names that are known to be near; empty of none."""
    return f" Did you mean {' or '.join(map(repr, names))}?" if names else ""


def did_you_mean(word: object, known: Iterable[str]) -> str:
    """` Did you mean 'x'?`, with its leading blank, to put behind a message; empty where no known word is similar.

    Args:
        word: what a program gave, which may be anything.
        known: the words there are.
    """
    found = nearest(word, known) if isinstance(word, str) else ""
    return f" Did you mean {found!r}?" if found else ""
