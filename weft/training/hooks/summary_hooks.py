"""Hooks that write summaries: every so many steps or seconds, or at the end of an evaluation."""

from __future__ import annotations

from typing import Any

from tensorboard.compat.proto import event_pb2

from weft.client.session import Session
from weft.events.file_writer import FileWriter, FileWriterCache
from weft.framework.building.aliases import Feeds, Fetches, TensorLike
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.types import dtypes
from weft.ops.summary.merge import merge_all
from weft.platform.hints.argument_checks import check_arguments
from weft.training.coordinator import Coordinator
from weft.training.hooks.global_step_read import StepReading, global_step_read
from weft.training.hooks.hook_timer import SecondOrStepTimer
from weft.training.hooks.session_run_hook import SessionRunArgs, SessionRunContext, SessionRunHook, SessionRunValues
from weft.training.scaffold import Scaffold
from weft.training.training_util import get_or_create_global_step
from weft.training.training_util import global_step as value_of_global_step


class SummarySaverHook(SessionRunHook):
    """Runs the summary op with the first run and then every so many steps or seconds, and writes what it gives.

    Args:
        save_steps: steps between two summaries.
        save_secs: seconds between them, instead.
        output_dir: the directory of the event file.
        summary_writer: the FileWriter, instead.
        scaffold: has the summary op.
        summary_op: a string tensor that is a Summary, or a list of them, instead.

    Raises:
        ValueError: both or neither of steps and seconds, or of `scaffold` and `summary_op`, are given.
        TypeError: `summary_op` is an operation, or a tensor of numbers.
    """

    def __init__(
        self,
        save_steps: int | None = None,
        save_secs: float | None = None,
        output_dir: str | None = None,
        summary_writer: FileWriter | None = None,
        scaffold: Scaffold | None = None,
        summary_op: TensorLike | None = None,
    ) -> None:
        if (scaffold is None) == (summary_op is None):
            got = "neither" if scaffold is None else "both"
            raise ValueError(
                f"Exactly one of scaffold or summary_op must be provided. Got {got}; tf.summary.merge_all() is an op of all "
                "summaries."
            )
        check_arguments(
            SummarySaverHook.__init__, save_steps=save_steps, save_secs=save_secs, output_dir=output_dir,
            summary_writer=summary_writer, scaffold=scaffold,
        )  # fmt: skip
        _check(summary_op)
        self._summary_op = summary_op
        self._summary_writer = summary_writer
        self._output_dir = output_dir
        self._scaffold = scaffold
        self._timer = SecondOrStepTimer(every_secs=save_secs, every_steps=save_steps)

    def begin(self) -> None:
        """Find the global step."""
        _check(self._summary_op)
        if self._summary_writer is None and self._output_dir:
            self._summary_writer = FileWriterCache.get(self._output_dir)
        self._next_step: Any = None
        self._request_summary = False
        self._reading = StepReading()
        self._global_step_tensor = global_step_read("SummarySaverHook")

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        """Ask for the global step, and for the summaries when it is time."""
        self._request_summary = self._next_step is None or self._timer.should_trigger_for_step(self._next_step)
        requests = {"global_step": self._global_step_tensor}
        summaries = self._summaries() if self._request_summary else []
        if summaries:
            requests["summary"] = summaries
        return SessionRunArgs(requests)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        """Write the summaries when they came."""
        if self._summary_writer is None:
            return
        fetched = run_values.results["global_step"]
        step = self._reading.made(fetched)
        if self._request_summary:
            step = run_context.session.run(self._global_step_tensor)
            self._reading.note(fetched, step)
        if self._next_step is None:
            self._summary_writer.add_session_log(event_pb2.SessionLog(status=event_pb2.SessionLog.START), step)
        if self._request_summary:
            self._timer.update_last_triggered_step(step)
            for summary in run_values.results.get("summary", ()):
                self._summary_writer.add_summary(summary, step)
        self._next_step = step + 1

    def end(self, session: Session | None = None) -> None:
        """Write what is buffered."""
        if self._summary_writer is not None:
            self._summary_writer.flush()

    def _summaries(self) -> list[Any]:
        found = self._summary_op
        if found is None and self._scaffold is not None:
            found = self._scaffold.summary_op
        if found is None:
            return []
        return list(found) if isinstance(found, list | tuple) else [found]


def _check(summary_op: Any) -> None:
    """Refuse what is known to give anything else than a summary; a name that the graph has not yet is none of it."""
    for each in summary_op if isinstance(summary_op, list | tuple) else [summary_op]:
        element = _named(each) if isinstance(each, str) else each
        if isinstance(element, Operation) and len(element.outputs) == 1:
            raise TypeError(
                f"summary_op {each!r} is an operation, of which a run gives None: the summary is its output, "
                f"{element.outputs[0].name!r}."
            )
        if isinstance(element, Operation) or (isinstance(element, Tensor) and element.dtype.base_dtype != dtypes.string):
            raise TypeError(
                f"summary_op {each!r} is no summary, a string tensor: tf.summary.scalar(name, tensor) makes one of a number, "
                "tf.summary.merge_all() one of all in the graph."
            )


def _named(name: str) -> Operation | Tensor | None:
    try:
        found: Operation | Tensor = get_default_graph().as_graph_element(name)
    except (KeyError, ValueError):
        return None
    return found


class SummaryAtEndHook(SessionRunHook):
    """Writes summaries when a session ends, such as an evaluation's.

    Args:
        log_dir: the directory of the event file.
        summary_writer: the FileWriter, instead.
        summary_op: a string tensor that is a Summary; None for all summaries of the graph.
        feed_dict: what to feed it.

    Raises:
        ValueError: neither directory nor writer is given.
        TypeError: `summary_op` is an operation, or a tensor of numbers.
    """

    def __init__(
        self,
        log_dir: str | None = None,
        summary_writer: FileWriter | None = None,
        summary_op: Fetches = None,
        feed_dict: Feeds | None = None,
    ) -> None:
        if log_dir is None and summary_writer is None:
            raise ValueError("One of log_dir or summary_writer should be used.")
        check_arguments(SummaryAtEndHook.__init__, log_dir=log_dir, summary_writer=summary_writer)
        _check(summary_op)
        self._log_dir = log_dir
        self._summary_writer = summary_writer
        self._summary_op = summary_op
        self._feed_dict = feed_dict

    def begin(self) -> None:
        """Find the summaries and the global step."""
        if self._summary_op is None:
            # A later session finds what the first one merged: its graph takes no more nodes.
            self._summary_op = merge_all()
        self._global_step = get_or_create_global_step()

    def after_create_session(self, session: Session, coord: Coordinator) -> None:
        """Open the event file."""
        if self._summary_writer is None and self._log_dir:
            self._summary_writer = FileWriterCache.get(self._log_dir)

    def end(self, session: Session) -> None:
        """Write the summaries."""
        writer = self._summary_writer
        if writer is None:
            return
        if self._summary_op is not None:
            step = value_of_global_step(session, self._global_step)
            writer.add_summary(session.run(self._summary_op, self._feed_dict), step)
        writer.flush()
