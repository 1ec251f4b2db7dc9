"""Feeding arrays through a queue: threads take slices of them and enqueue them, for some epochs or without end."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from weft import errors
from weft.framework.building.aliases import Feeds, Fetches, SessionLike
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.operation import Tensor
from weft.framework.types.dtypes import as_dtype
from weft.ops.array.placeholder import placeholder
from weft.ops.data_flow.queue import FIFOQueue, QueueBase, RandomShuffleQueue
from weft.ops.math.casting import cast
from weft.ops.math.comparison import maximum
from weft.ops.summary.nodes import scalar
from weft.platform.logs import tf_logging
from weft.proto.queue_runner_pb2 import QueueRunnerDef
from weft.training.queue_runner import QueueRunner, add_queue_runner

Columns: TypeAlias = Mapping[str, "np.ndarray[Any, Any]"]


class FeedingQueueRunner(QueueRunner):
    """A QueueRunner whose operations are fed: each has a function that makes the feeds of its next run.

    Args:
        queue: the queue.
        enqueue_ops: the operations.
        feed_fns: a function for each; OutOfRangeError means the end.
    """

    def __init__(self, queue: QueueBase, enqueue_ops: Sequence[object], feed_fns: Sequence[Callable[[], Feeds]]) -> None:
        super().__init__(queue, enqueue_ops)
        self._feed_fns = dict(zip(self.enqueue_ops, feed_fns, strict=True))

    def enqueuer(self, sess: SessionLike, enqueue_op: Fetches, go_on: Callable[[], bool]) -> Callable[[], object]:
        """What a thread calls again and again."""
        feed_fn = self._feed_fns[enqueue_op]
        return lambda: sess.run(enqueue_op, feed_dict=feed_fn())

    def to_proto(self, export_scope: str | None = None) -> QueueRunnerDef | None:
        """None: the arrays are no part of a graph that is written."""
        return None


class ColumnSlices:
    """The next slices of columns, over and over, from a row on; ends after some epochs. Used by one thread.

    Args:
        columns: arrays of one length.
        batch_size: rows of a slice; the last of the last epoch may have fewer.
        num_epochs: how often each row comes; None: without end.
        start: the first row.
    """

    def __init__(self, columns: Columns, batch_size: int, num_epochs: int | None, start: int = 0) -> None:
        self._columns = columns
        self._batch_size = batch_size
        self._length = len(next(iter(columns.values())))
        self._left = None if num_epochs is None else num_epochs * self._length
        self._next = start

    def __call__(self) -> list[np.ndarray[Any, Any]]:
        count = self._batch_size if self._left is None else min(self._batch_size, self._left)
        if count == 0:
            raise errors.OutOfRangeError(None, None, "All epochs have been emitted.")
        rows = np.arange(self._next, self._next + count) % self._length
        self._next = int(rows[-1] + 1) % self._length
        if self._left is not None:
            self._left -= count
        return [rows, *(column[rows] for column in self._columns.values())]


def enqueue_data(
    columns: Columns,
    capacity: int,
    shuffle: bool,
    num_threads: int,
    batch_size: int,
    num_epochs: int | None,
    min_after_dequeue: int | None = None,
) -> QueueBase:
    """A queue of rows, their number first and then one element for each column, and the threads that fill it.

    Args:
        columns: arrays of one length.
        capacity: rows that the queue holds.
        shuffle: let rows come out in random order.
        num_threads: how many threads fill it, each for all epochs.
        batch_size: rows that are enqueued at once.
        num_epochs: how often each row comes; None: without end.
        min_after_dequeue: rows that stay in a queue that shuffles; a quarter of its capacity when None.
    """
    _warn(shuffle, num_threads, num_epochs)
    length = len(next(iter(columns.values())))
    with get_default_graph().name_scope("enqueue_input"):
        types = [as_dtype(np.int64), *(as_dtype(column.dtype) for column in columns.values())]
        shapes: list[Any] = [(), *(column.shape[1:] for column in columns.values())]
        left = 0
        queue: QueueBase
        if shuffle:
            left = int(capacity / 4 if min_after_dequeue is None else min_after_dequeue)
            queue = RandomShuffleQueue(capacity, left, dtypes=types, shapes=shapes)
        else:
            queue = FIFOQueue(capacity, dtypes=types, shapes=shapes)
        enqueue_ops: list[object] = []
        feed_fns: list[Callable[[], Feeds]] = []
        for _ in range(num_threads):
            fed = [placeholder(dtype) for dtype in types]
            enqueue_ops.append(queue.enqueue_many(fed))
            start = random.randrange(length) if shuffle else 0
            feed_fns.append(_feeder(fed, ColumnSlices(columns, batch_size, num_epochs, start)))
        add_queue_runner(FeedingQueueRunner(queue, enqueue_ops, feed_fns))
        full = cast(maximum(0, queue.size() - left), np.float32) * (1.0 / (capacity - left))
        scalar(f"queue/{queue.name}fraction_over_{left}_of_{capacity - left}_full", full)
    return queue


def _feeder(fed: Sequence[Tensor], slices: ColumnSlices) -> Callable[[], Feeds]:
    return lambda: dict(zip(fed, slices(), strict=True))


def _warn(shuffle: bool, num_threads: int, num_epochs: int | None) -> None:
    if num_threads <= 1:
        return
    if num_epochs is not None:
        tf_logging.warning(
            "enqueue_data was called with num_epochs and num_threads > 1. num_epochs is applied per thread, so this will "
            "produce more epochs than you probably intend. If you want to limit epochs, use one thread."
        )
    if not shuffle:
        tf_logging.warning(
            "enqueue_data was called with shuffle=False and num_threads > 1. This will create multiple threads, all reading "
            "the array/dataframe in order. If you want examples read in order, use one thread; if you want multiple threads, "
            "enable shuffling."
        )
