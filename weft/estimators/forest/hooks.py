"""Hooks of a forest's training: one that stops it when the trees grow no more, one that tells of the forest at its end."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from weft.client.session import Session
from weft.framework.building.aliases import Nest
from weft.framework.nodes.operation import Tensor
from weft.platform.logs import tf_logging
from weft.training.hooks.session_run_hook import SessionRunArgs, SessionRunContext, SessionRunHook, SessionRunValues
from weft.training.training_util import get_global_step

LOSS_NAME: Final = "rf_training_loss"


class TensorForestRunOpAtEndHook(SessionRunHook):
    """Runs operations before the session ends, and logs what they give.

    Args:
        op_dict: the operations by their names, in whose order they run.
    """

    def __init__(self, op_dict: Mapping[str, Nest]) -> None:
        self._ops = dict(op_dict)

    def end(self, session: Session) -> None:
        """Run them.

        Args:
            session: the session.
        """
        for name in sorted(self._ops):
            tf_logging.info("%s: %s", name, session.run(self._ops[name]))


class TensorForestLossHook(SessionRunHook):
    """Stops when the loss has not got better for some steps.

    Args:
        early_stopping_rounds: for how many.
        early_stopping_loss_threshold: by which part of itself a loss has to be less to be better; 0 when None.
        loss_op: the loss; the node `rf_training_loss` when None.
    """

    def __init__(
        self, early_stopping_rounds: int, early_stopping_loss_threshold: float | None = None, loss_op: Tensor | None = None
    ) -> None:
        self.early_stopping_rounds = early_stopping_rounds
        self.early_stopping_loss_threshold = early_stopping_loss_threshold or 0.0
        self.loss_op = loss_op
        self.min_loss: float | None = None
        self.last_step = -1
        self.steps = 0

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        """Ask for the loss and the global step.

        Args:
            run_context: tells of the run.
        """
        loss = self.loss_op
        if loss is None:
            loss = run_context.session.graph.get_operation_by_name(LOSS_NAME).outputs[0]
        return SessionRunArgs({"global_step": get_global_step(), "current_loss": loss})

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        """Count the steps without a better loss.

        Args:
            run_context: tells of the run.
            run_values: the loss and the global step.
        """
        loss, step = run_values.results["current_loss"], run_values.results["global_step"]
        self.steps += 1
        # The step goes back where training has been recovered.
        if self.last_step == -1 or self.last_step > step:
            tf_logging.info("TensorForestLossHook resetting last_step.")
            self.last_step, self.steps, self.min_loss = step, 0, None
            return
        self.last_step = step
        if self.min_loss is None or loss < self.min_loss - self.min_loss * self.early_stopping_loss_threshold:
            self.min_loss, self.steps = loss, 0
        if self.steps > self.early_stopping_rounds:
            tf_logging.info("TensorForestLossHook requesting stop.")
            run_context.request_stop()
