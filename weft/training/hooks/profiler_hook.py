"""ProfilerHook: traces a step now and then, and writes each trace as a timeline that Chrome shows."""

from __future__ import annotations

import os
from typing import Any

from tensorboard.compat.proto import config_pb2, step_stats_pb2

from weft.client.timeline import Timeline
from weft.events.file_writer import FileWriterCache
from weft.platform.files import gfile
from weft.platform.hints.argument_checks import check_arguments
from weft.platform.logs import tf_logging
from weft.training.hooks.global_step_read import StepReading, global_step_read
from weft.training.hooks.hook_timer import SecondOrStepTimer
from weft.training.hooks.session_run_hook import SessionRunArgs, SessionRunContext, SessionRunHook, SessionRunValues


class ProfilerHook(SessionRunHook):
    """Writes `timeline-STEP.json` for the first step after the start, and then for one every so many steps or seconds.

    Args:
        save_steps: steps between two traces.
        save_secs: seconds between them, instead.
        output_dir: where the files go; without it, the folder that the process is in.
        show_dataflow: whether to draw arrows from each node to those that use its outputs.
        show_memory: whether to count the bytes of outputs and transfers over time.

    Raises:
        ValueError: both or neither of steps and seconds are given.
    """

    def __init__(
        self,
        save_steps: int | None = None,
        save_secs: float | None = None,
        output_dir: str = "",
        show_dataflow: bool = True,
        show_memory: bool = False,
    ) -> None:
        check_arguments(ProfilerHook.__init__, save_steps=save_steps, save_secs=save_secs, output_dir=output_dir)
        self._timer = SecondOrStepTimer(every_secs=save_secs, every_steps=save_steps)
        self._output_file = os.path.join(output_dir, "timeline-{}.json")
        self._file_writer = FileWriterCache.get(output_dir)
        self._show_dataflow = show_dataflow
        self._show_memory = show_memory

    def begin(self) -> None:
        """Find the global step."""
        self._next_step: Any = None
        self._request_summary = False
        self._reading = StepReading()
        self._global_step_tensor = global_step_read("ProfilerHook")

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        """Ask for a trace when it is time."""
        # The first run makes and compiles things: it would show what no other step is like.
        self._request_summary = self._next_step is not None and self._timer.should_trigger_for_step(self._next_step)
        options = config_pb2.RunOptions(trace_level=config_pb2.RunOptions.FULL_TRACE) if self._request_summary else None
        return SessionRunArgs({"global_step": self._global_step_tensor}, options=options)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        """Write the trace when it came."""
        stale_step = run_values.results["global_step"]
        if self._next_step is None:
            # The timer counts from here.
            self._timer.update_last_triggered_step(stale_step)
        step = self._reading.made(stale_step)
        if self._request_summary:
            step = run_context.session.run(self._global_step_tensor)
            self._reading.note(stale_step, step)
            self._timer.update_last_triggered_step(step)
            self._save(step, run_values.run_metadata.step_stats)
            self._file_writer.add_run_metadata(run_values.run_metadata, f"step_{step}")
        self._next_step = step + 1

    def _save(self, step: int, step_stats: step_stats_pb2.StepStats) -> None:
        path = self._output_file.format(step)
        tf_logging.info("Saving timeline for %d into '%s'.", step, path)
        trace = Timeline(step_stats).generate_chrome_trace_format(self._show_dataflow, self._show_memory)
        with gfile.GFile(path, "w") as file:
            file.write(trace)
