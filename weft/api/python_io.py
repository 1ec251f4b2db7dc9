"""tf.python_io: files of TFRecords written and read from Python. This module only re-exports."""

from __future__ import annotations

from weft.checkpoint.record_files import TFRecordCompressionType as TFRecordCompressionType
from weft.checkpoint.record_files import TFRecordOptions as TFRecordOptions
from weft.checkpoint.record_files import TFRecordWriter as TFRecordWriter
from weft.checkpoint.record_files import tf_record_iterator as tf_record_iterator
