"""What ends the training of clusters whose loss hardly changes any more."""

from __future__ import annotations

from weft.framework.nodes.operation import Tensor
from weft.training.hooks.session_run_hook import SessionRunArgs, SessionRunContext, SessionRunHook, SessionRunValues


class StopWhenSettled(SessionRunHook):
    """Ends training when the loss has changed by less than a share of one more than it was.

    Args:
        loss: the loss, a scalar.
        tolerance: the share.
    """

    def __init__(self, loss: Tensor, tolerance: float) -> None:
        self._loss, self._tolerance = loss, tolerance
        self._before: float | None = None

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        """Fetch the loss."""
        return SessionRunArgs(self._loss)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        """Compare it with the one before."""
        loss = float(run_values.results)
        if self._before is not None and abs(loss - self._before) < self._tolerance * (1 + abs(self._before)):
            run_context.request_stop()
        self._before = loss
