"""LoggingTensorHook: logs the values of tensors while a model trains."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from weft.client.session import Session
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.operation import Tensor
from weft.platform.hints.argument_checks import check_arguments
from weft.platform.logs import tf_logging
from weft.training.hooks.hook_timer import NeverTriggerTimer, SecondOrStepTimer
from weft.training.hooks.session_run_hook import SessionRunArgs, SessionRunContext, SessionRunHook, SessionRunValues


class LoggingTensorHook(SessionRunHook):
    """Logs tensors every so many runs of this session, every so many seconds, or at the end.

    Args:
        tensors: tensors or their names, by the tags to print; or just several of them.
        every_n_iter: runs between two lines.
        every_n_secs: seconds between them, instead.
        at_end: also (or only) log at the end.
        formatter: makes the line from a dict of tag to value.

    Raises:
        ValueError: both of runs and seconds are given, or neither and not `at_end`, or `every_n_iter` is not positive.
        TypeError: `tensors` is one tensor.

    >>> hook = tf.train.LoggingTensorHook({"loss": "loss:0"}, every_n_iter=100)
    """

    def __init__(
        self,
        tensors: Mapping[str, object] | Iterable[object],
        every_n_iter: int | None = None,
        every_n_secs: float | None = None,
        at_end: bool = False,
        formatter: Callable[[dict[Any, Any]], str] | None = None,
    ) -> None:
        only_at_end = at_end and every_n_iter is None and every_n_secs is None
        if not only_at_end and (every_n_iter is None) == (every_n_secs is None):
            raise ValueError(
                "either at_end and/or exactly one of every_n_iter and every_n_secs must be provided. Got "
                f"every_n_iter={every_n_iter} and every_n_secs={every_n_secs}; every_n_iter=100 logs at every hundredth run."
            )
        check_arguments(LoggingTensorHook.__init__, every_n_iter=every_n_iter, every_n_secs=every_n_secs, formatter=formatter)
        if every_n_iter is not None and every_n_iter <= 0:
            raise ValueError(f"invalid every_n_iter={every_n_iter}. LoggingTensorHook logs at every such run; 1 is every run.")
        if isinstance(tensors, Tensor | str):
            raise TypeError(f"LoggingTensorHook takes a list or a dict of tensors, of one of them [tensor]; got {tensors!r}.")
        if isinstance(tensors, Mapping):
            self._tensors = {tag: tensors[tag] for tag in sorted(tensors)}
        else:
            self._tensors = {tensor: tensor for tensor in tensors}
        self._formatter = formatter
        self._timer = NeverTriggerTimer() if only_at_end else SecondOrStepTimer(every_n_secs, every_n_iter)
        self._log_at_end = at_end

    def begin(self) -> None:
        """Find the tensors."""
        self._timer.reset()
        self._iter_count = 0
        self._should_trigger = False
        self._current_tensors = {tag: as_tensor(tensor) for tag, tensor in self._tensors.items()}

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs | None:
        """Ask for the tensors when it is time."""
        self._should_trigger = self._timer.should_trigger_for_step(self._iter_count)
        return SessionRunArgs(self._current_tensors) if self._should_trigger else None

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        """Log the tensors when they came."""
        if self._should_trigger:
            self._log_tensors(run_values.results)
        self._iter_count += 1

    def end(self, session: Session) -> None:
        """Log the last values."""
        if self._log_at_end:
            self._log_tensors(session.run(self._current_tensors))

    def _log_tensors(self, values: dict[Any, Any]) -> None:
        elapsed_s, _ = self._timer.update_last_triggered_step(self._iter_count)
        with np.printoptions(suppress=True):
            if self._formatter is not None:
                tf_logging.info(self._formatter(values))
                return
            told = ", ".join(f"{tag} = {values[tag]!s}" for tag in self._tensors)
        if elapsed_s is None:
            tf_logging.info("%s", told)
        else:
            tf_logging.info("%s (%.3f sec)", told, elapsed_s)


def as_tensor(item: object) -> Any:
    """The graph element that a name or an object stands for; an op's name stands for its only output.

    Raises:
        ValueError: it is of another graph, or an op with several outputs.
    """
    graph = get_default_graph()
    if not isinstance(item, str):
        if getattr(item, "graph", None) is not graph:
            raise ValueError(f"Passed {item} should have graph attribute that is equal to current graph {graph}.")
        return item
    if ":" in item:
        return graph.as_graph_element(item)
    if len(graph.get_operation_by_name(item).outputs) > 1:
        raise ValueError(f"Name {item} is ambiguous, as this `Operation` has multiple outputs (at least 2).")
    return graph.as_graph_element(f"{item}:0")
