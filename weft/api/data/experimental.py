"""tf.data.experimental: further transformations and sources. This module only re-exports."""

from __future__ import annotations

from weft.data.dataset import get_structure as get_structure
from weft.data.experimental.buckets import bucket_by_sequence_length as bucket_by_sequence_length
from weft.data.experimental.csv_files import make_csv_dataset as make_csv_dataset
from weft.data.experimental.features import make_batched_features_dataset as make_batched_features_dataset
from weft.data.experimental.iteration import INFINITE_CARDINALITY as INFINITE_CARDINALITY
from weft.data.experimental.iteration import UNKNOWN_CARDINALITY as UNKNOWN_CARDINALITY
from weft.data.experimental.iteration import cardinality as cardinality
from weft.data.experimental.iteration import from_variant as from_variant
from weft.data.experimental.iteration import get_single_element as get_single_element
from weft.data.experimental.iteration import make_saveable_from_iterator as make_saveable_from_iterator
from weft.data.experimental.iteration import parse_example_dataset as parse_example_dataset
from weft.data.experimental.iteration import to_variant as to_variant
from weft.data.experimental.mixing import choose_from_datasets as choose_from_datasets
from weft.data.experimental.mixing import rejection_resample as rejection_resample
from weft.data.experimental.mixing import sample_from_datasets as sample_from_datasets
from weft.data.experimental.transformations import Counter as Counter
from weft.data.experimental.transformations import RandomDataset as RandomDataset
from weft.data.experimental.transformations import copy_to_device as copy_to_device
from weft.data.experimental.transformations import dense_to_sparse_batch as dense_to_sparse_batch
from weft.data.experimental.transformations import enumerate_dataset as enumerate_dataset
from weft.data.experimental.transformations import group_by_window as group_by_window
from weft.data.experimental.transformations import ignore_errors as ignore_errors
from weft.data.experimental.transformations import map_and_batch as map_and_batch
from weft.data.experimental.transformations import map_and_batch as map_and_batch_with_legacy_function
from weft.data.experimental.transformations import parallel_interleave as parallel_interleave
from weft.data.experimental.transformations import prefetch_to_device as prefetch_to_device
from weft.data.experimental.transformations import scan as scan
from weft.data.experimental.transformations import shuffle_and_repeat as shuffle_and_repeat
from weft.data.experimental.transformations import take_while as take_while
from weft.data.experimental.transformations import unbatch as unbatch
from weft.data.experimental.transformations import unique as unique
from weft.data.options import DistributeOptions as DistributeOptions
from weft.data.options import MapVectorizationOptions as MapVectorizationOptions
from weft.data.options import OptimizationOptions as OptimizationOptions
from weft.data.options import StatsOptions as StatsOptions
from weft.data.options import ThreadingOptions as ThreadingOptions
from weft.data.readers import CsvDataset as CsvDataset
from weft.data.selecting import AUTOTUNE as AUTOTUNE
from weft.data.structure import DatasetSpec as DatasetStructure
