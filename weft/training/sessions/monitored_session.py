"""MonitoredSession: a session that initializes or restores its model, calls hooks, and survives the loss of a task.

Four layers, as TensorFlow has them: programs go down to the plain Session by `_sess`. The plain Session runs steps. A
HookedSession adds the hooks, a CoordinatedSession the coordinator of the threads that belong to one Session. A
RecoverableSession makes the next CoordinatedSession when one is lost.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any, Final

from weft import errors
from weft.client.session import BaseSession
from weft.framework.building.aliases import Feeds, Fetches, FetchValue
from weft.framework.building.run_signature import typed_run
from weft.framework.graphs.graph import Graph, get_default_graph
from weft.framework.types.printed import printed
from weft.framework.types.value_types import OrNone
from weft.platform.hints.argument_checks import check_arguments, check_flags
from weft.platform.logs import tf_logging
from weft.platform.process.stop_signals import StopSignals
from weft.platform.waits.function_wait import call_watched
from weft.proto.messages import ConfigProto, RunMetadata, RunOptions
from weft.training.hooks.checkpoint_hooks import CheckpointSaverHook
from weft.training.hooks.progress_hook import progress_hooks
from weft.training.hooks.session_run_hook import SessionRunHook, checked_hooks
from weft.training.hooks.step_counter_hook import StepCounterHook
from weft.training.hooks.stop_signal_hook import stop_signal_hooks
from weft.training.hooks.summary_hooks import SummarySaverHook
from weft.training.scaffold import Scaffold
from weft.training.sessions.coordinated_session import CoordinatedSession, CoordinatedSessionCreator, StepContext
from weft.training.sessions.presence import LONGEST_DRAIN_S, drain, note_end, tell_failure
from weft.training.sessions.recoverable_session import RecoverableSession
from weft.training.sessions.recovery import RetryBudget, RetryPolicy
from weft.training.sessions.session_creator import ChiefSessionCreator, SessionCreator, WorkerSessionCreator

USE_DEFAULT: Final[Any] = object()
_CLEAN_ENDS: Final = (errors.OutOfRangeError, StopIteration)


class _MonitoredSession:
    """The common part of MonitoredSession and SingularMonitoredSession. Used by one thread at a time."""

    StepContext = StepContext

    __repr__ = printed("tf.train", lambda session: f"{len(session._hooks)} hooks{', closed' if session._sess is None else ''}")

    def __init__(
        self,
        session_creator: SessionCreator | None,
        hooks: Sequence[SessionRunHook] | None,
        retry_policy: RetryPolicy | None,
        stop_grace_period_secs: float,
    ) -> None:
        check_arguments(MonitoredSession.__init__, stop_grace_period_secs=stop_grace_period_secs)
        self._graph = get_default_graph()
        self._graph_was_finalized = self._graph.finalized
        self._signals = StopSignals()
        self._hooks = checked_hooks(hooks)
        self._hooks += [*progress_hooks(self._hooks), *stop_signal_hooks(self._signals)]
        for hook in self._hooks:
            call_watched(hook.begin)
        self._drain_s = min(stop_grace_period_secs, LONGEST_DRAIN_S)
        self._coordinated_creator = CoordinatedSessionCreator(
            session_creator or ChiefSessionCreator(), self._hooks, stop_grace_period_secs
        )
        self._sess: CoordinatedSession | RecoverableSession | None = None
        self._signals.arm()
        try:
            if retry_policy is None:
                self._sess = self._coordinated_creator.create_session()
            else:
                self._sess = RecoverableSession(self._coordinated_creator, RetryBudget(retry_policy))
        except BaseException:
            self._signals.disarm()
            self._open_graph_again()
            raise

    @property
    def graph(self) -> Graph | OrNone:
        """The graph that runs; None after `close`."""
        session = self._tf_sess()
        return None if session is None else session.graph

    @typed_run
    def run(
        self,
        fetches: Fetches,
        feed_dict: Feeds | None = None,
        options: RunOptions | None = None,
        run_metadata: RunMetadata | None = None,
    ) -> FetchValue:
        """Run a step with the hooks, as `Session.run` does without.

        Args:
            fetches: tensors, operations, or a structure of them; hooks may fetch more beside.
            feed_dict: values by placeholder.
            options: those of the run; what hooks ask for is added.
            run_metadata: filled with what `options` ask for.

        Returns:
            The values of the fetches, in their structure.

        Raises:
            RuntimeError: the session is closed, or was asked to stop.
        """
        return self._open_session().run(fetches, feed_dict, options, run_metadata)

    def run_step_fn(self, step_fn: Callable[..., object]) -> Any:
        """Call a function that may run without hooks and with them, and return what it returns.

        Args:
            step_fn: takes exactly `step_context` (or `self, step_context`), whose `session` is the plain Session, whose
                `run_with_hooks` is this session's `run`, and whose `request_stop()` ends the `with` block.

        Raises:
            ValueError: it takes other arguments.
        """
        arguments = tuple(inspect.signature(step_fn).parameters)
        if inspect.ismethod(step_fn):
            arguments = ("self", *arguments)
        if arguments not in (("step_context",), ("self", "step_context")):
            raise ValueError(
                "`step_fn` may either have one `step_context` argument, or `self` and `step_context` arguments if it's an "
                f"instance method. Got {arguments} instead. It is such as lambda step_context: "
                "step_context.session.run(op)."
            )
        return self._open_session().run_step_fn(step_fn)

    def should_stop(self) -> bool:
        """Whether the loop should end: a hook or a thread asked for it, or the session is closed."""
        return self._sess is None or self._sess.should_stop()

    def close(self) -> None:
        """Call the hooks' `end`, stop the threads and close the session.

        A chief first waits, up to 15 seconds, until the replicas that train in other processes have ended.

        Raises:
            SystemExit: a signal that the scheduler sends before it kills the process has ended the training.
        """
        self._close(None)

    def __enter__(self) -> _MonitoredSession:
        return self

    def __exit__(self, exception_type: type[BaseException] | None, exception_value: object, traceback: object) -> bool:
        if exception_type is not None and issubclass(exception_type, _CLEAN_ENDS):
            exception_type = None
        if exception_type is SystemExit and self._signals.exit_code:
            # A step that waited for others was left: what the model has is saved all the same.
            exception_type = None
        if exception_type is not None and isinstance(exception_value, BaseException):
            tell_failure(self._tf_sess(), exception_value)
        self._close(exception_type)
        return exception_type is None

    def _close(self, exception_type: type[BaseException] | None) -> None:
        try:
            if exception_type is None:
                self._call_end()
        except BaseException as error:
            tell_failure(self._tf_sess(), error)
            raise
        finally:
            try:
                session, self._sess = self._sess, None
                if session is None:
                    raise RuntimeError("Session is already closed.")
                # What is no Exception (a KeyboardInterrupt) must not wait for threads.
                session.close(at_once=exception_type is not None and not issubclass(exception_type, Exception))
            finally:
                self._coordinated_creator.forget()
                self._signals.disarm()
                self._open_graph_again()
        if exception_type is None and self._signals.exit_code:
            raise SystemExit(self._signals.exit_code)

    def _call_end(self) -> None:
        session = self._tf_sess()
        if session is None:
            return
        self._signals.begin_leaving()
        note_end(session)
        if self._signals.exit_code and isinstance(self._sess, RecoverableSession) and self._sess.is_lost:
            tf_logging.warning("%s came while a task was lost: the model is what the last checkpoint has", self._signals.name)
            return
        if self._signals.exit_code:
            # The training goes on when the scheduler starts this task again.
            self._coordinated_creator.expect_another()
        # Replicas that wait for this one go on; then what they still do is over before the hooks save the model.
        for hook in self._hooks:
            if _releases_replicas(hook):
                call_watched(hook.end, session)
        if not self._signals.exit_code:
            drain(session, self._drain_s)
        for hook in self._hooks:
            if not _releases_replicas(hook):
                call_watched(hook.end, session)

    def _open_graph_again(self) -> None:
        if not self._graph_was_finalized:
            self._graph._unsafe_unfinalize()

    def _open_session(self) -> CoordinatedSession | RecoverableSession:
        if self._sess is None:
            raise RuntimeError("Attempted to use a closed MonitoredSession.")
        return self._sess

    def _is_closed(self) -> bool:
        return self._sess is None

    def _tf_sess(self) -> Any:
        """The plain Session of now; runs in it call no hooks and are not repeated."""
        return self._coordinated_creator.tf_sess


class MonitoredSession(_MonitoredSession):
    """A session for training loops that makes a new session when a task is lost, and repeats the step.

        with tf.train.MonitoredSession(session_creator=ChiefSessionCreator(...), hooks=[...]) as session:
            while not session.should_stop():
                session.run(train_op)

    The graph is closed for changes inside; hooks add to it in `begin`. OutOfRangeError and StopIteration end the block
    silently. It is no `tf.Session`: it is not the default session, and `Saver.save` takes a hook's session.

    Args:
        session_creator: makes the sessions; a ChiefSessionCreator when None.
        hooks: SessionRunHooks, called in this order.
        stop_grace_period_secs: how long `close` waits for threads.
        retry_policy: how often to try again after a lost task, and how long to wait before; for about an hour when None.
    """

    def __init__(
        self,
        session_creator: SessionCreator | None = None,
        hooks: Sequence[SessionRunHook] | None = None,
        stop_grace_period_secs: float = 120,
        retry_policy: RetryPolicy | None = None,
    ) -> None:
        super().__init__(session_creator, hooks, retry_policy or RetryPolicy(), stop_grace_period_secs)


class SingularMonitoredSession(_MonitoredSession):
    """A MonitoredSession that never makes a second session: the loss of a task ends it with that error.

    Args:
        hooks: SessionRunHooks, called in this order.
        scaffold: the parts of the graph; a new Scaffold when None.
        master: the session's target.
        config: its ConfigProto.
        checkpoint_dir: where to look for the last checkpoint.
        stop_grace_period_secs: how long `close` waits for threads.
        checkpoint_filename_with_path: a checkpoint to restore instead.
    """

    def __init__(
        self,
        hooks: Sequence[SessionRunHook] | None = None,
        scaffold: Scaffold | None = None,
        master: str = "",
        config: ConfigProto | None = None,
        checkpoint_dir: str | None = None,
        stop_grace_period_secs: float = 120,
        checkpoint_filename_with_path: str | None = None,
    ) -> None:
        creator = ChiefSessionCreator(scaffold, master, config, checkpoint_dir, checkpoint_filename_with_path)
        super().__init__(creator, hooks, None, stop_grace_period_secs)

    def raw_session(self) -> BaseSession:
        """The plain Session."""
        session: BaseSession = self._tf_sess()
        return session


def MonitoredTrainingSession(
    master: str = "",
    is_chief: bool = True,
    checkpoint_dir: str | None = None,
    scaffold: Scaffold | None = None,
    hooks: Sequence[SessionRunHook] | None = None,
    chief_only_hooks: Sequence[SessionRunHook] | None = None,
    save_checkpoint_secs: float | None = USE_DEFAULT,
    save_summaries_steps: int | None = USE_DEFAULT,
    save_summaries_secs: float | None = USE_DEFAULT,
    config: ConfigProto | None = None,
    stop_grace_period_secs: float = 120,
    log_step_count_steps: int | None = 100,
    max_wait_secs: float = 7200,
    save_checkpoint_steps: int | None = USE_DEFAULT,
    summary_dir: str | None = None,
    restore: str | None = None,
    retry_policy: RetryPolicy | None = None,
) -> MonitoredSession:
    """Make a MonitoredSession for one replica of a training job.

    The chief restores the last checkpoint or initializes the model, writes checkpoints and summaries; the others wait for
    it. A chief that comes back to a model that lives joins it.

    Args:
        master: the target: this task's server, or '' without a cluster.
        is_chief: whether this replica is the chief.
        checkpoint_dir: where to restore from and save to; None: neither.
        scaffold: the parts of the graph; a new Scaffold when None.
        hooks: SessionRunHooks.
        chief_only_hooks: further ones for the chief.
        save_checkpoint_secs: seconds between checkpoints, 600 by default; 0 or None for none by time.
        save_summaries_steps: steps between summaries, 100 by default; 0 or None for none by steps.
        save_summaries_secs: seconds between summaries, instead.
        config: the session's ConfigProto.
        stop_grace_period_secs: how long `close` waits for threads.
        log_step_count_steps: how often to log and write the steps per second; 0 or None for never.
        max_wait_secs: how long a replica waits for the chief.
        save_checkpoint_steps: steps between checkpoints, instead.
        summary_dir: where to write summaries; `checkpoint_dir` when None.
        restore: what the chief restores when a parameter server has lost its variables: 'shard', these alone; 'whole', all;
            'always', all even if none is lost, whenever the chief makes a session. See `SessionManager`.
        retry_policy: how often to try again after a lost task, and how long to wait before; for about an hour when None.

    Returns:
        A MonitoredSession, whose context closes it.

    Raises:
        ValueError: a period is given in seconds and in steps at once.
        DeadlineExceededError: a replica has waited `max_wait_secs` for the chief.

    >>> step = tf.train.get_or_create_global_step()
    >>> train_op = step.assign_add(1)
    >>> hooks = [tf.train.StopAtStepHook(last_step=3)]
    >>> with tf.train.MonitoredTrainingSession(hooks=hooks) as session:
    ...     while not session.should_stop():
    ...         print(session.run(train_op))
    1
    2
    3
    """
    check_flags(MonitoredTrainingSession, is_chief=is_chief)
    save_summaries_steps, save_summaries_secs = _frequency(save_summaries_steps, save_summaries_secs, 100, None)
    save_checkpoint_steps, save_checkpoint_secs = _frequency(save_checkpoint_steps, save_checkpoint_secs, None, 600)
    scaffold = scaffold or Scaffold()
    if not is_chief:
        worker = WorkerSessionCreator(scaffold, master, config, max_wait_secs)
        return MonitoredSession(worker, hooks, stop_grace_period_secs, retry_policy)
    all_hooks = list(chief_only_hooks or ())
    summary_dir = summary_dir or checkpoint_dir
    if summary_dir:
        if log_step_count_steps and log_step_count_steps > 0:
            all_hooks.append(StepCounterHook(every_n_steps=log_step_count_steps, output_dir=summary_dir))
        if save_summaries_steps or save_summaries_secs:
            all_hooks.append(
                SummarySaverHook(
                    save_steps=save_summaries_steps, save_secs=save_summaries_secs, output_dir=summary_dir, scaffold=scaffold
                )
            )
    if checkpoint_dir and (save_checkpoint_steps or save_checkpoint_secs):
        all_hooks.append(
            CheckpointSaverHook(
                checkpoint_dir, save_secs=save_checkpoint_secs, save_steps=save_checkpoint_steps, scaffold=scaffold
            )
        )
    all_hooks.extend(checked_hooks(hooks))
    chief = ChiefSessionCreator(scaffold, master, config, checkpoint_dir, restore=restore)
    return MonitoredSession(chief, all_hooks, stop_grace_period_secs, retry_policy)


def _releases_replicas(hook: object) -> bool:
    """Whether replicas may wait for what the hook does at the end; a hook need not be a SessionRunHook."""
    return bool(getattr(hook, "releases_replicas", False))


def _frequency(steps: Any, secs: Any, default_steps: int | None, default_secs: int | None) -> tuple[Any, Any]:
    """Steps and seconds between two events: the defaults when neither is given; what is not positive is None."""
    if steps is USE_DEFAULT and secs is USE_DEFAULT:
        return default_steps, default_secs
    return tuple(None if n is USE_DEFAULT or n is None or n <= 0 else n for n in (steps, secs))  # type: ignore[return-value]
