"""Transformations that hand elements on as they are: their order, their number, where they are kept."""

from __future__ import annotations

from typing import Final, NamedTuple, TypeGuard

import numpy as np

from weft.datasets import nest, structure
from weft.datasets.leaves import DatasetLike
from weft.errors import InvalidArgumentError
from weft.framework.building.aliases import Nest, TensorLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.node_errors import naming
from weft.framework.nodes.operation import Tensor
from weft.framework.types import dtypes
from weft.framework.types.dtypes import DType
from weft.ops.array.constant import constant
from weft.ops.array.selection import where
from weft.ops.data import caching, prefetching, shuffling
from weft.ops.data import selection as nodes
from weft.ops.math.comparison import equal, logical_and
from weft.ops.random.seed import get_seed

AUTOTUNE: Final = -1
"""Stands for a number that the pipeline chooses itself."""

OF_SHUFFLING: Final = "1 keeps the order, and a number as large as the dataset's mixes all of it."
OF_BATCHES: Final = "it is how many elements a batch has; without batches, leave the call out."
_WHOLE: Final = "A whole number is wanted: `//` divides without a fraction, int(x) drops it."
_OF_TEXT: Final = "A whole number is wanted: int(x) reads one out of a text."


class Made(NamedTuple):
    """A dataset that was made: its node's output, and what its elements are."""

    variant: Tensor
    spec: Nest


def int64(value: TensorLike, name: str) -> Tensor:
    """A number that a node takes as an input."""
    advice = _WHOLE if isinstance(value, float) else _OF_TEXT if isinstance(value, str) else ""
    with naming(advice, **{name: value}):
        return _scalar(value, dtypes.int64, name, "number")


def truth(value: TensorLike, name: str) -> Tensor:
    """A boolean that a node takes as an input."""
    with naming("", **{name: value}):
        return _scalar(value, dtypes.bool, name, "boolean")


def _scalar(value: TensorLike, dtype: DType, name: str, kind: str) -> Tensor:
    tensor = convert_to_tensor(value, dtype=dtype, name=name)
    if tensor.dims:
        raise ValueError(f"Shape must be rank 0 but is rank {len(tensor.dims)}: {name} is one {kind}")
    return tensor


def check_above_zero(value: TensorLike | None, name: str, remedy: str, *, what: str = "", or_automatic: bool = False) -> None:
    """Refuse a number below 1; what only a run tells, the node looks at.

    Args:
        value: the number.
        name: the argument's name.
        remedy: what to give instead of 0.
        what: what it is called in the error; its name when empty.
        or_automatic: whether AUTOTUNE stands for a number, too.

    Raises:
        InvalidArgumentError: the program says 0, or less.
    """
    if is_said(value) and value < 1 and not (or_automatic and value == AUTOTUNE):
        raise InvalidArgumentError.of(f"{what or name} must be greater than zero. {name} is {value}: {remedy}")


def above_zero(value: TensorLike, name: str, remedy: str, *, what: str = "", or_automatic: bool = False) -> Tensor:
    """A number that a node takes as an input, 1 or more; the arguments are those of `check_above_zero`."""
    check_above_zero(value, name, remedy, what=what, or_automatic=or_automatic)
    return int64(value, name)


def is_said(value: TensorLike | None) -> TypeGuard[int]:
    """Whether the program says a whole number, so that no run is needed to know it."""
    return isinstance(value, int | np.integer)


def dataset_seeds(seed: TensorLike | None) -> tuple[Tensor, Tensor]:
    """The seeds of a dataset's node, as TensorFlow makes nodes for them: later nodes are seeded by how many there are."""
    first, second = get_seed(seed)  # type: ignore[arg-type]
    if first is None:
        return constant(0, dtypes.int64, name="seed"), constant(0, dtypes.int64, name="seed2")
    first_tensor = convert_to_tensor(first, dtype=dtypes.int64, name="seed")
    if second is None:
        return first_tensor, constant(0, dtypes.int64, name="seed2")
    with get_default_graph().name_scope("seed2") as scope:
        second_tensor = convert_to_tensor(second, dtype=dtypes.int64)
        is_none = logical_and(equal(first_tensor, 0), equal(second_tensor, 0))
        return first_tensor, where(is_none, constant(2**31 - 1, dtypes.int64), second_tensor, name=scope)


def take(dataset: DatasetLike, count: TensorLike) -> Made:
    """The first elements."""
    spec = dataset.element_spec
    return Made(nodes.take_dataset(dataset.variant_tensor, int64(count, "count"), **structure.flat_attrs(spec)), spec)


