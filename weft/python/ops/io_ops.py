"""tensorflow.python.ops.io_ops, for programs that import by this path. This module only re-exports."""

from __future__ import annotations

from weft.ops.io.file_io import matching_files as matching_files
from weft.ops.io.file_io import read_file as read_file
from weft.ops.io.file_io import write_file as write_file
from weft.ops.io.readers import FixedLengthRecordReader as FixedLengthRecordReader
from weft.ops.io.readers import IdentityReader as IdentityReader
from weft.ops.io.readers import ReaderBase as ReaderBase
from weft.ops.io.readers import TextLineReader as TextLineReader
from weft.ops.io.readers import TFRecordReader as TFRecordReader
from weft.ops.io.readers import WholeFileReader as WholeFileReader
