"""monitors: what is told of each step. This module only re-exports."""

from __future__ import annotations

from weft.estimators.learn.monitors import BaseMonitor as BaseMonitor
from weft.estimators.learn.monitors import EveryN as EveryN
from weft.estimators.learn.monitors import PrintTensor as PrintTensor
from weft.estimators.learn.monitors import RunHookAdapterForMonitors as RunHookAdapterForMonitors
from weft.estimators.learn.monitors import StopAtStep as StopAtStep
from weft.estimators.learn.monitors import ValidationMonitor as ValidationMonitor
from weft.estimators.learn.monitors import replace_monitors_with_hooks as replace_monitors_with_hooks
