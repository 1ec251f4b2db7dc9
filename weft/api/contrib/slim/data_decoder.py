"""tf.contrib.slim.data_decoder: what decodes records. This module only re-exports."""

from __future__ import annotations

from weft.training.input.data_provider import DataDecoder as DataDecoder
