"""tf.python_io: files of TFRecords written and read from Python."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any, ClassVar

from tensorboard.compat.proto import config_pb2

from weft.checkpoint import records
from weft.errors import FailedPreconditionError
from weft.framework.types.printed import printed
from weft.platform.files import gfile
from weft.platform.text import as_bytes, as_text


class TFRecordCompressionType:
    """The kinds of compression that a file of records may have."""

    NONE = 0
    ZLIB = 1
    GZIP = 2


class TFRecordOptions:
    """How a file of records is compressed.

    Args:
        compression_type: "GZIP", "ZLIB" or "" (none), a TFRecordCompressionType, or other options to take it from.
        flush_mode, input_buffer_size, output_buffer_size: taken, for programs that pass them, and of no effect.
        window_bits, compression_level, compression_method, mem_level, compression_strategy: zlib's settings.
    """

    compression_type_map: ClassVar[dict[int, str]] = {
        TFRecordCompressionType.ZLIB: "ZLIB",
        TFRecordCompressionType.GZIP: "GZIP",
        TFRecordCompressionType.NONE: "",
    }

    __repr__ = printed("tf.io")

    def __init__(
        self,
        compression_type: object = None,
        flush_mode: int | None = None,
        input_buffer_size: int | None = None,
        output_buffer_size: int | None = None,
        window_bits: int | None = None,
        compression_level: int | None = None,
        compression_method: int | None = None,
        mem_level: int | None = None,
        compression_strategy: int | None = None,
    ) -> None:
        self.compression_type = compression_type
        # The type is looked at here, so that a wrong one is reported where it was given.
        self.get_compression_type_string(compression_type)
        self.flush_mode = flush_mode
        self.input_buffer_size = input_buffer_size
        self.output_buffer_size = output_buffer_size
        self.window_bits = window_bits
        self.compression_level = compression_level
        self.compression_method = compression_method
        self.mem_level = mem_level
        self.compression_strategy = compression_strategy

    @classmethod
    def get_compression_type_string(cls, options: config_pb2.RunOptions | None) -> str:
        """The name of the compression that options, or a kind of compression, stand for; ValueError when there is none.

        Args:
            options: a TFRecordOptions, a `TFRecordCompressionType`, or None for none.
        """
        if not options:
            return ""
        if isinstance(options, TFRecordOptions):
            return cls.get_compression_type_string(options.compression_type)
        if isinstance(options, int) and options in cls.compression_type_map:
            return cls.compression_type_map[options]
        if options in cls.compression_type_map.values():
            return str(options)
        raise ValueError(f"Not a valid compression_type: \"{options}\". It is 'GZIP', 'ZLIB' or '', for none.")


def _bytes_of(record: object) -> bytes:
    if hasattr(record, "SerializeToString"):
        kind = type(record).__name__
        raise TypeError(f"expected bytes, {kind} found: write a record's bytes, record.SerializeToString()")
    if isinstance(record, str):
        raise TypeError(f"expected bytes, str found: {record!r}. record.encode() makes bytes of a text.")
    if not isinstance(record, bytes | bytearray | memoryview):
        raise TypeError(f"expected bytes, {type(record).__name__} found: {record!r}")
    return as_bytes(record)


class TFRecordWriter:
    """Writes byte strings to a file of records, which it replaces. Closed by `close` or at the end of a `with` block.

    with tf.python_io.TFRecordWriter(path) as writer:
        writer.write(example.SerializeToString())

    Args:
        path: the file's path.
        options: a `TFRecordOptions`, or a compression type, which says how the file is packed.
    """

    __repr__ = printed("tf.io")

    def __init__(self, path: str | os.PathLike[str], options: object = None) -> None:
        if not isinstance(options, TFRecordOptions):
            options = TFRecordOptions(compression_type=options)
        self._compressor = records.compressor(TFRecordOptions.get_compression_type_string(options), options)
        self._path = as_text(path) if isinstance(path, bytes) else path
        self._file: Any = gfile.GFile(self._path, "wb")
        self._file.write(b"")

    def write(self, record: bytes) -> None:
        """Append a record.

        Args:
            record: the record's bytes.

        Raises:
            TypeError: it is a text, or anything else than bytes.
            FailedPreconditionError: the writer is closed.
        """
        if self._file is None:
            raise FailedPreconditionError.of(f"Writer of {self._path} is closed.")
        data = records.as_record(_bytes_of(record))
        self._file.write(data if self._compressor is None else self._compressor.compress(data))

    def flush(self) -> None:
        """Hand what was written to the operating system."""
        if self._file is None:
            raise FailedPreconditionError.of(f"Writer of {self._path} is closed.")
        if self._compressor is not None:
            self._file.write(self._compressor.flush(2))
        self._file.flush()

    def close(self) -> None:
        """Write what is left and close the file. A second call does nothing."""
        file, self._file = self._file, None
        if file is not None:
            if self._compressor is not None:
                file.write(self._compressor.flush())
            file.close()

    def __enter__(self) -> TFRecordWriter:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def tf_record_iterator(path: str | os.PathLike[str], options: object = None) -> Iterator[bytes]:
    """The records of a file; DataLossError where it is damaged.

    Args:
        path: the file's path.
        options: a `TFRecordOptions`, or a compression type, which says how the file is packed.
    """
    return records.records(os.fspath(path), TFRecordOptions.get_compression_type_string(options))
