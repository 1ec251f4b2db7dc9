"""ClassStats: what a classification's leaf knows of its candidates, which it may drop early, or be split early by the best."""

from __future__ import annotations

import heapq
import math
from typing import Final

import numpy as np

from weft.errors import InvalidArgumentError
from weft.framework.building.aliases import Array
from weft.ops.forest.inputs import Inputs, Targets
from weft.ops.forest.leaf_stats import LeafStats, read_vector, write_vector
from weft.ops.forest.node_tests import Comparison, NodeTest
from weft.ops.forest.params import resolved
from weft.proto.random_forest_pb2 import (
    SPLIT_FINISH_BASIC,
    SPLIT_FINISH_DOMINATE_HOEFFDING,
    SPLIT_PRUNE_10_PERCENT,
    SPLIT_PRUNE_HALF,
    SPLIT_PRUNE_HOEFFDING,
    SPLIT_PRUNE_NONE,
    SPLIT_PRUNE_QUARTER,
    STATS_DENSE_GINI,
    FertileSlot,
    LeafStat,
    TensorForestParams,
)

_PRUNED: Final = {SPLIT_PRUNE_HALF: 0.5, SPLIT_PRUNE_QUARTER: 0.25, SPLIT_PRUNE_10_PERCENT: 0.1}
_LEAST_DOUBT: Final = 1e-30


class ClassStats(LeafStats):
    """A split is as good as its sides are pure, by the Gini impurity of smoothed counts."""

    def __init__(self, params: TensorForestParams, depth: int) -> None:
        super().__init__(params, depth)
        self._totals = np.zeros(self._outputs, np.float32)
        self._lefts = np.zeros((self._outputs, 0), np.float32)
        # By the number of a candidate whose threshold is one example's, that example's class.
        self._half_known: dict[int, int] = {}
        # By such a threshold examples are counted on, as in TensorFlow, also when the split gets the mean of two.
        self._means: dict[int, NodeTest] = {}
        self._ends = None if params.finish_type.type == SPLIT_FINISH_BASIC else _EarlyEnd(params, depth)
        self._prunes = None if params.pruning_type.type == SPLIT_PRUNE_NONE else _Pruning(params, depth)
        self._has_ended = False

    @property
    def is_initialized(self) -> bool:
        """Whether all candidates are known, each with its threshold."""
        return bool(self._weight > 0) or (super().is_initialized and not self._half_known)

    @property
    def is_finished(self) -> bool:
        """Whether the leaf has seen enough examples of more than one class, or one candidate is the best for sure."""
        is_mixed = np.count_nonzero(self._totals > 0) > 1
        return self._has_ended or bool(self._weight >= self._split_after and is_mixed)

    def consider(self, test: NodeTest, inputs: Inputs, targets: Targets, example: int) -> None:
        """Take a test among the candidates; an example of another class moves the thresholds of earlier ones to the middle."""
        before = len(self._candidates)
        super().consider(test, inputs, targets, example)
        if not self._params.initialize_average_splits:
            return
        label = int(targets.classes[example])
        if len(self._candidates) > before and test.comparison is not Comparison.EQUAL:
            self._half_known[before] = label
        for number in [number for number, known in self._half_known.items() if known != label]:
            known = self._candidates.tests[number]
            value = inputs.values(np.array(example), np.array(known.feature))[()]
            self._means[number] = known._replace(number=(known.number + value) / np.float32(2))
            del self._half_known[number]

    def add(self, inputs: Inputs, targets: Targets, examples: Array) -> bool:
        """Count examples, `[n]`; returns whether the leaf has been finished after any of them."""
        if self._ends is None and self._prunes is None:
            return super().add(inputs, targets, examples)
        was_finished = False
        for example in examples:
            self._count(inputs, targets, example[None])
            if self._ends is not None and self._ends.is_due(self._weight):
                self._has_ended = self._ends.is_sure(self._lefts, self._totals, self._scores(), self._weight)
            if self._prunes is not None and not self.is_finished and self._prunes.is_due(self._weight):
                self._remove(self._prunes.losers(self._scores(), self._weight))
            was_finished = was_finished or self.is_finished
        return was_finished

    def _remove(self, numbers: list[int]) -> None:
        self._lefts = np.delete(self._lefts, numbers, axis=1)
        kept = [number for number in range(len(self._candidates)) if number not in numbers]
        self._means = {new: self._means[old] for new, old in enumerate(kept) if old in self._means}
        self._candidates.remove(numbers)

    def _add_counts(self) -> None:
        self._lefts = np.concatenate([self._lefts, np.zeros((self._outputs, 1), np.float32)], axis=1)

    def _count(self, inputs: Inputs, targets: Targets, examples: Array) -> None:
        is_left = self._candidates.goes_left(inputs, examples)
        classes, weights = targets.classes[examples], targets.weights[examples]
        np.add.at(self._lefts, classes, is_left * weights[:, None])
        np.add.at(self._totals, classes, weights)
        self._weight = np.add.reduce(np.append(self._weight, weights)[:, None], axis=0)[0]

    def _sides(self) -> tuple[Array, Array]:
        return self._lefts, self._totals[:, None] - self._lefts

    def _is_useful(self) -> Array:
        left, right = (np.add.reduce(side, axis=0) for side in self._sides())
        return (left > 0) & (right > 0)

    def _scores(self) -> Array:
        left, right = (_impurity(side) for side in self._sides())
        return left + right

    def _children(self, chosen: int) -> tuple[Array, Array]:
        left, right = self._sides()
        return left[:, chosen], right[:, chosen]

    def _test(self, chosen: int) -> NodeTest:
        return self._means.get(chosen, self._candidates.tests[chosen])

    def pack(self, slot: FertileSlot) -> None:
        """Write candidates and counts into a message."""
        super().pack(slot)
        self._write(slot.post_init_leaf_stats, self._totals)
        for number, candidate in enumerate(slot.candidates):
            self._write(candidate.left_stats, self._lefts[:, number])

    def unpack(self, slot: FertileSlot) -> None:
        """Take them from a message."""
        super().unpack(slot)
        _read(slot.post_init_leaf_stats, self._totals)
        for number, candidate in enumerate(slot.candidates):
            _read(candidate.left_stats, self._lefts[:, number])

    def _write(self, stats: LeafStat, counts: Array) -> None:
        if self._params.stats_type == STATS_DENSE_GINI:
            write_vector(stats.classification.dense_counts, counts)
            return
        stats.classification.sparse_counts.SetInParent()
        for number in np.flatnonzero(counts).tolist():
            stats.classification.sparse_counts.sparse_value[number].float_value = float(counts[number])


