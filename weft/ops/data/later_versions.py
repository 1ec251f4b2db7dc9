"""Datasets' ops as later TensorFlows write them: weft's own datasets under the names that their clients use."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from weft.checkpoint.records import records
from weft.errors import InvalidArgumentError
from weft.framework.building.aliases import Array, Result
from weft.framework.building.op_context import OpContext
from weft.framework.nodes.operation import Tensor
from weft.framework.types.attr_value import FunctionName as Function
from weft.framework.types.dims import Dims
from weft.framework.types.dtypes import DType
from weft.ops.data.batching import Batches, checked_size
from weft.ops.data.caching import Cached, FileCached
from weft.ops.data.element import Called, Source, boxed, dataset_op, place_of, source_of
from weft.ops.data.files import Files, compression_of
from weft.ops.data.interleaving import Interleaved, cycle_of, positive
from weft.ops.data.mapping import Filtered
from weft.ops.data.parallel import ParallelMapped, calls_at_once
from weft.ops.data.random_numbers import settled_seeds
from weft.ops.data.shuffling import Shuffled, checked_buffer
from weft.ops.declaration import not_differentiable, op, scalar_shape


def _declare_dummy(name: str) -> Callable[..., Tensor]:
    @op(name, "-> handle: resource", infer=scalar_shape, gradient=not_differentiable, stateful=True)
    def kernel(ctx: OpContext) -> Result:
        """A handle that stands for what each iteration keeps by itself: `-> scalar resource`."""
        return boxed(b"")

    return kernel


dummy_memory_cache = _declare_dummy("DummyMemoryCache")
dummy_seed_generator = _declare_dummy("DummySeedGenerator")


@dataset_op("CacheDatasetV2", "input_dataset: variant, filename: string, cache: resource", stateful=True)
def cache_dataset_v2(
    ctx: OpContext, input_dataset: Array, filename: Array, cache: Array, *, output_types: list[DType],
    output_shapes: list[Dims],
) -> Source:  # fmt: skip
    """Elements that are kept, in memory or in a file: `scalar variant, scalar string, scalar resource -> scalar variant`."""
    source, path = source_of(input_dataset), bytes(filename.item()).decode()
    return FileCached(source, path) if path else Cached(source)


@dataset_op("ShuffleDatasetV3", "input_dataset: variant, buffer_size: int64, seed: int64, seed2: int64, "
            "seed_generator: resource", stateful=True)  # fmt: skip
def shuffle_dataset_v3(
    ctx: OpContext, input_dataset: Array, buffer_size: Array, seed: Array, seed2: Array, seed_generator: Array, *,
    reshuffle_each_iteration: bool = True, output_types: list[DType], output_shapes: list[Dims],
) -> Source:  # fmt: skip
    """A dataset in random order.

    `scalar variant, scalar int64, scalar int64, scalar int64, scalar resource -> scalar variant`
    """
    seeds = settled_seeds(int(seed), int(seed2))
    return Shuffled(source_of(input_dataset), checked_buffer(buffer_size), seeds, reshuffle_each_iteration)


@dataset_op("ShuffleAndRepeatDatasetV2", "input_dataset: variant, buffer_size: int64, seed: int64, seed2: int64, count: int64, "
            "seed_generator: resource", stateful=True)  # fmt: skip
def shuffle_and_repeat_dataset_v2(
    ctx: OpContext, input_dataset: Array, buffer_size: Array, seed: Array, seed2: Array, count: Array, seed_generator: Array, *,
    reshuffle_each_iteration: bool = True, output_types: list[DType], output_shapes: list[Dims],
) -> Source:  # fmt: skip
    """A dataset in random order, again and again.

    `scalar variant, scalar int64, scalar int64, scalar int64, scalar int64, scalar resource -> scalar variant`
    """
    times = int(count)
    if times < -1 or times == 0:
        raise InvalidArgumentError.of("count must be greater than zero or equal to -1.")
    seeds = settled_seeds(int(seed), int(seed2))
    return Shuffled(source_of(input_dataset), checked_buffer(buffer_size), seeds, reshuffle_each_iteration, times)


@dataset_op("OptionsDataset", "input_dataset: variant")
def options_dataset(
    ctx: OpContext, input_dataset: Array, *, serialized_options: str, output_types: list[DType], output_shapes: list[Dims]
) -> Source:
    """A dataset with options of tf.data's runtime, which change no element: `scalar variant -> scalar variant`."""
    return source_of(input_dataset)


