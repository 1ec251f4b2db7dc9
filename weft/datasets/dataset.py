"""Dataset: a source of elements and what is made of it, step by step."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Sequence

import numpy as np

from weft.datasets import batches, functions, nest, picture, selecting, sources, structure, traced
from weft.datasets.factory import dataset_factory
from weft.datasets.file_names import matching_names
from weft.datasets.functions import MadeBy
from weft.datasets.generators import GeneratorState, generator_dataset
from weft.datasets.iteration import elements_of
from weft.datasets.iterator import Iterator, initializable_iterator, one_shot_iterator
from weft.datasets.leaves import DatasetSpec
from weft.datasets.options import Options
from weft.datasets.selecting import Made
from weft.datasets.structured import Structured
from weft.errors import InvalidArgumentError
from weft.framework.building.aliases import Nest, NumberLike, TensorLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.composites.sparse_tensor import SparseTensor
from weft.framework.composites.tensor_spec import TensorSpec
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.operation import Tensor
from weft.framework.types import dtypes
from weft.ops.array.shape_ops import shape
from weft.ops.data import selection
from weft.ops.math.comparison import maximum


class Dataset(Structured):
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
        super().__init__(element_spec)
        self.variant_tensor = variant_tensor
        self._options = Options()
        for each in inputs:
            self._options = self._options.merge(each.options())
        self._captures_reference: bool = captures_reference or any(each._captures_reference for each in inputs)

    @property
    def leaf_spec(self) -> DatasetSpec:
        """What this is as a leaf of another dataset's elements."""
        return DatasetSpec(self.element_spec)

    def _of(self, made: Made, *others: Dataset) -> Dataset:
        return Dataset(*made, inputs=(self, *others))

    def made_by(self, result: MadeBy) -> Dataset:
        """A dataset that was made of this one by functions."""
        return Dataset(*result.made, (self,), any(each.captures_reference for each in result.functions))

    __repr__ = picture.text_of
    _repr_html_ = picture.table_of
    __iter__: None

    # Sources.

    @staticmethod
    def from_tensors(tensors: Nest) -> Dataset:
        """A dataset of one element.

        Args:
            tensors: a tensor, or lists, tuples and dicts of tensors: the one element.
        """
        return Dataset(*sources.from_tensors(tensors))

    @staticmethod
    def from_tensor_slices(tensors: Nest) -> Dataset:
        """A dataset of the rows of tensors, which must be equally many; ValueError where they are not.

        Args:
            tensors: a tensor, or lists, tuples and dicts of tensors, whose first dimensions are equal.

        Returns:
            A Dataset.

        Raises:
            ValueError: the rows are not equally many, or there are scalars.

        >>> element = tf.data.Dataset.from_tensor_slices([1, 2]).make_one_shot_iterator().get_next()
        >>> sess.run(element), sess.run(element)
        (np.int32(1), np.int32(2))
        """
        return Dataset(*sources.from_tensor_slices(tensors))

    @staticmethod
    def from_sparse_tensor_slices(sparse_tensor: SparseTensor) -> Dataset:
        """A dataset of the rows of a sparse tensor, as triples (indices, values, dense_shape).

        Args:
            sparse_tensor: a SparseTensor, whose rows become the elements.
        """
        return Dataset(*sources.from_sparse_tensor_slices(sparse_tensor))

    @staticmethod
    def range(*args: TensorLike) -> Dataset:
        """A dataset of the int64 numbers that `range` of the arguments gives.

        Args:
            args: `stop`, or `start, stop`, or `start, stop, step`, each a [] int64.
        """
        return Dataset(*sources.number_range(*args))

    @staticmethod
    def zip(datasets: Nest) -> Dataset:
        """A dataset of elements of several side by side, in the structure that the datasets are given in.

        Args:
            datasets: a tuple, list or dict of datasets.

        Returns:
            A Dataset.

        Raises:
            TypeError: one of them is no dataset, or they stand in a list.
        """
        made = selecting.zip_datasets(datasets)
        return Dataset(*made, inputs=tuple(nest.flatten(datasets)))

    @staticmethod
    def from_generator(
        generator: Callable[..., Iterable[Nest]],
        output_types: Nest,
        output_shapes: Nest = None,
        args: Sequence[TensorLike] | None = None,
    ) -> Dataset:
        """A dataset of what a Python generator yields, which begins anew with each pass.

        The generator runs in the process that built the graph, so the dataset must be on a task of that process.

        Args:
            generator: gives an iterable; called for each pass.
            output_types: the types of its values, in their structure.
            output_shapes: their shapes; unknown ones when None.
            args: tensors whose values `generator` gets.

        Raises:
            TypeError: `generator` cannot be called.
        """
        if not callable(generator):
            raise TypeError(
                f"`generator` must be callable. Got {generator!r}: the function itself is given, not what it returns."
            )
        if args is not None and not isinstance(args, list | tuple):
            args = (args,)
        spec = structure.spec_of_legacy(output_types, output_shapes)
        state = GeneratorState(generator)
        arguments = [convert_to_tensor(arg, name="args") for arg in args or ()]
        return Dataset.from_tensors(0).flat_map(lambda _: Dataset(*generator_dataset(state, spec, arguments)))

    @staticmethod
    def list_files(file_pattern: TensorLike, shuffle: bool | None = None, seed: TensorLike | None = None) -> Dataset:
        """A dataset of the names of files that match patterns, such as `/data/*.tfrecord`.

        Args:
            file_pattern: a pattern or several.
            shuffle: whether they come in random order; True when None.
            seed: the seed of the order.

        Runs raise InvalidArgumentError when no file matches.
        """
        with get_default_graph().name_scope("list_files"):
            names = matching_names(convert_to_tensor(file_pattern, dtype=dtypes.string, name="file_pattern"))
            dataset = Dataset.from_tensor_slices(names)
            if shuffle is False:
                return dataset
            return dataset.shuffle(maximum(shape(names, out_type=dtypes.int64)[0], 1), seed=seed)

    # Order and number.

    def cache(self, filename: TensorLike = "") -> Dataset:
        """The elements, made once and kept: in memory, or in a file that has a name.

        Args:
            filename: the beginning of the files' names; in memory when it is empty.
        """
        return self._of(selecting.cache(self, filename))

    def prefetch(self, buffer_size: NumberLike) -> Dataset:
        """The elements, up to `buffer_size` of them made before a step asks for them; -1 chooses the number.

        Args:
            buffer_size: [] int64, or `tf.data.experimental.AUTOTUNE`.
        """
        return self._of(selecting.prefetch(self, buffer_size))

    def enumerate(self, start: TensorLike = 0) -> Dataset:
        """Pairs of a number, from `start` on, and an element.

        Args:
            start: [] int64.

        Returns:
            A Dataset of pairs: a [] int64 number, and an element as it is here.
        """
        return Dataset.zip((Dataset.range(start, np.iinfo(np.int64).max), self))

    def concatenate(self, dataset: Dataset) -> Dataset:
        """The elements of this dataset, then those of another; TypeError where they differ in type.

        Args:
            dataset: the other.
        """
        return self._of(selecting.concatenate(self, dataset), dataset)

    def repeat(self, count: NumberLike | None = None) -> Dataset:
        """The elements `count` times; without end for None or -1.

        Args:
            count: [] int64.
        """
        return self._of(selecting.repeat(self, count))

    def shuffle(
        self, buffer_size: NumberLike, seed: TensorLike | None = None, reshuffle_each_iteration: bool | None = None
    ) -> Dataset:
        """The elements in random order, which is TensorFlow's for the same seeds.

        Args:
            buffer_size: how many elements the next one is chosen out of; all are read before the first comes if it is large.
            seed: the seed; see `tf.set_random_seed`.
            reshuffle_each_iteration: whether each repetition has an order of its own; True when None.
        """
        return self._of(selecting.shuffle(self, buffer_size, seed, reshuffle_each_iteration))

    def take(self, count: NumberLike) -> Dataset:
        """The first `count` elements; all for -1.

        Args:
            count: [] int64.
        """
        return self._of(selecting.take(self, count))

    def skip(self, count: NumberLike) -> Dataset:
        """All but the first `count` elements; none for -1.

        Args:
            count: [] int64.
        """
        return self._of(selecting.skip(self, count))

    def shard(self, num_shards: NumberLike, index: TensorLike) -> Dataset:
        """Every `num_shards`-th element from that of number `index` on.

        Args:
            num_shards, index: [] int64.

        Returns:
            A Dataset of such elements as here.

        Raises:
            InvalidArgumentError: `index` is no number below `num_shards`; at the first element where only a run tells.
        """
        if isinstance(num_shards, int) and isinstance(index, int) and not 0 <= index < num_shards:
            raise InvalidArgumentError.of(
                f"Index must be between 0 and {num_shards - 1} (currently index = {index}): shard(num_shards={num_shards}, "
                f"index={index}) takes the number of shards first, then that of this one, from 0 on."
            )
        return self._of(selecting.shard(self, num_shards, index))

    # Batches.

    def batch(self, batch_size: NumberLike, drop_remainder: TensorLike = False) -> Dataset:
        """Batches of consecutive elements, stacked along a new first dimension.

        Args:
            batch_size: how many elements are in each.
            drop_remainder: whether a last batch of fewer elements is left out.

        Returns:
            A Dataset whose tensors have one dimension more, the first: `batch_size`, or unknown where the last batch may be
            smaller.
        """
        return self._of(batches.batch(self, batch_size, drop_remainder))

    def padded_batch(
        self,
        batch_size: NumberLike,
        padded_shapes: Nest,
        padding_values: Nest = None,
        drop_remainder: TensorLike = False,
    ) -> Dataset:
        """Batches of elements that are padded to one shape.

        Args:
            batch_size: how many elements are in each.
            padded_shapes: the shape for each leaf; None or -1 in it is the largest size in the batch.
            padding_values: the scalar to pad each leaf with; zeros or empty strings when None.
            drop_remainder: whether a last batch of fewer elements is left out.

        Returns:
            A Dataset whose tensors have one dimension more, the first, and behind it the shapes of `padded_shapes`.
        """
        return self._of(batches.padded_batch(self, batch_size, padded_shapes, padding_values, drop_remainder))

    def unbatch(self) -> Dataset:
        """The rows of elements."""
        spec = self._spec
        if all(isinstance(leaf, TensorSpec) for leaf in nest.flatten(spec)):
            return self._of(batches.unbatch(self))
        flat = self.map(lambda *parts: tuple(structure.to_batched_tensors(spec, parts[0] if len(parts) == 1 else parts)))
        return self._of(batches.unbatch(Dataset(flat.variant_tensor, spec)))

    def window(
        self, size: NumberLike, shift: NumberLike | None = None, stride: NumberLike = 1, drop_remainder: TensorLike = False
    ) -> Dataset:
        """Datasets of neighbouring elements; an element with several leaves makes one dataset for each.

        Args:
            size: how many elements are in each.
            shift: how far the next begins behind it; `size` when None.
            stride: how far apart its elements are.
            drop_remainder: whether windows with fewer elements are left out.

        Returns:
            A Dataset of Datasets, of up to `size` elements each.
        """
        return self._of(batches.window(self, size, shift, stride, drop_remainder))

    # Functions.

    def map(self, map_func: Callable[..., Nest], num_parallel_calls: TensorLike | None = None) -> Dataset:
        """The results of a function for each element.

        Args:
            map_func: takes the components of an element as its arguments, and returns any structure of tensors.
            num_parallel_calls: how many elements it runs for at the same time; one when None. The order stays.
        """
        return self.made_by(functions.map_elements(self, map_func, num_parallel_calls))

    def map_with_legacy_function(self, map_func: Callable[..., Nest], num_parallel_calls: TensorLike | None = None) -> Dataset:
        """As `map`.

        Args:
            map_func, num_parallel_calls: as of `map`.

        Returns:
            A Dataset of what `map_func` gives.
        """
        return self.map(map_func, num_parallel_calls)

    def filter(self, predicate: Callable[..., Nest]) -> Dataset:
        """The elements for which a function returns a true scalar.

        Args:
            predicate: takes the components of an element and returns a [] bool.
        """
        return self.made_by(functions.filter_elements(self, predicate))

    def filter_with_legacy_function(self, predicate: Callable[..., Nest]) -> Dataset:
        """As `filter`.

        Args:
            predicate: as of `filter`.

        Returns:
            A Dataset of such elements as here.
        """
        return self.filter(predicate)

    def flat_map(self, map_func: Callable[..., Nest]) -> Dataset:
        """The elements of the datasets that a function makes of each element, one dataset after the other.

        Args:
            map_func: takes the components of an element and returns a dataset.
        """
        return self.made_by(functions.flat_map(self, map_func))

    def interleave(
        self,
        map_func: Callable[..., Nest],
        cycle_length: NumberLike = -1,
        block_length: NumberLike = 1,
        num_parallel_calls: TensorLike | None = None,
    ) -> Dataset:
        """The elements of the datasets that a function makes of each element, by turns.

        Args:
            map_func: makes a dataset of an element.
            cycle_length: how many datasets are open at a time; as many as there are processors for -1.
            block_length: how many elements come of one before the next.
            num_parallel_calls: read the open datasets ahead, each on a thread; None for no.
        """
        return self.made_by(functions.interleave(self, map_func, cycle_length, block_length, num_parallel_calls))

    def reduce(self, initial_state: Nest, reduce_func: Callable[..., Nest]) -> Nest:
        """The last state that a function makes of a state and an element, as tensors: each run goes over all elements.

        Args:
            initial_state: the first state.
            reduce_func: makes a state, of the same structure and types, of a state and an element.
        """
        return functions.reduce(self, initial_state, reduce_func)

    def apply(self, transformation_func: Callable[[Dataset], Dataset]) -> Dataset:
        """What a function makes of this dataset; TypeError when that is no dataset.

        Args:
            transformation_func: takes a dataset and returns one.
        """
        traced.check_transformation(transformation_func)
        dataset = transformation_func(self)
        if not isinstance(dataset, Dataset):
            raise TypeError(
                f"`transformation_func` must return a Dataset.{traced.instead_of_dataset(transformation_func, dataset)}"
            )
        return dataset

    # Options and iterators.

    def options(self) -> Options:
        """The options of this dataset, and of those that it is made of."""
        return self._options

    def with_options(self, options: Options) -> Dataset:
        """The same dataset with options; ValueError where they contradict those that it has.

        Args:
            options: a `tf.data.Options`.
        """
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


# Not in the class: type checkers shall refuse a loop over a dataset, which only the function of a `tf.py_function` can do.
setattr(Dataset, "__iter__", elements_of)  # noqa: B010
