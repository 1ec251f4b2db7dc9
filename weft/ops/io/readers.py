"""Readers: TFRecordReader, TextLineReader and their kind, which take file names from a queue and give records."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from weft.checkpoint.record_files import TFRecordOptions
from weft.framework.building.aliases import Array, Nest, Result, TensorLike
from weft.framework.building.op_context import OpContext
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.types import dtypes
from weft.framework.types.dims import Dims
from weft.framework.types.printed import printed
from weft.ops.data_flow.queue import QueueBase
from weft.ops.data_flow.queue_nodes import SharedQueue
from weft.ops.declaration import no_outputs, op, scalar_shape
from weft.ops.io import work_units
from weft.ops.io.reader_state import ReaderState
from weft.ops.io.work_units import Record


def _handle(ctx: OpContext, kind: str, open_work: Callable[[str], Iterator[Record]], is_one_each: bool = False) -> Array:
    name = str(ctx.attrs.get("shared_name") or ctx.node_name)
    ctx.find_or_create(ReaderState, lambda: ReaderState(f"{kind} '{name}'", open_work, is_one_each))
    handle = np.empty((), np.object_)
    handle[()] = ctx.handle_for(ReaderState)
    return handle


@op("WholeFileReaderV2", "-> reader_handle: resource", infer=scalar_shape, gradient=None, stateful=True)
def whole_file_reader_v2(ctx: OpContext, *, container: str = "", shared_name: str = "") -> Result:
    """A reader whose records are whole files: `-> scalar resource`."""
    return _handle(ctx, "WholeFileReader", work_units.whole_file, is_one_each=True)


@op("IdentityReaderV2", "-> reader_handle: resource", infer=scalar_shape, gradient=None, stateful=True)
def identity_reader_v2(ctx: OpContext, *, container: str = "", shared_name: str = "") -> Result:
    """A reader whose records are the work units themselves: `-> scalar resource`."""
    return _handle(ctx, "IdentityReader", work_units.identity, is_one_each=True)


@op("TextLineReaderV2", "-> reader_handle: resource", infer=scalar_shape, gradient=None, stateful=True)
def text_line_reader_v2(ctx: OpContext, *, skip_header_lines: int = 0, container: str = "", shared_name: str = "") -> Result:
    """A reader whose records are lines of text: `-> scalar resource`."""
    return _handle(ctx, "TextLineReader", lambda path: work_units.text_lines(path, skip_header_lines))


@op("TFRecordReaderV2", "-> reader_handle: resource", infer=scalar_shape, gradient=None, stateful=True)
def tf_record_reader_v2(ctx: OpContext, *, container: str = "", shared_name: str = "", compression_type: str = "") -> Result:
    """A reader whose records are TFRecords: `-> scalar resource`."""
    return _handle(ctx, "TFRecordReader", lambda path: work_units.tf_records(path, compression_type))


@op("FixedLengthRecordReaderV2", "-> reader_handle: resource", infer=scalar_shape, gradient=None, stateful=True)
def fixed_length_record_reader_v2(
    ctx: OpContext, *, header_bytes: int = 0, record_bytes: int, footer_bytes: int = 0, hop_bytes: int = 0,
    container: str = "", shared_name: str = "", encoding: str = "",
) -> Result:  # fmt: skip
    """A reader whose records are pieces of one length: `-> scalar resource`."""
    sizes = (record_bytes, header_bytes, footer_bytes, hop_bytes, encoding)
    work_units.check_fixed_length(*sizes)
    return _handle(ctx, "FixedLengthRecordReader", lambda path: work_units.fixed_length_records(path, *sizes))


def _read(ctx: OpContext, reader: object, queue: QueueBase, count: int) -> list[Record]:
    return ctx.find(ReaderState, reader).read(ctx, ctx.find(SharedQueue, queue), count)


@op("ReaderReadV2", "reader_handle: resource, queue_handle: resource -> key: string, value: string", infer=scalar_shape,
    gradient=None, stateful=True, may_leave=True)  # fmt: skip
def reader_read_v2(ctx: OpContext, reader_handle: Array, queue_handle: Array) -> tuple[Result, Result]:
    """The next record: its key and its value.

    `scalar resource, scalar resource -> scalar string, scalar string`
    """
    return tuple(_boxed(part) for part in _read(ctx, reader_handle, queue_handle, 1)[0])


def _vectors(node: Operation) -> list[Dims]:
    return [(None,), (None,)]


@op("ReaderReadUpToV2", "reader_handle: resource, queue_handle: resource, num_records: int64 -> keys: string, values: string",
    infer=_vectors, gradient=None, stateful=True, may_leave=True)  # fmt: skip
def reader_read_up_to_v2(
    ctx: OpContext, reader_handle: Array, queue_handle: Array, num_records: Array
) -> tuple[Result, Result]:
    """Up to so many records of one work unit.

    `scalar resource, scalar resource, scalar int64 -> [n] string, [n] string`
    """
    count = int(num_records)
    if count <= 0:
        # There is nothing to wait for.
        return np.empty(0, np.object_), np.empty(0, np.object_)
    found = _read(ctx, reader_handle, queue_handle, count)
    return _texts([key for key, _ in found]), _texts([value for _, value in found])


@op("ReaderNumRecordsProducedV2", "reader_handle: resource -> records_produced: int64", infer=scalar_shape, gradient=None,
    stateful=True)  # fmt: skip
def reader_num_records_produced_v2(ctx: OpContext, reader_handle: Array) -> Result:
    """The number of records that the reader has given: `scalar resource -> scalar int64`."""
    return np.asarray(ctx.find(ReaderState, reader_handle).records_produced, np.int64)


@op("ReaderNumWorkUnitsCompletedV2", "reader_handle: resource -> units_completed: int64", infer=scalar_shape, gradient=None,
    stateful=True)  # fmt: skip
def reader_num_work_units_completed_v2(ctx: OpContext, reader_handle: Array) -> Result:
    """The number of work units that the reader has read to their end: `scalar resource -> scalar int64`."""
    return np.asarray(ctx.find(ReaderState, reader_handle).work_units_completed, np.int64)


@op("ReaderSerializeStateV2", "reader_handle: resource -> state: string", infer=scalar_shape, gradient=None, stateful=True)
def reader_serialize_state_v2(ctx: OpContext, reader_handle: Array) -> Result:
    """The place where the reader is, as bytes: `scalar resource -> scalar string`."""
    return _boxed(ctx.find(ReaderState, reader_handle).serialize(ctx))


@op("ReaderRestoreStateV2", "reader_handle: resource, state: string ->", infer=no_outputs, gradient=None, stateful=True)
def reader_restore_state_v2(ctx: OpContext, reader_handle: Array, state: Array) -> tuple[()]:
    """Go back to where the reader was: `scalar resource, scalar string ->`."""
    ctx.find(ReaderState, reader_handle).restore(ctx, state.item())
    return ()


@op("ReaderResetV2", "reader_handle: resource ->", infer=no_outputs, gradient=None, stateful=True)
def reader_reset_v2(ctx: OpContext, reader_handle: Array) -> tuple[()]:
    """Make the reader as new: `scalar resource ->`."""
    ctx.find(ReaderState, reader_handle).reset(ctx)
    return ()


def _boxed(data: bytes) -> Array:
    array = np.empty((), np.object_)
    array[()] = data
    return array


def _texts(items: list[bytes]) -> Array:
    array = np.empty(len(items), np.object_)
    array[:] = items
    return array


class ReaderReadUpToV2(NamedTuple):
    """The results of `read_up_to`: two `[n]` vectors of strings."""

    keys: Tensor
    values: Tensor


class ReaderReadV2(NamedTuple):
    """The results of `read`: two scalar strings."""

    key: Tensor
    value: Tensor


class ReaderBase:
    """A reader that lives on the task that it is placed on, where its queue is too.

    Args:
        reader_ref: the reader's handle.
        supports_serialize: whether its state can be saved.
    """

    __repr__ = printed("tf", lambda reader: f"of {reader.reader_ref.op.name!r}")

    def __init__(self, reader_ref: Tensor, supports_serialize: bool = False) -> None:
        self._reader_ref = reader_ref
        self._supports_serialize = supports_serialize

    @property
    def reader_ref(self) -> Tensor:
        """The handle."""
        return self._reader_ref

    @property
    def supports_serialize(self) -> bool:
        """Whether `serialize_state` and `restore_state` work."""
        return self._supports_serialize

    def read(self, queue: QueueBase, name: str | None = None) -> ReaderReadV2:
        """Key and value of the next record; waits for a work unit, OutOfRangeError when the queue is closed and empty.

        Args:
            queue: a queue of strings, or its handle: the work units.
            name: the node's name.

        Returns:
            A pair of [] string tensors, key and value.
        """
        return ReaderReadV2(*reader_read_v2(self._reader_ref, _queue_ref(queue), name=name))

    def read_up_to(self, queue: QueueBase, num_records: TensorLike, name: str | None = None) -> ReaderReadUpToV2:
        """Keys and values, each [n] string, of up to `num_records` of one work unit; otherwise as `read`.

        Args:
            queue: the queue of work units, mostly file names.
            num_records: how many records at most.

        Returns:
            A pair of string tensors `[n]`, keys and values; `n` is `num_records`, or what the work unit has left.
        """
        count = convert_to_tensor(num_records, dtype=dtypes.int64) if not isinstance(num_records, Tensor) else num_records
        _check_scalar(count, "num_records")
        return ReaderReadUpToV2(*reader_read_up_to_v2(self._reader_ref, _queue_ref(queue), count, name=name))

    def num_records_produced(self, name: str | None = None) -> Tensor:
        """The number of records that it has given, a scalar int64."""
        return reader_num_records_produced_v2(self._reader_ref, name=name)

    def num_work_units_completed(self, name: str | None = None) -> Tensor:
        """The number of work units that it has read to their end, a scalar int64."""
        return reader_num_work_units_completed_v2(self._reader_ref, name=name)

    def serialize_state(self, name: str | None = None) -> Tensor:
        """Its place, a scalar string; UnimplementedError for a reader that may be in the middle of a file."""
        return reader_serialize_state_v2(self._reader_ref, name=name)

    def restore_state(self, state: Nest, name: str | None = None) -> Operation:
        """An operation that goes back to where it was when `serialize_state` ran.

        Args:
            state: a scalar string that `serialize_state` gave.
        """
        tensor = convert_to_tensor(state, dtype=dtypes.string)
        _check_scalar(tensor, "state")
        return reader_restore_state_v2(self._reader_ref, tensor, name=name)

    def reset(self, name: str | None = None) -> Operation:
        """An operation that makes it as new."""
        return reader_reset_v2(self._reader_ref, name=name)


def _check_scalar(tensor: Tensor, argument: str) -> None:
    if tensor.dims:
        raise ValueError(f"Shape must be rank 0 but is rank {len(tensor.dims)}: {argument} of a reader is a scalar: {tensor!r}")


def _queue_ref(queue: QueueBase) -> Tensor:
    if isinstance(queue, str | list | tuple) or (isinstance(queue, Tensor) and queue.dtype.base_dtype is dtypes.string):
        raise TypeError(
            f"A reader reads the files that a queue names, not {queue!r}: tf.train.string_input_producer([name]) makes such "
            "a queue."
        )
    return queue if isinstance(queue, Tensor) else queue.queue_ref


class WholeFileReader(ReaderBase):
    """Gives files: the key is the name, the value everything in it."""

    def __init__(self, name: str | None = None) -> None:
        super().__init__(whole_file_reader_v2(name=name), supports_serialize=True)


class IdentityReader(ReaderBase):
    """Gives the queue's strings, as key and as value."""

    def __init__(self, name: str | None = None) -> None:
        super().__init__(identity_reader_v2(name=name), supports_serialize=True)


