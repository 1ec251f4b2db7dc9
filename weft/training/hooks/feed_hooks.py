"""Hooks that feed runs, delay them, or run something at the end."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, Final

from weft import errors
from weft.client.fetches import FetchPlan
from weft.client.session import Session
from weft.framework.building.aliases import Feeds, Fetches, FetchValue
from weft.platform.hints.argument_checks import check_arguments
from weft.platform.logs import tf_logging
from weft.platform.waits.wait_notice import WaitNotice
from weft.training.coordinator import Coordinator
from weft.training.hooks.global_step_read import global_step_read
from weft.training.hooks.session_run_hook import SessionRunArgs, SessionRunContext, SessionRunHook

_POLL_S: Final = 0.1
_LOG_EVERY_S: Final = 10.0


class FeedFnHook(SessionRunHook):
    """Feeds every run what a function gives.

    Args:
        feed_fn: takes nothing and returns a dict of tensors to values.
    """

    def __init__(self, feed_fn: Callable[[], Feeds]) -> None:
        check_arguments(FeedFnHook.__init__, feed_fn=feed_fn)
        self.feed_fn = feed_fn

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        """Feed the run."""
        return SessionRunArgs(fetches=None, feed_dict=self.feed_fn())


class FinalOpsHook(SessionRunHook):
    """Runs something when training has ended without an error, and keeps what it gives.

    Args:
        final_ops: what to fetch, in any structure.
        final_ops_feed_dict: what to feed.

    Creating a session raises ValueError for a name that the graph lacks.
    """

    def __init__(self, final_ops: Fetches, final_ops_feed_dict: Feeds | None = None) -> None:
        self._final_ops = final_ops
        self._final_ops_feed_dict = final_ops_feed_dict
        self._final_ops_values: Any = None

    @property
    def final_ops_values(self) -> FetchValue:
        """The value of the last run; None before it."""
        return self._final_ops_values

    def after_create_session(self, session: Session, coord: Coordinator | None) -> None:
        """Refuse what the graph lacks, before the training and not behind it."""
        if self._final_ops is not None:
            FetchPlan(session.graph, self._final_ops)

    def end(self, session: Session) -> None:
        """Run it."""
        if self._final_ops is None:
            return
        try:
            self._final_ops_values = session.run(self._final_ops, feed_dict=self._final_ops_feed_dict)
        except (errors.OutOfRangeError, StopIteration):
            tf_logging.warning(
                "FinalOpsHook: the final ops read from an input that has ended. They should only read variables: values that "
                "the steps have gathered before."
            )
            raise


class GlobalStepWaiterHook(SessionRunHook):
    """Holds this replica's first run back until the others have brought the global step up to a number.

    Args:
        wait_until_step: that number.
    """

    def __init__(self, wait_until_step: int) -> None:
        check_arguments(GlobalStepWaiterHook.__init__, wait_until_step=wait_until_step)
        self._wait_until_step = wait_until_step

    def begin(self) -> None:
        """Find the global step."""
        self._worker_is_started = self._wait_until_step <= 0
        self._global_step_tensor = global_step_read("GlobalStepWaiterHook")

    def before_run(self, run_context: SessionRunContext) -> None:
        """Wait before the first run."""
        log_due, notice = time.monotonic(), WaitNotice()
        while not self._worker_is_started:
            step = run_context.session.run(self._global_step_tensor)
            if step >= self._wait_until_step:
                self._worker_is_started = True
                return
            if time.monotonic() >= log_due:
                tf_logging.info(
                    "Waiting for global step %d before starting training. Current step is %d.", self._wait_until_step, step
                )
                log_due = time.monotonic() + _LOG_EVERY_S
            if notice.is_due():
                tf_logging.warning(
                    "GlobalStepWaiterHook has held this replica back for %.0f s: the global step is %d, and it begins at %d. "
                    "The others bring it there: look whether they train.", notice.waited_s, step, self._wait_until_step,
                )  # fmt: skip
            time.sleep(_POLL_S)
