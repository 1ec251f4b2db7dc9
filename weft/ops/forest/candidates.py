"""Candidates: the splits that a leaf considers; it sees to which side of each its examples would go."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from weft.framework.building.aliases import Array
from weft.ops.forest.inputs import Inputs
from weft.ops.forest.node_tests import NodeTest, goes_left


class Candidates:
    """Tests in their order. Not safe from several threads."""

    def __init__(self) -> None:
        self.tests: list[NodeTest] = []
        """The tests by which the leaf would be split."""
        self._columns: tuple[Array, Array, Array] | None = None

    def __len__(self) -> int:
        return len(self.tests)

    def add(self, test: NodeTest) -> None:
        """Add a test behind the others."""
        self.tests.append(test)
        self._columns = None

    def remove(self, numbers: Sequence[int]) -> None:
        """Take tests out."""
        gone = set(numbers)
        self.tests = [test for number, test in enumerate(self.tests) if number not in gone]
        self._columns = None

    def goes_left(self, inputs: Inputs, examples: Array) -> Array:
        """Which examples would go left: `[n] -> [n, candidates] bool`."""
        if self._columns is None:
            features = np.array([test.feature for test in self.tests], np.intp)
            comparisons = np.array([test.comparison for test in self.tests], np.intp)
            self._columns = features, comparisons, np.array([test.number for test in self.tests], np.float32)
        features, comparisons, numbers = self._columns
        return goes_left(inputs.values(examples[:, None], features[None, :]), comparisons, numbers)
