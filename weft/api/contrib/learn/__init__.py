"""tf.contrib.learn: estimators with fit, evaluate and predict, experiments, monitors. This module only re-exports."""

from __future__ import annotations

from weft.api.contrib.learn import datasets as datasets
from weft.api.contrib.learn import io as io
from weft.api.contrib.learn import models as models
from weft.api.contrib.learn import ops as ops
from weft.api.contrib.learn import preprocessing as preprocessing
from weft.api.contrib.learn import python as python
from weft.api.contrib.learn import utils as utils
from weft.api.contrib.learn.python.learn import learn_runner as learn_runner
from weft.api.contrib.learn.python.learn import monitors as monitors
from weft.estimators.inputs.numpy_input import numpy_input_fn as numpy_input_fn
from weft.estimators.inputs.pandas_input import pandas_input_fn as pandas_input_fn
from weft.estimators.learn.canned import DNNClassifier as DNNClassifier
from weft.estimators.learn.canned import DNNLinearCombinedClassifier as DNNLinearCombinedClassifier
from weft.estimators.learn.canned import DNNLinearCombinedRegressor as DNNLinearCombinedRegressor
from weft.estimators.learn.canned import DNNRegressor as DNNRegressor
from weft.estimators.learn.canned import LinearClassifier as LinearClassifier
from weft.estimators.learn.canned import LinearRegressor as LinearRegressor
from weft.estimators.learn.estimator import BaseEstimator as BaseEstimator
from weft.estimators.learn.estimator import Estimator as Estimator
from weft.estimators.learn.estimator import NotFittedError as NotFittedError
from weft.estimators.learn.estimator import SKCompat as SKCompat
from weft.estimators.learn.example_files import read_batch_examples as read_batch_examples
from weft.estimators.learn.example_files import read_batch_features as read_batch_features
from weft.estimators.learn.example_files import read_batch_record_features as read_batch_record_features
from weft.estimators.learn.example_files import read_keyed_batch_examples as read_keyed_batch_examples
from weft.estimators.learn.example_files import read_keyed_batch_features as read_keyed_batch_features
from weft.estimators.learn.experiment import Experiment as Experiment
from weft.estimators.learn.export_strategy import ExportStrategy as ExportStrategy
from weft.estimators.learn.export_strategy import make_export_strategy as make_export_strategy
from weft.estimators.learn.frames import extract_pandas_data as extract_pandas_data
from weft.estimators.learn.frames import extract_pandas_labels as extract_pandas_labels
from weft.estimators.learn.frames import extract_pandas_matrix as extract_pandas_matrix
from weft.estimators.learn.keys import PredictionKey as PredictionKey
from weft.estimators.learn.keys import ProblemType as ProblemType
from weft.estimators.learn.metric_spec import MetricSpec as MetricSpec
from weft.estimators.learn.model_fn_ops import ModeKeys as ModeKeys
from weft.estimators.learn.model_fn_ops import ModelFnOps as ModelFnOps
from weft.estimators.learn.real_valued import infer_real_valued_columns_from_input as infer_real_valued_columns_from_input
from weft.estimators.learn.real_valued import infer_real_valued_columns_from_input_fn as infer_real_valued_columns_from_input_fn
from weft.estimators.learn.run_config import RunConfig as RunConfig
from weft.estimators.learn.run_config import TaskType as TaskType
from weft.estimators.learn.serving_inputs import InputFnOps as InputFnOps
from weft.estimators.learn.serving_inputs import build_parsing_serving_input_fn as build_parsing_serving_input_fn
from weft.training.hooks.stop_hooks import NanLossDuringTrainingError as NanLossDuringTrainingError
