"""slim's parallel readers: several readers of records side by side, whose records meet in one queue."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from weft.framework.building.aliases import DTypeLike, Nest, TensorLike
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.types import dtypes
from weft.ops.data_flow.queue import FIFOQueue, QueueBase, RandomShuffleQueue
from weft.ops.io.readers import ReaderBase
from weft.ops.math.casting import cast
from weft.ops.math.elementwise import add_n
from weft.ops.summary.nodes import scalar
from weft.platform.files import gfile
from weft.training.input.input_producers import string_input_producer
from weft.training.queue_runner import QueueRunner, add_queue_runner

Sources = str | Sequence[Nest]
_WILDCARDS = ("*", "?", "[")


class ParallelReader(ReaderBase):
    """Readers of one kind that put their records, as pairs of key and value, into a queue that they share.

    Args:
        reader_class: makes a reader, such as tf.TFRecordReader.
        common_queue: the queue, of two strings an element.
        num_readers: how many readers there are, each with a thread of its own.
        reader_kwargs: the arguments of `reader_class`.

    Raises:
        TypeError: the queue's elements are others.
    """

    def __init__(
        self, reader_class: Callable[..., ReaderBase], common_queue: QueueBase, num_readers: int = 4,
        reader_kwargs: Mapping[str, Nest] | None = None,
    ) -> None:  # fmt: skip
        if [dtypes.as_dtype(each) for each in common_queue.dtypes] != [dtypes.string, dtypes.string]:
            raise TypeError(f"common_queue.dtypes must be [tf.string, tf.string], got {common_queue.dtypes}")
        self._readers = [reader_class(**(reader_kwargs or {})) for _ in range(num_readers)]
        self._common_queue = common_queue

    @property
    def num_readers(self) -> int:
        """How many readers there are."""
        return len(self._readers)

    @property
    def common_queue(self) -> QueueBase:
        """The queue in which the records meet."""
        return self._common_queue

    def read(self, queue: QueueBase, name: str | None = None) -> Nest:
        """The next record, a pair of scalar strings; adds a queue runner that reads.

        Args:
            queue: the queue of file names.
            name: the node's name.
        """
        self._fill(queue)
        return self._common_queue.dequeue(name=name)

    def read_up_to(self, queue: QueueBase, num_records: TensorLike, name: str | None = None) -> Nest:
        """Up to `num_records` records, a pair of `[n]` strings; see `read`."""
        self._fill(queue)
        return self._common_queue.dequeue_up_to(num_records, name)

    def _fill(self, queue: QueueBase) -> None:
        enqueues: list[Operation] = [self._common_queue.enqueue(reader.read(queue)) for reader in self._readers]
        add_queue_runner(QueueRunner(self._common_queue, enqueues))

    def num_records_produced(self, name: str | None = None) -> Tensor:
        """How many records the readers have read: a scalar int64."""
        return add_n([reader.num_records_produced() for reader in self._readers], name=name)

    def num_work_units_completed(self, name: str | None = None) -> Tensor:
        """How many files the readers have read to their ends: a scalar int64."""
        return add_n([reader.num_work_units_completed() for reader in self._readers], name=name)


def parallel_read(
    data_sources: Sources, reader_class: Callable[..., ReaderBase], num_epochs: int | None = None, num_readers: int = 4,
    reader_kwargs: Mapping[str, Nest] | None = None, shuffle: bool = True, dtypes: Sequence[DTypeLike] | None = None,
    capacity: int = 256, min_after_dequeue: int = 128, seed: int | None = None, scope: str | None = None,
) -> Nest:  # fmt: skip
    """The next record of some files, which several readers read; needs running queue runners.

        key, value = slim.parallel_reader.parallel_read("/data/train-*", tf.TFRecordReader)

    Args:
        data_sources: a file, a pattern of files, or a list of such.
        reader_class: makes a reader, such as tf.TFRecordReader.
        num_epochs: how often each file is read; None for ever.
        num_readers: how many readers there are.
        reader_kwargs: the arguments of `reader_class`.
        shuffle: whether to mix the files and the records.
        dtypes: the types of a record; two strings when None.
        capacity: how many records are kept ready.
        min_after_dequeue: how many of them at least while records are mixed.
        seed: of the mixing.
        scope: the name scope.

    Returns:
        The key and the value, scalar strings.

    Raises:
        ValueError: there is no such file.
    """
    files = get_data_files(data_sources)
    with get_default_graph().name_scope(scope or "parallel_read"):
        names = string_input_producer(files, num_epochs=num_epochs, shuffle=shuffle, seed=seed, name="filenames")
        queue = _common_queue(shuffle, capacity, min_after_dequeue, dtypes, seed)
        _summarize(queue, capacity)
        return ParallelReader(reader_class, queue, num_readers=num_readers, reader_kwargs=reader_kwargs).read(names)


def _common_queue(shuffle: bool, capacity: int, least: int, kinds: Sequence[DTypeLike] | None, seed: int | None) -> QueueBase:
    types = list(kinds or (dtypes.string, dtypes.string))
    if shuffle:
        return RandomShuffleQueue(capacity, least, types, seed=seed, name="common_queue")
    return FIFOQueue(capacity, types, name="common_queue")


def _summarize(queue: QueueBase, capacity: int) -> None:
    scalar(f"fraction_of_{capacity}_full", cast(queue.size(), dtypes.float32) * (1.0 / capacity))


def single_pass_read(
    data_sources: Sources, reader_class: Callable[..., ReaderBase], reader_kwargs: Mapping[str, Nest] | None = None,
    scope: str | None = None,
) -> Nest:  # fmt: skip
    """The next record of some files, read once and in their order.

    Args:
        data_sources: a file, a pattern of files, or a list of such.
        reader_class: makes a reader, such as tf.TFRecordReader.
        reader_kwargs: its arguments.
        scope: the name scope.

    Returns:
        The key and the value, scalar strings.

    Raises:
        ValueError: there is no such file.
    """
    files = get_data_files(data_sources)
    with get_default_graph().name_scope(scope or "single_pass_read"):
        names = string_input_producer(files, num_epochs=1, shuffle=False, capacity=1, name="filenames")
        return reader_class(**(reader_kwargs or {})).read(names)


def get_data_files(data_sources: Sources) -> list[str]:
    """The files that are meant by a name, a pattern, or a list of such, in a list.

    Args:
        data_sources: "/data/train.tfrecord", "/data/train-*", or a list of them.

    Raises:
        ValueError: a pattern fits no file.
    """
    if isinstance(data_sources, str):
        is_pattern = any(sign in data_sources for sign in _WILDCARDS)
        files = gfile.Glob(data_sources) if is_pattern else [data_sources]
    else:
        files = [name for source in data_sources for name in get_data_files(source)]
    if not files:
        raise ValueError(f"No data files found in {data_sources}")
    return list(files)
