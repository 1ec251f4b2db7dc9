"""tensorflow.python.training.basic_session_run_hooks, for programs that import by this path. This module only re-exports."""

from __future__ import annotations

from weft.train.checkpoint_hooks import CheckpointSaverHook as CheckpointSaverHook
from weft.train.checkpoint_hooks import CheckpointSaverListener as CheckpointSaverListener
from weft.train.feed_hooks import FeedFnHook as FeedFnHook
from weft.train.feed_hooks import FinalOpsHook as FinalOpsHook
from weft.train.feed_hooks import GlobalStepWaiterHook as GlobalStepWaiterHook
from weft.train.hook_timer import NeverTriggerTimer as NeverTriggerTimer
from weft.train.hook_timer import SecondOrStepTimer as SecondOrStepTimer
from weft.train.logging_hooks import LoggingTensorHook as LoggingTensorHook
from weft.train.profiler_hook import ProfilerHook as ProfilerHook
from weft.train.session_run_hook import SessionRunArgs as SessionRunArgs
from weft.train.session_run_hook import SessionRunHook as SessionRunHook
from weft.train.step_counter_hook import StepCounterHook as StepCounterHook
from weft.train.stop_hooks import NanLossDuringTrainingError as NanLossDuringTrainingError
from weft.train.stop_hooks import NanTensorHook as NanTensorHook
from weft.train.stop_hooks import StopAtStepHook as StopAtStepHook
from weft.train.summary_hooks import SummarySaverHook as SummarySaverHook
