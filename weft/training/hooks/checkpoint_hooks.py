"""CheckpointSaverHook: saves the model every so many steps or seconds; CheckpointSaverListener: is told of it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from tensorboard.compat.proto import event_pb2

from weft.client.session import Session
from weft.events.file_writer import FileWriterCache
from weft.framework.graphs.collections import GraphKeys
from weft.framework.graphs.graph import get_default_graph
from weft.framework.importing.graph_file import write_graph
from weft.framework.types.printed import printed
from weft.platform.hints.argument_checks import check_arguments
from weft.platform.logs import tf_logging
from weft.platform.waits.function_wait import call_watched
from weft.training.coordinator import Coordinator
from weft.training.hooks.global_step_read import global_step_read
from weft.training.hooks.hook_timer import SecondOrStepTimer
from weft.training.hooks.session_run_hook import SessionRunArgs, SessionRunContext, SessionRunHook, SessionRunValues
from weft.training.saving.meta_graph import export_meta_graph
from weft.training.saving.saver import Saver
from weft.training.scaffold import Scaffold


class CheckpointSaverListener:
    """Is called around each checkpoint that a CheckpointSaverHook writes. Every method does nothing by itself."""

    __repr__ = printed("tf.train")

    def begin(self) -> None:
        """Called once, while the graph can be changed."""

    def before_save(self, session: Session, global_step_value: int) -> None:
        """Called before a checkpoint of that step.

        Args:
            session: the session whose variables are saved.
            global_step_value: the step that they are of.
        """

    def after_save(self, session: Session, global_step_value: int) -> bool | None:
        """Called after it; returning True asks training to stop.

        Args:
            session: the session whose variables were saved.
            global_step_value: the step that they are of.

        Returns:
            True to stop training, otherwise None or False.
        """

    def end(self, session: Session, global_step_value: int) -> None:
        """Called at the end of the session.

        Args:
            session: the session, which still runs.
            global_step_value: the last step.
        """


class CheckpointSaverHook(SessionRunHook):
    """Saves the model when a session is made, every so many steps or seconds, and at the end.

    Args:
        checkpoint_dir: the directory to write to.
        save_secs: seconds between checkpoints.
        save_steps: steps between them, instead.
        saver: the Saver.
        checkpoint_basename: what the checkpoints' names begin with.
        scaffold: has the Saver, instead.
        listeners: CheckpointSaverListeners.

    Raises:
        ValueError: both or neither of `save_secs` and `save_steps`, or both of `saver` and `scaffold`, are given.
    """

    def __init__(
        self,
        checkpoint_dir: str,
        save_secs: float | None = None,
        save_steps: int | None = None,
        saver: Saver | None = None,
        checkpoint_basename: str = "model.ckpt",
        scaffold: Scaffold | None = None,
        listeners: Sequence[CheckpointSaverListener] | None = None,
    ) -> None:
        if saver is not None and scaffold is not None:
            raise ValueError("You cannot provide both saver and scaffold.")
        check_arguments(
            CheckpointSaverHook.__init__, checkpoint_dir=checkpoint_dir, save_secs=save_secs, save_steps=save_steps,
            saver=saver, checkpoint_basename=checkpoint_basename, scaffold=scaffold, listeners=listeners,
        )  # fmt: skip
        tf_logging.info("Create CheckpointSaverHook.")
        self._saver = saver
        self._checkpoint_dir = os.fsdecode(checkpoint_dir)
        self._save_path = os.path.join(self._checkpoint_dir, checkpoint_basename)
        self._scaffold = scaffold
        self._timer = SecondOrStepTimer(every_secs=save_secs, every_steps=save_steps)
        self._listeners = list(listeners or ())

    @property
    def listeners(self) -> list[CheckpointSaverListener]:
        """The listeners that are told of each checkpoint; others may be added before training begins."""
        return self._listeners

    def begin(self) -> None:
        """Find the global step."""
        self._summary_writer = FileWriterCache.get(self._checkpoint_dir)
        self._global_step_tensor = global_step_read("CheckpointSaverHook")
        for listener in self._listeners:
            call_watched(listener.begin)

    def after_create_session(self, session: Session, coord: Coordinator) -> None:
        """Write the graph, and the model as it is now."""
        step = session.run(self._global_step_tensor)
        graph = get_default_graph()
        write_graph(graph.as_graph_def(add_shapes=True), self._checkpoint_dir, "graph.pbtxt")
        self._summary_writer.add_graph(graph)
        saver = self._get_saver()
        self._summary_writer.add_meta_graph(
            export_meta_graph(graph=graph, graph_def=graph.as_graph_def(add_shapes=True), saver_def=saver.saver_def)
        )
        self._save(session, step)
        self._timer.update_last_triggered_step(step)

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        """Ask for the global step."""
        return SessionRunArgs(self._global_step_tensor)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        """Save when it is time."""
        # What the run fetched may be from before its update: look again, but only when it matters.
        if not self._timer.should_trigger_for_step(run_values.results + 1):
            return
        step = run_context.session.run(self._global_step_tensor)
        if self._timer.should_trigger_for_step(step):
            self._timer.update_last_triggered_step(step)
            if self._save(run_context.session, step):
                run_context.request_stop()

    def end(self, session: Session) -> None:
        """Save the last step."""
        step = session.run(self._global_step_tensor)
        if step != self._timer.last_triggered_step():
            self._save(session, step)
        for listener in self._listeners:
            call_watched(listener.end, session, step)
        self._summary_writer.flush()

    def _save(self, session: Any, step: Any) -> bool:
        tf_logging.info("Saving checkpoints for %d into %s.", step, self._save_path)
        for listener in self._listeners:
            call_watched(listener.before_save, session, step)
        self._get_saver().save(session, self._save_path, global_step=step)
        log = event_pb2.SessionLog(status=event_pb2.SessionLog.CHECKPOINT, checkpoint_path=self._save_path)
        self._summary_writer.add_session_log(log, step)
        should_stop = False
        for listener in self._listeners:
            if call_watched(listener.after_save, session, step):
                tf_logging.info("A CheckpointSaverListener requested that training be stopped. listener: %s", listener)
                should_stop = True
        return should_stop

    def _get_saver(self) -> Any:
        if self._saver is not None:
            return self._saver
        if self._scaffold is not None:
            return self._scaffold.saver
        savers = get_default_graph().get_collection(GraphKeys.SAVERS)
        if len(savers) != 1:
            found = "No items" if not savers else "More than one item"
            raise RuntimeError(
                f"{found} in collection {GraphKeys.SAVERS}. Please give CheckpointSaverHook a saver or a scaffold."
            )
        self._saver = savers[0]
        return self._saver
