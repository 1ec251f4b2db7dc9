"""Evaluating each new checkpoint of a model that trains, and giving it to the exporters."""

from __future__ import annotations

import math
import os
import time
from enum import Enum
from typing import Final, NamedTuple

from weft.client.session import Session
from weft.estimators.aliases import Metrics
from weft.estimators.estimator import Estimator
from weft.estimators.specs import EvalSpec
from weft.framework.graphs.collections import GraphKeys
from weft.platform.logs import tf_logging
from weft.training.hooks.checkpoint_hooks import CheckpointSaverListener
from weft.training.hooks.hook_timer import SecondOrStepTimer

_SECS_BETWEEN_WARNINGS: Final = 600


class EvalStatus(Enum):
    """How an attempt to evaluate ended."""

    EVALUATED = "evaluated"
    MISSING_CHECKPOINT = "missing checkpoint"
    NO_NEW_CHECKPOINT = "no new checkpoint"


class EvalResult(NamedTuple):
    """What an attempt to evaluate gave: metrics and exports' paths when it was EVALUATED."""

    status: EvalStatus
    metrics: Metrics | None = None
    export_results: list[bytes | None] | None = None


class CheckpointEvaluator:
    """Evaluates the last checkpoint of an estimator, each once.

    Args:
        estimator: the model.
        eval_spec: how to evaluate.
        max_training_steps: the global step at which training ends; None when it is not known.
    """

    def __init__(self, estimator: Estimator, eval_spec: EvalSpec, max_training_steps: int | None) -> None:
        self._estimator = estimator
        self._eval_spec = eval_spec
        self._max_training_steps = max_training_steps
        self._previous_path: str | None = None
        self._last_warning_s = -math.inf

    def evaluate_and_export(self) -> EvalResult:
        """Evaluate the last checkpoint if it is new, and ask the exporters."""
        path = self._estimator.latest_checkpoint()
        if not path:
            self._warn(
                "Estimator is not trained yet. Will start an evaluation when a checkpoint is ready: there is none in "
                f"{self._estimator.model_dir!r}. Look whether the training runs, and whether it saves into this folder, which "
                "all tasks are told of by one model_dir."
            )
            return EvalResult(EvalStatus.MISSING_CHECKPOINT)
        if path == self._previous_path:
            self._warn(
                "No new checkpoint ready for evaluation. Skip the current evaluation pass as evaluation results are expected "
                f"to be same for the same checkpoint: the last one is {path!r}. Look whether the training goes on, and how "
                "often it saves (save_checkpoints_steps, save_checkpoints_secs)."
            )
            return EvalResult(EvalStatus.NO_NEW_CHECKPOINT)
        spec = self._eval_spec
        metrics = self._estimator.evaluate(
            spec.input_fn, steps=spec.steps, name=spec.name, checkpoint_path=path, hooks=spec.hooks
        )
        exports = self._export(path, metrics)
        self._last_warning_s = -math.inf
        self._previous_path = path
        return EvalResult(EvalStatus.EVALUATED, metrics, exports)

    def _export(self, path: str, metrics: Metrics) -> list[bytes | None]:
        end = self._max_training_steps
        is_final = end is not None and bool(metrics[GraphKeys.GLOBAL_STEP] >= end)
        base = os.path.join(self._estimator.model_dir, "export")
        return [
            each.export(self._estimator, os.path.join(base, each.name), path, metrics, is_final)
            for each in self._eval_spec.exporters
        ]

    def _warn(self, message: str) -> None:
        now_s = time.monotonic()
        if now_s - self._last_warning_s > _SECS_BETWEEN_WARNINGS:
            tf_logging.warning(message)
            self._last_warning_s = now_s


class EvaluationListener(CheckpointSaverListener):
    """Evaluates between two steps of training, after checkpoints, in the process that trains.

    Args:
        evaluator: evaluates.
        throttle_secs: the time from one evaluation to the next at least.
    """

    def __init__(self, evaluator: CheckpointEvaluator, throttle_secs: float) -> None:
        self._evaluator = evaluator
        self._throttle_secs = throttle_secs
        self._result = EvalResult(EvalStatus.MISSING_CHECKPOINT)

    @property
    def result(self) -> EvalResult:
        """The last evaluation."""
        return self._result

    def begin(self) -> None:
        """Start the clock."""
        self._timer = SecondOrStepTimer(every_secs=self._throttle_secs)
        self._is_first_run = True

    def after_save(self, session: Session, global_step_value: int) -> None:
        """Evaluate when it is time; not the model that training starts from."""
        if self._is_first_run:
            self._is_first_run = False
        elif self._timer.should_trigger_for_step(global_step_value):
            self._evaluate(global_step_value)
        else:
            tf_logging.info("Skip the current checkpoint eval due to throttle secs (%s secs).", self._throttle_secs)

    def end(self, session: Session, global_step_value: int) -> None:
        """Evaluate the last model."""
        if global_step_value != self._timer.last_triggered_step():
            self._evaluate(global_step_value)

    def _evaluate(self, global_step_value: int) -> None:
        self._timer.update_last_triggered_step(global_step_value)
        self._result = self._evaluator.evaluate_and_export()
        if self._result.status is not EvalStatus.EVALUATED:
            raise RuntimeError(f"There was no new checkpoint after the training. Eval status: {self._result.status.value}")
