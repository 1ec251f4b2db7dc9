"""Candidate samplers: classes drawn at random to stand for all others in losses over very many classes.

They run on the host. A run of a node draws the next numbers of the stream that its seeds choose: those that TensorFlow draws.
"""

from __future__ import annotations

import csv
import functools
import secrets
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

import numpy as np

from weft.errors import InvalidArgumentError
from weft.framework.building.aliases import Array, Result, TensorLike
from weft.framework.building.op_context import OpContext
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.types.dims import Dims
from weft.ops.declaration import op
from weft.ops.random.alias_table import AliasTable
from weft.ops.random.seed import get_seed
from weft.ops.random.taking import Take, from_the_start
from weft.ops.random.words import Words
from weft.platform.files.gfile import GFile

SIGNATURE: Final = (
    "true_classes: int64 -> sampled_candidates: int64, true_expected_count: float32, sampled_expected_count: float32"
)
_ALL_LIMITS: Final = {"num_true": 1, "num_sampled": 1}
LIMITS: Final = {**_ALL_LIMITS, "range_max": 1}
# Blocks of the stream that a run takes for each sample, used or not.
_BLOCKS_PER_SAMPLE: Final = 512
_LEAST: Final = float(np.finfo(np.float32).min)


class Candidates(NamedTuple):
    """The results of a sampler: classes, and the expected counts of the true ones and of these in such a sample."""

    sampled_candidates: Tensor
    true_expected_count: Tensor
    sampled_expected_count: Tensor


def sampler_shapes(node: Operation) -> list[Dims]:
    """The shapes of a sampler's outputs."""
    sampled = (node.attrs["num_sampled"],)
    dims = node.inputs[0].dims
    if dims is not None and len(dims) != 2:
        raise ValueError(f"Shape must be rank 2 but is rank {len(dims)}")
    return [sampled, (None if dims is None else dims[0], node.attrs["num_true"]), sampled]


def stream_words(seed: int, seed2: int, take: Take, count: int) -> Words:
    """The words that a run draws `count` samples from."""
    if seed == 0 and seed2 == 0:
        seed, seed2 = secrets.randbits(64), secrets.randbits(64)
    return Words.of_seeds(seed, seed2, int(take(count * _BLOCKS_PER_SAMPLE)))


def _check_classes(true_classes: Array, num_true: int) -> None:
    if true_classes.ndim != 2:
        raise InvalidArgumentError.of("true_classes must be a matrix")
    if true_classes.shape[1] != num_true:
        raise InvalidArgumentError.of(
            f"true_classes must have num_true columns, expected: {num_true} was: {true_classes.shape[1]}"
        )


