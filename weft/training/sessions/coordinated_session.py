"""CoordinatedSession: a session with the threads that go with it, and what makes one of a plain Session and hooks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from weft import errors
from weft.client.session import Session
from weft.framework.building.aliases import Feeds, Fetches
from weft.framework.building.run_signature import typed_run
from weft.framework.graphs.collections import GraphKeys
from weft.framework.graphs.graph import Graph
from weft.platform.logs import tf_logging
from weft.platform.waits.function_wait import call_watched
from weft.proto.messages import RunMetadata, RunOptions
from weft.training.coordinator import Coordinator
from weft.training.hooks.session_run_hook import SessionRunHook
from weft.training.queue_runner import start_queue_runners
from weft.training.sessions.hooked_session import HookedSession
from weft.training.sessions.presence import presence_of
from weft.training.sessions.recovery import RETRYABLE, value_lost
from weft.training.sessions.session_creator import SessionCreator

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
    """A session whose runs and end heed a coordinator. Used by one thread at a time.

    Args:
        sess: the session that runs, with hooks or without; this one closes it.
        coord: the Coordinator of the session's threads.
        stop_grace_period_secs: how long `close` waits for them.
    """

    def __init__(self, sess: Session | HookedSession, coord: Coordinator, stop_grace_period_secs: float = _GRACE_S) -> None:
        self._sess = sess
        self._coord = coord
        self._stop_grace_period_secs = stop_grace_period_secs

    @property
    def graph(self) -> Graph:
        """The graph that runs."""
        return self._sess.graph

    @property
    def sess_str(self) -> bytes:
        """The target of the plain Session."""
        return self._sess.sess_str

    def should_stop(self) -> bool:
        """Whether a hook or a thread asked to stop; raises the exception that a thread stopped with."""
        self._coord.raise_requested_exception()
        return self._coord.should_stop() or (isinstance(self._sess, HookedSession) and self._sess.should_stop())

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
            return self._sess.run(fetches, feed_dict, options, run_metadata)
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
        session = self._sess
        return step_fn(StepContext(session.plain if isinstance(session, HookedSession) else session, self.run))

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
        hooked = HookedSession(self.tf_sess, self._hooks)
        session = CoordinatedSession(hooked, self.coord, self._stop_grace_period_secs)
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
