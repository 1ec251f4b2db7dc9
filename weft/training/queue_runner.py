"""QueueRunner: threads that keep a queue filled while a session runs."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Sequence
from typing import Any, Final

from weft import errors
from weft.client.session import BaseSession, get_default_session
from weft.framework.building.aliases import SessionLike
from weft.framework.graphs.collection_proto import register_proto_function
from weft.framework.graphs.collections import GraphKeys
from weft.framework.graphs.graph import get_default_graph
from weft.framework.importing.name_prefix import prepend_name_scope, strip_name_scope
from weft.framework.nodes.operation import Operation
from weft.framework.types.value_types import OrNone
from weft.ops.data_flow.queue import QueueBase
from weft.platform.hints.argument_checks import check_arguments
from weft.platform.logs import tf_logging
from weft.proto import queue_runner_pb2
from weft.proto.queue_runner_pb2 import QueueRunnerDef
from weft.training.coordinator import Coordinator, SessionThread

_MONITORED: Final = ("MonitoredSession", "SingularMonitoredSession")


class QueueRunner:
    """Runs enqueue operations again and again, one thread for each, until the queue is closed or the coordinator stops.

    Args:
        queue: the queue that they fill.
        enqueue_ops: the operations; one may occur several times.
        close_op: closes the queue when the last thread has met the end of its input; `queue.close()` when None.
        cancel_op: closes it when the coordinator stops; `queue.close(cancel_pending_enqueues=True)` when None.
        queue_closed_exception_types: the errors that mean the end of the input; (OutOfRangeError,) when None.
        queue_runner_def: describes nodes that the graph has already, in place of all of these.
        import_scope: the name scope of these nodes.

    Raises:
        ValueError: the queue or the operations are missing, or they are given together with a QueueRunnerDef.
        TypeError: `queue_closed_exception_types` is no tuple of errors.

    >>> queue = tf.FIFOQueue(4, tf.int32, shapes=[[]])
    >>> tf.train.add_queue_runner(tf.train.QueueRunner(queue, [queue.enqueue(7)]))
    >>> item = queue.dequeue()
    >>> with tf.train.MonitoredSession() as session:
    ...     print(session.run(item))
    7
    """

    def __init__(
        self,
        queue: QueueBase | None = None,
        enqueue_ops: Sequence[object] | None = None,
        close_op: object = None,
        cancel_op: object = None,
        queue_closed_exception_types: tuple[type[errors.OpError], ...] | None = None,
        queue_runner_def: queue_runner_pb2.QueueRunnerDef | None = None,
        import_scope: str | None = None,
    ) -> None:
        if queue_runner_def is not None:
            if queue or enqueue_ops:
                raise ValueError("queue_runner_def and queue are mutually exclusive.")
            self._read_proto(queue_runner_def, import_scope)
        else:
            self._set_parts(queue, enqueue_ops, close_op, cancel_op, queue_closed_exception_types)
        self._lock = threading.Lock()
        self._running: weakref.WeakKeyDictionary[Any, int] = weakref.WeakKeyDictionary()
        self._exceptions_raised: list[Exception] = []
        self._failure: Exception | None = None

    def __repr__(self) -> str:
        state = f"failed: {self._failure!r}" if self._failure is not None else "running" if self.is_running else "not running"
        return f"<tf.train.QueueRunner of {self.name!r}, {len(self.enqueue_ops)} threads, {state}>"

    def _set_parts(self, queue: Any, enqueue_ops: Any, close_op: Any, cancel_op: Any, closed: object) -> None:
        if not queue or not enqueue_ops:
            lacking = " and ".join(name for name, given in (("queue", queue), ("enqueue_ops", enqueue_ops)) if not given)
            raise ValueError(f"Must provide queue and enqueue_ops. There is no {lacking}.")
        if isinstance(enqueue_ops, Operation):
            raise TypeError(
                f"enqueue_ops must be a list of operations, one for each thread; of one it is [{enqueue_ops.name}]."
            )
        if closed is None:
            closed = (errors.OutOfRangeError,)
        if (
            not isinstance(closed, tuple)
            or not closed
            or not all(isinstance(each, type) and issubclass(each, errors.OpError) for each in closed)
        ):
            raise TypeError(
                f"queue_closed_exception_types, when provided, must be a tuple of tf.error types, but saw: {closed}"
            )
        self._queue = queue
        self._enqueue_ops = list(enqueue_ops)
        self._close_op = queue.close() if close_op is None else close_op
        self._cancel_op = queue.close(cancel_pending_enqueues=True) if cancel_op is None else cancel_op
        self._queue_closed_exception_types = closed

    def _read_proto(self, proto: Any, scope: str | None) -> None:
        element = get_default_graph().as_graph_element
        self._queue = element(prepend_name_scope(proto.queue_name, scope))
        self._enqueue_ops = [element(prepend_name_scope(name, scope)) for name in proto.enqueue_op_name]
        self._close_op = element(prepend_name_scope(proto.close_op_name, scope))
        self._cancel_op = element(prepend_name_scope(proto.cancel_op_name, scope))
        codes = proto.queue_closed_exception_types or [errors.OUT_OF_RANGE]
        self._queue_closed_exception_types = tuple(errors.exception_type_from_error_code(code) for code in codes)

    @property
    def queue(self) -> QueueBase | OrNone:
        """The queue."""
        return self._queue

    @property
    def enqueue_ops(self) -> list[Any]:
        """The operations that the threads run."""
        return self._enqueue_ops

    @property
    def close_op(self) -> Operation | OrNone:
        """The operation that closes the queue at the end of the input."""
        return self._close_op

    @property
    def cancel_op(self) -> Operation | OrNone:
        """The operation that closes the queue when the coordinator stops."""
        return self._cancel_op

    @property
    def queue_closed_exception_types(self) -> tuple[type[errors.OpError], ...]:
        """The errors that mean the end of the input."""
        return self._queue_closed_exception_types

    @property
    def exceptions_raised(self) -> list[Exception]:
        """The errors of threads that had no coordinator to give them to."""
        return self._exceptions_raised

    @property
    def failure(self) -> Exception | None:
        """The error that ended a thread, None while all is well; who finds the queue closed is told."""
        return self._failure

    @property
    def is_running(self) -> bool:
        """Whether threads fill the queue, in any session."""
        with self._lock:
            return any(count > 0 for count in self._running.values())

    @property
    def name(self) -> str:
        """The queue's name."""
        return str(self._queue.name)

    def create_threads(
        self, sess: SessionLike, coord: Coordinator | None = None, daemon: bool = False, start: bool = False
    ) -> list[threading.Thread]:
        """Make the threads that fill the queue in a session; none while those of an earlier call run.

        Args:
            sess: the session.
            coord: stops the threads, is told their errors, and waits for them in `join`.
            daemon: whether the process may end while they run.
            start: whether to start them.

        Returns:
            The threads, which run already if `start`.
        """
        with self._lock:
            if self._running.get(sess, 0) > 0:
                return []
            self._running[sess] = len(self._enqueue_ops)
            self._exceptions_raised = []
            self._failure = None
        prefix = f"QueueRunnerThread-{self.name}"
        threads: list[threading.Thread] = [
            SessionThread(target=self._run, args=(sess, op, coord), name=f"{prefix}-{op.name}", daemon=daemon)
            for op in self._enqueue_ops
        ]
        if coord is not None:
            name = f"{prefix}-close_on_stop"
            threads.append(SessionThread(target=self._close_on_stop, args=(sess, coord), name=name, daemon=daemon))
        for thread in threads:
            if coord is not None:
                coord.register_thread(thread)
            if start:
                thread.start()
        return threads

    def enqueuer(self, sess: BaseSession, enqueue_op: Operation, go_on: Callable[[], bool]) -> Callable[[], object]:
        """What a thread calls again and again, until an error ends it or `go_on` says that it is over.

        Args:
            sess: the session of the thread.
            enqueue_op: what it runs.
            go_on: whether the thread is to go on; asked before each run.
        """
        if isinstance(sess, BaseSession):
            return sess.make_repeated(enqueue_op, go_on)
        return sess.make_callable(enqueue_op)

    def _run(self, sess: BaseSession, enqueue_op: Operation, coord: Coordinator | None) -> None:
        is_at_end = False
        try:

            def goes_on() -> bool:
                return coord is None or not coord.should_stop()

            enqueue = self.enqueuer(sess, enqueue_op, goes_on)
            while goes_on():
                enqueue()
        except self._queue_closed_exception_types:
            is_at_end = True
        except Exception as error:
            self._report(error, coord)
        finally:
            self._leave(sess, is_at_end)

    def _report(self, error: Exception, coord: Coordinator | None) -> None:
        if isinstance(error, errors.CancelledError) or (coord is not None and coord.should_stop()):
            # The queue or the session was closed under the enqueue: that is how these threads are stopped.
            return
        self._failure = error
        if coord is not None:
            coord.request_stop(error)
            return
        tf_logging.error("Exception in QueueRunner: %s", error)
        with self._lock:
            self._exceptions_raised.append(error)

    def _leave(self, sess: SessionLike | None, is_at_end: bool) -> None:
        with self._lock:
            self._running[sess] -= 1
            is_last = self._running[sess] == 0
        if is_last and is_at_end:
            _run_quietly(sess, self._close_op)

    def _close_on_stop(self, sess: SessionLike, coord: Coordinator) -> None:
        coord.wait_for_stop()
        _run_quietly(sess, self._cancel_op)

    def to_proto(self, export_scope: str | None = None) -> QueueRunnerDef | None:
        """The QueueRunnerDef; None when the queue is outside `export_scope`.

        Args:
            export_scope: the name scope that is taken off the names; None when an operation is not in it.
        """
        if export_scope is not None and not self.name.startswith(export_scope):
            return None
        return queue_runner_pb2.QueueRunnerDef(
            queue_name=strip_name_scope(self.name, export_scope),
            enqueue_op_name=[strip_name_scope(op.name, export_scope) for op in self._enqueue_ops],
            close_op_name=strip_name_scope(self._close_op.name, export_scope),
            cancel_op_name=strip_name_scope(self._cancel_op.name, export_scope),
            queue_closed_exception_types=[
                errors.error_code_from_exception_type(each) for each in self._queue_closed_exception_types
            ],
        )

    @staticmethod
    def from_proto(queue_runner_def: queue_runner_pb2.QueueRunnerDef | None, import_scope: str | None = None) -> QueueRunner:
        """The QueueRunner that a QueueRunnerDef describes, whose nodes are in the default graph.

        Args:
            queue_runner_def: the QueueRunnerDef.
            import_scope: the name scope to put before the names.
        """
        return QueueRunner(queue_runner_def=queue_runner_def, import_scope=import_scope)


