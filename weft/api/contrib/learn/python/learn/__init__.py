"""tf.contrib.learn.python.learn: contrib.learn by its inner path. This module only re-exports."""

from __future__ import annotations

from weft.api.contrib.learn.python.learn import estimators as estimators
from weft.api.contrib.learn.python.learn import experiment as experiment
from weft.api.contrib.learn.python.learn import learn_runner as learn_runner
from weft.api.contrib.learn.python.learn import metric_spec as metric_spec
from weft.api.contrib.learn.python.learn import monitors as monitors
from weft.estimator.inputs.numpy_input import numpy_input_fn as numpy_input_fn
from weft.estimator.inputs.pandas_input import pandas_input_fn as pandas_input_fn
from weft.estimator.learn.canned import DNNClassifier as DNNClassifier
from weft.estimator.learn.canned import DNNLinearCombinedClassifier as DNNLinearCombinedClassifier
from weft.estimator.learn.canned import DNNLinearCombinedRegressor as DNNLinearCombinedRegressor
from weft.estimator.learn.canned import DNNRegressor as DNNRegressor
from weft.estimator.learn.canned import LinearClassifier as LinearClassifier
from weft.estimator.learn.canned import LinearRegressor as LinearRegressor
from weft.estimator.learn.estimator import BaseEstimator as BaseEstimator
from weft.estimator.learn.estimator import Estimator as Estimator
from weft.estimator.learn.estimator import NotFittedError as NotFittedError
from weft.estimator.learn.estimator import SKCompat as SKCompat
from weft.estimator.learn.experiment import Experiment as Experiment
from weft.estimator.learn.export_strategy import ExportStrategy as ExportStrategy
from weft.estimator.learn.export_strategy import make_export_strategy as make_export_strategy
from weft.estimator.learn.keys import MetricKey as MetricKey
from weft.estimator.learn.keys import PredictionKey as PredictionKey
from weft.estimator.learn.keys import ProblemType as ProblemType
from weft.estimator.learn.metric_spec import MetricSpec as MetricSpec
from weft.estimator.learn.model_fn_ops import ModeKeys as ModeKeys
from weft.estimator.learn.model_fn_ops import ModelFnOps as ModelFnOps
from weft.estimator.learn.run_config import RunConfig as RunConfig
from weft.estimator.learn.run_config import TaskType as TaskType
