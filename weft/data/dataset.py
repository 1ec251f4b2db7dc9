"""Dataset: a source of elements and what is made of it, step by step."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Self

from weft.data import batches, functions, nest, selecting, sources, structure
from weft.data.factory import dataset_factory
from weft.data.iterator import Iterator, initializable_iterator, one_shot_iterator
from weft.data.options import Options
from weft.data.selecting import Made
from weft.data.structure import DatasetSpec
from weft.data.traced import Traced
from weft.framework import dtypes
from weft.framework.aliases import Nest, TensorLike
from weft.framework.operation import Tensor
from weft.framework.sparse_tensor import SparseTensor
from weft.framework.tensor_conversion import convert_to_tensor
from weft.ops.data import selection


class Dataset:
    """Elements of one structure, one after the other; made by the class's functions, and of other datasets by methods.

    A dataset is a node of the graph; nothing happens until a step asks an iterator for an element.

    Args:
        variant_tensor: the node's output.
        element_spec: what the elements are.
        inputs: the datasets that it is made of.
        captures_reference: whether a function of it uses a variable that is no resource.
    """

    def __init__(
        self, variant_tensor: Tensor, element_spec: Nest, inputs: tuple[Dataset, ...] = (), captures_reference: bool = False
    ) -> None:
        self.variant_tensor = variant_tensor
        self._spec = element_spec
        self._options = Options()
        for each in inputs:
            self._options = self._options.merge(each.options())
        self._captures_reference: bool = captures_reference or any(each._captures_reference for each in inputs)

    def _of(self, made: Made, *others: Dataset, function: Traced | None = None) -> Dataset:
        return Dataset(*made, inputs=(self, *others), captures_reference=function is not None and function.captures_reference)

    @property
    def element_spec(self) -> Nest:
        """What the elements are: a spec for each leaf."""
        return self._spec

    @property
    def output_classes(self) -> Nest:
        """The classes of the elements' leaves."""
        return structure.legacy_classes(self._spec)

    @property
    def output_shapes(self) -> Nest:
        """The shapes of the elements' leaves."""
        return structure.legacy_shapes(self._spec)

    @property
    def output_types(self) -> Nest:
        """The types of the elements' leaves."""
        return structure.legacy_types(self._spec)

    def __repr__(self) -> str:
        shapes = str(nest.map_structure(str, self.output_shapes)).replace("'", "")
        types = str(nest.map_structure(repr, self.output_types)).replace("'", "")
        name = "DatasetV1Adapter" if type(self) is Dataset else f"{type(self).__name__}V1"
        return f"<{name} shapes: {shapes}, types: {types}>"

    def __iter__(self) -> Self:
        raise RuntimeError("__iter__() is only supported inside of tf.function or when eager execution is enabled.")

    # Sources.

    @staticmethod
    def from_tensors(tensors: Nest) -> Dataset:
        """A dataset of one element."""
        return Dataset(*sources.from_tensors(tensors))

    @staticmethod
    def from_tensor_slices(tensors: Nest) -> Dataset:
        """A dataset of the rows of tensors, which must be equally many; ValueError where they are not."""
        return Dataset(*sources.from_tensor_slices(tensors))

    @staticmethod
    def from_sparse_tensor_slices(sparse_tensor: SparseTensor) -> Dataset:
        """A dataset of the rows of a sparse tensor, as triples (indices, values, dense_shape)."""
        return Dataset(*sources.from_sparse_tensor_slices(sparse_tensor))

    @staticmethod
    def range(*args: TensorLike) -> Dataset:
        """A dataset of the int64 numbers that `range` of the arguments gives."""
        return Dataset(*sources.number_range(*args))

    @staticmethod
    def zip(datasets: Nest) -> Dataset:
        """A dataset of elements of several side by side, in the structure that the datasets are given in."""
        made = selecting.zip_datasets(datasets)
        return Dataset(*made, inputs=tuple(nest.flatten(datasets)))

    # Order and number.

    def concatenate(self, dataset: Dataset) -> Dataset:
        """The elements of this dataset, then those of another; TypeError where they differ in type."""
        return self._of(selecting.concatenate(self, dataset), dataset)

    def repeat(self, count: TensorLike | None = None) -> Dataset:
        """The elements `count` times; without end for None or -1."""
        return self._of(selecting.repeat(self, count))

    def shuffle(
        self, buffer_size: TensorLike, seed: TensorLike | None = None, reshuffle_each_iteration: bool | None = None
    ) -> Dataset:
        """The elements in random order, which is TensorFlow's for the same seeds.

        Args:
            buffer_size: how many elements the next one is chosen out of; all are read before the first comes if it is large.
            seed: the seed; see `tf.set_random_seed`.
            reshuffle_each_iteration: whether each repetition has an order of its own; True when None.
        """
        return self._of(selecting.shuffle(self, buffer_size, seed, reshuffle_each_iteration))

    def take(self, count: TensorLike) -> Dataset:
        """The first `count` elements; all for -1."""
        return self._of(selecting.take(self, count))

    def skip(self, count: TensorLike) -> Dataset:
        """All but the first `count` elements; none for -1."""
        return self._of(selecting.skip(self, count))

    def shard(self, num_shards: TensorLike, index: TensorLike) -> Dataset:
        """Every `num_shards`-th element from that of number `index` on."""
        return self._of(selecting.shard(self, num_shards, index))

    # Batches.

    def batch(self, batch_size: TensorLike, drop_remainder: TensorLike = False) -> Dataset:
        """Batches of consecutive elements, stacked along a new first dimension.

        Args:
            batch_size: how many elements are in each.
            drop_remainder: whether a last batch of fewer elements is left out.
        """
        return self._of(batches.batch(self, batch_size, drop_remainder))

    # Functions.

    def map(self, map_func: Callable[..., Nest], num_parallel_calls: TensorLike | None = None) -> Dataset:
        """The results of a function for each element.

        Args:
            map_func: takes the components of an element as its arguments, and returns any structure of tensors.
            num_parallel_calls: how many elements it runs for at the same time; one when None. The order stays.
        """
        made, traced = functions.map_elements(self, map_func)
        return self._of(made, function=traced)

    def filter(self, predicate: Callable[..., Nest]) -> Dataset:
        """The elements for which a function returns a true scalar."""
        made, traced = functions.filter_elements(self, predicate)
        return self._of(made, function=traced)

    def flat_map(self, map_func: Callable[..., Nest]) -> Dataset:
        """The elements of the datasets that a function makes of each element, one dataset after the other."""
        made, traced = functions.flat_map(self, map_func)
        return self._of(made, function=traced)

    def apply(self, transformation_func: Callable[[Dataset], Dataset]) -> Dataset:
        """What a function makes of this dataset; TypeError when that is no dataset."""
        dataset = transformation_func(self)
        if not isinstance(dataset, Dataset):
            raise TypeError("`transformation_func` must return a Dataset.")
        return dataset

    # Options and iterators.

    def options(self) -> Options:
        """The options of this dataset, and of those that it is made of."""
        return self._options

    def with_options(self, options: Options) -> Dataset:
        """The same dataset with options; ValueError where they contradict those that it has."""
        result = Dataset(self.variant_tensor, self._spec, (self,))
        result._options = self._options.merge(options)
        return result

    def make_one_shot_iterator(self) -> Iterator:
        """An iterator that needs no initializer, and goes over the dataset once.

        Raises:
            ValueError: the dataset depends on a placeholder or a variable; see `make_initializable_iterator`.
        """
        return one_shot_iterator(self, dataset_factory(self.variant_tensor, self._optimized))

    def make_initializable_iterator(self, shared_name: str | None = None) -> Iterator:
        """An iterator that begins, again and again, when its `initializer` is run.

        Args:
            shared_name: the name under which sessions of one server share it; None for the node's own.
        """
        return initializable_iterator(self, self._optimized(self.variant_tensor), shared_name)

    def _optimized(self, variant: Tensor) -> Tensor:
        """The dataset as an iterator runs it. TensorFlow has the same nodes, by whose number later ones are seeded."""
        attrs = structure.flat_attrs(self._spec)
        rewrites = self._options.rewrites()
        if rewrites and self._captures_reference:
            warnings.warn(
                "tf.data static optimizations are not compatible with tf.Variable. The following optimizations will be "
                f"disabled: {', '.join(rewrites)}. To enable optimizations, use resource variables instead by calling "
                "`tf.enable_resource_variables()` at the start of the program.",
                stacklevel=3,
            )
        elif rewrites:
            names = convert_to_tensor(rewrites, dtype=dtypes.string, name="optimizations")
            configs = ["map_vectorization:use_choose_fastest:false"]
            variant = selection.optimize_dataset(variant, names, optimization_configs=configs, **attrs)
        if self._options.experimental_optimization.autotune is False:
            return variant
        return selection.model_dataset(variant, **attrs)


