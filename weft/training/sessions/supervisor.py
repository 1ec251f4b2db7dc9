"""Supervisor: the older training session, which gives the program a plain Session and runs its services in threads."""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, SupportsInt

from tensorboard.compat.proto import config_pb2, event_pb2

from weft.client.session import BaseSession, Session
from weft.events.file_writer import FileWriter
from weft.framework.building.aliases import Feeds, SessionLike
from weft.framework.graphs.collections import GraphKeys
from weft.framework.graphs.graph import Graph, get_default_graph
from weft.framework.importing.graph_file import write_graph
from weft.framework.nodes.operation import Operation, Tensor
from weft.ops.variables.variable import Variable
from weft.platform.hints.argument_checks import check_arguments
from weft.platform.logs import tf_logging
from weft.platform.process.launcher_link import has_launcher
from weft.training.coordinator import Coordinator, LooperThread
from weft.training.queue_runner import QueueRunner
from weft.training.saving.meta_graph import export_meta_graph
from weft.training.saving.saver import Saver
from weft.training.sessions import supervisor_services
from weft.training.sessions.model_parts import USE_DEFAULT, ModelParts
from weft.training.sessions.presence import LONGEST_DRAIN_S, drain, tell_failure
from weft.training.sessions.session_manager import SessionManager
from weft.training.training_util import global_step as value_of_global_step