def _read(stats: LeafStat, counts: Array) -> None:
    read_vector(stats.classification.dense_counts, counts)
    for number, value in stats.classification.sparse_counts.sparse_value.items():
        if not 0 <= number < len(counts):
            raise InvalidArgumentError.of(f"Unable to parse stats config: it counts class {number} of {len(counts)}")
        counts[number] = value.float_value


def _impurity(counts: Array) -> Array:
    """The Gini impurity of each candidate's counts, each one larger, times all of them: `[classes, n] -> [n]`."""
    classes = np.float32(len(counts))
    sums, squares = np.add.reduce(counts, axis=0), np.add.reduce(counts * counts, axis=0)
    smoothed = classes + sums
    parts = (squares + np.float32(2) * sums + classes) / (smoothed * smoothed)
    return sums * (1.0 - parts.astype(np.float64)).astype(np.float32)


class _EarlyEnd:
    """Tells whether the best of a leaf's candidates is better than the second, for sure enough.

    By Hoeffding's bound (Domingos and Hulten 2000), or by samples of both drawn with replacement.
    """

    def __init__(self, params: TensorForestParams, depth: int) -> None:
        self._by_bound = params.finish_type.type == SPLIT_FINISH_DOMINATE_HOEFFDING
        self._least = int(resolved(params, "min_split_samples", depth))
        self._every = int(resolved(params, "finish_type.check_every_steps", depth))
        self._sureness = resolved(params, "dominate_fraction", depth)
        self._doubt = max(1 - self._sureness, _LEAST_DOUBT)
        if not 0 < self._sureness <= 1:
            raise InvalidArgumentError.of(f"dominate_fraction has to be above 0 and at most 1, found {self._sureness}")
        if self._every < 1:
            raise InvalidArgumentError.of(f"early_finish_check_every_samples has to be at least 1, found {self._every}")
        self._epoch = self._least // self._every
        self._random = np.random.default_rng()

    def is_due(self, weight: np.float32) -> bool:
        """Whether it is time to look, after examples of this weight."""
        if weight < self._least or weight < self._epoch * self._every:
            return False
        self._epoch += 1
        return True

    def is_sure(self, lefts: Array, totals: Array, scores: Array, weight: np.float32) -> bool:
        """Whether one is the best for sure: `[classes, n], [classes], [n], [] ->`."""
        if len(scores) < 2:
            return True
        best, second = np.argsort(scores, kind="stable")[:2]
        if self._by_bound:
            bound = 0.25 * len(totals) * weight * math.sqrt(math.log(1 / self._doubt) / (2 * weight))
            return bool(scores[second] - scores[best] > bound)
        worst = max(self._samples(lefts[:, best], totals, weight))
        return worst < min(self._samples(lefts[:, second], totals, weight))

    def _samples(self, left: Array, totals: Array, weight: np.float32) -> list[int]:
        """Impurities of samples of a candidate's counts, less what is the same for all."""
        parts = (np.concatenate([left, totals - left]) + 1.0).astype(np.float64)
        count = 1 + max(0, math.ceil(-math.log2(self._doubt)))
        drawn = self._random.multinomial(int(weight), parts / parts.sum(), size=count)
        return [-int(each) for each in (drawn * drawn).sum(axis=1)]


class _Pruning:
    """Tells which candidates a leaf drops, now and then."""

    def __init__(self, params: TensorForestParams, depth: int) -> None:
        self._kind = params.pruning_type.type
        self._every = int(resolved(params, "pruning_type.prune_every_samples", depth))
        self._epoch = 1
        self._classes = params.num_outputs
        self._log = 0.0
        if self._kind == SPLIT_PRUNE_HOEFFDING:
            self._log = 0.5 * math.log(1 / max(1 - resolved(params, "dominate_fraction", depth), _LEAST_DOUBT))

    def is_due(self, weight: np.float32) -> bool:
        """Whether it is time, after examples of this weight."""
        if weight < self._epoch * self._every:
            return False
        self._epoch += 1
        return True

    def losers(self, scores: Array, weight: np.float32) -> list[int]:
        """The candidates to drop: `[n] -> numbers`."""
        if self._kind == SPLIT_PRUNE_HOEFFDING:
            bound = weight * (1 - 1 / self._classes) * math.sqrt(self._log / weight)
            return np.flatnonzero(scores - scores.min() > bound).tolist()
        count = int(len(scores) * _PRUNED[self._kind])
        if not count:
            return []
        worst = [(score, number) for number, score in enumerate(scores[:count].tolist())]
        heapq.heapify(worst)
        for number, score in enumerate(scores[count:].tolist(), count):
            if worst[0][0] < score:
                heapq.heapreplace(worst, (score, number))
        return [number for _, number in worst]
