"""tensorflow.python.training.basic_session_run_hooks, for programs that import by this path. This module only re-exports."""

from __future__ import annotations

from weft.train.hooks.checkpoint_hooks import CheckpointSaverHook as CheckpointSaverHook
from weft.train.hooks.checkpoint_hooks import CheckpointSaverListener as CheckpointSaverListener
from weft.train.hooks.feed_hooks import FeedFnHook as FeedFnHook
from weft.train.hooks.feed_hooks import FinalOpsHook as FinalOpsHook
from weft.train.hooks.feed_hooks import GlobalStepWaiterHook as GlobalStepWaiterHook
from weft.train.hooks.hook_timer import NeverTriggerTimer as NeverTriggerTimer
from weft.train.hooks.hook_timer import SecondOrStepTimer as SecondOrStepTimer
from weft.train.hooks.logging_hooks import LoggingTensorHook as LoggingTensorHook
from weft.train.hooks.profiler_hook import ProfilerHook as ProfilerHook
from weft.train.hooks.session_run_hook import SessionRunArgs as SessionRunArgs
from weft.train.hooks.session_run_hook import SessionRunHook as SessionRunHook
from weft.train.hooks.step_counter_hook import StepCounterHook as StepCounterHook
from weft.train.hooks.stop_hooks import NanLossDuringTrainingError as NanLossDuringTrainingError
from weft.train.hooks.stop_hooks import NanTensorHook as NanTensorHook
from weft.train.hooks.stop_hooks import StopAtStepHook as StopAtStepHook
from weft.train.hooks.summary_hooks import SummarySaverHook as SummarySaverHook