def sample(
    true_classes: Array, draw: Callable[[int], Array], probability: Callable[[Array], Array], count: int, unique: bool,
) -> tuple[Array, Array, Array]:  # fmt: skip
    """Draw classes, without repetition if `unique`, and the counts that are expected of that many tries."""
    # Of words, a fifth comes again: with some more at first, one draw is enough.
    sampled, tries = _distinct(draw, draw(count + count // 2 + 16), count) if unique else (draw(count), count)

    def expected(classes: Array) -> Array:
        share = probability(classes).astype(np.float32)
        return share * np.float32(count) if tries == count else -np.expm1(tries * np.log1p(-share))

    return sampled, expected(true_classes), expected(sampled)


def _distinct(draw: Callable[[int], Array], first: Array, count: int) -> tuple[Array, int]:
    """The first `count` different classes, and how many tries that took."""
    drawn = first
    while True:
        _, places = np.unique(drawn, return_index=True)
        if len(places) >= count:
            places = np.sort(places)[:count]
            return drawn[places], int(places[-1]) + 1 if count else 0
        drawn = np.concatenate([drawn, draw(max(len(drawn), 16))])


def check_request(true_classes: Array, num_true: int, num_sampled: int, unique: bool, range_max: int) -> None:
    """Raise InvalidArgumentError where the classes or the number of samples do not fit."""
    _check_classes(true_classes, num_true)
    if unique and num_sampled > range_max:
        raise InvalidArgumentError.of(f"Sampler's range is too small: {num_sampled} different ones of {range_max} classes")


@op("UniformCandidateSampler", SIGNATURE, infer=sampler_shapes, gradient=None, stateful=True, at_once=True, limits=LIMITS)
def uniform_sampler_node(
    ctx: OpContext, true_classes: Array, *, num_true: int, num_sampled: int, unique: bool, range_max: int,
    seed: int = 0, seed2: int = 0, take: Take = from_the_start,
) -> tuple[Result, Result, Result]:  # fmt: skip
    """All classes with equal probability.

    `[batch, num_true] int64 -> [num_sampled] int64, [batch, num_true] float32, [num_sampled] float32`
    """
    check_request(true_classes, num_true, num_sampled, unique, range_max)
    words = stream_words(seed, seed2, take, num_sampled)
    return sample(
        true_classes, lambda count: words.below(count, range_max),
        lambda classes: np.full(classes.shape, 1 / range_max), num_sampled, unique,
    )  # fmt: skip


@op("LogUniformCandidateSampler", SIGNATURE, infer=sampler_shapes, gradient=None, stateful=True, at_once=True, limits=LIMITS)
def log_uniform_sampler_node(
    ctx: OpContext, true_classes: Array, *, num_true: int, num_sampled: int, unique: bool, range_max: int,
    seed: int = 0, seed2: int = 0, take: Take = from_the_start,
) -> tuple[Result, Result, Result]:  # fmt: skip
    """Classes sorted by frequency, as words are: class k with probability `log((k + 2) / (k + 1)) / log(range_max + 1)`.

    `[batch, num_true] int64 -> [num_sampled] int64, [batch, num_true] float32, [num_sampled] float32`
    """
    check_request(true_classes, num_true, num_sampled, unique, range_max)
    words = stream_words(seed, seed2, take, num_sampled)
    scale = np.log1p(np.float64(range_max))

    def draw(count: int) -> Array:
        return (np.exp(words.doubles(count) * scale).astype(np.int64) - 1) % range_max

    def probability(classes: Array) -> Array:
        with np.errstate(all="ignore"):
            return np.log((classes + 2.0) / (classes + 1.0)) / scale

    return sample(true_classes, draw, probability, num_sampled, unique)


def _unigrams(vocab_file: str, unigrams: Sequence[float]) -> Sequence[float]:
    if bool(vocab_file) == bool(unigrams):
        raise InvalidArgumentError.of("Must provide exactly one of vocab_file and unigrams.")
    if not vocab_file:
        return list(unigrams)
    with GFile(vocab_file) as lines:
        return [float(row[-1]) for row in csv.reader(lines) if row]


@functools.lru_cache(maxsize=4)
def _distribution(weights: bytes) -> AliasTable:
    """The table of some weights, float32, which takes a second for a million of them."""
    return AliasTable(np.frombuffer(weights, np.float32))


@op("FixedUnigramCandidateSampler", SIGNATURE, infer=sampler_shapes, gradient=None, stateful=True, at_once=True, limits=LIMITS)
def fixed_unigram_sampler_node(
    ctx: OpContext, true_classes: Array, *, num_true: int, num_sampled: int, unique: bool, range_max: int,
    vocab_file: str = "", distortion: float = 1.0, num_reserved_ids: int = 0, num_shards: int = 1, shard: int = 0,
    unigrams: Sequence[float] = (), seed: int = 0, seed2: int = 0, take: Take = from_the_start,
) -> tuple[Result, Result, Result]:  # fmt: skip
    """Classes with probabilities in proportion to counts, each to the power of `distortion`.

    `[batch, num_true] int64 -> [num_sampled] int64, [batch, num_true] float32, [num_sampled] float32`
    """
    check_request(true_classes, num_true, num_sampled, unique, range_max)
    counts = np.array(_unigrams(vocab_file, unigrams), np.float32)
    powers = counts if distortion == 1.0 else np.where(counts > 0, counts, 0) ** np.float32(distortion)
    weights = np.concatenate([np.zeros(num_reserved_ids, np.float32), powers])
    weights[np.arange(len(weights)) % num_shards != shard] = 0
    if not 0 <= shard < num_shards:
        raise InvalidArgumentError.of(
            f"range is {range_max} must be equal to weights size 0: shard {shard} of {num_shards} has none"
        )
    if len(weights) != range_max:
        raise InvalidArgumentError.of(f"range_max is {range_max}, but there are {len(weights)} classes")
    if unique and np.count_nonzero(weights) < num_sampled:
        raise InvalidArgumentError.of(f"{num_sampled} different classes wanted, {np.count_nonzero(weights)} can be drawn")
    table, total = _distribution(weights.tobytes()), np.cumsum(weights)[-1]
    words = stream_words(seed, seed2, take, num_sampled)

    def probability(classes: Array) -> Array:
        known = (classes >= 0) & (classes < len(weights))
        return np.where(known, weights[np.where(known, classes, 0)], np.float32(0)) / total

    return sample(true_classes, lambda count: table.draw(words, count), probability, num_sampled, unique)


@op("AllCandidateSampler", SIGNATURE, infer=sampler_shapes, gradient=None, stateful=True, at_once=True, limits=_ALL_LIMITS)
def all_sampler_node(
    ctx: OpContext, true_classes: Array, *, num_true: int, num_sampled: int, unique: bool, seed: int = 0, seed2: int = 0
) -> tuple[Result, Result, Result]:
    """Every class once.

    `[batch, num_true] int64 -> [num_sampled] int64, [batch, num_true] float32, [num_sampled] float32`
    """
    _check_classes(true_classes, num_true)
    return np.arange(num_sampled), np.ones(true_classes.shape), np.ones(num_sampled)


def uniform_candidate_sampler(
    true_classes: TensorLike, num_true: int, num_sampled: int, unique: bool, range_max: int, seed: int | None = None,
    name: str | None = None,
) -> Candidates:  # fmt: skip
    """Draw `num_sampled` of `range_max` classes with equal probability; different ones if `unique`.

    Args: those of `tf.nn.log_uniform_candidate_sampler`.

    Returns:
        `sampled_candidates`, [num_sampled] int64, and the expected counts of the true ([batch, num_true]) and of the sampled
        classes, float32.
    """
    return add_sampler(uniform_sampler_node, true_classes, num_true, num_sampled, unique, seed, name, range_max=range_max)


def log_uniform_candidate_sampler(
    true_classes: TensorLike, num_true: int, num_sampled: int, unique: bool, range_max: int, seed: int | None = None,
    name: str | None = None,
) -> Candidates:  # fmt: skip
    """Draw `num_sampled` of `range_max` classes that are sorted by frequency, as words are.

    Args:
        true_classes: [batch, num_true] int64: the classes of the examples.
        num_true, num_sampled: how many true classes an example has, and how many classes to draw.
        unique: whether all drawn ones are different.
        range_max: the number of classes.
        seed: the op seed.

    Returns:
        `sampled_candidates`, [num_sampled] int64, and the expected counts of the true ([batch, num_true]) and of the sampled
        classes, float32.
    """
    return add_sampler(log_uniform_sampler_node, true_classes, num_true, num_sampled, unique, seed, name, range_max=range_max)


def fixed_unigram_candidate_sampler(
    true_classes: TensorLike, num_true: int, num_sampled: int, unique: bool, range_max: int, vocab_file: str = "",
    distortion: float = 1.0, num_reserved_ids: int = 0, num_shards: int = 1, shard: int = 0,
    unigrams: Sequence[float] = (), seed: int | None = None, name: str | None = None,
) -> Candidates:  # fmt: skip
    """Draw classes in proportion to counts.

    Args:
        true_classes: the classes of the examples, `[batch, num_true]`.
        num_true, num_sampled: how many true classes an example has, and how many classes to draw.
        unique: whether all drawn ones are different.
        range_max: the number of classes.
        vocab_file: a CSV file, a class per line, whose last field is the count.
        distortion: the power that counts are raised to.
        num_reserved_ids: how many first classes have no count and are never drawn.
        num_shards, shard: to draw only every `num_shards`-th class, from `shard` on.
        unigrams: the counts, instead of a file.
        seed: the op seed.
        name: the node's name.

    Returns:
        `sampled_candidates`, [num_sampled] int64, and the expected counts of the true ([batch, num_true]) and of the sampled
        classes, float32.
    """
    return add_sampler(
        fixed_unigram_sampler_node, true_classes, num_true, num_sampled, unique, seed, name, range_max=range_max,
        vocab_file=vocab_file, distortion=distortion, num_reserved_ids=num_reserved_ids, num_shards=num_shards,
        shard=shard, unigrams=list(unigrams),
    )  # fmt: skip


def all_candidate_sampler(
    true_classes: TensorLike, num_true: int, num_sampled: int, unique: bool, seed: int | None = None, name: str | None = None
) -> Candidates:
    """All of `num_sampled` classes, for tests of what uses a sampler.

    Args:
        true_classes: [batch, num_true] int64: the classes of the examples.
        num_true: how many true classes an example has.
        num_sampled: how many classes there are.
        unique: has no effect: all differ.
        seed: the op seed.

    Returns:
        `sampled_candidates`, [num_sampled] int64, and the expected counts of the true and of the sampled classes, float32.
    """
    return add_sampler(all_sampler_node, true_classes, num_true, num_sampled, unique, seed, name)


def add_sampler(
    node: Callable[..., tuple[Tensor, Tensor, Tensor]], true_classes: TensorLike, num_true: int, num_sampled: int, unique: bool,
    seed: int | None, name: str | None, **attrs: object,
) -> Candidates:  # fmt: skip
    """Add the node of a sampler."""
    graph_seed, op_seed = get_seed(seed)
    return Candidates(*node(
        true_classes, num_true=num_true, num_sampled=num_sampled, unique=unique, seed=graph_seed or 0,
        seed2=op_seed or 0, name=name, **attrs,
    ))  # fmt: skip


# Samples that are true classes.


def _hits_shapes(node: Operation) -> list[Dims]:
    dims, count = node.inputs[0].dims, node.attrs["num_true"]
    if dims is not None and len(dims) == 2 and dims[1] not in (None, count):
        raise ValueError(f"Dimension must be {count} but is {dims[1]}")
    return [(None,)] * 3


@op("ComputeAccidentalHits", "true_classes: int64, sampled_candidates: int64 -> indices: int32, ids: int64, weights: float32",
    ranks={"true_classes": 2, "sampled_candidates": 1},
    infer=_hits_shapes, gradient=None)  # fmt: skip
def accidental_hits_node(
    ctx: OpContext, true_classes: Array, sampled_candidates: Array, *, num_true: int, seed: int = 0, seed2: int = 0
) -> tuple[Result, Result, Result]:
    """The places where a sampled class is a true one: the example, the place among the samples, and a weight that rules it out.

    `[batch, num_true] int64, [num_sampled] int64 -> [hits] int32, [hits] int64, [hits] float32`
    """
    place_of = {label: place for place, label in enumerate(sampled_candidates.tolist())}
    hits = [(row, place_of[label]) for row, labels in enumerate(true_classes.tolist()) for label in labels if label in place_of]
    pairs = np.array(hits, np.int64).reshape(-1, 2)
    return pairs[:, 0], pairs[:, 1], np.full(len(pairs), _LEAST)


def compute_accidental_hits(
    true_classes: TensorLike, sampled_candidates: TensorLike, num_true: int, seed: int | None = None, name: str | None = None
) -> tuple[Tensor, Tensor, Tensor]:
    """The samples that are true classes of an example: its row, the sample's place, and minus the largest float.

    Args:
        true_classes: [batch, num_true] int64: the classes of the examples.
        sampled_candidates: [num_sampled] int64: the classes that were drawn.
        num_true: how many true classes an example has.
        seed: the op seed, which has no effect.

    Returns:
        Three tensors of one length: int32 rows, int64 places, and float32 weights.
    """
    graph_seed, op_seed = get_seed(seed)
    return accidental_hits_node(
        true_classes, sampled_candidates, num_true=num_true, seed=graph_seed or 0, seed2=op_seed or 0, name=name
    )
