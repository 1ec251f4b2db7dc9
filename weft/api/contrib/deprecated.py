"""tf.contrib.deprecated: summaries by their names of before TensorFlow 1.0. This module only re-exports."""

from __future__ import annotations

from weft.ops.summary.names import audio_summary as audio_summary
from weft.ops.summary.names import histogram_summary as histogram_summary
from weft.ops.summary.names import image_summary as image_summary
from weft.ops.summary.names import merge_all_summaries as merge_all_summaries
from weft.ops.summary.names import merge_summary as merge_summary
from weft.ops.summary.names import scalar_summary as scalar_summary
