"""tf.estimator.export: outputs and inputs of exported models. This module only re-exports."""

from __future__ import annotations

from weft.estimators.export.export_output import ClassificationOutput as ClassificationOutput
from weft.estimators.export.export_output import EvalOutput as EvalOutput
from weft.estimators.export.export_output import ExportOutput as ExportOutput
from weft.estimators.export.export_output import PredictOutput as PredictOutput
from weft.estimators.export.export_output import RegressionOutput as RegressionOutput
from weft.estimators.export.input_receiver import ServingInputReceiver as ServingInputReceiver
from weft.estimators.export.input_receiver import TensorServingInputReceiver as TensorServingInputReceiver
from weft.estimators.export.input_receiver import (
    build_parsing_serving_input_receiver_fn as build_parsing_serving_input_receiver_fn,
)
from weft.estimators.export.input_receiver import build_raw_serving_input_receiver_fn as build_raw_serving_input_receiver_fn
