"""Batching: queues that collect examples from one or several pipelines, in order or shuffled, and give them in batches."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from weft.framework.building.aliases import Nest, ShapeLike, TensorLike
from weft.framework.nodes.node_errors import naming
from weft.ops.input_scope import input_scope
from weft.training.input.collector import (
    Collector,
    Inputs,
    Tensors,
    plain_queue,
    shuffling_queue,
)

_SHAPES: Final = "Tell a shape by tensor.set_shape(...) or shapes=[...]; dynamic_pad=True allows sizes that differ."


def batch(
    tensors: Tensors,
    batch_size: TensorLike,
    num_threads: int = 1,
    capacity: int = 32,
    enqueue_many: bool = False,
    shapes: Sequence[ShapeLike] | None = None,
    dynamic_pad: bool = False,
    allow_smaller_final_batch: bool = False,
    shared_name: str | None = None,
    name: str | None = None,
) -> Nest:
    """Batches of examples, in order; each run gives the next one, [batch_size, ...] of each component.

    A QueueRunner collects the examples; start it with `tf.train.start_queue_runners`. A component may be a SparseTensor.

    Args:
        tensors: the components of an example.
        batch_size: how many examples make a batch.
        num_threads: how many threads collect; with more than one the order is not fixed.
        capacity: how many examples wait at most.
        enqueue_many: whether `tensors` hold several examples, along their first dimensions.
        shapes: the shapes of an example's components, where they are not known.
        dynamic_pad: whether dimensions that differ are padded with zeros.
        allow_smaller_final_batch: whether what is left at the end makes a last batch; the batch dimension is unknown then.
        shared_name: the name by which sessions share the queue.
        name: the name scope.

    Returns:
        Tensors in the structure of `tensors`; the tensor itself for a list of one.

    Raises:
        ValueError: there are no tensors, or their shapes are not known well enough.

    >>> tf.train.batch([tf.zeros([3])], batch_size=4).shape
    TensorShape([Dimension(4), Dimension(3)])
    """
    return maybe_batch(
        tensors, True, batch_size, num_threads, capacity, enqueue_many, shapes, dynamic_pad, allow_smaller_final_batch,
        shared_name, name,
    )  # fmt: skip


def maybe_batch(
    tensors: Tensors,
    keep_input: TensorLike,
    batch_size: TensorLike,
    num_threads: int = 1,
    capacity: int = 32,
    enqueue_many: bool = False,
    shapes: Sequence[ShapeLike] | None = None,
    dynamic_pad: bool = False,
    allow_smaller_final_batch: bool = False,
    shared_name: str | None = None,
    name: str | None = None,
) -> Nest:
    """Batches, in order, of the examples for which `keep_input` is true; QueueRunners collect them.

    Args:
        tensors: the components of an example, a list or dict of tensors or SparseTensors.
        keep_input: [] bool, whether to take the example; with `enqueue_many` also `[n]`, one for each example.
        batch_size: how many examples make a batch, an int or a [] int32 tensor.
        num_threads: how many threads collect; with more than one the order is not fixed.
        capacity: how many examples wait at most.
        enqueue_many: whether the tensors hold several examples, along their first dimensions, rather than one.
        shapes: the shapes of an example's components, where they are not known.
        dynamic_pad: whether dimensions that differ are padded with zeros to the largest of the batch.
        allow_smaller_final_batch: whether what is left at the end makes a last batch; the batch dimension is unknown then.
        shared_name: the name by which sessions share the queue.
        name: the name scope.

    Returns:
        Tensors in the structure of an example, `[batch_size, ...]` each; the tensor itself for a list of one. Running them
        waits until a batch is there, and raises OutOfRangeError after the last one.

    Raises:
        ValueError: there are no tensors, `keep_input` has another shape, or shapes are not known well enough.
    """
    inputs = Inputs([tensors], "batch")
    with input_scope(name, "batch", [*inputs.flat, keep_input]) as scope:
        queue = plain_queue(dynamic_pad, capacity, shared_name)
        with naming(_SHAPES, **{f"tensor {number}": each for number, each in enumerate(inputs.lists[0])}):
            collector = Collector(inputs, keep_input, enqueue_many, shapes, queue)
        collector.add_threads([collector.enqueue(0)] * num_threads)
        collector.summarize(capacity)
        return collector.dequeue(batch_size, allow_smaller_final_batch, scope)


def batch_join(
    tensors_list: Sequence[Tensors],
    batch_size: TensorLike,
    capacity: int = 32,
    enqueue_many: bool = False,
    shapes: Sequence[ShapeLike] | None = None,
    dynamic_pad: bool = False,
    allow_smaller_final_batch: bool = False,
    shared_name: str | None = None,
    name: str | None = None,
) -> Nest:
    """Batches of the examples of several pipelines, which QueueRunners collect with a thread for each.

    Args:
        tensors_list: for each pipeline the components of an example, a list or dict of tensors or SparseTensors; all of one
            structure and the same dtypes. Each has a thread of its own.
        batch_size: how many examples make a batch, an int or a [] int32 tensor.
        capacity: how many examples wait at most.
        enqueue_many: whether the tensors hold several examples, along their first dimensions, rather than one.
        shapes: the shapes of an example's components, where they are not known.
        dynamic_pad: whether dimensions that differ are padded with zeros to the largest of the batch.
        allow_smaller_final_batch: whether what is left at the end makes a last batch; the batch dimension is unknown then.
        shared_name: the name by which sessions share the queue.
        name: the name scope.

    Returns:
        Tensors in the structure of an example, `[batch_size, ...]` each; the tensor itself for a list of one. Running them
        waits until a batch is there, and raises OutOfRangeError after the last one.

    Raises:
        ValueError: there are no tensors, the pipelines differ in structure, or shapes are not known well enough.
        TypeError: the pipelines' dtypes differ.
    """
    return maybe_batch_join(
        tensors_list,
        True,
        batch_size,
        capacity,
        enqueue_many,
        shapes,
        dynamic_pad,
        allow_smaller_final_batch,
        shared_name,
        name,
    )


def maybe_batch_join(
    tensors_list: Sequence[Tensors],
    keep_input: TensorLike,
    batch_size: TensorLike,
    capacity: int = 32,
    enqueue_many: bool = False,
    shapes: Sequence[ShapeLike] | None = None,
    dynamic_pad: bool = False,
    allow_smaller_final_batch: bool = False,
    shared_name: str | None = None,
    name: str | None = None,
) -> Nest:
    """Batches of those examples of several pipelines for which `keep_input` is true; QueueRunners collect with a thread for
    each.

    Args:
        tensors_list: for each pipeline the components of an example, a list or dict of tensors or SparseTensors; all of one
            structure and the same dtypes. Each has a thread of its own.
        keep_input: [] bool, whether to take the example; with `enqueue_many` also `[n]`, one for each example.
        batch_size: how many examples make a batch, an int or a [] int32 tensor.
        capacity: how many examples wait at most.
        enqueue_many: whether the tensors hold several examples, along their first dimensions, rather than one.
        shapes: the shapes of an example's components, where they are not known.
        dynamic_pad: whether dimensions that differ are padded with zeros to the largest of the batch.
        allow_smaller_final_batch: whether what is left at the end makes a last batch; the batch dimension is unknown then.
        shared_name: the name by which sessions share the queue.
        name: the name scope.

    Returns:
        Tensors in the structure of an example, `[batch_size, ...]` each; the tensor itself for a list of one. Running them
        waits until a batch is there, and raises OutOfRangeError after the last one.

    Raises:
        ValueError: there are no tensors, the pipelines differ in structure, or shapes are not known well enough.
        TypeError: the pipelines' dtypes differ.
    """
    inputs = Inputs(tensors_list, "batch_join")
    with input_scope(name, "batch_join", [*inputs.flat, keep_input]) as scope:
        queue = plain_queue(dynamic_pad, capacity, shared_name)
        with naming(_SHAPES, **{f"tensor {number}": each for number, each in enumerate(inputs.lists[0])}):
            collector = Collector(inputs, keep_input, enqueue_many, shapes, queue)
        collector.add_threads([collector.enqueue(number) for number in range(len(inputs.lists))])
        collector.summarize(capacity)
        return collector.dequeue(batch_size, allow_smaller_final_batch, scope)


def shuffle_batch(
    tensors: Tensors,
    batch_size: TensorLike,
    capacity: int,
    min_after_dequeue: int,
    num_threads: int = 1,
    seed: int | None = None,
    enqueue_many: bool = False,
    shapes: Sequence[ShapeLike] | None = None,
    allow_smaller_final_batch: bool = False,
    shared_name: str | None = None,
    name: str | None = None,
) -> Nest:
    """Batches of examples in random order; QueueRunners collect the examples, so `tf.train.start_queue_runners` is needed.

    Args:
        tensors: the components of an example, a list or dict of tensors or SparseTensors.
        batch_size: how many examples make a batch, an int or a [] int32 tensor.
        capacity: how many examples wait at most.
        min_after_dequeue: how many examples stay to choose from; more mix better and take longer to begin.
        num_threads: how many threads collect; with more than one the order is not fixed.
        seed: the seed of the order, an int.
        enqueue_many: whether the tensors hold several examples, along their first dimensions, rather than one.
        shapes: the shapes of an example's components, where they are not known.
        allow_smaller_final_batch: whether what is left at the end makes a last batch; the batch dimension is unknown then.
        shared_name: the name by which sessions share the queue.
        name: the name scope.

    Returns:
        Tensors in the structure of an example, `[batch_size, ...]` each; the tensor itself for a list of one. Running them
        waits until a batch is there, and raises OutOfRangeError after the last one.

    Raises:
        ValueError: `capacity` is not larger than `min_after_dequeue`, there are no tensors, or shapes are not known well
            enough.

    >>> x = tf.random_uniform([3])
    >>> batch = tf.train.shuffle_batch([x], batch_size=2, capacity=8, min_after_dequeue=2)
    >>> batch.shape
    TensorShape([Dimension(2), Dimension(3)])
    """
    return maybe_shuffle_batch(
        tensors, batch_size, capacity, min_after_dequeue, True, num_threads, seed, enqueue_many, shapes,
        allow_smaller_final_batch, shared_name, name,
    )  # fmt: skip


def maybe_shuffle_batch(
    tensors: Tensors,
    batch_size: TensorLike,
    capacity: int,
    min_after_dequeue: int,
    keep_input: TensorLike,
    num_threads: int = 1,
    seed: int | None = None,
    enqueue_many: bool = False,
    shapes: Sequence[ShapeLike] | None = None,
    allow_smaller_final_batch: bool = False,
    shared_name: str | None = None,
    name: str | None = None,
) -> Nest:
    """Batches in random order of the examples for which `keep_input` is true; QueueRunners collect them.

    Args:
        tensors: the components of an example, a list or dict of tensors or SparseTensors.
        batch_size: how many examples make a batch, an int or a [] int32 tensor.
        capacity: how many examples wait at most.
        min_after_dequeue: how many examples stay to choose from; more mix better and take longer to begin.
        keep_input: [] bool, whether to take the example; with `enqueue_many` also `[n]`, one for each example.
        num_threads: how many threads collect; with more than one the order is not fixed.
        seed: the seed of the order, an int.
        enqueue_many: whether the tensors hold several examples, along their first dimensions, rather than one.
        shapes: the shapes of an example's components, where they are not known.
        allow_smaller_final_batch: whether what is left at the end makes a last batch; the batch dimension is unknown then.
        shared_name: the name by which sessions share the queue.
        name: the name scope.

    Returns:
        Tensors in the structure of an example, `[batch_size, ...]` each; the tensor itself for a list of one. Running them
        waits until a batch is there, and raises OutOfRangeError after the last one.

    Raises:
        ValueError: `capacity` is not larger than `min_after_dequeue`, there are no tensors, `keep_input` has another shape,
            or shapes are not known well enough.
    """
    inputs = Inputs([tensors], "shuffle_batch")
    with input_scope(name, "shuffle_batch", [*inputs.flat, keep_input]) as scope:
        queue = shuffling_queue(capacity, min_after_dequeue, seed, shared_name)
        with naming(_SHAPES, **{f"tensor {number}": each for number, each in enumerate(inputs.lists[0])}):
            collector = Collector(inputs, keep_input, enqueue_many, shapes, queue)
        collector.add_threads([collector.enqueue(0)] * num_threads)
        collector.summarize(capacity, min_after_dequeue)
        return collector.dequeue(batch_size, allow_smaller_final_batch, scope)


def shuffle_batch_join(
    tensors_list: Sequence[Tensors],
    batch_size: TensorLike,
    capacity: int,
    min_after_dequeue: int,
    seed: int | None = None,
    enqueue_many: bool = False,
    shapes: Sequence[ShapeLike] | None = None,
    allow_smaller_final_batch: bool = False,
    shared_name: str | None = None,
    name: str | None = None,
) -> Nest:
    """Batches in random order of the examples of several pipelines, which QueueRunners collect with a thread for each.

    Args:
        tensors_list: for each pipeline the components of an example, a list or dict of tensors or SparseTensors; all of one
            structure and the same dtypes. Each has a thread of its own.
        batch_size: how many examples make a batch, an int or a [] int32 tensor.
        capacity: how many examples wait at most.
        min_after_dequeue: how many examples stay to choose from; more mix better and take longer to begin.
        seed: the seed of the order, an int.
        enqueue_many: whether the tensors hold several examples, along their first dimensions, rather than one.
        shapes: the shapes of an example's components, where they are not known.
        allow_smaller_final_batch: whether what is left at the end makes a last batch; the batch dimension is unknown then.
        shared_name: the name by which sessions share the queue.
        name: the name scope.

    Returns:
        Tensors in the structure of an example, `[batch_size, ...]` each; the tensor itself for a list of one. Running them
        waits until a batch is there, and raises OutOfRangeError after the last one.

    Raises:
        ValueError: `capacity` is not larger than `min_after_dequeue`, there are no tensors, the pipelines differ in
            structure, or shapes are not known well enough.
        TypeError: the pipelines' dtypes differ.
    """
    return maybe_shuffle_batch_join(
        tensors_list, batch_size, capacity, min_after_dequeue, True, seed, enqueue_many, shapes, allow_smaller_final_batch,
        shared_name, name,
    )  # fmt: skip


def maybe_shuffle_batch_join(
    tensors_list: Sequence[Tensors],
    batch_size: TensorLike,
    capacity: int,
    min_after_dequeue: int,
    keep_input: TensorLike,
    seed: int | None = None,
    enqueue_many: bool = False,
    shapes: Sequence[ShapeLike] | None = None,
    allow_smaller_final_batch: bool = False,
    shared_name: str | None = None,
    name: str | None = None,
) -> Nest:
    """Batches in random order of those examples of several pipelines for which `keep_input` is true, with a thread for each.

    Args:
        tensors_list: for each pipeline the components of an example, a list or dict of tensors or SparseTensors; all of one
            structure and the same dtypes. Each has a thread of its own.
        batch_size: how many examples make a batch, an int or a [] int32 tensor.
        capacity: how many examples wait at most.
        min_after_dequeue: how many examples stay to choose from; more mix better and take longer to begin.
        keep_input: [] bool, whether to take the example; with `enqueue_many` also `[n]`, one for each example.
        seed: the seed of the order, an int.
        enqueue_many: whether the tensors hold several examples, along their first dimensions, rather than one.
        shapes: the shapes of an example's components, where they are not known.
        allow_smaller_final_batch: whether what is left at the end makes a last batch; the batch dimension is unknown then.
        shared_name: the name by which sessions share the queue.
        name: the name scope.

    Returns:
        Tensors in the structure of an example, `[batch_size, ...]` each; the tensor itself for a list of one. Running them
        waits until a batch is there, and raises OutOfRangeError after the last one.

    Raises:
        ValueError: `capacity` is not larger than `min_after_dequeue`, there are no tensors, the pipelines differ in
            structure, or shapes are not known well enough.
        TypeError: the pipelines' dtypes differ.
    """
    inputs = Inputs(tensors_list, "shuffle_batch_join")
    with input_scope(name, "shuffle_batch_join", [*inputs.flat, keep_input]) as scope:
        queue = shuffling_queue(capacity, min_after_dequeue, seed, shared_name)
        with naming(_SHAPES, **{f"tensor {number}": each for number, each in enumerate(inputs.lists[0])}):
            collector = Collector(inputs, keep_input, enqueue_many, shapes, queue)
        collector.add_threads([collector.enqueue(number) for number in range(len(inputs.lists))])
        collector.summarize(capacity, min_after_dequeue)
        return collector.dequeue(batch_size, allow_smaller_final_batch, scope)
