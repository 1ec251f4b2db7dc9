"""Transformations for `Dataset.apply`: each function returns one that makes a dataset of a dataset."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from weft.datasets import batches, functions, nest, structure
from weft.datasets.dataset import Dataset
from weft.datasets.selecting import OF_BATCHES, OF_SHUFFLING, above_zero, dataset_seeds, int64
from weft.framework.building.aliases import DTypeLike, Nest, NumberLike, TensorLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.composites.tensor_spec import TensorSpec
from weft.framework.devices.device_spec import DeviceSpec
from weft.framework.nodes.constant_value import constant_value
from weft.framework.types import dtypes
from weft.framework.types.dtypes import as_dtype
from weft.ops.array.constant import constant
from weft.ops.data import caching, shuffling, sources

Apply: TypeAlias = Callable[[Dataset], Dataset]


def parallel_interleave(
    map_func: Callable[..., Nest],
    cycle_length: TensorLike,
    block_length: TensorLike = 1,
    sloppy: TensorLike = False,
    buffer_output_elements: TensorLike | None = None,
    prefetch_input_elements: TensorLike | None = None,
) -> Apply:
    """The elements of the datasets that a function makes, by turns, each read by a thread of its own.

    Args:
        map_func: makes a dataset of an element.
        cycle_length: how many datasets are open at a time.
        block_length: how many elements come of one before the next.
        sloppy: whether elements may come in another order than that; here they do not.
        buffer_output_elements: how many elements of each are read ahead.
        prefetch_input_elements: accepted.
    """
    rest = (cycle_length, block_length, sloppy, buffer_output_elements, prefetch_input_elements)
    return lambda dataset: dataset.made_by(functions.parallel_interleave(dataset, map_func, *rest))


def map_and_batch(
    map_func: Callable[..., Nest],
    batch_size: NumberLike,
    num_parallel_batches: TensorLike | None = None,
    drop_remainder: TensorLike = False,
    num_parallel_calls: TensorLike | None = None,
) -> Apply:
    """Batches of the results of a function, several of which are made at the same time.

    Args:
        map_func: the function.
        batch_size: how many results are in each batch.
        num_parallel_batches: how many batches are made at the same time; 1 when neither number is given.
        drop_remainder: whether a last batch of fewer results is left out.
        num_parallel_calls: how many results are made at the same time.

    Raises:
        ValueError: both numbers are given.
    """
    if num_parallel_batches is not None and num_parallel_calls is not None:
        raise ValueError("The `num_parallel_batches` and `num_parallel_calls` arguments are mutually exclusive.")
    size = above_zero(batch_size, "batch_size", OF_BATCHES, what="Batch size")
    count = num_parallel_calls if num_parallel_calls is not None else size * (num_parallel_batches or 1)

    def make(dataset: Dataset) -> Dataset:
        drops = convert_to_tensor(drop_remainder, dtype=dtypes.bool)
        known = constant_value(size) if constant_value(drops) else None
        rows = None if known is None else int(known)
        return dataset.made_by(functions.map_and_batch(dataset, map_func, size, count, drops, rows))

    return make


def shuffle_and_repeat(buffer_size: NumberLike, count: NumberLike | None = None, seed: TensorLike | None = None) -> Apply:
    """The elements in random order, `count` times, so that the next pass begins where one runs out of elements.

    Args:
        buffer_size: how many elements the next one is chosen out of.
        count: how often they come; without end when None.
        seed: the seed of the order.
    """

    def make(dataset: Dataset) -> Dataset:
        size, spec = above_zero(buffer_size, "buffer_size", OF_SHUFFLING), dataset.element_spec
        times = int64(-1 if count is None else count, "count")
        variant = shuffling.shuffle_and_repeat_dataset(
            dataset.variant_tensor, size, *dataset_seeds(seed), times, **structure.flat_attrs(spec)
        )
        return Dataset(variant, spec, (dataset,))

    return make


def unbatch() -> Apply:
    """The rows of elements."""
    return lambda dataset: dataset.unbatch()


def enumerate_dataset(start: TensorLike = 0) -> Apply:
    """Pairs of a number, from `start` on, and an element.

    Args:
        start: the first number.

    Returns:
        A function of a dataset, for `Dataset.apply`.
    """
    return lambda dataset: dataset.enumerate(start)


def ignore_errors() -> Apply:
    """The elements that can be made."""
    return lambda dataset: _same(dataset, caching.ignore_errors_dataset)


def unique() -> Apply:
    """Each element once; TypeError for elements that are not one tensor of int32, int64 or string."""

    def make(dataset: Dataset) -> Dataset:
        spec = dataset.element_spec
        if not isinstance(spec, TensorSpec) or spec.dtype not in (dtypes.int32, dtypes.int64, dtypes.string):
            raise TypeError(
                "`tf.data.experimental.unique()` only supports inputs with a single `tf.int32`, `tf.int64`, or `tf.string` "
                "component."
            )
        return _same(dataset, caching.unique_dataset)

    return make


def _same(dataset: Dataset, build: Callable[..., Nest]) -> Dataset:
    spec = dataset.element_spec
    return Dataset(build(dataset.variant_tensor, **structure.flat_attrs(spec)), spec, (dataset,))


def scan(initial_state: Nest, scan_func: Callable[..., Nest]) -> Apply:
    """The outputs of a function that makes a state and an output of a state and an element.

    Args:
        initial_state: the first state, a structure of tensors.
        scan_func: a function of a state and an element, which gives the next state and an output.
    """
    return lambda dataset: dataset.made_by(functions.scan(dataset, initial_state, scan_func))


def take_while(predicate: Callable[..., Nest]) -> Apply:
    """The elements before the first for which a function is false.

    Args:
        predicate: a function of an element, which gives a [] bool.
    """
    return lambda dataset: dataset.made_by(functions.take_while(dataset, predicate))


def group_by_window(
    key_func: Callable[..., Nest],
    reduce_func: Callable[..., Nest],
    window_size: NumberLike | None = None,
    window_size_func: Callable[..., Nest] | None = None,
) -> Apply:
    """The elements of the datasets that a function makes of groups of elements with one key.

    Args:
        key_func: the key of an element, a scalar int64.
        reduce_func: makes a dataset of a key and a dataset of elements.
        window_size: how many elements a group has.
        window_size_func: how many a group of a key has.

    Raises:
        ValueError: both sizes are given, or neither.
    """
    if (window_size is None) == (window_size_func is None):
        found = "both are" if window_size is not None else "neither is"
        raise ValueError(
            f"Must pass either window_size or window_size_func. In group_by_window {found} given: one size for all keys, or a "
            "function that gives the size for a key."
        )
    if window_size is not None:
        size = window_size
        return lambda dataset: dataset.made_by(functions.group_by_window(dataset, key_func, reduce_func, lambda _: size))
    assert window_size_func is not None
    sizes = window_size_func
    return lambda dataset: dataset.made_by(functions.group_by_window(dataset, key_func, reduce_func, sizes))


def dense_to_sparse_batch(batch_size: NumberLike, row_shape: Nest) -> Apply:
    """Batches of dense elements, of sizes up to `row_shape`, as sparse tensors.

    Args:
        batch_size: how many elements are in a batch.
        row_shape: the greatest size of an element in each dimension.

    Returns:
        A function of a dataset, for `Dataset.apply`.
    """
    return lambda dataset: Dataset(*batches.dense_to_sparse_batch(dataset, batch_size, row_shape), inputs=(dataset,))


def copy_to_device(target_device: str, source_device: str = "/cpu:0") -> Apply:
    """The elements as they are: a step takes them to the device that uses them.

    Args:
        target_device, source_device: where the elements go to and come from; neither is needed.
    """
    DeviceSpec.from_string(target_device)
    return lambda dataset: Dataset(dataset.variant_tensor, dataset.element_spec, (dataset,))


def prefetch_to_device(device: str, buffer_size: NumberLike | None = None) -> Apply:
    """The elements, made before a step asks for them; the step takes them to the device.

    Args:
        device: where the elements go to.
        buffer_size: how many are made ahead; weft chooses when None.
    """
    DeviceSpec.from_string(device)
    return lambda dataset: dataset.prefetch(-1 if buffer_size is None else buffer_size)


def Counter(start: TensorLike = 0, step: TensorLike = 1, dtype: DTypeLike = dtypes.int64) -> Dataset:
    """A dataset of numbers from `start` on, `step` apart, without end.

    Args:
        start, step: [] numbers.
        dtype: of the elements.
    """
    wanted = as_dtype(dtype)
    first, stride = constant(start, wanted, name="start"), constant(step, wanted, name="step")
    return Dataset.from_tensors(0).repeat(None).apply(scan(first, lambda state, _: (state + stride, state)))


class RandomDataset(Dataset):
    """Random int64 numbers from 0 to 2**32 - 1 without end.

    Args:
        seed: the seed; see `tf.set_random_seed`.
    """

    def __init__(self, seed: TensorLike | None = None) -> None:
        spec = TensorSpec((), dtypes.int64)
        super().__init__(sources.random_dataset(*dataset_seeds(seed), **structure.flat_attrs(spec)), spec)


def sloppy_interleave(map_func: Callable[..., Nest], cycle_length: TensorLike, block_length: TensorLike = 1) -> Apply:
    """`parallel_interleave` that may be sloppy; tf.contrib.data's name.

    Args:
        map_func: makes a dataset of an element.
        cycle_length: how many datasets are read by turns.
        block_length: how many elements are read at a turn.
    """
    return parallel_interleave(map_func, cycle_length, block_length, sloppy=True)


def batch_and_drop_remainder(batch_size: NumberLike) -> Apply:
    """Batches of one size; tf.contrib.data's name for `batch` with `drop_remainder`.

    Args:
        batch_size: how many elements are in a batch.

    Returns:
        A function of a dataset, for `Dataset.apply`.
    """
    return lambda dataset: dataset.batch(batch_size, drop_remainder=True)


def padded_batch_and_drop_remainder(batch_size: NumberLike, padded_shapes: Nest, padding_values: Nest = None) -> Apply:
    """Padded batches of one size; tf.contrib.data's name for `padded_batch` with `drop_remainder`.

    Args:
        batch_size: how many elements are in a batch.
        padded_shapes: the shapes to pad to; -1 or None for the greatest size in the batch.
        padding_values: what is added; 0 or an empty text when None.

    Returns:
        A function of a dataset, for `Dataset.apply`.
    """
    return lambda dataset: dataset.padded_batch(batch_size, padded_shapes, padding_values, drop_remainder=True)


def sliding_window_batch(
    window_size: NumberLike,
    stride: NumberLike | None = None,
    window_shift: NumberLike | None = None,
    window_stride: NumberLike = 1,
) -> Apply:
    """Batches that overlap: each begins `window_shift` elements behind the one before; tf.contrib.data's name.

    Args:
        window_size: how many elements are in a batch.
        stride, window_shift: how far the next batch begins behind; 1 when neither is given.
        window_stride: the distance of the elements within a batch.

    Returns:
        A function of a dataset, for `Dataset.apply`.

    Raises:
        ValueError: both `stride` and `window_shift`, which mean the same, are given.
    """
    if stride is not None and window_shift is not None:
        raise ValueError("Cannot specify both `stride` and `window_shift`")
    shift = window_shift if window_shift is not None else 1 if stride is None else stride

    def make(dataset: Dataset) -> Dataset:
        windows = dataset.window(window_size, shift, window_stride, drop_remainder=True)
        spec = dataset.element_spec

        def as_batch(*parts: Nest) -> Dataset:
            datasets = parts[0] if len(parts) == 1 else parts
            return Dataset.zip(nest.map_structure(lambda _, part: part.batch(window_size), spec, datasets))

        return windows.flat_map(as_batch)

    return make
