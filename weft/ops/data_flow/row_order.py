"""RowOrder: in which order the rows of several sparse gradients are given out together."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, TypeAlias

_Tree: TypeAlias = "dict[int, _Tree]"
"""Rows, and what is under each."""

_ABOVE_ALL: Final = float("inf")


class RowOrder:
    """Lists of rows as one, as TensorFlow merges them: always on with the smaller of the two that are next.

    So what follows a larger row in a list stays behind it. Rows are kept as a tree: each is under the nearest larger one before
    it in its list. To merge lists is to unite their trees, and each row is looked at once, however many came before.
    """

    def __init__(self) -> None:
        self._tree: _Tree = {}

    def add(self, rows: Iterable[int]) -> None:
        """Merge a list, in which each row is once."""
        path: list[tuple[float, _Tree]] = [(_ABOVE_ALL, self._tree)]
        for row in rows:
            while path[-1][0] < row:
                path.pop()
            path.append((row, path[-1][1].setdefault(row, {})))

    def take(self) -> list[int]:
        """All rows, each where it comes first; there are none afterwards."""
        found: dict[int, None] = {}
        levels = [iter(sorted(self._tree.items()))]
        while levels:
            for row, under in levels[-1]:
                found.setdefault(row)
                if under:
                    levels.append(iter(sorted(under.items())))
                    break
            else:
                levels.pop()
        self._tree = {}
        return list(found)
