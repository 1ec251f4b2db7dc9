"""make_stop_at_checkpoint_step_hook: ends a replica's training once the chief has saved the last step."""

from __future__ import annotations

import time

from weft.estimators.estimator import Estimator
from weft.estimators.trained_steps import trained_steps
from weft.training.hooks.global_step_read import global_step_read
from weft.training.hooks.session_run_hook import SessionRunArgs, SessionRunContext, SessionRunHook, SessionRunValues
from weft.training.hooks.stop_hooks import StopAtStepHook


class StopAtCheckpointStepHook(SessionRunHook):
    """Asks to stop when the last checkpoint has reached a step.

    Args:
        model_dir: where the checkpoints are.
        last_step: the global step.
        wait_after_file_check_secs: how long to wait when the model is there and its checkpoint is not.

    Raises:
        ValueError: one of the first two is missing.
    """

    def __init__(self, model_dir: str, last_step: int, wait_after_file_check_secs: float = 30) -> None:
        if last_step is None:
            raise ValueError("last_step must be specified.")
        if model_dir is None:
            raise ValueError("model_dir must be specified.")
        self._model_dir = model_dir
        self._last_step = last_step
        self._wait_after_file_check_secs = wait_after_file_check_secs

    def begin(self) -> None:
        """Find the global step."""
        self._global_step_tensor = global_step_read("StopAtCheckpointStepHook")

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        """Ask for the global step."""
        return SessionRunArgs(self._global_step_tensor)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        """Stop when the step is saved."""
        if run_values.results + 1 < self._last_step:
            return
        if trained_steps(self._model_dir) >= self._last_step:
            run_context.request_stop()
        else:
            time.sleep(self._wait_after_file_check_secs)


def make_stop_at_checkpoint_step_hook(
    estimator: Estimator, last_step: int, wait_after_file_check_secs: float = 30
) -> SessionRunHook:
    """A hook that ends training at a step: the chief's when it is made, the others' when it is saved.

    Args:
        estimator: the model.
        last_step: the global step.
        wait_after_file_check_secs: how long a replica waits before it looks for the checkpoint again.
    """
    if estimator.config.is_chief:
        return StopAtStepHook(last_step=last_step)
    return StopAtCheckpointStepHook(estimator.model_dir, last_step, wait_after_file_check_secs)
