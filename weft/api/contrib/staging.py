"""tf.contrib.staging: values that a step leaves for a later one. This module only re-exports."""

from __future__ import annotations

from weft.ops.data_flow.staging import StagingArea as StagingArea
