"""tf.contrib.timeseries: models that predict the values of series. This module only re-exports."""

from __future__ import annotations

from weft.api.contrib.timeseries import saved_model_utils as saved_model_utils
from weft.networks.time_series.ar_model import ARModel as ARModel
from weft.networks.time_series.estimators import ARRegressor as ARRegressor
from weft.networks.time_series.estimators import TimeSeriesRegressor as TimeSeriesRegressor
from weft.networks.time_series.feature_keys import FilteringResults as FilteringResults
from weft.networks.time_series.feature_keys import TrainEvalFeatures as TrainEvalFeatures
from weft.networks.time_series.head import OneShotPredictionHead as OneShotPredictionHead
from weft.networks.time_series.input_functions import RandomWindowInputFn as RandomWindowInputFn
from weft.networks.time_series.input_functions import WholeDatasetInputFn as WholeDatasetInputFn
from weft.networks.time_series.input_functions import predict_continuation_input_fn as predict_continuation_input_fn
from weft.networks.time_series.readers import CSVReader as CSVReader
from weft.networks.time_series.readers import NumpyReader as NumpyReader
