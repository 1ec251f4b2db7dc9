"""Numbers for categories: vocabularies that grow while they are read, and the rows of categories that they number."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Sequence
from typing import Self

import numpy as np
from numpy.typing import NDArray


class CategoricalVocabulary:
    """Numbers of categories in the order in which they come; 0 is that of those that are not known.

    Args:
        unknown_token: what stands for a category that is not known.
        support_reverse: whether the categories of numbers can be asked for.
    """

    def __init__(self, unknown_token: str = "<UNK>", support_reverse: bool = True) -> None:
        self._unknown_token, self._support_reverse = unknown_token, support_reverse
        self._numbers: dict[Hashable, int] = {unknown_token: 0}
        self._categories: list[Hashable] = [unknown_token]
        self._counts: dict[Hashable, int] = defaultdict(int)
        self._is_frozen = False

    def __len__(self) -> int:
        return len(self._numbers)

    def freeze(self, freeze: bool = True) -> None:
        """Have new categories be unknown ones; or, with False, have them added again.

        Args:
            freeze: whether the vocabulary stays as it is.
        """
        self._is_frozen = freeze

    def get(self, category: Hashable) -> int:
        """The number of a category, which is added if it is new and the vocabulary not frozen.

        Args:
            category: the category.
        """
        if category not in self._numbers:
            if self._is_frozen:
                return 0
            self._numbers[category] = len(self._numbers)
            self._categories.append(category)
        return self._numbers[category]

    def add(self, category: Hashable, count: int = 1) -> None:
        """Count a category, which is added if it is new.

        Args:
            category: the category.
            count: how often it came.
        """
        if self.get(category) > 0:
            self._counts[category] += count

    def trim(self, min_frequency: int, max_frequency: int = -1) -> None:
        """Keep the categories that came more than `min_frequency` times, and fewer than `max_frequency` if it is positive.

        They are numbered anew, the most frequent first; among equals by themselves, those that are no text before those
        that are.

        Args:
            min_frequency: the count that a category has to exceed.
            max_frequency: the count that it has to stay below; -1 for any.
        """
        by_name = sorted(self._counts.items(), key=lambda item: (isinstance(item[0], str), item[0]))
        by_count = sorted(by_name, key=lambda item: item[1], reverse=True)
        kept = [(category, count) for category, count in by_count if count > min_frequency and not 0 < max_frequency <= count]
        self._counts = defaultdict(int, kept)
        self._categories = [self._unknown_token, *(category for category, _ in kept)]
        self._numbers = {category: number for number, category in enumerate(self._categories)}

    def reverse(self, class_id: int) -> Hashable:
        """The category of a number; ValueError if the vocabulary was made without `support_reverse`.

        Args:
            class_id: the number that `get` gave.
        """
        if not self._support_reverse:
            raise ValueError("This vocabulary wasn't initialized with support_reverse to support reverse() function.")
        return self._categories[class_id]


def _is_missing(value: object) -> bool:
    return isinstance(value, float) and math.isnan(value)


class CategoricalProcessor:
    """Numbers of the categories in the columns of rows.

    Args:
        min_frequency: a category that does not come more often than this is unknown.
        share: whether the columns have one vocabulary.
        vocabularies: those of the columns; made by `fit` when None.
    """

    def __init__(
        self, min_frequency: int = 0, share: bool = False, vocabularies: list[CategoricalVocabulary] | None = None
    ) -> None:
        self.min_frequency, self.share = min_frequency, share
        self.vocabularies_ = vocabularies

    def freeze(self, freeze: bool = True) -> None:
        """Have new categories be unknown ones, or added again.

        Args:
            freeze: whether the vocabulary stays as it is.
        """
        for vocabulary in self.vocabularies_ or ():
            vocabulary.freeze(freeze)

    def fit(self, x: Iterable[Sequence[Hashable]], unused_y: object = None) -> Self:
        """Learn the categories of rows; a NaN is none.

        Args:
            x: rows of categories, one for each column.
            unused_y: taken for scikit-learn's sake.

        Returns:
            This object.
        """
        for row in x:
            if self.vocabularies_ is None:
                shared = CategoricalVocabulary()
                self.vocabularies_ = [shared if self.share else CategoricalVocabulary() for _ in row]
            for vocabulary, value in zip(self.vocabularies_, row, strict=True):
                if not _is_missing(value):
                    vocabulary.add(value)
        if self.min_frequency > 0:
            for vocabulary in self.vocabularies_ or ():
                vocabulary.trim(self.min_frequency)
        self.freeze()
        return self

    def fit_transform(self, x: Iterable[Sequence[Hashable]], unused_y: object = None) -> Iterator[NDArray[np.int64]]:
        """Learn the categories of rows, and number them; `x` is read twice.

        Args:
            x: rows of categories, one for each column.
            unused_y: taken for scikit-learn's sake.

        Returns:
            An iterator of `[columns]` int64, one for each row.
        """
        self.fit(x)
        return self.transform(x)

    def transform(self, x: Iterable[Sequence[Hashable]]) -> Iterator[NDArray[np.int64]]:
        """The numbers of the categories of each row; 0 for NaN and for what is not known.

        Args:
            x: rows of categories, one for each column.
        """
        self.freeze()
        for row in x:
            pairs = zip(self.vocabularies_ or (), row, strict=True)
            yield np.array([0 if _is_missing(value) else vocabulary.get(value) for vocabulary, value in pairs], np.int64)
