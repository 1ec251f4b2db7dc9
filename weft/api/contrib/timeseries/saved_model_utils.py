"""tf.contrib.timeseries.saved_model_utils: exported models of series that were loaded. This module only re-exports."""

from __future__ import annotations

from weft.networks.time_series.saved_models import cold_start_filter as cold_start_filter
from weft.networks.time_series.saved_models import filter_continuation as filter_continuation
from weft.networks.time_series.saved_models import predict_continuation as predict_continuation
