"""tf.contrib.learn.io: input functions made of arrays and data frames. This module only re-exports."""

from __future__ import annotations

from weft.estimators.inputs.numpy_input import numpy_input_fn as numpy_input_fn
from weft.estimators.inputs.pandas_input import pandas_input_fn as pandas_input_fn
from weft.estimators.learn.example_files import read_batch_examples as read_batch_examples
from weft.estimators.learn.example_files import read_batch_features as read_batch_features
from weft.estimators.learn.example_files import read_batch_record_features as read_batch_record_features
from weft.estimators.learn.example_files import read_keyed_batch_examples as read_keyed_batch_examples
from weft.estimators.learn.example_files import read_keyed_batch_features as read_keyed_batch_features
from weft.estimators.learn.feature_queue import queue_parsed_features as queue_parsed_features
from weft.estimators.learn.frames import extract_pandas_data as extract_pandas_data
from weft.estimators.learn.frames import extract_pandas_labels as extract_pandas_labels
from weft.estimators.learn.frames import extract_pandas_matrix as extract_pandas_matrix
