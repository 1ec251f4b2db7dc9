"""model_fn: what model functions get and return. This module only re-exports."""

from __future__ import annotations

from weft.estimators.learn.model_fn_ops import ModeKeys as ModeKeys
from weft.estimators.learn.model_fn_ops import ModelFnOps as ModelFnOps
