"""Uses of datasets and iterators beside get_next: one element, how many there are, a place that is saved."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from weft.datasets import structure
from weft.datasets.dataset import Dataset
from weft.datasets.iterator import Iterator
from weft.framework.building.aliases import DynamicShape, Nest
from weft.framework.composites.tensor_spec import TensorSpec
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.types import dtypes
from weft.ops.data import grouping
from weft.ops.data.iterator_nodes import deserialize_iterator, serialize_iterator
from weft.ops.io.parse_example import parse_example
from weft.ops.variables.saveable_object import SaveableObject, SaveSpec

INFINITE_CARDINALITY: Final = -1
UNKNOWN_CARDINALITY: Final = -2


def get_single_element(dataset: Dataset) -> Nest:
    """The only element of a dataset, as tensors.

    Runs raise InvalidArgumentError when there is none, or another. TypeError for anything but a dataset.

    Args:
        dataset: the dataset.
    """
    if not isinstance(dataset, Dataset):
        raise TypeError("`dataset` must be a `tf.data.Dataset` object.")
    spec = dataset.element_spec
    tensors = grouping.dataset_to_single_element(dataset.variant_tensor, **structure.flat_attrs(spec))
    return structure.from_tensors(spec, tensors)


def cardinality(dataset: Dataset) -> Tensor:
    """How many elements a dataset has, a scalar int64: INFINITE_CARDINALITY, or UNKNOWN_CARDINALITY before an iteration.

    Args:
        dataset: the dataset.
    """
    return grouping.dataset_cardinality(dataset.variant_tensor)


def to_variant(dataset: Dataset) -> Tensor:
    """The dataset's node's output, a scalar variant.

    Args:
        dataset: the dataset.
    """
    return dataset.variant_tensor


def from_variant(variant: Tensor, structure: Nest) -> Dataset:
    """The dataset of a variant tensor, whose elements have these specs.

    Args:
        variant: a [] variant tensor, from `to_variant`.
        structure: the structure of specs of an element.
    """
    return Dataset(variant, structure)


class IteratorSaveable(SaveableObject):
    """An iterator's place, for a saver."""

    def __init__(self, handle: Tensor) -> None:
        spec = SaveSpec(serialize_iterator(handle), "", f"{handle.name}-state")
        super().__init__(handle, [spec], handle.name)

    def restore(self, restored_tensors: Sequence[Tensor], restored_shapes: Sequence[DynamicShape] | None) -> Tensor | Operation:
        """Make the operation that lets the iterator go on where it was; its initializer has to have run before."""
        with get_default_graph().colocate_with(self.op.op):
            return deserialize_iterator(self.op, restored_tensors[0])


def make_saveable_from_iterator(iterator: Iterator) -> IteratorSaveable:
    """What saves an iterator's place with a checkpoint: add it to the collection SAVEABLE_OBJECTS, or give it to a Saver.

    A restored iterator goes on behind the element that came last: shuffled elements, what was prefetched and random
    generators are part of its place. The generator of a `from_generator` begins anew and passes over as many elements.

    Args:
        iterator: the iterator.
    """
    return IteratorSaveable(iterator.resource)


def parse_example_dataset(features: Nest, num_parallel_calls: int = 1) -> Nest:
    """A transformation of batches of serial Examples into what `tf.parse_example` makes of them.

    Args:
        features: what to read, by name: FixedLenFeature, VarLenFeature ...
        num_parallel_calls: how many batches are parsed at the same time.

    Raises:
        ValueError: no features are given.
    """
    if features is None:
        raise ValueError(f"Missing: features was {features}.")

    def make(dataset: Dataset) -> Dataset:
        spec = dataset.element_spec
        if not (isinstance(spec, TensorSpec) and spec.dtype is dtypes.string):
            raise TypeError("Input dataset should be a dataset of vectors of strings")
        return dataset.map(lambda texts: parse_example(texts, features), num_parallel_calls=num_parallel_calls)

    return make
