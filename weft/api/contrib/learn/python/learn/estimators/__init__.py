"""tf.contrib.learn.python.learn.estimators: estimators by their inner paths. This module only re-exports."""

from __future__ import annotations

from weft.api.contrib.learn.python.learn.estimators import constants as constants
from weft.api.contrib.learn.python.learn.estimators import estimator as estimator
from weft.api.contrib.learn.python.learn.estimators import metric_key as metric_key
from weft.api.contrib.learn.python.learn.estimators import model_fn as model_fn
from weft.api.contrib.learn.python.learn.estimators import prediction_key as prediction_key
from weft.api.contrib.learn.python.learn.estimators import run_config as run_config
from weft.api.contrib.learn.python.learn.estimators import test_data as test_data
from weft.estimators.clustering.learn_estimator import KMeansClustering as KMeansClustering
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
from weft.estimators.learn.keys import MetricKey as MetricKey
from weft.estimators.learn.keys import PredictionKey as PredictionKey
from weft.estimators.learn.keys import ProblemType as ProblemType
from weft.estimators.learn.model_fn_ops import ModeKeys as ModeKeys
from weft.estimators.learn.model_fn_ops import ModelFnOps as ModelFnOps
from weft.estimators.learn.real_valued import infer_real_valued_columns_from_input as infer_real_valued_columns_from_input
from weft.estimators.learn.real_valued import infer_real_valued_columns_from_input_fn as infer_real_valued_columns_from_input_fn
from weft.estimators.learn.run_config import ClusterConfig as ClusterConfig
from weft.estimators.learn.run_config import Environment as Environment
from weft.estimators.learn.run_config import RunConfig as RunConfig
from weft.estimators.learn.run_config import TaskType as TaskType
from weft.estimators.learn.svm import SVM as SVM