def skip(dataset: DatasetLike, count: TensorLike) -> Made:
    """The elements behind the first."""
    spec = dataset.element_spec
    return Made(nodes.skip_dataset(dataset.variant_tensor, int64(count, "count"), **structure.flat_attrs(spec)), spec)


def repeat(dataset: DatasetLike, count: TensorLike | None) -> Made:
    """The elements again and again."""
    spec = dataset.element_spec
    times = int64(-1 if count is None else count, "count")
    return Made(nodes.repeat_dataset(dataset.variant_tensor, times, **structure.flat_attrs(spec)), spec)


def shard(dataset: DatasetLike, num_shards: TensorLike, index: TensorLike) -> Made:
    """Every `num_shards`-th element."""
    spec = dataset.element_spec
    parts = int64(num_shards, "num_shards"), int64(index, "index")
    return Made(nodes.shard_dataset(dataset.variant_tensor, *parts, **structure.flat_attrs(spec)), spec)


def shuffle(dataset: DatasetLike, buffer_size: TensorLike, seed: TensorLike | None, reshuffles: bool | None) -> Made:
    """The elements in random order."""
    spec = dataset.element_spec
    size = above_zero(buffer_size, "buffer_size", OF_SHUFFLING)
    variant = shuffling.shuffle_dataset(
        dataset.variant_tensor, size, *dataset_seeds(seed),
        reshuffle_each_iteration=True if reshuffles is None else reshuffles, **structure.flat_attrs(spec),
    )  # fmt: skip
    return Made(variant, spec)


def prefetch(dataset: DatasetLike, buffer_size: TensorLike | None) -> Made:
    """Elements that are made before they are wanted."""
    spec = dataset.element_spec
    if is_said(buffer_size) and buffer_size < AUTOTUNE:
        raise InvalidArgumentError.of(
            f"buffer_size must be >= 0 or set buffer_size to be -1 for auto-tuning. buffer_size is {buffer_size}: it is how "
            "many elements are made ahead; tf.data.experimental.AUTOTUNE has the pipeline choose."
        )
    size = int64(AUTOTUNE if buffer_size is None else buffer_size, "buffer_size")
    return Made(prefetching.prefetch_dataset(dataset.variant_tensor, size, **structure.flat_attrs(spec)), spec)


def cache(dataset: DatasetLike, filename: TensorLike) -> Made:
    """Elements that are kept."""
    spec = dataset.element_spec
    name = convert_to_tensor(filename, dtype=dtypes.string, name="filename")
    return Made(caching.cache_dataset(dataset.variant_tensor, name, **structure.flat_attrs(spec)), spec)


def concatenate(dataset: DatasetLike, other: DatasetLike) -> Made:
    """The elements of both; TypeError where they differ in type, or the other is none."""
    if not hasattr(other, "element_spec"):
        raise TypeError(
            f"`dataset_or_iterator` must be a Dataset or Iterator object, but got {other!r}: several follow each other as "
            "one.concatenate(two).concatenate(three)."
        )
    one, two = dataset.element_spec, other.element_spec
    for what, of in (("types", structure.legacy_types), ("classes", structure.legacy_classes)):
        if of(one) != of(two):
            raise TypeError(f"Two datasets to concatenate have different {what} {of(one)} and {of(two)}")
    shapes = [
        a.most_specific_compatible_shape(b)
        for a, b in zip(nest.flatten(structure.legacy_shapes(one)), nest.flatten(structure.legacy_shapes(two)), strict=True)
    ]
    types, classes = structure.legacy_types(one), structure.legacy_classes(one)
    spec = structure.spec_of_legacy(types, nest.pack_sequence_as(types, shapes), classes)
    attrs = structure.flat_attrs(spec)
    return Made(nodes.concatenate_dataset(dataset.variant_tensor, other.variant_tensor, **attrs), spec)


def zip_datasets(datasets: Nest) -> Made:
    """The elements of several datasets side by side, in the structure that these have.

    Raises:
        TypeError: the structure holds something else than datasets.
    """
    found = nest.flatten(datasets)
    for each in found:
        if not hasattr(each, "variant_tensor"):
            if isinstance(each, list):
                raise TypeError(
                    "The argument to `Dataset.zip()` must be a nested structure of `Dataset` objects. Nested structures do not "
                    "support Python lists; please use a tuple instead."
                )
            raise TypeError(
                f"The argument to `Dataset.zip()` must be a nested structure of `Dataset` objects. Got: {type(each)}"
            )
    spec = nest.pack_sequence_as(datasets, [each.element_spec for each in found])
    variants = [each.variant_tensor for each in found]
    return Made(nodes.zip_dataset(variants, **structure.flat_attrs(spec)), spec)
