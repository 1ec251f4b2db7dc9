"""monitors: what is told of each step. This module only re-exports."""

from __future__ import annotations

from weft.estimators.learn.further_monitors import CaptureVariable as CaptureVariable
from weft.estimators.learn.further_monitors import LoggingTrainable as LoggingTrainable
from weft.estimators.learn.further_monitors import NanLoss as NanLoss
from weft.estimators.learn.further_monitors import step_counter as _step_counter
from weft.estimators.learn.further_monitors import summary_saver as _summary_saver
from weft.estimators.learn.monitors import BaseMonitor as BaseMonitor
from weft.estimators.learn.monitors import EveryN as EveryN
from weft.estimators.learn.monitors import PrintTensor as PrintTensor
from weft.estimators.learn.monitors import RunHookAdapterForMonitors as RunHookAdapterForMonitors
from weft.estimators.learn.monitors import StopAtStep as StopAtStep
from weft.estimators.learn.monitors import ValidationMonitor as ValidationMonitor
from weft.estimators.learn.monitors import replace_monitors_with_hooks as replace_monitors_with_hooks
from weft.training.hooks.checkpoint_hooks import CheckpointSaverHook as _CheckpointSaverHook
from weft.training.hooks.stop_hooks import NanLossDuringTrainingError as NanLossDuringTrainingError

# Under names of their own: type checkers take a renamed import for the module's private business.
CheckpointSaver = _CheckpointSaverHook
StepCounter = _step_counter
SummarySaver = _summary_saver