@dataset_op("FinalizeDataset", "input_dataset: variant")
def finalize_dataset(
    ctx: OpContext, input_dataset: Array, *, has_captured_ref: bool = False, output_types: list[DType],
    output_shapes: list[Dims],
) -> Source:  # fmt: skip
    """A dataset that is complete: `scalar variant -> scalar variant`."""
    return source_of(input_dataset)


@dataset_op("TFRecordDatasetV2", "filenames: string, compression_type: string, buffer_size: int64, byte_offsets: int64",
            stateful=True)  # fmt: skip
def tf_record_dataset_v2(
    ctx: OpContext, filenames: Array, compression_type: Array, buffer_size: Array, byte_offsets: Array
) -> Source:
    """The records of files of TFRecords, from their beginning.

    `[...] string, scalar string, scalar int64, [n] int64 -> scalar variant`
    """
    if np.any(byte_offsets):
        raise InvalidArgumentError.of(
            f"byte_offsets must be zeros, got {byte_offsets.tolist()}: files are read from their beginning"
        )
    compression = compression_of(compression_type)
    return Files(filenames, lambda path: records(path, compression), place_of(ctx))


@dataset_op("ParallelMapDatasetV2", "input_dataset: variant, other_arguments: [Targuments], num_parallel_calls: int64",
            calls=("f",))  # fmt: skip
def parallel_map_dataset_v2(
    ctx: OpContext, input_dataset: Array, other_arguments: Sequence[Array], num_parallel_calls: Array, *, f: Function,
    Targuments: list[DType], output_types: list[DType], output_shapes: list[Dims], use_inter_op_parallelism: bool = True,
    deterministic: str = "default", preserve_cardinality: bool = False,
) -> Source:  # fmt: skip
    """The results of `f` for each element, made in parallel, in order.

    `scalar variant, n*[*argument], scalar int64 -> scalar variant`
    """
    function = Called(ctx, "f", "other_arguments", other_arguments)
    return ParallelMapped(source_of(input_dataset), function, calls_at_once(num_parallel_calls), preserve_cardinality)


@dataset_op("ParallelFilterDataset", "input_dataset: variant, other_arguments: [Targuments], num_parallel_calls: int64",
            calls=("predicate",))  # fmt: skip
def parallel_filter_dataset(
    ctx: OpContext, input_dataset: Array, other_arguments: Sequence[Array], num_parallel_calls: Array, *, predicate: Function,
    deterministic: str = "default", Targuments: list[DType], output_types: list[DType], output_shapes: list[Dims],
) -> Source:  # fmt: skip
    """The elements for which `predicate` is true: `scalar variant, n*[*argument], scalar int64 -> scalar variant`."""
    calls_at_once(num_parallel_calls)
    return Filtered(source_of(input_dataset), Called(ctx, "predicate", "other_arguments", other_arguments), stops=False)


@dataset_op(
    "ParallelBatchDataset", "input_dataset: variant, batch_size: int64, num_parallel_calls: int64, drop_remainder: bool"
)
def parallel_batch_dataset(
    ctx: OpContext, input_dataset: Array, batch_size: Array, num_parallel_calls: Array, drop_remainder: Array, *,
    parallel_copy: bool = False, output_types: list[DType], output_shapes: list[Dims], deterministic: str = "default",
) -> Source:  # fmt: skip
    """Batches of elements: `scalar variant, scalar int64, scalar int64, scalar bool -> scalar variant`."""
    calls_at_once(num_parallel_calls)
    return Batches(source_of(input_dataset), checked_size(batch_size), bool(drop_remainder))


@dataset_op("ParallelInterleaveDatasetV4", "input_dataset: variant, other_arguments: [Targuments], cycle_length: int64, "
            "block_length: int64, buffer_output_elements: int64, prefetch_input_elements: int64, num_parallel_calls: int64",
            calls=("f",))  # fmt: skip
def parallel_interleave_dataset_v4(
    ctx: OpContext, input_dataset: Array, other_arguments: Sequence[Array], cycle_length: Array, block_length: Array,
    buffer_output_elements: Array, prefetch_input_elements: Array, num_parallel_calls: Array, *, f: Function,
    deterministic: str = "default", Targuments: list[DType], output_types: list[DType], output_shapes: list[Dims],
) -> Source:  # fmt: skip
    """Elements of the datasets that `f` makes, by turns, each read by a thread of its own.

    `scalar variant, n*[*argument], scalar int64, scalar int64, scalar int64, scalar int64, scalar int64 -> scalar variant`
    """
    function = Called(ctx, "f", "other_arguments", other_arguments)
    calls_at_once(num_parallel_calls)
    cycle, block = cycle_of(cycle_length), positive(block_length, "block_length")
    return Interleaved(source_of(input_dataset), function, cycle, block, ahead=max(16, 2 * block))
