"""LeafStats: what a leaf knows of the splits that it considers, until it has seen enough to be split by the best."""

from __future__ import annotations

from typing import Final

import numpy as np

from weft.framework.building.aliases import Array
from weft.ops.forest.candidates import Candidates
from weft.ops.forest.inputs import Inputs, Targets
from weft.ops.forest.node_tests import NodeTest, read_test, write_test
from weft.ops.forest.params import resolved
from weft.ops.forest.tree import Split
from weft.proto.decision_tree_pb2 import Vector
from weft.proto.random_forest_pb2 import FertileSlot, TensorForestParams

_LARGEST: Final = np.finfo(np.float32).max


class LeafStats:
    """The common part of leaves of classes and of numbers.

    The first examples give the candidates, each one; those after them are counted. Not safe from several threads.

    Args:
        params: how the forest grows.
        depth: how deep the leaf is.
    """

    def __init__(self, params: TensorForestParams, depth: int) -> None:
        self.depth = depth
        self._params = params
        self._outputs = params.num_outputs
        self._split_after = int(resolved(params, "split_after_samples", depth))
        self._wanted = int(resolved(params, "num_splits_to_consider", depth))
        self._weight = np.float32(0)
        self._candidates = Candidates()

    @property
    def is_initialized(self) -> bool:
        """Whether all candidates are known, so that examples are counted."""
        return bool(self._weight > 0) or len(self._candidates) == self._wanted

    @property
    def is_finished(self) -> bool:
        """Whether the leaf has seen enough."""
        return bool(self._weight >= self._split_after)

    def consider(self, test: NodeTest, inputs: Inputs, targets: Targets, example: int) -> None:
        """Take a test of an example's among the candidates, unless there are enough."""
        if len(self._candidates) < self._wanted:
            self._candidates.add(test)
            self._add_counts()

    def add(self, inputs: Inputs, targets: Targets, examples: Array) -> bool:
        """Count examples, `[n]`; returns whether the leaf has been finished after any of them."""
        self._count(inputs, targets, examples)
        return self.is_finished

    def best(self) -> Split | None:
        """The best candidate; None when no candidate has examples on both sides."""
        scores = np.where(self._is_useful(), self._scores(), _LARGEST)
        # Not a number is no score; the first of several that are as good is taken.
        scores = np.where(np.isnan(scores), _LARGEST, scores)
        if not scores.size or scores.min() >= _LARGEST:
            return None
        chosen = int(scores.argmin())
        return Split(self._test(chosen), *self._children(chosen))

    def pack(self, slot: FertileSlot) -> None:
        """Write candidates and counts into a message."""
        slot.post_init_leaf_stats.weight_sum = float(self._weight)
        for test in self._candidates.tests:
            write_test(test, slot.candidates.add().split)

    def unpack(self, slot: FertileSlot) -> None:
        """Take candidates and counts from a message; those of none where it has none."""
        self._weight = np.float32(slot.post_init_leaf_stats.weight_sum)
        for candidate in slot.candidates:
            self._candidates.add(read_test(candidate.split))
            self._add_counts()

    def _test(self, chosen: int) -> NodeTest:
        return self._candidates.tests[chosen]

    def _add_counts(self) -> None:
        raise NotImplementedError

    def _count(self, inputs: Inputs, targets: Targets, examples: Array) -> None:
        raise NotImplementedError

    def _is_useful(self) -> Array:
        raise NotImplementedError

    def _scores(self) -> Array:
        raise NotImplementedError

    def _children(self, chosen: int) -> tuple[Array, Array]:
        raise NotImplementedError


class NumberStats(LeafStats):
    """Those of a regression's leaf: a split is as good as the variances of its sides are small. Weights do not count."""

    def __init__(self, params: TensorForestParams, depth: int) -> None:
        super().__init__(params, depth)
        # Sums and sums of squares: of all examples, and of those on the left of each candidate.
        self._totals = np.zeros((2, self._outputs), np.float32)
        self._lefts = np.zeros((2, 0, self._outputs), np.float32)
        self._left_counts = np.zeros(0, np.float32)

    def _add_counts(self) -> None:
        self._lefts = np.concatenate([self._lefts, np.zeros((2, 1, self._outputs), np.float32)], axis=1)
        self._left_counts = np.append(self._left_counts, np.float32(0))

    def _count(self, inputs: Inputs, targets: Targets, examples: Array) -> None:
        is_left = self._candidates.goes_left(inputs, examples)
        outputs = targets.numbers[examples, : self._outputs]
        moments = np.stack([outputs, outputs * outputs], axis=1)
        # Added up one by one, as TensorFlow adds them: float32 has few digits.
        shares = np.where(is_left[:, None, :, None], moments[:, :, None, :], np.float32(0))
        self._lefts = np.add.reduce(np.concatenate([self._lefts[None], shares]), axis=0)
        self._totals = np.add.reduce(np.concatenate([self._totals[None], moments]), axis=0)
        self._left_counts += is_left.sum(axis=0, dtype=np.float32)
        self._weight += np.float32(len(examples))

    def _is_useful(self) -> Array:
        return (self._left_counts > 0) & (self._weight - self._left_counts > 0)

    def _scores(self) -> Array:
        with np.errstate(divide="ignore", invalid="ignore"):
            left = self._lefts / self._left_counts[:, None]
            right = (self._totals[:, None] - self._lefts) / (self._weight - self._left_counts)[:, None]
            sides = [side[1] - side[0] * side[0] for side in (left, right)]
        # Output by output, and in each the left side first.
        return np.add.reduce(np.stack(sides, axis=1).transpose(2, 1, 0).reshape(2 * self._outputs, -1), axis=0)

    def _children(self, chosen: int) -> tuple[Array, Array]:
        left, count = self._lefts[0, chosen], self._left_counts[chosen]
        return left / count, (self._totals[0] - left) / (self._weight - count)

    def pack(self, slot: FertileSlot) -> None:
        """Write candidates, sums and sums of squares into a message."""
        super().pack(slot)
        written = slot.post_init_leaf_stats.regression
        write_vector(written.mean_output, self._totals[0])
        write_vector(written.mean_output_squares, self._totals[1])
        for number, candidate in enumerate(slot.candidates):
            stats = candidate.left_stats
            write_vector(stats.regression.mean_output, self._lefts[0, number])
            write_vector(stats.regression.mean_output_squares, self._lefts[1, number])
            stats.weight_sum = float(self._left_counts[number])

    def unpack(self, slot: FertileSlot) -> None:
        """Take them from a message."""
        super().unpack(slot)
        read_vector(slot.post_init_leaf_stats.regression.mean_output, self._totals[0])
        read_vector(slot.post_init_leaf_stats.regression.mean_output_squares, self._totals[1])
        for number, candidate in enumerate(slot.candidates):
            stats = candidate.left_stats
            read_vector(stats.regression.mean_output, self._lefts[0, number])
            read_vector(stats.regression.mean_output_squares, self._lefts[1, number])
            self._left_counts[number] = stats.weight_sum


def write_vector(vector: Vector, values: Array) -> None:
    """Put values, `[n]`, into a message."""
    for value in values.tolist():
        vector.value.add().float_value = value


def read_vector(vector: Vector, values: Array) -> None:
    """Fill `[n] float32` from a message, as far as it goes."""
    for number, value in enumerate(vector.value[: len(values)]):
        values[number] = value.float_value
