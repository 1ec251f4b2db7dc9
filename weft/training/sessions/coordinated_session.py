"""CoordinatedSession: one plain Session with the hooks that are called around its runs and the threads that go with it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from weft import errors
from weft.client.session import Session
from weft.framework.building.aliases import Feeds, Fetches
from weft.framework.building.run_signature import typed_run
from weft.framework.graphs.collections import GraphKeys
from weft.platform.logs import tf_logging
from weft.platform.waits.function_wait import call_watched, watched
from weft.proto.messages import RunMetadata, RunOptions
from weft.training.coordinator import Coordinator
from weft.training.hooks.session_run_hook import SessionRunArgs, SessionRunContext, SessionRunHook, SessionRunValues
from weft.training.queue_runner import start_queue_runners
from weft.training.sessions.presence import presence_of
from weft.training.sessions.recovery import RETRYABLE, value_lost
from weft.training.sessions.session_creator import SessionCreator

_CALLER = "caller"
_GRACE_S = 120.0


class StepContext:
    """The argument of a function given to `run_step_fn`.

    Args:
        session: the plain Session; runs in it call no hooks.
        run_with_hooks: runs with the hooks.
    """

    def __init__(self, session: Session, run_with_hooks: Callable[..., object]) -> None:
        self._session = session
        self._run_with_hooks = run_with_hooks

    @property
    def session(self) -> Session:
        """The plain Session."""
        return self._session

    def run_with_hooks(self, *args: object, **kwargs: object) -> Any:
        """Run with the hooks."""
        return self._run_with_hooks(*args, **kwargs)

    def request_stop(self) -> None:
        """End the training session's `with` block, by StopIteration."""
        raise StopIteration("step_fn has requested the iterations to stop.")


class CoordinatedSession:
    """Runs with hooks. Used by one thread at a time.

    Args:
        session: the plain Session, which this one closes.
        hooks: what to call.
        coord: the Coordinator of the session's threads.
        stop_grace_period_secs: how long `close` waits for them.
    """

    def __init__(
        self, session: Session, hooks: Sequence[SessionRunHook], coord: Coordinator, stop_grace_period_secs: float
    ) -> None:
        self._sess = session
        # Whose these are is found out once and not in each step.
        self._before_run = [(hook, watched(hook.before_run)) for hook in hooks]
        self._after_run = [(hook, watched(hook.after_run)) for hook in hooks]
        self._coord = coord
        self._stop_grace_period_secs = stop_grace_period_secs
        self._stop_requested = False

    def should_stop(self) -> bool:
        """Whether a hook or a thread asked to stop; raises the exception that a thread stopped with."""
        self._coord.raise_requested_exception()
        return self._coord.should_stop() or self._stop_requested

    @typed_run
    def run(
        self,
        fetches: Fetches,
        feed_dict: Feeds | None = None,
        options: RunOptions | None = None,
        run_metadata: RunMetadata | None = None,
    ) -> Any:
        """Run a step; an error that another thread's lost task may explain is replaced by that one."""
        try:
            return self._run_with_hooks(fetches, feed_dict, options, run_metadata)
        except RETRYABLE:
            raise
        except errors.FailedPreconditionError as error:
            raise value_lost(error, self._sess.graph) or error from error.__cause__
        except Exception as error:
            cause = self._coord.requested_exception
            if isinstance(cause, RETRYABLE):
                raise cause from error
            raise

    def run_step_fn(self, step_fn: Callable[..., object]) -> Any:
        """Call a function with a StepContext."""
        return step_fn(StepContext(self._sess, self.run))

    def _run_with_hooks(
        self,
        fetches: object,
        feed_dict: Any,
        options: RunOptions | None,
        run_metadata: RunMetadata | None,
    ) -> Any:
        if self._stop_requested:
            raise RuntimeError(
                "Run called even after should_stop requested. A hook or a thread has asked for the end: "
                "`while not session.should_stop():` ends a loop there."
            )
        context = SessionRunContext(SessionRunArgs(fetches, feed_dict), self._sess)
        requests = [(hook, before_run(context)) for hook, before_run in self._before_run]
        wanted: dict[object, object] = {_CALLER: fetches}
        try:
            wanted.update((hook, asked.fetches) for hook, asked in requests if asked and asked.fetches is not None)
        except (AttributeError, TypeError):
            _check_requests(requests)
            raise
        feeds = _merged_feeds(feed_dict, requests)
        options = _merged_options(options, requests)
        metadata = RunMetadata() if run_metadata is None else run_metadata
        if options is None and run_metadata is None:
            results = self._sess.run(wanted, feeds)
        else:
            results = self._sess.run(wanted, feeds, options, metadata)
        shown = RunOptions() if options is None else options
        for hook, after_run in self._after_run:
            after_run(context, SessionRunValues(results.get(hook), shown, metadata))
        self._stop_requested = self._stop_requested or context.stop_requested
        return results[_CALLER]

    def close(self, at_once: bool = False) -> None:
        """Stop the threads and close the session.

        Args:
            at_once: wait for nothing, and report nothing.

        Raises:
            Exception: what a thread gave to the coordinator.
        """
        self._coord.request_stop()
        if at_once:
            self._close_session()
            return
        try:
            self._coord.join(stop_grace_period_secs=self._stop_grace_period_secs, ignore_live_threads=True)
        finally:
            self._close_session()

    def _close_session(self) -> None:
        try:
            self._sess.close()
        except errors.OpError as error:
            tf_logging.info("Closing a session whose tasks may be gone: %s", error.message)


