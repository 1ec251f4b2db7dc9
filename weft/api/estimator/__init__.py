"""tf.estimator: models as functions, trained, evaluated, asked and exported. This module only re-exports."""

from __future__ import annotations

from weft.api.estimator import experimental as experimental
from weft.api.estimator import export as export
from weft.api.estimator import inputs as inputs
from weft.estimator.added_metrics import add_metrics as add_metrics
from weft.estimator.estimator import Estimator as Estimator
from weft.estimator.estimator_spec import EstimatorSpec as EstimatorSpec
from weft.estimator.exporters import BestExporter as BestExporter
from weft.estimator.exporters import Exporter as Exporter
from weft.estimator.exporters import FinalExporter as FinalExporter
from weft.estimator.exporters import LatestExporter as LatestExporter
from weft.estimator.mode_keys import ModeKeys as ModeKeys
from weft.estimator.run_config import RunConfig as RunConfig
from weft.estimator.specs import EvalSpec as EvalSpec
from weft.estimator.specs import TrainSpec as TrainSpec
from weft.estimator.training import train_and_evaluate as train_and_evaluate
from weft.estimator.warm_start_settings import WarmStartSettings as WarmStartSettings
from weft.training.hooks.checkpoint_hooks import CheckpointSaverHook as CheckpointSaverHook
from weft.training.hooks.checkpoint_hooks import CheckpointSaverListener as CheckpointSaverListener
from weft.training.hooks.feed_hooks import FeedFnHook as FeedFnHook
from weft.training.hooks.feed_hooks import FinalOpsHook as FinalOpsHook
from weft.training.hooks.feed_hooks import GlobalStepWaiterHook as GlobalStepWaiterHook
from weft.training.hooks.hook_timer import SecondOrStepTimer as SecondOrStepTimer
from weft.training.hooks.logging_hooks import LoggingTensorHook as LoggingTensorHook
from weft.training.hooks.profiler_hook import ProfilerHook as ProfilerHook
from weft.training.hooks.session_run_hook import SessionRunArgs as SessionRunArgs
from weft.training.hooks.session_run_hook import SessionRunContext as SessionRunContext
from weft.training.hooks.session_run_hook import SessionRunHook as SessionRunHook
from weft.training.hooks.session_run_hook import SessionRunValues as SessionRunValues
from weft.training.hooks.step_counter_hook import StepCounterHook as StepCounterHook
from weft.training.hooks.stop_hooks import NanLossDuringTrainingError as NanLossDuringTrainingError
from weft.training.hooks.stop_hooks import NanTensorHook as NanTensorHook
from weft.training.hooks.stop_hooks import StopAtStepHook as StopAtStepHook
from weft.training.hooks.summary_hooks import SummarySaverHook as SummarySaverHook
from weft.training.saving.warm_start import VocabInfo as VocabInfo
