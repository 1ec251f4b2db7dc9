"""tf.contrib.learn.ops: the losses and embeddings of contrib.learn's models. This module only re-exports."""

from __future__ import annotations

from weft.estimators.learn.simple_models import categorical_variable as categorical_variable
from weft.estimators.learn.simple_models import mean_squared_error_regressor as mean_squared_error_regressor
from weft.estimators.learn.simple_models import softmax_classifier as softmax_classifier
from weft.ops.nn.embedding import embedding_lookup as embedding_lookup
