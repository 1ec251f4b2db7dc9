"""Candidate samplers that learn how frequent classes are while they run, from the true classes that they are given."""

from __future__ import annotations

import threading
import weakref
from typing import Final

import numpy as np

from weft.framework.building.aliases import Array, Result, TensorLike
from weft.framework.building.op_context import OpContext
from weft.ops.declaration import op
from weft.ops.nn.sampler import LIMITS, SIGNATURE, Candidates, add_sampler, check_request, sample, sampler_shapes, stream_words
from weft.ops.random.taking import Take, from_the_start

_MOST: Final = 2**31 - 1


class _Counts:
    """How often each class was seen, and once more; of one node in one session. Any thread may use it."""

    def __init__(self, range_max: int) -> None:
        self._counts = np.ones(range_max, np.int64)
        self._lock = threading.Lock()

    def draw(
        self, true_classes: Array, num_sampled: int, unique: bool, seeds: tuple[int, int], take: Take
    ) -> tuple[Array, ...]:
        """Sample by the counts of now, and count the true classes."""
        words = stream_words(*seeds, take, num_sampled)
        with self._lock:
            bounds = np.cumsum(self._counts)
            total = int(bounds[-1])

            def draw(count: int) -> Array:
                return np.searchsorted(bounds, words.below_32(count, total), side="right")

            def probability(classes: Array) -> Array:
                known = (classes >= 0) & (classes < len(bounds))
                return np.where(known, self._counts[np.where(known, classes, 0)], 0) / np.float32(total)

            drawn = sample(true_classes, draw, probability, num_sampled, unique)
            seen = true_classes.ravel()[: max(0, _MOST - total)]
            np.add.at(self._counts, seen[(seen >= 0) & (seen < len(bounds))], 1)
        return drawn


class _CountsOfSessions:
    """The counts of a node, by the sessions that run it."""

    def __init__(self) -> None:
        self._of: weakref.WeakKeyDictionary[object, dict[int, _Counts]] = weakref.WeakKeyDictionary()
        self._lock = threading.Lock()

    def of(self, session: object, range_max: int) -> _Counts:
        """Those of one session."""
        with self._lock:
            return self._of.setdefault(session, {}).setdefault(range_max, _Counts(range_max))


def _learned(
    ctx: OpContext, true_classes: Array, num_true: int, num_sampled: int, unique: bool, range_max: int,
    seeds: tuple[int, int], take: Take,
) -> tuple[Array, ...]:  # fmt: skip
    check_request(true_classes, num_true, num_sampled, unique, range_max)
    counts = ctx.find_or_create(_CountsOfSessions, _CountsOfSessions).of(ctx.session, range_max)
    return counts.draw(true_classes, num_sampled, unique, seeds, take)


@op("LearnedUnigramCandidateSampler", SIGNATURE, infer=sampler_shapes, gradient=None, stateful=True, at_once=True,
    limits=LIMITS)  # fmt: skip
def learned_unigram_sampler_node(
    ctx: OpContext, true_classes: Array, *, num_true: int, num_sampled: int, unique: bool, range_max: int,
    seed: int = 0, seed2: int = 0, take: Take = from_the_start,
) -> tuple[Result, Result, Result]:  # fmt: skip
    """Classes in proportion to how often they were true in the runs before, and once more.

    `[batch, num_true] int64 -> [num_sampled] int64, [batch, num_true] float32, [num_sampled] float32`
    """
    first, second, third = _learned(ctx, true_classes, num_true, num_sampled, unique, range_max, (seed, seed2), take)
    return first, second, third


@op("ThreadUnsafeUnigramCandidateSampler", SIGNATURE, infer=sampler_shapes, gradient=None, stateful=True, at_once=True,
    limits=LIMITS)  # fmt: skip
def thread_unsafe_unigram_sampler_node(
    ctx: OpContext, true_classes: Array, *, num_true: int, num_sampled: int, unique: bool, range_max: int,
    seed: int = 0, seed2: int = 0, take: Take = from_the_start,
) -> tuple[Result, Result, Result]:  # fmt: skip
    """The same as LearnedUnigramCandidateSampler: here it is safe, too.

    `[batch, num_true] int64 -> [num_sampled] int64, [batch, num_true] float32, [num_sampled] float32`
    """
    first, second, third = _learned(ctx, true_classes, num_true, num_sampled, unique, range_max, (seed, seed2), take)
    return first, second, third


def learned_unigram_candidate_sampler(
    true_classes: TensorLike, num_true: int, num_sampled: int, unique: bool, range_max: int, seed: int | None = None,
    name: str | None = None,
) -> Candidates:  # fmt: skip
    """Draw classes in proportion to how often they were true in the session's runs of this node so far, and once more.

    Args:
        true_classes: the classes of the examples, `[batch, num_true]` int64.
        num_true, num_sampled: how many true classes an example has, and how many classes to draw.
        unique: whether all drawn ones are different.
        range_max: the number of classes.
        seed: the op seed.
        name: the node's name.

    Returns:
        The classes, `[num_sampled]` int64, and the expected counts of the true and of the sampled ones, float32.
    """
    return add_sampler(
        learned_unigram_sampler_node, true_classes, num_true, num_sampled, unique, seed, name, range_max=range_max
    )
