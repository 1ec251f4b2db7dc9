"""The names of contrib.learn's predictions, metrics and tasks."""

from __future__ import annotations

from typing import Final


class PredictionKey:
    """The names of predictions."""

    CLASSES: Final = "classes"
    PROBABILITIES: Final = "probabilities"
    LOGITS: Final = "logits"
    LOGISTIC: Final = "logistic"
    SCORES: Final = "scores"
    TOP_K: Final = "top_k"
    GENERIC: Final = "output"


class MetricKey:
    """The names of metrics."""

    LOSS: Final = "loss"
    AUC: Final = "auc"
    AUC_PR: Final = "auc_precision_recall"
    CLASS_AUC: Final = "auc/class%d"
    CLASS_AUC_PR: Final = "auc_precision_recall/class%d"
    PREDICTION_MEAN: Final = "labels/prediction_mean"
    CLASS_PREDICTION_MEAN: Final = "labels/prediction_mean/class%d"
    CLASS_LOGITS_MEAN: Final = "labels/logits_mean/class%d"
    CLASS_PROBABILITY_MEAN: Final = "labels/probability_mean/class%d"
    LABEL_MEAN: Final = "labels/actual_label_mean"
    CLASS_LABEL_MEAN: Final = "labels/actual_label_mean/class%d"
    ACCURACY: Final = "accuracy"
    ACCURACY_BASELINE: Final = "accuracy/baseline_label_mean"
    ACCURACY_MEAN: Final = "accuracy/threshold_%f_mean"
    PRECISION_MEAN: Final = "precision/positive_threshold_%f_mean"
    RECALL_MEAN: Final = "recall/positive_threshold_%f_mean"


class ProblemType:
    """The tasks by which exported outputs are told apart."""

    UNSPECIFIED: Final = 0
    CLASSIFICATION: Final = 1
    LINEAR_REGRESSION: Final = 2
    LOGISTIC_REGRESSION: Final = 3
    TIME_SERIES_FORECASTING: Final = 4
