"""ClusterTraceHook: records a few steps of all tasks of a cluster now and then, into one file that Perfetto shows."""

from __future__ import annotations

import os
from typing import Final

from weft.client.session import BaseSession, Session
from weft.distributed.client.observation.cluster_trace import ClusterRecording
from weft.errors import OpError
from weft.platform.files import gfile
from weft.platform.logs import tf_logging
from weft.training.hooks.global_step_read import StepReading, global_step_read
from weft.training.hooks.hook_timer import SecondOrStepTimer
from weft.training.hooks.session_run_hook import SessionRunArgs, SessionRunContext, SessionRunHook, SessionRunValues

_LONGEST_S: Final = 60.0


class ClusterTraceHook(SessionRunHook):
    """Writes `trace-STEP.json` of some steps, as `weft trace` does: what all tasks did, sends and receives joined by arrows.

    Steps run as they always do, unlike those that ProfilerHook has traced node by node. One hook for a cluster is enough, in
    the chief: only one records a task at a time. A recording that cannot be made is logged, and training goes on.

        hooks = [tf.train.ClusterTraceHook(save_steps=1000, output_dir="runs/1")]

    Args:
        save_steps: steps between two recordings; the first begins with the second run.
        save_secs: seconds between them, instead.
        num_steps: how many runs of this session each recording has.
        output_dir: where the files go, a folder that is made; any file system that weft writes to.

    Raises:
        ValueError: both or neither of steps and seconds are given, or `num_steps` is not positive.
    """

    def __init__(
        self, save_steps: int | None = None, save_secs: float | None = None, num_steps: int = 5, output_dir: str = ""
    ) -> None:
        if num_steps < 1:
            raise ValueError(f"ClusterTraceHook: num_steps must be positive, got {num_steps!r}")
        self._timer = SecondOrStepTimer(every_secs=save_secs, every_steps=save_steps)
        self._num_steps = num_steps
        self._output_dir = output_dir
        self._output_file = os.path.join(output_dir, "trace-{}.json")
        self._recording: ClusterRecording | None = None
        self._left = 0

    def begin(self) -> None:
        """Find the global step, and make the folder: that it cannot be made shows before there are steps to lose."""
        if self._output_dir:
            gfile.MakeDirs(self._output_dir)
        self._next_step: int | None = None
        self._reading = StepReading()
        self._global_step_tensor = global_step_read("ClusterTraceHook")

    def after_create_session(self, session: Session, coord: object) -> None:
        """Find the cluster.

        Raises:
            ValueError: the session is of this process alone.
        """
        target = session.sess_str.decode() if isinstance(session, BaseSession) else ""
        if not target.startswith("grpc://"):
            raise ValueError(
                "ClusterTraceHook: the session has no cluster to record, only this process. ProfilerHook traces its steps; a "
                "session of a cluster has a target such as grpc://host:port"
            )
        self._address = target.removeprefix("grpc://")
        # That of a session that was lost: its tasks end it by themselves.
        self._recording = None

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        """Begin a recording when it is time."""
        # The first run makes and compiles things: it would show what no other step is like.
        if self._recording is None and self._next_step is not None and self._timer.should_trigger_for_step(self._next_step):
            self._timer.update_last_triggered_step(self._next_step)
            try:
                self._recording = ClusterRecording(self._address, _LONGEST_S, "session")
                self._left = self._num_steps
            except OpError as error:
                tf_logging.warning("No trace from step %d on: %s", self._next_step, error.message)
        return SessionRunArgs(self._global_step_tensor)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        """End the recording after its last step."""
        step = int(self._reading.made(run_values.results))
        self._next_step = step + 1
        if self._recording is not None:
            self._left -= 1
            if not self._left:
                self._save(step)

    def end(self, session: Session) -> None:
        """Write what was recorded of the last steps."""
        if self._recording is not None and self._next_step is not None:
            self._save(self._next_step - 1)

    def _save(self, step: int) -> None:
        recording, self._recording = self._recording, None
        assert recording is not None
        path = self._output_file.format(step)
        trace = recording.end()
        for task, why in trace.missing.items():
            tf_logging.warning("The trace at step %d has nothing of %s: %s", step, task, why)
        tf_logging.info("Saving the trace of %d steps into '%s'.", trace.steps, path)
        with gfile.GFile(path, "w") as file:
            file.write(trace.as_json())
