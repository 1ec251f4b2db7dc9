"""tf.estimator.inputs: input functions made of arrays and data frames. This module only re-exports."""

from __future__ import annotations

from weft.estimators.inputs.numpy_input import numpy_input_fn as numpy_input_fn
from weft.estimators.inputs.pandas_input import pandas_input_fn as pandas_input_fn
