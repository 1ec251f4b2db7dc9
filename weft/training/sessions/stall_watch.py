"""StallWatch: tells in the log which replicas a synchronous update waits for, and lets it go on without those that are gone."""

from __future__ import annotations

import contextlib
import json
import threading
import time
from collections.abc import Callable, Collection, Sequence
from typing import Any, Final

from weft import errors
from weft.client.session import BaseSession
from weft.framework.building.aliases import SessionLike, TensorLike
from weft.framework.nodes.operation import Operation
from weft.ops.data_flow.accumulator_state import AccumulatorReport
from weft.ops.data_flow.contributors import late_replicas, task_of
from weft.platform.logs import tf_logging
from weft.platform.waits.wait_notice import RARELY_S, SECOND_S
from weft.training.coordinator import Coordinator, SessionThread
from weft.training.queue_runner import QueueRunner
from weft.training.sessions.presence import presence_of
from weft.training.sessions.quorum import Count, Quorum
from weft.training.sessions.silent_tasks import SilentTasks

WATCH_EVERY_S: Final = 10.0
FOLLOW_EVERY_S: Final = 0.5


class StallWatch:
    """Compares what the accumulators say with what they said before, and words what keeps an update from being made.

    Reports come at intervals; a step that two in a row find unfinished is a stall.

    Args:
        silent: tells of the replicas beside those of these names, and why nothing is heard of them.
    """

    def __init__(self, silent: Callable[[Collection[str]], Sequence[str]] = lambda known: ()) -> None:
        self._last_step: int | None = None
        self._silent = silent
        self._last_told: tuple[object, ...] = ()
        self._quiet_until_s = 0.0

    def look(self, reports: Sequence[AccumulatorReport]) -> str | None:
        """The stall in words, or None when steps go on, or nobody waits: no chief for gradients, or no replica for an update.

        Args:
            reports: one for each accumulator; see `AccumulatorState.report`.
        """
        waited_for = [report for report in reports if report["needed"] is not None and report["count"] < report["needed"]]
        if not waited_for or not any(map(_keeps_waiting, waited_for)):
            self._last_step = None
            return None
        slowest = min(waited_for, key=lambda report: (report["step"], report["count"]))
        is_stalled, self._last_step = slowest["step"] == self._last_step, slowest["step"]
        return self._told(slowest) if is_stalled and self._is_news(slowest) else None

    def _is_news(self, report: AccumulatorReport) -> bool:
        """Whether a stall is told of: at first, when others are missing, after a minute, and then every ten minutes."""
        now_s = time.monotonic()
        told = (report["step"], report["count"], *late_replicas(report["replicas"]))
        is_first = told != self._last_told
        if not is_first and now_s < self._quiet_until_s:
            return False
        self._quiet_until_s = now_s + (SECOND_S if is_first else RARELY_S)
        self._last_told = told
        return True

    def _told(self, report: AccumulatorReport) -> str:
        missing = [f"{task} ({how})" for task, how in late_replicas(report["replicas"]).items()]
        missing += self._silent({task_of(replica) for replica in report["replicas"]})
        names = ", ".join(missing) if missing else "replicas that have given none so far"
        return f"Step {report['step']} has {report['count']}/{report['needed']} gradients; missing: {names}"


def _keeps_waiting(report: AccumulatorReport) -> bool:
    """Whether an update that is not made keeps a replica: one that has given its gradient, or those beside one that has left.

    Replicas that all do something else, such as an evaluation or the first step's compilation, wait for nothing.
    """
    return bool(report["count"]) or any(replica["has_left"] for replica in report["replicas"])