def hooked_session(sess: Session, hooks: Sequence[SessionRunHook]) -> CoordinatedSession:
    """A session's runs with hooks, which were told of it, without threads of its own.

    Args:
        sess: the plain Session.
        hooks: what to call around each run.
    """
    return CoordinatedSession(sess, hooks, Coordinator(), _GRACE_S)


def coordinated_session(sess: Session, coord: Coordinator, stop_grace_period_secs: float = _GRACE_S) -> CoordinatedSession:
    """A session whose runs and end heed a coordinator, without hooks.

    Args:
        sess: the plain Session.
        coord: the Coordinator of the session's threads.
        stop_grace_period_secs: how long `close` waits for them.
    """
    return CoordinatedSession(sess, (), coord, stop_grace_period_secs)


class CoordinatedSessionCreator:
    """Makes CoordinatedSessions: a ready Session, its threads started, the hooks told.

    Args:
        session_creator: makes the plain Sessions.
        hooks: what to call.
        stop_grace_period_secs: how long the sessions' `close` waits for threads.
    """

    def __init__(self, session_creator: SessionCreator, hooks: Sequence[SessionRunHook], stop_grace_period_secs: float) -> None:
        self._session_creator = session_creator
        self._hooks = hooks
        self._stop_grace_period_secs = stop_grace_period_secs
        self.tf_sess: Any = None
        self.coord: Coordinator | None = None

    def create_session(self) -> CoordinatedSession:
        """A new session, which is `tf_sess` until the next one."""
        self.tf_sess = self._session_creator.create_session()
        # Every exception must surface: OutOfRangeError of a thread as well.
        self.coord = Coordinator(clean_stop_exception_types=[])
        session = CoordinatedSession(self.tf_sess, self._hooks, self.coord, self._stop_grace_period_secs)
        try:
            if self.tf_sess.graph.get_collection(GraphKeys.QUEUE_RUNNERS):
                start_queue_runners(sess=self.tf_sess, coord=self.coord)
            for hook in self._hooks:
                call_watched(hook.after_create_session, self.tf_sess, self.coord)
        except BaseException:
            session.close(at_once=True)
            raise
        return session

    def expect_another(self) -> None:
        """Have the end of the last session not pass for that of the training."""
        presence = presence_of(self.tf_sess)
        if presence is not None:
            presence.will_return()

    def forget(self) -> None:
        """Let go of the last session, which was closed."""
        self.tf_sess = None
        self.coord = None


_Requests = Sequence[tuple[SessionRunHook, SessionRunArgs | None]]


def _merged_feeds(feed_dict: Feeds | None, requests: _Requests) -> Mapping[Any, Any] | None:
    """One feed_dict of all; RuntimeError when two feed the same tensor."""
    given = [(hook, asked.feed_dict) for hook, asked in requests if asked and asked.feed_dict]
    if not given:
        return feed_dict
    merged = dict(feed_dict or {})
    of_program = set(merged)
    for hook, feeds in given:
        if not isinstance(feeds, Mapping):
            raise TypeError(
                f"{type(hook).__name__} feeds {feeds!r}: the feed_dict of a hook must be a dict of tensors to values, such as "
                "{x: value}."
            )
        for tensor in feeds:
            if tensor in merged:
                other = "the program" if tensor in of_program else "another hook"
                name = getattr(tensor, "name", tensor)
                raise RuntimeError(
                    f"Same tensor is fed by {type(hook).__name__} and by {other}: {name!r}. Only one may feed it: leave it out "
                    f"of run(feed_dict=...), or out of the SessionRunArgs that {type(hook).__name__}.before_run returns."
                )
        merged.update(feeds)
    return merged


def _merged_options(options: RunOptions | None, requests: _Requests) -> Any:
    """RunOptions that satisfy all: the largest of each number, any of each flag; None when nobody gave any."""
    given = [asked.options for _, asked in requests if asked and asked.options is not None]
    if not given:
        return options
    merged = RunOptions()
    for each in [options, *given] if options is not None else given:
        merged.trace_level = max(merged.trace_level, each.trace_level)
        merged.timeout_in_ms = max(merged.timeout_in_ms, each.timeout_in_ms)
        merged.inter_op_thread_pool = max(merged.inter_op_thread_pool, each.inter_op_thread_pool)
        merged.output_partition_graphs |= each.output_partition_graphs
        merged.report_tensor_allocations_upon_oom |= each.report_tensor_allocations_upon_oom
        merged.debug_options.debug_tensor_watch_opts.extend(each.debug_options.debug_tensor_watch_opts)
    return merged


def _check_requests(requests: Sequence[tuple[SessionRunHook, object]]) -> None:
    for hook, asked in requests:
        if asked is not None and not isinstance(asked, SessionRunArgs):
            raise TypeError(
                f"before_run of {type(hook).__name__} must return None or tf.train.SessionRunArgs(fetches), got {asked!r} of "
                f"type {type(asked).__name__!r}."
            ) from None
