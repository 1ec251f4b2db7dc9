"""The threads that a chief's Supervisor runs beside training: summaries, the step counter, checkpoints."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Protocol

from tensorboard.compat.proto import event_pb2, summary_pb2

from weft.framework.building.aliases import SessionLike
from weft.platform.logs import tf_logging
from weft.platform.process.launcher_link import TaskNews, tell_launcher
from weft.training.coordinator import Coordinator, LooperThread
from weft.training.training_util import global_step as value_of_global_step


class Supervised(Protocol):
    """The part of a Supervisor that its threads use."""

    @property
    def coord(self) -> Coordinator: ...
    @property
    def global_step(self) -> Any: ...
    @property
    def summary_op(self) -> Any: ...
    @property
    def summary_writer(self) -> Any: ...
    @property
    def saver(self) -> Any: ...
    @property
    def save_path(self) -> str | None: ...
    @property
    def save_summaries_secs(self) -> Any: ...
    @property
    def save_model_secs(self) -> Any: ...


@contextmanager
def _until_closed(session: SessionLike) -> Iterator[None]:
    """A block of a service that fails quietly once the program has closed the session.

    It does so before it stops the Supervisor: `with sv.prepare_or_wait_for_session() as sess: ...` and `sv.stop()` behind it.
    A checkpoint that is being saved then made `stop` raise, at the end of a training that had succeeded.
    """
    try:
        yield
    except Exception:
        if not getattr(session, "is_closed", False):
            raise


class SVSummaryThread(LooperThread):
    """Writes summaries every `save_summaries_secs` seconds."""

    def __init__(self, sv: Supervised, sess: SessionLike) -> None:
        super().__init__(sv.coord, sv.save_summaries_secs)
        self._sv = sv
        self._sess = sess

    def run_loop(self) -> None:
        """Run the summary op once and write what it gives."""
        with _until_closed(self._sess):
            step = None
            if self._sv.global_step is None:
                summary = self._sess.run(self._sv.summary_op)
            else:
                summary, step = self._sess.run([self._sv.summary_op, self._sv.global_step])
            if self._sv.summary_writer is not None:
                tf_logging.info("Recording summary at step %s.", step)
                self._sv.summary_writer.add_summary(summary, step)


class SVStepCounterThread(LooperThread):
    """Measures the steps per second every `save_summaries_secs` seconds."""

    def __init__(self, sv: Supervised, sess: SessionLike, step_counter: Any = None) -> None:
        super().__init__(sv.coord, sv.save_summaries_secs)
        self._sv = sv
        self._sess = sess
        self._step_counter = sv.global_step if step_counter is None else step_counter
        self._summary_tag = f"{self._step_counter.op.name}/sec"
        self._last_time = 0.0
        self._last_step = 0

    def start_loop(self) -> None:
        """Note where counting starts."""
        with _until_closed(self._sess):
            self._last_time = time.monotonic()
            self._last_step = value_of_global_step(self._sess, self._step_counter)

    def run_loop(self) -> None:
        """Write the steps per second since the last call."""
        with _until_closed(self._sess):
            step, now = value_of_global_step(self._sess, self._step_counter), time.monotonic()
            steps, elapsed_s = step - self._last_step, now - self._last_time
            self._last_step, self._last_time = step, now
            steps_per_s = steps / elapsed_s if elapsed_s > 0 else float("inf")
            value = summary_pb2.Summary.Value(tag=self._summary_tag, simple_value=steps_per_s)
            if self._sv.summary_writer is not None:
                self._sv.summary_writer.add_summary(summary_pb2.Summary(value=[value]), step)
            tf_logging.log_first_n(tf_logging.INFO, "%s: %g", 10, self._summary_tag, steps_per_s)


class SVProgressThread(LooperThread):
    """Tells the launcher the global step once a second."""

    def __init__(self, sv: Supervised, sess: SessionLike) -> None:
        super().__init__(sv.coord, 1.0)
        self._sv = sv
        self._sess = sess

    def run_loop(self) -> None:
        """Tell it once."""
        with _until_closed(self._sess):
            tell_launcher(TaskNews(step=int(value_of_global_step(self._sess, self._sv.global_step))))


class SVTimerCheckpointThread(LooperThread):
    """Saves the model at once and every `save_model_secs` seconds."""

    def __init__(self, sv: Supervised, sess: SessionLike) -> None:
        super().__init__(sv.coord, sv.save_model_secs)
        self._sv = sv
        self._sess = sess

    def run_loop(self) -> None:
        """Save the model once."""
        with _until_closed(self._sess):
            tf_logging.info("Saving checkpoint to path %s", self._sv.save_path)
            self._sv.saver.save(self._sess, self._sv.save_path, global_step=self._sv.global_step)
            if self._sv.summary_writer is not None and self._sv.global_step is not None:
                log = event_pb2.SessionLog(status=event_pb2.SessionLog.CHECKPOINT, checkpoint_path=self._sv.save_path)
                step = value_of_global_step(self._sess, self._sv.global_step)
                self._sv.summary_writer.add_session_log(log, step)
