"""RecoverableSession: makes a new session when a task is lost, and repeats the run that failed."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any, TypeVar

from weft.errors import OpError
from weft.framework.building.aliases import Feeds, Fetches
from weft.framework.building.run_signature import typed_run
from weft.framework.graphs.graph import Graph
from weft.framework.types.value_types import OrNone
from weft.platform.logs import tf_logging
from weft.proto.messages import RunMetadata, RunOptions
from weft.protocol.outcome_table import UNKNOWN_FATE
from weft.training.sessions.coordinated_session import CoordinatedSession, CoordinatedSessionCreator
from weft.training.sessions.recovery import RETRYABLE, RetryBudget, ValueLostError

T = TypeVar("T")


class RecoverableSession:
    """Runs steps in one CoordinatedSession after the other. Used by one thread at a time.

    A step that failed with a lost task is repeated in a new session. One that may have been applied, as far as the tasks go
    that live, is repeated with a warning, which says so: then its update may count twice there; or, if the policy says so, the
    program gets the error instead. A connection that was cut loses no step. Attempts back off and are counted; a step that
    succeeds starts the count anew.

    Args:
        creator: makes the sessions.
        budget: how often, and when, to try again.

    Raises:
        OpError: no session could be made in as many attempts as `budget` has.
    """

    def __init__(self, creator: CoordinatedSessionCreator, budget: RetryBudget | None = None) -> None:
        self._creator = creator
        self._budget = budget or RetryBudget()
        self._is_value_lost = False
        self._sess: CoordinatedSession | None = self._create_session()

    def _create_session(self) -> CoordinatedSession:
        while True:
            try:
                return self._creator.create_session()
            except RETRYABLE as error:
                self._budget.failed("making a session", error)

    @property
    def graph(self) -> Graph | OrNone:
        """The graph that runs; None while there is no session."""
        return None if self._sess is None else self._sess.graph

    @property
    def sess_str(self) -> bytes | OrNone:
        """The target of the plain Session of now; None while there is none."""
        return None if self._sess is None else self._sess.sess_str

    def should_stop(self) -> bool:
        """Whether to stop; a task that another thread lost is recovered from first."""
        if self._sess is None:
            return False
        try:
            return self._sess.should_stop()
        except RETRYABLE as error:
            self._lose("a thread of the session ran", error)
            self._sess = self._create_session()
            return False
        except Exception:
            # It is raised when the session is closed.
            return True

    @typed_run
    def run(
        self,
        fetches: Fetches,
        feed_dict: Feeds | None = None,
        options: RunOptions | None = None,
        run_metadata: RunMetadata | None = None,
    ) -> Any:
        """Run a step, in as many sessions as it takes."""
        return self._repeat(lambda session: session.run(fetches, feed_dict, options, run_metadata))

    def run_step_fn(self, step_fn: Callable[..., object]) -> Any:
        """Call a function with a StepContext, in as many sessions as it takes."""
        return self._repeat(lambda session: session.run_step_fn(step_fn))

    def _repeat(self, step: Callable[[CoordinatedSession], T]) -> T:
        while True:
            if self._sess is None:
                self._sess = self._create_session()
            try:
                result = step(self._sess)
            except ValueLostError as error:
                # Once: the new session was ready, so a second time it is the program that leaves the variable without a value.
                if self._is_value_lost:
                    raise
                self._is_value_lost = True
                self._lose("running a step", error)
            except RETRYABLE as error:
                if UNKNOWN_FATE in (error.message or ""):
                    if not self._budget.policy.repeats_unknown_steps:
                        self._close_lost()
                        raise
                    tf_logging.warning(
                        "A step is run again though it may have been applied, in part or as a whole: %s", error.message
                    )
                self._lose("running a step", error)
            else:
                self._budget.succeeded()
                self._is_value_lost = False
                return result

    def _lose(self, what: str, error: OpError) -> None:
        self._close_lost()
        self._budget.failed(what, error)

    def _close_lost(self) -> None:
        session, self._sess = self._sess, None
        if session is not None:
            self._creator.expect_another()
            # A thread may have met the same loss.
            with contextlib.suppress(*RETRYABLE):
                session.close()

    @property
    def is_lost(self) -> bool:
        """Whether the last session was lost, and there is no other yet."""
        return self._sess is None

    def close(self, at_once: bool = False) -> None:
        """Close the session of now, if there is one."""
        session, self._sess = self._sess, None
        if session is not None:
            session.close(at_once)
