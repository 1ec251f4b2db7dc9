"""Input producers: queues that threads fill again and again from a tensor, in order or shuffled."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from weft.framework.building.aliases import ShapeLike, TensorLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.graphs.collections import GraphKeys
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.node_errors import described, naming
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.types import dtypes
from weft.framework.types.tensor_shape import TensorShape
from weft.ops.array.constant import constant
from weft.ops.array.gather_scatter import gather
from weft.ops.array.identity import identity
from weft.ops.array.ranges import range_of
from weft.ops.array.shape_ops import shape as shape_of
from weft.ops.array.shape_ops import size
from weft.ops.control_flow.assertion import assert_that
from weft.ops.data_flow.queue import FIFOQueue
from weft.ops.input_scope import input_scope
from weft.ops.io.file_io import matching_files
from weft.ops.math.casting import cast
from weft.ops.math.comparison import greater
from weft.ops.random.functions import random_shuffle
from weft.ops.summary import nodes as summary_ops
from weft.ops.variables.assign import count_up_to
from weft.ops.variables.variable import Variable
from weft.training.queue_runner import QueueRunner, add_queue_runner


def _local_variable(initial_value: Tensor, **options: object) -> Variable:
    make_variable: Callable[..., Variable] = Variable
    return make_variable(initial_value, trainable=False, collections=[GraphKeys.LOCAL_VARIABLES], **options)


def match_filenames_once(pattern: TensorLike, name: str | None = None) -> Variable:
    """A local variable with the names of the files that match a pattern, or several: looked up once, when initialized.

    Args:
        pattern: a string or strings, or a tensor of them, with `*`, `?` and `[...]` as a shell has them; remote file systems
            too.
        name: the name of the variable.

    Returns:
        A `[n]` string variable; `tf.local_variables_initializer()` looks the files up.
    """
    with input_scope(name, "matching_filenames", [pattern]) as scope:
        names = matching_files(pattern)
        return _local_variable(names, validate_shape=False, name=scope)


def limit_epochs(tensor: Tensor, num_epochs: int | None = None, name: str | None = None) -> Tensor:
    """`tensor`, which can be read `num_epochs` times and then raises OutOfRangeError.

    The count is a local variable `epochs`, which `tf.local_variables_initializer` sets to 0.

    Args:
        tensor: any tensor.
        num_epochs: how often; None for ever, which returns `tensor` itself.
        name: the name scope.

    Raises:
        ValueError: `num_epochs` is not positive.
    """
    if num_epochs is None:
        return tensor
    if num_epochs <= 0:
        raise ValueError(f"num_epochs must be > 0 not {num_epochs}.")
    with input_scope(name, "limit_epochs", [tensor]) as scope:
        epochs = _local_variable(constant(0, dtype=dtypes.int64), name="epochs")
        with get_default_graph().control_dependencies([count_up_to(epochs, num_epochs)]):
            return identity(tensor, name=scope)


def input_producer(
    input_tensor: TensorLike,
    element_shape: ShapeLike = None,
    num_epochs: int | None = None,
    shuffle: bool = True,
    seed: int | None = None,
    capacity: int = 32,
    shared_name: str | None = None,
    summary_name: str | None = None,
    name: str | None = None,
    cancel_op: Operation | None = None,
) -> FIFOQueue:
    """A queue of the rows of a tensor, which a QueueRunner fills epoch after epoch.

    Args:
        input_tensor: the rows, [n, ...].
        element_shape: the shape of a row, where the tensor's is not known.
        num_epochs: how many times each row comes, after which OutOfRangeError is raised; None for ever. Needs the local
            variables initialized.
        shuffle: whether each epoch has its own random order.
        seed: the seed of the order.
        capacity: how many rows the queue holds.
        shared_name: the name by which sessions share the queue.
        summary_name: the name of a summary of how full the queue is; none when None.
        name: the name scope.
        cancel_op: what stops the threads that fill it; the closing of the queue when None.

    Raises:
        ValueError: the shape of a row is not known.
    """
    with input_scope(name, "input_producer", [input_tensor]):
        rows = convert_to_tensor(input_tensor, name="input_tensor")
        if rows.dims == ():
            raise ValueError(
                f"Shape () must have rank at least 1: a row of {described(rows)} is given by each run; of one it is [row]."
            )
        element = rows.get_shape()[1:].merge_with(TensorShape(element_shape))
        if not element.is_fully_defined():
            raise ValueError("Either `input_tensor` must have a fully defined shape or `element_shape` must be specified")
        if shuffle:
            rows = random_shuffle(rows, seed=seed)
        rows = limit_epochs(rows, num_epochs)
        queue = FIFOQueue(
            capacity=capacity, dtypes=[rows.dtype.base_dtype], shapes=[element], shared_name=shared_name, name=name
        )
        add_queue_runner(QueueRunner(queue, [queue.enqueue_many([rows])], cancel_op=cancel_op))
        if summary_name is not None:
            summary_ops.scalar(summary_name, cast(queue.size(), dtypes.float32) * (1.0 / capacity))
        return queue


def string_input_producer(
    string_tensor: TensorLike,
    num_epochs: int | None = None,
    shuffle: bool = True,
    seed: int | None = None,
    capacity: int = 32,
    shared_name: str | None = None,
    name: str | None = None,
    cancel_op: Operation | None = None,
) -> FIFOQueue:
    """A queue of strings, such as the names of files, which a QueueRunner fills epoch after epoch.

    Args:
        string_tensor: `[n]` strings, a list or a tensor.
        num_epochs: how many times each comes, after which OutOfRangeError is raised; None for ever. Needs the local variables
            initialized.
        shuffle: whether each epoch has its own random order.
        seed: the seed of the order, an int.
        capacity: how many elements the queue holds.
        shared_name: the name by which sessions share the queue.
        name: the name scope.
        cancel_op: what stops the threads that fill it; the closing of the queue when None.

    Returns:
        A queue of [] string elements, which its QueueRunner fills.

    Raises:
        ValueError: `string_tensor` is an empty list. An empty tensor is an InvalidArgumentError when the queue is filled.

    >>> name = tf.train.string_input_producer(["a", "b"], shuffle=False).dequeue()
    >>> with tf.train.MonitoredSession() as session:
    ...     print(session.run(name))
    b'a'
    """
    message = "string_input_producer requires a non-null input tensor: the list of files is empty"
    if isinstance(string_tensor, Sequence | np.ndarray) and not len(string_tensor):
        raise ValueError(message)
    with input_scope(name, "input_producer", [string_tensor]) as scope:
        strings = convert_to_tensor(string_tensor, dtype=dtypes.string)
        with get_default_graph().control_dependencies([assert_that(greater(size(strings), 0), [message])]):
            strings = identity(strings)
        return input_producer(
            strings, [], num_epochs, shuffle, seed, capacity, shared_name, f"fraction_of_{capacity}_full", scope, cancel_op
        )


def range_input_producer(
    limit: TensorLike,
    num_epochs: int | None = None,
    shuffle: bool = True,
    seed: int | None = None,
    capacity: int = 32,
    shared_name: str | None = None,
    name: str | None = None,
) -> FIFOQueue:
    """A queue of the int32 numbers from 0 to `limit - 1`, which a QueueRunner fills epoch after epoch.

    Args:
        limit: [] int32.
        num_epochs: how many times each comes, after which OutOfRangeError is raised; None for ever. Needs the local variables
            initialized.
        shuffle: whether each epoch has its own random order.
        seed: the seed of the order, an int.
        capacity: how many elements the queue holds.
        shared_name: the name by which sessions share the queue.
        name: the name scope.
    """
    with input_scope(name, "input_producer", [limit]) as scope:
        return input_producer(
            range_of(limit), [], num_epochs, shuffle, seed, capacity, shared_name, f"fraction_of_{capacity}_full", scope
        )


def slice_input_producer(
    tensor_list: Sequence[TensorLike],
    num_epochs: int | None = None,
    shuffle: bool = True,
    seed: int | None = None,
    capacity: int = 32,
    shared_name: str | None = None,
    name: str | None = None,
) -> list[Tensor]:
    """One row of each tensor, of the same index in all; each run gives the next. A QueueRunner fills the queue of indices.

    Args:
        tensor_list: tensors `[n, ...]` that have equally many rows.
        num_epochs: how many times each comes, after which OutOfRangeError is raised; None for ever. Needs the local variables
            initialized.
        shuffle: whether each epoch has its own random order.
        seed: the seed of the order, an int.
        capacity: how many elements the queue holds.
        shared_name: the name by which sessions share the queue.
        name: the name scope.

    Returns:
        One `[...]` tensor for each, of its dtype. Running them waits for an index, and raises OutOfRangeError after the last.

    Raises:
        ValueError: the list is empty, or numbers of rows are known to differ.
    """
    with input_scope(name, "input_producer", tensor_list):
        tensors = [convert_to_tensor(each) for each in tensor_list]
        if not tensors:
            raise ValueError("Expected at least one tensor in slice_input_producer().")
        # The first dimensions must be equal for one index to fit all.
        for number, each in enumerate(tensors[1:], 1):
            with naming(
                "Each run takes one row of each: they have equally many.",
                **{"tensor_list[0]": tensors[0], f"tensor_list[{number}]": each},
            ):
                tensors[0].get_shape()[:1].assert_is_compatible_with(each.get_shape()[:1])
        queue = range_input_producer(shape_of(tensors[0])[0], num_epochs, shuffle, seed, capacity, shared_name)
        index = queue.dequeue()
        return [gather(each, index) for each in tensors]
