"""tf.data.experimental: further transformations and sources. This module only re-exports."""

from __future__ import annotations

from weft.datasets.experimental.buckets import bucket_by_sequence_length as bucket_by_sequence_length
from weft.datasets.experimental.csv_files import make_csv_dataset as make_csv_dataset
from weft.datasets.experimental.features import make_batched_features_dataset as make_batched_features_dataset
from weft.datasets.experimental.iteration import INFINITE_CARDINALITY as INFINITE_CARDINALITY
from weft.datasets.experimental.iteration import UNKNOWN_CARDINALITY as UNKNOWN_CARDINALITY
from weft.datasets.experimental.iteration import cardinality as cardinality
from weft.datasets.experimental.iteration import from_variant as from_variant
from weft.datasets.experimental.iteration import get_single_element as get_single_element
from weft.datasets.experimental.iteration import make_saveable_from_iterator as make_saveable_from_iterator
from weft.datasets.experimental.iteration import parse_example_dataset as parse_example_dataset
from weft.datasets.experimental.iteration import to_variant as to_variant
from weft.datasets.experimental.mixing import choose_from_datasets as choose_from_datasets
from weft.datasets.experimental.mixing import rejection_resample as rejection_resample
from weft.datasets.experimental.mixing import sample_from_datasets as sample_from_datasets
from weft.datasets.experimental.reducing import Reducer as Reducer
from weft.datasets.experimental.reducing import TFRecordWriter as TFRecordWriter
from weft.datasets.experimental.reducing import group_by_reducer as group_by_reducer
from weft.datasets.experimental.transformations import Counter as Counter
from weft.datasets.experimental.transformations import RandomDataset as RandomDataset
from weft.datasets.experimental.transformations import copy_to_device as copy_to_device
from weft.datasets.experimental.transformations import dense_to_sparse_batch as dense_to_sparse_batch
from weft.datasets.experimental.transformations import enumerate_dataset as enumerate_dataset
from weft.datasets.experimental.transformations import group_by_window as group_by_window
from weft.datasets.experimental.transformations import ignore_errors as ignore_errors
from weft.datasets.experimental.transformations import map_and_batch as map_and_batch
from weft.datasets.experimental.transformations import parallel_interleave as parallel_interleave
from weft.datasets.experimental.transformations import prefetch_to_device as prefetch_to_device
from weft.datasets.experimental.transformations import scan as scan
from weft.datasets.experimental.transformations import shuffle_and_repeat as shuffle_and_repeat
from weft.datasets.experimental.transformations import take_while as take_while
from weft.datasets.experimental.transformations import unbatch as unbatch
from weft.datasets.experimental.transformations import unique as unique
from weft.datasets.inspection import get_structure as get_structure
from weft.datasets.leaves import DatasetSpec as _DatasetSpec
from weft.datasets.optional import Optional as Optional
from weft.datasets.optional import get_next_as_optional as get_next_as_optional
from weft.datasets.options import DistributeOptions as DistributeOptions
from weft.datasets.options import MapVectorizationOptions as MapVectorizationOptions
from weft.datasets.options import OptimizationOptions as OptimizationOptions
from weft.datasets.options import StatsOptions as StatsOptions
from weft.datasets.options import ThreadingOptions as ThreadingOptions
from weft.datasets.readers import CsvDataset as CsvDataset
from weft.datasets.selecting import AUTOTUNE as AUTOTUNE
from weft.datasets.sql_dataset import SqlDataset as SqlDataset
from weft.datasets.structures import OptionalStructure as OptionalStructure
from weft.datasets.structures import RaggedTensorStructure as RaggedTensorStructure
from weft.datasets.structures import SparseTensorStructure as SparseTensorStructure
from weft.datasets.structures import TensorArrayStructure as TensorArrayStructure
from weft.datasets.structures import TensorStructure as TensorStructure
from weft.framework.types.type_spec import TypeSpec as _TypeSpec

# Under a name of its own: type checkers take a renamed import for the module's private business.
map_and_batch_with_legacy_function = map_and_batch
DatasetStructure = _DatasetSpec
Structure = _TypeSpec
