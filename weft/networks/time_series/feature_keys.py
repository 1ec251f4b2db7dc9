"""The names of features, predictions and signatures of time series."""

from __future__ import annotations

from typing import Final

from weft.training.saved_model.layout import DEFAULT_SERVING_SIGNATURE_DEF_KEY


class State:
    """The names of a model's state: of the whole tuple, and what those of its parts begin with where it is flat."""

    STATE_TUPLE: Final = "start_tuple"
    STATE_PREFIX: Final = "model_state"


class Times:
    """The name of times, whole numbers that grow."""

    TIMES: Final = "times"


class Values:
    """The name of values, of which each time has one or more."""

    VALUES: Final = "values"


class TrainEvalFeatures(Times, Values):
    """The features of training and evaluation."""


class PredictionFeatures(Times, State):
    """The features of prediction."""


class FilteringFeatures(Times, Values, State):
    """The features by which a state is brought up to date."""


class PredictionResults(Times):
    """What a prediction gives, among others."""


class FilteringResults(Times, State):
    """What an evaluation gives, among others."""


class SavedModelLabels:
    """The names of the signatures of an exported model."""

    PREDICT: Final = DEFAULT_SERVING_SIGNATURE_DEF_KEY
    FILTER: Final = "filter"
    COLD_START_FILTER: Final = "cold_start_filter"
