"""ProgressHook: tells a launcher how training gets on."""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import Final

from weft.framework.graphs.graph import get_default_graph
from weft.platform.process.launcher_link import TaskNews, has_launcher, tell_launcher
from weft.training.hooks.session_run_hook import SessionRunContext, SessionRunHook, SessionRunValues
from weft.training.hooks.stop_hooks import NanTensorHook, StopAtStepHook
from weft.training.training_util import counting_step

_EVERY_S: Final = 1.0


class ProgressHook(SessionRunHook):
    """Tells the launcher the global step once a second, by a run of its own, so that the program's runs stay as they are.

    Args:
        hooks: the session's others, of which some know where training ends and what the loss is.
    """

    def __init__(self, hooks: Iterable[SessionRunHook]) -> None:
        self._stops = [hook for hook in hooks if isinstance(hook, StopAtStepHook)]
        self._losses = [hook for hook in hooks if isinstance(hook, NanTensorHook)]
        self._told_s = 0.0

    def begin(self) -> None:
        """Find the global step."""
        self._global_step = counting_step(get_default_graph())

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        """Tell the step when it is time."""
        now_s = time.monotonic()
        if now_s - self._told_s >= _EVERY_S:
            self._told_s = now_s
            tell_launcher(self._news(int(run_context.session.run(self._global_step))))

    def _news(self, step: int) -> TaskNews:
        # Programs count steps in NumPy's integers too, which are no JSON.
        ends = [int(hook.last_step) for hook in self._stops if hook.last_step is not None]
        losses = [hook.loss for hook in self._losses if hook.loss is not None]
        return TaskNews(step=step, last_step=min(ends, default=None), loss=losses[0] if losses else None)


def progress_hooks(hooks: Iterable[SessionRunHook]) -> list[ProgressHook]:
    """The hook for a session with these others: none without a launcher, or without a global step."""
    return [ProgressHook(hooks)] if has_launcher() and counting_step(get_default_graph()) is not None else []
