"""StopSignalHook: ends the training loop when the process was told that it will be killed."""

from __future__ import annotations

from weft.platform.logs import tf_logging
from weft.platform.process.stop_signals import StopSignals
from weft.training.hooks.session_run_hook import SessionRunContext, SessionRunHook, SessionRunValues


class StopSignalHook(SessionRunHook):
    """Asks to stop after the step that a signal met, so that the other hooks save at the end.

    Args:
        signals: what takes note of them.
    """

    def __init__(self, signals: StopSignals) -> None:
        self._signals = signals

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        """Ask to stop when a signal has come."""
        if self._signals.exit_code:
            tf_logging.warning("%s: training stops after this step, and the model is saved", self._signals.name)
            run_context.request_stop()


def stop_signal_hooks(signals: StopSignals) -> list[StopSignalHook]:
    """The hook for a session; none where no signals are to be taken."""
    return [StopSignalHook(signals)] if signals.is_wanted else []