DatasetSpec.make = staticmethod(Dataset)


def make_one_shot_iterator(dataset: Dataset) -> Iterator:
    """An iterator that goes over the dataset once; see `Dataset.make_one_shot_iterator`."""
    return dataset.make_one_shot_iterator()


def make_initializable_iterator(dataset: Dataset, shared_name: str | None = None) -> Iterator:
    """An iterator that begins when its initializer is run; see `Dataset.make_initializable_iterator`."""
    return dataset.make_initializable_iterator(shared_name)


def get_output_types(dataset_or_iterator: Dataset | Iterator) -> Nest:
    """The types of the elements' leaves."""
    return structure.legacy_types(dataset_or_iterator.element_spec)


def get_output_shapes(dataset_or_iterator: Dataset | Iterator) -> Nest:
    """The shapes of the elements' leaves."""
    return structure.legacy_shapes(dataset_or_iterator.element_spec)


def get_output_classes(dataset_or_iterator: Dataset | Iterator) -> Nest:
    """The classes of the elements' leaves."""
    return structure.legacy_classes(dataset_or_iterator.element_spec)


def get_structure(dataset_or_iterator: Dataset | Iterator) -> Nest:
    """What the elements are: a spec for each leaf; TypeError for anything but a dataset or an iterator."""
    if not isinstance(dataset_or_iterator, Dataset | Iterator):
        raise TypeError(f"`dataset_or_iterator` must be a Dataset or Iterator object, but got {type(dataset_or_iterator)}.")
    return dataset_or_iterator.element_spec
