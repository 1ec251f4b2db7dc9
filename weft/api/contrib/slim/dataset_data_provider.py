"""tf.contrib.slim.dataset_data_provider: tensors of a dataset's records. This module only re-exports."""

from __future__ import annotations

from weft.training.input.data_provider import DatasetDataProvider as DatasetDataProvider
