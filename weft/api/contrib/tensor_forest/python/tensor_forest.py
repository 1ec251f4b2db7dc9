"""tf.contrib.tensor_forest.python.tensor_forest: parameters, variables and graphs of forests. This module only re-exports."""

from __future__ import annotations

from weft.estimators.forest.graphs import RandomForestGraphs as RandomForestGraphs
from weft.estimators.forest.graphs import RandomTreeGraphs as RandomTreeGraphs
from weft.estimators.forest.hparams import CLASSIFICATION_LEAF_MODEL_TYPES as CLASSIFICATION_LEAF_MODEL_TYPES
from weft.estimators.forest.hparams import FINISH_TYPES as FINISH_TYPES
from weft.estimators.forest.hparams import PRUNING_TYPES as PRUNING_TYPES
from weft.estimators.forest.hparams import REGRESSION_MODEL_TYPE as REGRESSION_MODEL_TYPE
from weft.estimators.forest.hparams import SPLIT_TYPES as SPLIT_TYPES
from weft.estimators.forest.hparams import ForestHParams as ForestHParams
from weft.estimators.forest.hparams import build_params_proto as build_params_proto
from weft.estimators.forest.hparams import parse_number_or_string_to_proto as parse_number_or_string_to_proto
from weft.estimators.forest.resources import ForestVariables as ForestVariables
from weft.estimators.forest.resources import TreeVariables as TreeVariables
