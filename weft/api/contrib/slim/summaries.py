"""tf.contrib.slim.summaries: summaries under the tensors' names. This module only re-exports."""

from __future__ import annotations

from weft.models.functional.named_summaries import add_histogram_summaries as add_histogram_summaries
from weft.models.functional.named_summaries import add_histogram_summary as add_histogram_summary
from weft.models.functional.named_summaries import add_image_summaries as add_image_summaries
from weft.models.functional.named_summaries import add_image_summary as add_image_summary
from weft.models.functional.named_summaries import add_scalar_summaries as add_scalar_summaries
from weft.models.functional.named_summaries import add_scalar_summary as add_scalar_summary
from weft.models.functional.named_summaries import add_zero_fraction_summaries as add_zero_fraction_summaries
from weft.models.functional.named_summaries import add_zero_fraction_summary as add_zero_fraction_summary