class Supervisor(ModelParts):
    """Initializes or restores a model, or waits for the chief to do so; saves it and writes summaries while it trains.

        sv = tf.train.Supervisor(logdir=..., is_chief=...)
        with sv.managed_session(server.target) as sess:
            while not sv.should_stop():
                sess.run(train_op)

    The graph is closed for changes by making the Supervisor. Parts that are not given are taken from the graph's
    collections, else made; None does without.

    Args:
        graph: the graph; the default one when None.
        ready_op: gives the names of variables that have no value.
        ready_for_local_init_op: gives the names of variables that `local_init_op` needs; from its collection, else None.
        is_chief: whether this process initializes, saves and summarizes.
        init_op: initializes the global variables.
        init_feed_dict: what to feed it.
        local_init_op: initializes local variables and tables, in every process.
        logdir: where checkpoints and events go; None does without both.
        summary_op: gives all summaries.
        saver: saves and restores.
        global_step: counts the steps.
        save_summaries_secs: seconds between summaries; 0 or None does without.
        save_model_secs: seconds between checkpoints; 0 or None does without.
        recovery_wait_secs: the longest time between two looks at a model that is not ready.
        stop_grace_secs: how long `stop` waits for threads.
        checkpoint_basename: what the checkpoints' names begin with.
        session_manager: makes the sessions.
        summary_writer: writes the events; a FileWriter in `logdir`.
        init_fn: called with the session after `init_op`.
        local_init_run_options: RunOptions for `local_init_op`.
        restore: what the chief restores where the model lives; see `SessionManager`.

    Raises:
        ValueError: this is not the chief and a variable has no device: it would not be the chief's.

    >>> add = tf.train.get_or_create_global_step().assign_add(1)
    >>> sv = tf.train.Supervisor()
    >>> with sv.managed_session() as session:
    ...     print(session.run(add))
    1
    """

    USE_DEFAULT: ClassVar = USE_DEFAULT

    def __repr__(self) -> str:
        place = "chief" if self._is_chief else "not the chief"
        logs = f" logdir={self._logdir!r}" if self._logdir else ""
        return f"<tf.train.Supervisor{logs}, {place}, {'asked to stop' if self.should_stop() else 'running'}>"

    def __init__(
        self,
        graph: Graph | None = None,
        ready_op: Tensor | None = USE_DEFAULT,
        ready_for_local_init_op: Tensor | None = USE_DEFAULT,
        is_chief: bool = True,
        init_op: Operation | None = USE_DEFAULT,
        init_feed_dict: Feeds | None = None,
        local_init_op: Operation | None = USE_DEFAULT,
        logdir: str | None = None,
        summary_op: object = USE_DEFAULT,
        saver: Saver | None = USE_DEFAULT,
        global_step: Variable = USE_DEFAULT,
        save_summaries_secs: float | None = 120,
        save_model_secs: float | None = 600,
        recovery_wait_secs: float = 30,
        stop_grace_secs: float = 120,
        checkpoint_basename: str = "model.ckpt",
        session_manager: SessionManager | None = None,
        summary_writer: FileWriter | None = USE_DEFAULT,
        init_fn: Callable[[SessionLike], object] | None = None,
        local_init_run_options: config_pb2.RunOptions | None = None,
        restore: str | None = None,
    ) -> None:
        parts = {"saver": saver, "summary_writer": summary_writer}
        check_arguments(
            Supervisor.__init__, graph=graph, logdir=logdir, save_summaries_secs=save_summaries_secs,
            save_model_secs=save_model_secs, recovery_wait_secs=recovery_wait_secs, stop_grace_secs=stop_grace_secs,
            checkpoint_basename=checkpoint_basename, session_manager=session_manager, init_fn=init_fn,
            **{name: part for name, part in parts.items() if part is not USE_DEFAULT},
        )  # fmt: skip
        super().__init__(
            get_default_graph() if graph is None else graph, ready_op, ready_for_local_init_op, init_op, init_feed_dict,
            local_init_op, summary_op, saver, global_step,
        )  # fmt: skip
        self._init_fn = init_fn
        self._is_chief = is_chief
        self._coord = Coordinator()
        self._stop_grace_secs = stop_grace_secs
        self._logdir = os.fsdecode(logdir) if is_chief and logdir else None
        self._save_summaries_secs = save_summaries_secs if is_chief else None
        self._save_model_secs = save_model_secs if is_chief else None
        self._save_path = os.path.join(self._logdir, checkpoint_basename) if self._logdir else None
        self._summary_writer: FileWriter | None = self._writer(summary_writer) if is_chief else None
        self._is_graph_written = False
        self._session_manager = session_manager or self._new_manager(recovery_wait_secs, local_init_run_options, restore)
        if not is_chief:
            self._check_devices()
        self._graph.finalize()

    def _new_manager(
        self, recovery_wait_secs: float, local_init_run_options: config_pb2.RunOptions | None, restore: str | None
    ) -> SessionManager:
        return SessionManager(
            local_init_op=self._local_init_op,
            ready_op=self._ready_op,
            ready_for_local_init_op=self._ready_for_local_init_op,
            graph=self._graph,
            recovery_wait_secs=recovery_wait_secs,
            local_init_run_options=local_init_run_options,
            restore=restore,
        )

    def _writer(self, given: object) -> Any:
        if given is not USE_DEFAULT:
            return given
        return FileWriter(self._logdir) if self._logdir else None

    @property
    def is_chief(self) -> bool:
        """Whether this process initializes, saves and summarizes."""
        return self._is_chief

    @property
    def session_manager(self) -> SessionManager:
        """The SessionManager that makes the sessions."""
        return self._session_manager

    @property
    def coord(self) -> Coordinator:
        """The Coordinator that stops the threads."""
        return self._coord

    @property
    def summary_writer(self) -> FileWriter | None:
        """The writer of the events; None for all but the chief."""
        return self._summary_writer

    @property
    def save_summaries_secs(self) -> float | None:
        """Seconds between summaries."""
        return self._save_summaries_secs

    @property
    def save_model_secs(self) -> float | None:
        """Seconds between checkpoints."""
        return self._save_model_secs

    @property
    def save_path(self) -> str | None:
        """The checkpoints' path without their step; None without a `logdir`."""
        return self._save_path

    def prepare_or_wait_for_session(
        self,
        master: str = "",
        config: config_pb2.ConfigProto | None = None,
        wait_for_checkpoint: bool = False,
        max_wait_secs: float = 7200,
        start_standard_services: bool = True,
    ) -> Session:
        """Make a session whose model is ready, and start the services and queue runners.

        Args:
            master: the session's target.
            config: its ConfigProto.
            wait_for_checkpoint: whether the chief waits until there is a checkpoint.
            max_wait_secs: how long to wait.
            start_standard_services: whether to start any threads.
        """
        self._coord.clear_stop()
        if self._summary_writer is not None:
            self._summary_writer.reopen()
        if self._is_chief:
            sess = self._session_manager.prepare_session(
                master, init_op=self._init_op, saver=self._saver, checkpoint_dir=self._logdir,
                wait_for_checkpoint=wait_for_checkpoint, max_wait_secs=max_wait_secs, config=config,
                init_feed_dict=self._init_feed_dict, init_fn=self._init_fn,
            )  # fmt: skip
            self._write_graph()
            if start_standard_services:
                tf_logging.info("Starting standard services.")
                self.start_standard_services(sess)
                if has_launcher() and self._global_step is not None:
                    supervisor_services.SVProgressThread(self, sess).start()
        else:
            sess = self._session_manager.wait_for_session(master, config=config, max_wait_secs=max_wait_secs)
        if start_standard_services:
            tf_logging.info("Starting queue runners.")
            self.start_queue_runners(sess)
        return sess

    def _write_graph(self) -> None:
        if self._logdir:
            write_graph(self._graph.as_graph_def(add_shapes=True), self._logdir, "graph.pbtxt")
        if self._summary_writer is not None and not self._is_graph_written:
            self._summary_writer.add_graph(self._graph)
            saver_def = None if self._saver is None else self._saver.saver_def
            graph_def = self._graph.as_graph_def(add_shapes=True)
            self._summary_writer.add_meta_graph(export_meta_graph(graph=self._graph, graph_def=graph_def, saver_def=saver_def))
            self._is_graph_written = True

    def start_standard_services(self, sess: SessionLike) -> list[threading.Thread] | None:
        """Start the threads for summaries, the step counter and checkpoints; None, with a warning, without a `logdir`.

        Args:
            sess: the session in which the threads run.

        Returns:
            The threads, which run already.

        Raises:
            RuntimeError: this is not the chief.
        """
        if not self._is_chief:
            raise RuntimeError(
                "Only chief supervisor can start standard services. Because only chief supervisors can write events."
            )
        if not self._logdir:
            tf_logging.warning("Standard services need a 'logdir' passed to the Supervisor")
            return None
        writer, step = self._summary_writer, self._global_step
        if writer is not None and step is not None:
            start = event_pb2.SessionLog(status=event_pb2.SessionLog.START)
            writer.add_session_log(start, value_of_global_step(sess, step))
        threads: list[threading.Thread] = []
        if self._save_summaries_secs and writer is not None:
            if self._summary_op is not None:
                threads.append(supervisor_services.SVSummaryThread(self, sess))
            if step is not None:
                threads.append(supervisor_services.SVStepCounterThread(self, sess))
        if self._saver is not None and self._save_model_secs:
            threads.append(supervisor_services.SVTimerCheckpointThread(self, sess))
        for thread in threads:
            thread.start()
        return threads

    def start_queue_runners(
        self, sess: SessionLike, queue_runners: Sequence[QueueRunner] | None = None
    ) -> list[threading.Thread]:
        """Start the threads of QueueRunners, those of the graph's collection when None, and return them.

        Args:
            sess: the session in which they run.
            queue_runners: the QueueRunners; None for those of the graph's collection.
        """
        if queue_runners is None:
            queue_runners = self._graph.get_collection(GraphKeys.QUEUE_RUNNERS)
        return [
            thread
            for runner in queue_runners
            for thread in runner.create_threads(sess, coord=self._coord, daemon=True, start=True)
        ]

    def loop(
        self,
        timer_interval_secs: float | None,
        target: Callable[..., object],
        args: Sequence[object] | None = None,
        kwargs: Mapping[str, object] | None = None,
    ) -> LooperThread:
        """Start a thread that calls a function every so many seconds (again and again for None) until the stop.

        Args:
            timer_interval_secs: the seconds from one call's start to the next one's; None for no pause.
            target: the function.
            args: its positional arguments.
            kwargs: its keyword arguments.

        Returns:
            The thread, which runs already.
        """
        return LooperThread.loop(self._coord, timer_interval_secs, target, args, kwargs)

    def stop(
        self,
        threads: Iterable[threading.Thread] | None = None,
        close_summary_writer: bool = True,
        ignore_live_threads: bool = False,
    ) -> None:
        """Stop the threads and wait for them; the session stays open.

        Args:
            threads: further threads to wait for.
            close_summary_writer: whether to close the writer.
            ignore_live_threads: do not raise for threads that don't stop in time.

        Raises:
            RuntimeError: a thread did not stop in time.
            Exception: what was given to `request_stop`.
        """
        self._coord.request_stop()
        try:
            self._coord.join(threads, stop_grace_period_secs=self._stop_grace_secs, ignore_live_threads=ignore_live_threads)
        finally:
            if close_summary_writer and self._summary_writer is not None and not self._summary_writer.is_closed:
                # A program may close the writer itself, or stop twice: inside of managed_session, and at its end.
                self._summary_writer.add_session_log(event_pb2.SessionLog(status=event_pb2.SessionLog.STOP))
                self._summary_writer.close()
                self._is_graph_written = False

    def request_stop(self, ex: object = None) -> None:
        """Ask all threads to stop; see `Coordinator.request_stop`.

        Args:
            ex: an exception, or what `sys.exc_info()` gives; `stop` raises it.
        """
        self._coord.request_stop(ex=ex)

    def should_stop(self) -> bool:
        """Whether a stop was requested."""
        return self._coord.should_stop()

    def stop_on_exception(self) -> contextlib.AbstractContextManager[None]:
        """Turn an exception of the block into a stop request.

        Returns:
            A context manager, without a value.
        """
        return self._coord.stop_on_exception()

    def wait_for_stop(self) -> None:
        """Block until a stop is requested."""
        self._coord.wait_for_stop()

    def summary_computed(self, sess: BaseSession, summary: object, global_step: SupportsInt | None = None) -> None:
        """Write a Summary, or the bytes of one, that the program has computed.

        Args:
            sess: the session, which is asked for the step when it is not given.
            summary: the Summary.
            global_step: the step to file it under.

        Raises:
            RuntimeError: there is no writer: this is not the chief, or has no `logdir`.
        """
        if self._summary_writer is None:
            raise RuntimeError(
                "Writing a summary requires a summary writer. The Supervisor has none without a logdir, and where it is not "
                "the chief."
            )
        if global_step is None and self._global_step is not None:
            global_step = value_of_global_step(sess, self._global_step)
        self._summary_writer.add_summary(summary, global_step)

    @contextlib.contextmanager
    def managed_session(
        self,
        master: str = "",
        config: config_pb2.ConfigProto | None = None,
        start_standard_services: bool = True,
        close_summary_writer: bool = True,
    ) -> Iterator[Any]:
        """A session for the block, and the end of all threads after it.

        OutOfRangeError ends the block silently; another error of the block or of a thread is raised when all has stopped.

        Args:
            master: the session's target.
            config: its ConfigProto.
            start_standard_services: whether to start any threads.
            close_summary_writer: whether to close the writer at the end.
        """
        sess = None
        try:
            sess = self.prepare_or_wait_for_session(
                master=master, config=config, start_standard_services=start_standard_services
            )
            yield sess
        except Exception as error:
            self.request_stop(error)
        except BaseException as error:
            tell_failure(sess, error)
            # A KeyboardInterrupt must not wait for threads: closing the session ends what they run.
            self.request_stop()
            _close_quietly(sess)
            raise
        try:
            if self._coord.requested_exception is None:
                # The queues that replicas wait at are closed by this.
                self.request_stop()
                drain(sess, min(self._stop_grace_secs, LONGEST_DRAIN_S))
            self.stop(close_summary_writer=close_summary_writer)
        except BaseException as error:
            tell_failure(sess, error)
            raise
        finally:
            # This ends enqueues and dequeues that still wait.
            _close_quietly(sess)

    # The names of before TensorFlow 1.0.
    PrepareSession = prepare_or_wait_for_session
    StartQueueRunners = start_queue_runners
    StartStandardServices = start_standard_services
    Stop = stop
    RequestStop = request_stop
    Loop = loop
    ShouldStop = should_stop
    StopOnException = stop_on_exception
    WaitForStop = wait_for_stop
    SummaryComputed = summary_computed


def _close_quietly(sess: BaseSession | None) -> None:
    if sess is not None:
        with contextlib.suppress(Exception):
            sess.close()