class WatchedQueueRunner(QueueRunner):
    """The QueueRunner that makes the updates, with a thread more that watches them where a coordinator can stop it.

    The thread tells of updates that wait, and lets them go on without replicas that are gone.

    A thread that fails ends the session too. Its queue stays open for the replicas of other processes, so that nothing else
    would end a step of this process that waits for a token: after a cut, an update could fail where the step did not.

    Args:
        reports: what gives the accumulators' reports.
        follow: makes the Quorum of one session; None waits for all replicas for ever.
        set_count: runs in the session what makes a Count hold from then on, in place of the one before.
        begin: an operation to run before the first update; not every program runs the optimizer's `chief_init_op`.
        arguments: those of QueueRunner.
    """

    def __init__(
        self,
        reports: Sequence[TensorLike],
        follow: Callable[[], Quorum] | None,
        set_count: Callable[[SessionLike, Count, Count], object],
        begin: Operation,
        *arguments: Any,
        **more: Any,
    ) -> None:
        super().__init__(*arguments, **more)
        self._reports = list(reports)
        self._follow = follow
        self._set_count = set_count
        self._begin = begin

    def create_threads(
        self, sess: SessionLike, coord: Coordinator | None = None, daemon: bool = False, start: bool = False
    ) -> list[threading.Thread]:
        """The QueueRunner's threads, and one that watches; that is none of the result where no coordinator stops it."""
        threads = super().create_threads(sess, coord, daemon, start)
        if not threads or not self._reports or (coord is None and not start):
            return threads
        # Without a coordinator it ends with the session.
        watched = (sess, coord or Coordinator())
        is_daemon = daemon or coord is None
        watch = SessionThread(target=self._watch, args=watched, name=f"StallWatchThread-{self.name}", daemon=is_daemon)
        if coord is not None:
            coord.register_thread(watch)
        if start:
            watch.start()
        return threads if coord is None else [*threads, watch]

    def enqueuer(self, sess: BaseSession, enqueue_op: Operation, go_on: Callable[[], bool]) -> Callable[[], object]:
        """As QueueRunner's, when `begin` has run.

        Args:
            sess: the session of the thread.
            enqueue_op: what it runs.
            go_on: whether the thread is to go on; asked before each run.
        """
        sess.run(self._begin)
        return super().enqueuer(sess, enqueue_op, go_on)

    def _close_on_stop(self, sess: SessionLike, coord: Coordinator) -> None:
        super()._close_on_stop(sess, coord)
        if coord.requested_exception is not None and isinstance(sess, BaseSession):
            # Its tasks may be gone.
            with contextlib.suppress(errors.OpError):
                sess.close()

    def _watch(self, sess: SessionLike, coord: Coordinator) -> None:
        watch, quorum = StallWatch(SilentTasks(sess).of), None if self._follow is None else self._follow()
        look_at = time.monotonic() + WATCH_EVERY_S
        # The accumulators learn early that somebody tells of their waits.
        wait_s = min(FOLLOW_EVERY_S, WATCH_EVERY_S)
        while not coord.wait_for_stop(wait_s):
            wait_s = WATCH_EVERY_S if quorum is None else wait_s
            try:
                reports = [json.loads(report) for report in sess.run(self._reports)]
                if quorum is not None:
                    self._follow_replicas(sess, quorum, reports)
            except (errors.OpError, RuntimeError):
                # What became of the session is for those to tell who train in it.
                return
            if time.monotonic() >= look_at:
                look_at += WATCH_EVERY_S
                told = watch.look(reports)
                if told is not None:
                    tf_logging.warning("%s", told)

    def _follow_replicas(self, sess: SessionLike, quorum: Quorum, reports: Sequence[AccumulatorReport]) -> None:
        before = quorum.count
        told = quorum.look(reports, time.monotonic())
        if quorum.count != before:
            self._set_count(sess, quorum.count, before)
        if told is not None:
            # Who comes is no cause for alarm; nor, while this replica ends and the hooks save the model, is who ends.
            presence = presence_of(sess)
            is_at_end = presence is not None and presence.is_at_end
            tell = tf_logging.warning if quorum.has_lost and not is_at_end else tf_logging.info
            tell("%s", told)