def _run_quietly(sess: Any, op: Any) -> None:
    """Run an operation of shutting down, whose failure changes nothing."""
    try:
        sess.run(op)
    except Exception as error:
        tf_logging.vlog(1, "Ignored exception: %s", error)


def add_queue_runner(qr: QueueRunner, collection: str = GraphKeys.QUEUE_RUNNERS) -> None:
    """Put a QueueRunner where `start_queue_runners` and training sessions find it.

    Args:
        qr: the QueueRunner.
        collection: the collection's name.
    """
    check_arguments(add_queue_runner, qr=qr)
    get_default_graph().add_to_collection(collection, qr)


def start_queue_runners(
    sess: SessionLike | None = None,
    coord: Coordinator | None = None,
    daemon: bool = True,
    start: bool = True,
    collection: str = GraphKeys.QUEUE_RUNNERS,
) -> list[threading.Thread]:
    """Start the threads of all QueueRunners of a session's graph, and return them.

    A MonitoredSession starts them by itself, so nothing happens for one.

    Args:
        sess: the session; the default one when None.
        coord: stops the threads.
        daemon: whether the process may end while they run.
        start: whether to start the threads.
        collection: the collection of the QueueRunners.

    Returns:
        A list of the threads.

    Raises:
        ValueError: there is no default session. TypeError: `sess` is no session.

    >>> batch = tf.train.batch([tf.constant(7)], batch_size=2)
    >>> coord = tf.train.Coordinator()
    >>> threads = tf.train.start_queue_runners(sess, coord)
    >>> sess.run(batch)
    array([7, 7], dtype=int32)
    >>> coord.request_stop()
    >>> coord.join(threads)
    """
    if sess is None:
        sess = get_default_session()
        if sess is None:
            raise ValueError(
                "Cannot start queue runners: No default session is registered. Use `with sess.as_default()` or pass an "
                "explicit session to tf.start_queue_runners(sess=sess)"
            )
    if not isinstance(sess, BaseSession):
        if type(sess).__name__ in _MONITORED:
            return []
        raise TypeError(f"sess must be a `tf.Session` object. Given class: {type(sess)}")
    runners = sess.graph.get_collection(collection)
    if not runners:
        tf_logging.warning("start_queue_runners: the graph has no queue runners; the call can be removed")
    return [thread for runner in runners for thread in runner.create_threads(sess, coord=coord, daemon=daemon, start=start)]


register_proto_function(GraphKeys.QUEUE_RUNNERS, queue_runner_pb2.QueueRunnerDef, QueueRunner.to_proto, QueueRunner.from_proto)
