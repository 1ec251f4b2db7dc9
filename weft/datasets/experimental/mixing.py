"""Datasets that are mixed out of several, and one that is thinned out to a distribution of classes."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from weft.datasets import nest, structure
from weft.datasets.dataset import Dataset
from weft.datasets.experimental.transformations import Apply, RandomDataset, scan
from weft.framework.building.aliases import Array, Nest, TensorLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.composites.tensor_spec import TensorSpec
from weft.framework.nodes.constant_value import constant_value
from weft.framework.nodes.operation import Tensor
from weft.framework.types import dtypes
from weft.framework.types.tensor_shape import as_dims
from weft.ops.array.filling import fill, one_hot
from weft.ops.array.gather_scatter import gather
from weft.ops.array.shape_ops import expand_dims, shape, squeeze
from weft.ops.array.tiling import tile
from weft.ops.data.interleaving import directed_interleave_dataset
from weft.ops.math.casting import cast
from weft.ops.math.division import truediv
from weft.ops.math.reduce_functions import reduce_max, reduce_min, reduce_sum
from weft.ops.math.unary import log
from weft.ops.random.functions import random_uniform
from weft.ops.random.stateless_functions import stateless_multinomial


def _directed(selector: Dataset, datasets: Sequence[Dataset]) -> Dataset:
    first = datasets[0].element_spec
    for each in datasets[1:]:
        same_types = structure.legacy_types(each.element_spec) == structure.legacy_types(first)
        if not same_types or structure.legacy_classes(each.element_spec) != structure.legacy_classes(first):
            raise TypeError("All datasets must have the same type and class.")
    shapes = nest.flatten(structure.legacy_shapes(first))
    for each in datasets[1:]:
        others = nest.flatten(structure.legacy_shapes(each.element_spec))
        shapes = [a.most_specific_compatible_shape(b) for a, b in zip(shapes, others, strict=True)]
    types, classes = structure.legacy_types(first), structure.legacy_classes(first)
    spec = structure.spec_of_legacy(types, nest.pack_sequence_as(types, shapes), classes)
    variants = [each.variant_tensor for each in datasets]
    variant = directed_interleave_dataset(selector.variant_tensor, variants, **structure.flat_attrs(spec))
    return Dataset(variant, spec, (selector, *datasets))


def choose_from_datasets(datasets: Sequence[Dataset], choice_dataset: Dataset) -> Dataset:
    """A dataset of the elements of datasets in the order that a dataset of their numbers tells.

    Args:
        datasets: the datasets, of elements of one structure.
        choice_dataset: numbers from 0, [] int64.

    Raises:
        TypeError: the choices are no [] int64.
    """
    spec = choice_dataset.element_spec
    if not (isinstance(spec, TensorSpec) and spec.dtype is dtypes.int64 and as_dims(spec.shape) in ((), None)):
        raise TypeError(
            f"`choice_dataset` must be a dataset of scalar `tf.int64` tensors. It is of {spec}; "
            "choice_dataset.map(lambda i: tf.cast(i, tf.int64)) makes int64 of other numbers."
        )
    return _directed(choice_dataset, datasets)


def sample_from_datasets(datasets: Sequence[Dataset], weights: Nest = None, seed: TensorLike | None = None) -> Dataset:
    """Elements of datasets in random order.

    Args:
        datasets: the datasets, of elements of one structure.
        weights: how probable each is, or a dataset of such vectors; all the same when None.
        seed: the seed of the order.

    Returns:
        A dataset, which ends when all of them have.

    Raises:
        TypeError: the weights are no floats, or the datasets differ in type.
        ValueError: there are not as many weights as datasets.
    """
    seeds = RandomDataset(seed).batch(2)
    if isinstance(weights, Dataset):
        logits_of = weights.map(lambda *p: log(p, name="logits"))
        return _directed(Dataset.zip((logits_of, seeds)).map(_chosen), datasets)
    if weights is None:
        logits: Nest = [[1.0] * len(datasets)]
    else:
        given = convert_to_tensor(weights, name="weights")
        if given.dtype not in (dtypes.float32, dtypes.float64):
            raise TypeError(
                "`weights` must be convertible to a tensor of `tf.float32` or `tf.float64` elements. They are of the type "
                f"{given.dtype.name}."
            )
        if not given.shape.is_compatible_with([len(datasets)]):
            raise ValueError(
                f"`weights` must be a vector of length `len(datasets)`. There are {len(datasets)} datasets, and the weights "
                f"are of the shape {given.shape}."
            )
        logits = expand_dims(log(given, name="logits"), 0)
    if len(datasets) == 1:
        return datasets[0]
    return _directed(seeds.map(lambda key: _chosen(logits, key)), datasets)


def _chosen(logits: Nest, seed: Tensor) -> Tensor:
    return squeeze(stateless_multinomial(logits, 1, seed=seed), axis=[0, 1])


def rejection_resample(
    class_func: Callable[..., Nest], target_dist: TensorLike, initial_dist: TensorLike | None = None, seed: int | None = None
) -> Apply:
    """Pairs of a class and an element, some of them left out, so that the classes have a distribution.

    Args:
        class_func: the class of an element, a scalar int32.
        target_dist: the probabilities that the classes shall have.
        initial_dist: those that they have; estimated as elements come when None.
        seed: the seed of the choice.

    Returns:
        A function of a dataset, for `Dataset.apply`.
    """

    def make(dataset: Dataset) -> Dataset:
        target = convert_to_tensor(target_dist, name="target_dist")
        classes = dataset.map(class_func)
        share = None
        if initial_dist is None:
            initial = _estimated(target, classes)
            chances = initial.map(lambda probabilities: _acceptance(probabilities, target))
            acceptance, untouched = chances.map(lambda accept, _: accept), chances.map(lambda _, original: original)
        else:
            known = convert_to_tensor(initial_dist, name="initial_dist")
            share = _static_share(known, target)
            accept, original = _acceptance(known, target)
            acceptance = Dataset.from_tensors(accept).repeat()
            untouched = Dataset.from_tensors(original).repeat()
        pairs = Dataset.zip((classes, dataset))
        if share == 1:
            return pairs
        filtered = _filtered(dataset, acceptance, classes, seed).prefetch(3)
        if share == 0:
            return filtered
        odds = untouched.map(lambda probability: [(probability, 1.0 - probability)])
        return sample_from_datasets([pairs, filtered], weights=odds, seed=seed)

    return make


def _static_share(initial: Tensor, target: Tensor) -> Array:
    known, wanted = constant_value(initial), constant_value(target)
    return None if known is None or wanted is None else np.min(wanted / known)


def _filtered(dataset: Dataset, acceptance: Dataset, classes: Dataset, seed: int | None) -> Dataset:
    together = Dataset.zip((classes, acceptance, dataset)).map(lambda kind, chances, data: (kind, gather(chances, kind), data))
    kept = together.filter(lambda _kind, chance, _data: random_uniform([], seed=seed) < chance)
    return kept.map(lambda kind, _, data: (kind, data))


def _estimated(target: Tensor, classes: Dataset, batch_size: int = 32, smoothing: int = 10) -> Dataset:
    """The distribution of the classes so far, once for each element."""
    count = target.shape.as_list()[0] or shape(target)[0]
    seen = fill([count], np.int64(smoothing))

    def update(counts: Tensor, batch: Tensor) -> tuple[Tensor, Tensor]:
        counts = counts + reduce_sum(one_hot(batch, count, dtype=dtypes.int64), 0)
        distribution = cast(truediv(counts, reduce_sum(counts)), dtypes.float32)
        return counts, tile(expand_dims(distribution, 0), [batch_size, 1])

    return classes.batch(batch_size).apply(scan(seen, update)).unbatch()


def _acceptance(initial: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
    """How probably an element of each class is kept, and how many elements come as they are."""
    ratio = target / (initial + np.finfo(initial.dtype.as_numpy_dtype).tiny)
    least = reduce_min(ratio)
    return (ratio - least) / (reduce_max(ratio) - least), least
