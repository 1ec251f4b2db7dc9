"""tf.contrib.learn.utils: the input of exported models. This module only re-exports."""

from __future__ import annotations

from weft.estimators.learn.export_strategy import make_export_strategy as make_export_strategy
from weft.estimators.learn.serving_inputs import InputFnOps as InputFnOps
from weft.estimators.learn.serving_inputs import build_default_serving_input_fn as build_default_serving_input_fn
from weft.estimators.learn.serving_inputs import build_parsing_serving_input_fn as build_parsing_serving_input_fn