class TextLineReader(ReaderBase):
    """Gives lines of text files, without their ends; keys are `path:line`.

    Args:
        skip_header_lines: how many lines to leave out at the start of each file.
        name: the node's name.
    """

    def __init__(self, skip_header_lines: int | None = None, name: str | None = None) -> None:
        super().__init__(text_line_reader_v2(skip_header_lines=skip_header_lines or 0, name=name))


class TFRecordReader(ReaderBase):
    """Gives the records of files of TFRecords; keys are `path:offset`.

    Args:
        name: the node's name.
        options: TFRecordOptions, for compressed files.

    >>> reader = tf.TFRecordReader()
    >>> key, record = reader.read(tf.train.string_input_producer(["data.tfrecord"]))
    >>> record.dtype
    tf.string
    """

    def __init__(self, name: str | None = None, options: object = None) -> None:
        compression = TFRecordOptions.get_compression_type_string(options)
        super().__init__(tf_record_reader_v2(name=name, compression_type=compression))


class FixedLengthRecordReader(ReaderBase):
    """Gives pieces of one length; keys are `path:number`.

    Args:
        record_bytes: the length of a record.
        header_bytes, footer_bytes: what to leave out at the start and at the end of each file.
        hop_bytes: how far the start of a record is from that of the one before; `record_bytes` when None or 0.
        name: the node's name.
        encoding: '' or None, 'GZIP' or 'ZLIB'.
    """

    def __init__(
        self,
        record_bytes: int,
        header_bytes: int | None = None,
        footer_bytes: int | None = None,
        hop_bytes: int | None = None,
        name: str | None = None,
        encoding: str | None = None,
    ) -> None:
        super().__init__(
            fixed_length_record_reader_v2(
                record_bytes=record_bytes, header_bytes=header_bytes or 0, footer_bytes=footer_bytes or 0,
                hop_bytes=hop_bytes or 0, encoding=encoding or "", name=name,
            )
        )  # fmt: skip
