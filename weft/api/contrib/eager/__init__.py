"""tf.contrib.eager: what programs use of it in graphs and inside of `tf.py_function`. This module only re-exports."""

from __future__ import annotations

from weft.api.contrib.eager import metrics as metrics
from weft.autodiff.custom_gradient import custom_gradient as custom_gradient
from weft.autodiff.gradient_tape import GradientTape as GradientTape
from weft.autodiff.py_function import py_function
from weft.framework.compat.behavior import executing_eagerly as executing_eagerly
from weft.framework.composites.tensor_spec import TensorSpec as TensorSpec
from weft.ops.variables.resource_variable import ResourceVariable
from weft.training.tracking.autotracking import AutoTrackable
from weft.training.tracking.checkpoint import Checkpoint as Checkpoint
from weft.translation.functions.function import defun as defun
from weft.translation.functions.function import function as function

# Under names of their own: type checkers take a renamed import for the module's private business.
in_eager_mode = executing_eagerly
py_func = py_function
Checkpointable = AutoTrackable
Variable = ResourceVariable
