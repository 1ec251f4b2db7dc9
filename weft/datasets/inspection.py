"""Functions that ask a dataset, or an iterator, for what its methods give: its iterators, and the types of its elements."""

from __future__ import annotations

from weft.datasets import structure
from weft.datasets.dataset import Dataset
from weft.datasets.iterator import Iterator
from weft.framework.building.aliases import Nest


def make_one_shot_iterator(dataset: Dataset) -> Iterator:
    """An iterator that goes over the dataset once; see `Dataset.make_one_shot_iterator`.

    Args:
        dataset: the dataset; its functions may use no variables or tables.
    """
    return dataset.make_one_shot_iterator()


def make_initializable_iterator(dataset: Dataset, shared_name: str | None = None) -> Iterator:
    """An iterator that begins when its initializer is run; see `Dataset.make_initializable_iterator`.

    Args:
        dataset: the dataset.
        shared_name: the name by which sessions share it; the node's name when None.
    """
    return dataset.make_initializable_iterator(shared_name)


def get_output_types(dataset_or_iterator: Dataset | Iterator) -> Nest:
    """The types of the elements' leaves.

    Args:
        dataset_or_iterator: a dataset or an iterator.
    """
    return structure.legacy_types(dataset_or_iterator.element_spec)


def get_output_shapes(dataset_or_iterator: Dataset | Iterator) -> Nest:
    """The shapes of the elements' leaves.

    Args:
        dataset_or_iterator: a dataset or an iterator.
    """
    return structure.legacy_shapes(dataset_or_iterator.element_spec)


def get_output_classes(dataset_or_iterator: Dataset | Iterator) -> Nest:
    """The classes of the elements' leaves.

    Args:
        dataset_or_iterator: a dataset or an iterator.
    """
    return structure.legacy_classes(dataset_or_iterator.element_spec)


def get_structure(dataset_or_iterator: Dataset | Iterator) -> Nest:
    """What the elements are: a spec for each leaf; TypeError for anything but a dataset or an iterator.

    Args:
        dataset_or_iterator: a dataset or an iterator.
    """
    if not isinstance(dataset_or_iterator, Dataset | Iterator):
        raise TypeError(f"`dataset_or_iterator` must be a Dataset or Iterator object, but got {type(dataset_or_iterator)}.")
    return dataset_or_iterator.element_spec
