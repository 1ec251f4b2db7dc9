"""Skip-grams: pairs of words that stand near each other, and pairs that do not."""

from __future__ import annotations

import random
from collections.abc import Sequence

from weft.framework.building.aliases import Array, Nest


def skipgrams(
    sequence: Sequence[int], vocabulary_size: int, window_size: int = 4, negative_samples: float = 1.0, shuffle: bool = True,
    categorical: bool = False, sampling_table: Array | None = None, seed: int | None = None,
) -> tuple[list[list[int]], list[Nest]]:  # fmt: skip
    """Pairs of words for skip-gram models, and whether the second stands near the first.

    Python's global random state draws.

    Args:
        sequence: ranks of words; 0 is no word.
        vocabulary_size: the greatest rank, plus one.
        window_size: how far apart words near each other are at most.
        negative_samples: how many pairs with a word drawn at random there are for each pair of near words.
        shuffle: whether the pairs come in an order drawn at random.
        categorical: whether labels are `[0, 1]` and `[1, 0]`, rather than 1 and 0.
        sampling_table: the probability with which a word of each rank is taken.
        seed: of the order.

    Returns:
        The pairs, and their labels.
    """
    near: list[list[int]] = []
    for place, word in enumerate(sequence):
        if not word or (sampling_table is not None and sampling_table[word] < random.random()):
            continue
        around = range(max(0, place - window_size), min(len(sequence), place + window_size + 1))
        near += [[word, sequence[other]] for other in around if other != place and sequence[other]]
    couples, labels = list(near), [[0, 1] if categorical else 1 for _ in near]
    if negative_samples > 0:
        count = int(len(near) * negative_samples)
        words = [couple[0] for couple in near]
        random.shuffle(words)
        couples += [[words[each % len(words)], random.randint(1, vocabulary_size - 1)] for each in range(count)]
        labels += [[1, 0] if categorical else 0 for _ in range(count)]
    if shuffle:
        order = random.randint(0, 10**7) if seed is None else seed
        for each in (couples, labels):
            random.seed(order)
            random.shuffle(each)
    return couples, labels
