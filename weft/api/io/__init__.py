"""tf.io: files as tensors and graphs as files. This module only re-exports."""

from __future__ import annotations

from weft.api.io import gfile as gfile
from weft.checkpoint.record_files import TFRecordCompressionType as TFRecordCompressionType
from weft.checkpoint.record_files import TFRecordOptions as TFRecordOptions
from weft.checkpoint.record_files import TFRecordWriter as TFRecordWriter
from weft.checkpoint.record_files import tf_record_iterator as tf_record_iterator
from weft.framework.importing.graph_file import write_graph as write_graph
from weft.ops.data_flow.queue import PaddingFIFOQueue as PaddingFIFOQueue
from weft.ops.data_flow.queue import PriorityQueue as PriorityQueue
from weft.ops.data_flow.queue import QueueBase as QueueBase
from weft.ops.data_flow.queue import RandomShuffleQueue as RandomShuffleQueue
from weft.ops.image.codecs import decode_bmp as decode_bmp
from weft.ops.image.codecs import decode_gif as decode_gif
from weft.ops.image.codecs import decode_image as decode_image
from weft.ops.image.codecs import decode_png as decode_png
from weft.ops.image.codecs import encode_png as encode_png
from weft.ops.image.jpeg import decode_and_crop_jpeg as decode_and_crop_jpeg
from weft.ops.image.jpeg import decode_jpeg as decode_jpeg
from weft.ops.image.jpeg import encode_jpeg as encode_jpeg
from weft.ops.image.jpeg import extract_jpeg_shape as extract_jpeg_shape
from weft.ops.image.jpeg import is_jpeg as is_jpeg
from weft.ops.io.csv_records import decode_csv as decode_csv
from weft.ops.io.example_features import FixedLenFeature as FixedLenFeature
from weft.ops.io.example_features import FixedLenSequenceFeature as FixedLenSequenceFeature
from weft.ops.io.example_features import SparseFeature as SparseFeature
from weft.ops.io.example_features import VarLenFeature as VarLenFeature
from weft.ops.io.file_io import matching_files as matching_files
from weft.ops.io.file_io import read_file as read_file
from weft.ops.io.file_io import write_file as write_file
from weft.ops.io.parse_example import parse_example as parse_example
from weft.ops.io.parse_example import parse_single_example as parse_single_example
from weft.ops.io.parse_sequence import parse_single_sequence_example as parse_single_sequence_example
from weft.ops.io.parse_sequences import parse_sequence_example as parse_sequence_example
from weft.ops.sparse.serialization import deserialize_many_sparse as deserialize_many_sparse
from weft.ops.sparse.serialization import serialize_many_sparse as serialize_many_sparse
from weft.ops.sparse.serialization import serialize_sparse as serialize_sparse
from weft.ops.strings.elementwise import decode_base64 as decode_base64
from weft.ops.strings.elementwise import decode_raw as decode_raw
from weft.ops.strings.elementwise import encode_base64 as encode_base64
from weft.ops.strings.tensor_strings import decode_compressed as decode_compressed
from weft.ops.strings.tensor_strings import decode_json_example as decode_json_example
from weft.ops.strings.tensor_strings import parse_tensor as parse_tensor
from weft.ops.strings.tensor_strings import serialize_tensor as serialize_tensor
from weft.training.input.input_producers import match_filenames_once as match_filenames_once
