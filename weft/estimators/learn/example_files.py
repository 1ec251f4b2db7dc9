"""Batches of the records of files, read by queues: the input functions of contrib.learn's programs are made of these."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from weft.estimators.learn.feature_queue import queue_parsed_features
from weft.framework.building.aliases import Nest
from weft.framework.nodes.operation import Tensor
from weft.framework.types import dtypes
from weft.models.feature_columns.contracts import ParseSpec
from weft.ops.array.constant import constant
from weft.ops.input_scope import input_scope
from weft.ops.io.parse_example import parse_example
from weft.ops.io.readers import ReaderBase, TFRecordReader
from weft.platform.files import file_io
from weft.training.input.batching import batch_join, shuffle_batch_join
from weft.training.input.input_producers import string_input_producer

_Parse = Callable[[Nest], Nest]
_MakeReader = Callable[[], ReaderBase]


def read_keyed_batch_examples(
    file_pattern: str | Sequence[str], batch_size: int, reader: _MakeReader, randomize_input: bool = True,
    num_epochs: int | None = None, queue_capacity: int = 10000, num_threads: int = 1, read_batch_size: int = 1,
    parse_fn: _Parse | None = None, name: str | None = None, seed: int | None = None,
) -> tuple[Nest, Nest]:  # fmt: skip
    """Read records of files in batches, with their keys; the queues run where queue runners are started.

    Args:
        file_pattern: names or patterns of files.
        batch_size: how many records a batch has; the last one may have fewer where there are `num_epochs`.
        reader: a function that makes a reader, such as `tf.TFRecordReader`.
        randomize_input: whether files and records are shuffled.
        num_epochs: how often the files are read; without end when None.
        queue_capacity: how many records wait at most.
        num_threads: how many threads read.
        read_batch_size: how many records a thread takes at a time.
        parse_fn: a function that is applied to records before they are batched; None for the records as they are.
        name: the name scope.
        seed: for the order of the files.

    Returns:
        The keys and the records, or what `parse_fn` makes of them.

    Raises:
        ValueError: no file has such a name, or a number does not fit.
    """
    names = _file_names(file_pattern)
    _check(batch_size, queue_capacity, num_threads, read_batch_size)
    with input_scope(name, "read_batch_examples") as scope:
        with input_scope(None, "file_name_queue") as queue_scope:
            known = constant(names, dtypes.string, name="input")
            files = string_input_producer(known, num_epochs, shuffle=randomize_input, seed=seed, name=queue_scope)
        with input_scope(None, "read"):
            parts = [_read(reader(), files, read_batch_size, parse_fn) for _ in range(num_threads)]
        options: Nest = {
            "capacity": queue_capacity, "enqueue_many": read_batch_size > 1,
            "allow_smaller_final_batch": num_epochs is not None, "name": scope,
        }  # fmt: skip
        if randomize_input:
            least = max(queue_capacity - 3 * batch_size, batch_size)
            batch = shuffle_batch_join(parts, batch_size, min_after_dequeue=least, seed=seed, **options)
        else:
            batch = batch_join(parts, batch_size, **options)
        return (batch[0], batch[1]) if parse_fn is None else (batch.pop(_KEY), batch)


_KEY = "__record_key__"


def _read(reader: ReaderBase, files: Nest, count: int, parse_fn: _Parse | None) -> Nest:
    keys, records = reader.read(files) if count == 1 else reader.read_up_to(files, count)
    if parse_fn is None:
        return [keys, records]
    parsed = parse_fn(records)
    return {_KEY: keys, **(parsed if isinstance(parsed, dict) else {"parsed": parsed})}


def read_batch_examples(
    file_pattern: str | Sequence[str], batch_size: int, reader: _MakeReader, randomize_input: bool = True,
    num_epochs: int | None = None, queue_capacity: int = 10000, num_threads: int = 1, read_batch_size: int = 1,
    parse_fn: _Parse | None = None, name: str | None = None, seed: int | None = None,
) -> Nest:  # fmt: skip
    """Read records of files in batches.

    Args: those of `tf.contrib.learn.read_keyed_batch_examples`.

    Returns:
        The records, `[batch]` strings, or what `parse_fn` makes of them.

    Raises:
        ValueError: no file has such a name, or a number does not fit.
    """
    return read_keyed_batch_examples(
        file_pattern, batch_size, reader, randomize_input, num_epochs, queue_capacity, num_threads, read_batch_size, parse_fn,
        name, seed,
    )[1]  # fmt: skip


def read_keyed_batch_features(
    file_pattern: str | Sequence[str], batch_size: int, features: ParseSpec, reader: _MakeReader, randomize_input: bool = True,
    num_epochs: int | None = None, queue_capacity: int = 10000, reader_num_threads: int = 1, feature_queue_capacity: int = 100,
    num_enqueue_threads: int = 2, parse_fn: _Parse | None = None, name: str | None = None, read_batch_size: int | None = None,
) -> tuple[Tensor, dict[str, Nest]]:  # fmt: skip
    """Read Examples of files in batches, parsed, with the records' keys.

    Args:
        file_pattern: names or patterns of files.
        batch_size: how many Examples a batch has.
        features: what they have, as `tf.parse_example` takes it.
        reader: a function that makes a reader, such as `tf.TFRecordReader`.
        randomize_input: whether files and records are shuffled.
        num_epochs: how often the files are read; without end when None.
        queue_capacity: how many records wait at most.
        reader_num_threads: how many threads read.
        feature_queue_capacity: how many parsed batches wait at most.
        num_enqueue_threads: how many threads parse.
        parse_fn: a function that is applied to records before they are parsed; None for the records as they are.
        name: the name scope.
        read_batch_size: how many records a thread takes at a time; a batch's when None.

    Returns:
        The keys, and tensors by name.

    Raises:
        ValueError: no file has such a name, or a number does not fit.
    """
    with input_scope(name, "read_batch_features") as scope:
        keys, examples = read_keyed_batch_examples(
            file_pattern, batch_size, reader, randomize_input, num_epochs, queue_capacity, reader_num_threads,
            batch_size if read_batch_size is None else read_batch_size, parse_fn, scope,
        )  # fmt: skip
        records = examples["parsed"] if parse_fn is not None else examples
        parsed = parse_example(records, features)
        queued, batch = queue_parsed_features(parsed, keys, feature_queue_capacity, num_enqueue_threads, scope)
        assert queued is not None
        return queued, batch


def read_batch_features(
    file_pattern: str | Sequence[str], batch_size: int, features: ParseSpec, reader: _MakeReader, randomize_input: bool = True,
    num_epochs: int | None = None, queue_capacity: int = 10000, feature_queue_capacity: int = 100, reader_num_threads: int = 1,
    num_enqueue_threads: int = 2, parse_fn: _Parse | None = None, name: str | None = None, read_batch_size: int | None = None,
) -> dict[str, Nest]:  # fmt: skip
    """Read Examples of files in batches, parsed.

    Args: those of `tf.contrib.learn.read_keyed_batch_features`.

    Returns:
        Tensors by name.

    Raises:
        ValueError: no file has such a name, or a number does not fit.
    """
    return read_keyed_batch_features(
        file_pattern, batch_size, features, reader, randomize_input, num_epochs, queue_capacity, reader_num_threads,
        feature_queue_capacity, num_enqueue_threads, parse_fn, name, read_batch_size,
    )[1]  # fmt: skip


def read_batch_record_features(
    file_pattern: str | Sequence[str], batch_size: int, features: ParseSpec, randomize_input: bool = True,
    num_epochs: int | None = None, queue_capacity: int = 10000, reader_num_threads: int = 1,
    name: str = "dequeue_record_examples",
) -> dict[str, Nest]:  # fmt: skip
    """Read Examples of TFRecord files in batches, parsed.

    Args:
        file_pattern: names or patterns of files.
        batch_size: how many Examples a batch has.
        features: what they have, as `tf.parse_example` takes it.
        randomize_input: whether files and records are shuffled.
        num_epochs: how often the files are read; without end when None.
        queue_capacity: how many records wait at most.
        reader_num_threads: how many threads read.
        name: the name scope.

    Returns:
        Tensors by name.

    Raises:
        ValueError: no file has such a name, or a number does not fit.
    """
    return read_batch_features(
        file_pattern, batch_size, features, TFRecordReader, randomize_input, num_epochs, queue_capacity,
        reader_num_threads=reader_num_threads, name=name,
    )  # fmt: skip


def _file_names(file_pattern: str | Sequence[str]) -> list[str]:
    patterns = [file_pattern] if isinstance(file_pattern, str) else list(file_pattern)
    if not patterns:
        raise ValueError("No files given to dequeue_examples.")
    names = [name for pattern in patterns for name in file_io.get_matching_files(pattern)]
    if not names:
        raise ValueError(f"No files match {file_pattern}.")
    return sorted(names)


def _check(batch_size: int, queue_capacity: int, num_threads: int, read_batch_size: int) -> None:
    if batch_size <= 0 or batch_size >= queue_capacity:
        raise ValueError(f"Invalid batch_size {batch_size}, with queue_capacity {queue_capacity}.")
    if read_batch_size <= 0:
        raise ValueError(f"Invalid read_batch_size {read_batch_size}.")
    if num_threads <= 0:
        raise ValueError(f"Invalid num_threads {num_threads}.")
