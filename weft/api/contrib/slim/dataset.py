"""tf.contrib.slim.dataset: descriptions of datasets. This module only re-exports."""

from __future__ import annotations

from weft.training.input.data_provider import Dataset as Dataset
