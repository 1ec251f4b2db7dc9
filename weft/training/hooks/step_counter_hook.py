"""StepCounterHook: tells how many steps are made in a second."""

from __future__ import annotations

from typing import Any, SupportsInt

from tensorboard.compat.proto import summary_pb2

from weft.client.session import Session
from weft.events.file_writer import FileWriter, FileWriterCache
from weft.framework.graphs.graph import get_default_graph
from weft.platform.hints.argument_checks import check_arguments
from weft.platform.logs import tf_logging
from weft.training.hooks.global_step_read import global_step_read
from weft.training.hooks.hook_timer import SecondOrStepTimer
from weft.training.hooks.session_run_hook import SessionRunArgs, SessionRunContext, SessionRunHook, SessionRunValues
from weft.training.replica_steps import trains_in_step
from weft.training.training_util import get_global_step


class StepCounterHook(SessionRunHook):
    """Logs the global steps per second, of all replicas together, and writes them as a summary `NAME/sec`.

    Args:
        every_n_steps: steps between two measurements.
        every_n_secs: seconds between them, instead.
        output_dir: the directory of the event file.
        summary_writer: the FileWriter, instead.

    Raises:
        ValueError: both or neither of steps and seconds are given.
    """

    def __init__(
        self,
        every_n_steps: int | None = 100,
        every_n_secs: float | None = None,
        output_dir: str | None = None,
        summary_writer: FileWriter | None = None,
    ) -> None:
        if (every_n_steps is None) == (every_n_secs is None):
            raise ValueError(
                "exactly one of every_n_steps and every_n_secs should be provided. Got "
                f"every_n_steps={every_n_steps} and every_n_secs={every_n_secs}; the steps are 100 where they are left out, so "
                "seconds come with every_n_steps=None."
            )
        check_arguments(
            StepCounterHook.__init__, every_n_steps=every_n_steps, every_n_secs=every_n_secs, output_dir=output_dir,
            summary_writer=summary_writer,
        )  # fmt: skip
        self._timer = SecondOrStepTimer(every_steps=every_n_steps, every_secs=every_n_secs)
        self._summary_writer = summary_writer
        self._output_dir = output_dir
        self._last_global_step: Any = None
        self._same_reads = 0
        self._stale_warnings = 0

    def begin(self) -> None:
        """Find the global step."""
        if self._summary_writer is None and self._output_dir:
            self._summary_writer = FileWriterCache.get(self._output_dir)
        self._global_step_tensor = global_step_read("StepCounterHook")
        # Where gradients of several replicas make one update, a run often ends with the global step that it began with.
        self._joins_replicas = trains_in_step(get_default_graph())
        self._summary_tag = f"{get_global_step().op.name}/sec"

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        """Ask for the global step."""
        return SessionRunArgs(self._global_step_tensor)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        """Measure when it is time."""
        stale_step = run_values.results
        if self._timer.should_trigger_for_step(stale_step + 1):
            step = run_context.session.run(self._global_step_tensor)
            if self._timer.should_trigger_for_step(step):
                elapsed_s, steps = self._timer.update_last_triggered_step(step)
                if elapsed_s and steps is not None:
                    self._tell(steps / elapsed_s, step)
        self._same_reads = self._same_reads + 1 if stale_step == self._last_global_step else 1
        self._last_global_step = stale_step
        # Of two runs that train the first may read after its update and the second before; of three in a row that cannot be.
        if self._same_reads > 2 and not self._joins_replicas:
            self._warn(stale_step)

    def end(self, session: Session) -> None:
        """Write what was measured."""
        if self._summary_writer is not None:
            self._summary_writer.flush()

    def _tell(self, steps_per_s: float, step: SupportsInt) -> None:
        if self._summary_writer is not None:
            value = summary_pb2.Summary.Value(tag=self._summary_tag, simple_value=steps_per_s)
            self._summary_writer.add_summary(summary_pb2.Summary(value=[value]), step)
        tf_logging.info("%s: %g", self._summary_tag, steps_per_s)

    def _warn(self, step: object) -> None:
        if self._stale_warnings < 5:
            self._stale_warnings += 1
            tf_logging.warning(
                "The global step has not grown in the last runs: it is %s. Does the run train? Give "
                "Optimizer.minimize or apply_gradients global_step=tf.train.get_global_step().", step,
            )  # fmt: skip
