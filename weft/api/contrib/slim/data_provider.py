"""tf.contrib.slim.data_provider: what provides tensors of a dataset. This module only re-exports."""

from __future__ import annotations

from weft.training.input.data_provider import DataProvider as DataProvider
