"""SessionManager: makes sessions whose model is ready: restored from a checkpoint, initialized, or waited for."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any, Final

from tensorboard.compat.proto import config_pb2

from weft import errors
from weft.checkpoint.checkpoint_state import get_checkpoint_state, newest_first
from weft.client.session import Session, checked_target
from weft.framework.building.aliases import Feeds
from weft.framework.graphs.graph import Graph, get_default_graph
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.types.printed import printed
from weft.platform.hints.argument_checks import check_arguments
from weft.platform.logs import tf_logging
from weft.platform.waits.deadline import within
from weft.platform.waits.function_wait import call_watched
from weft.platform.waits.wait_notice import WaitNotice
from weft.training.replica_steps import trains_in_step
from weft.training.saving.fallback import restore_newest_whole
from weft.training.saving.saver import Saver
from weft.training.sessions.gated_session import GatedSession
from weft.training.sessions.model_readiness import ChiefWatch, Missing, covers_model, what_is_missing
from weft.training.sessions.model_values import ModelValues
from weft.training.sessions.needed_tasks import filtered_config
from weft.training.sessions.presence import announce, presence_of
from weft.training.sessions.revival import ALWAYS, SCOPES, SHARD, WHOLE
from weft.training.sessions.reviver import Reviver
from weft.training.sessions.silent_tasks import SilentTasks

_INIT: Final = "An init_op gives all of them values, as tf.global_variables_initializer() does, made behind the last variable."
_FIRST_POLL_S: Final = 0.02
_LONGEST_POLL_S: Final = 0.5
_LOG_EVERY_S: Final = 10.0
# For so long what the chief says of its model may be on its way.
_NOTE_S: Final = 1.0
_ALL_THERE: Final = "All variables have values"

InitFunction = Callable[[Session], object]


class SessionManager:
    """Makes sessions on a graph that are ready to train.

    The chief calls `prepare_session`, which restores or initializes the model. The others call `wait_for_session`.

    Args:
        local_init_op: run in each new session, once `ready_for_local_init_op` gives no name.
        ready_op: gives the names of variables without a value; the model is ready when there are none. None: it always is.
        ready_for_local_init_op: gives the names of variables that `local_init_op` needs.
        graph: the graph; the default one when None.
        recovery_wait_secs: the longest time between two looks at a model that is not ready; it is looked at more often.
        local_init_run_options: RunOptions for `local_init_op`.
        local_init_feed_dict: what to feed it.
        restore: which variables a chief gives values when it makes a session on tasks where the model lives. 'shard': those
            without a value, so that the others keep their progress; 'whole': all, as soon as one has none; 'always': all, even
            of a model that lives, as TensorFlow does. None: 'whole' where replicas train in step, else 'shard'.

    Raises:
        ValueError: there is a `ready_for_local_init_op` but no `local_init_op`, or `restore` is none of these.
    """

    __repr__ = printed("tf.train")

    def __init__(
        self,
        local_init_op: Operation | None = None,
        ready_op: Tensor | None = None,
        ready_for_local_init_op: Tensor | None = None,
        graph: Graph | None = None,
        recovery_wait_secs: float = 30,
        local_init_run_options: config_pb2.RunOptions | None = None,
        local_init_feed_dict: Feeds | None = None,
        restore: str | None = None,
    ) -> None:
        if restore is not None and restore not in SCOPES:
            raise ValueError(f"SessionManager: restore must be one of {', '.join(map(repr, SCOPES))}, or None, got {restore!r}")
        if ready_for_local_init_op is not None and local_init_op is None:
            raise ValueError("If you pass a ready_for_local_init_op you must also pass a local_init_op")
        check_arguments(
            SessionManager.__init__, graph=graph, recovery_wait_secs=recovery_wait_secs,
            local_init_run_options=local_init_run_options,
        )  # fmt: skip
        self._local_init_op = local_init_op
        self._ready_op = ready_op
        self._ready_for_local_init_op = ready_for_local_init_op
        self._graph = get_default_graph() if graph is None else graph
        self._recovery_wait_secs = recovery_wait_secs
        self._local_init_run_options = local_init_run_options
        self._local_init_feed_dict = local_init_feed_dict
        self._restore = restore
        self._values: tuple[Saver | None, ModelValues] | None = None
        self._has_been_ready = False

    def prepare_session(
        self,
        master: str,
        init_op: Operation | None = None,
        saver: Saver | None = None,
        checkpoint_dir: str | None = None,
        checkpoint_filename_with_path: str | None = None,
        wait_for_checkpoint: bool = False,
        max_wait_secs: float = 7200,
        config: config_pb2.ConfigProto | None = None,
        init_feed_dict: Feeds | None = None,
        init_fn: InitFunction | None = None,
    ) -> Session:
        """Make a session with a model that is ready: joined where it lives, else restored, else initialized.

        A model that lives on the tasks of a cluster is not restored, nor is any part of it that has values, unless the
        checkpoint is of a later step: the replicas that train in it go on. Values that another training run has left are
        replaced; a run is told by where its checkpoints are, and by replicas that train. See `restore` of the constructor for
        a part that was lost.

        Args:
            master: the session's target.
            init_op: run when there is no checkpoint.
            saver: restores the checkpoint.
            checkpoint_dir: where to look for the last checkpoint.
            checkpoint_filename_with_path: the checkpoint to restore, rather than the last one of a directory.
            wait_for_checkpoint: wait until there is a checkpoint.
            max_wait_secs: how long.
            config: the session's ConfigProto.
            init_feed_dict: what to feed `init_op`.
            init_fn: called with the session after `init_op`.

        Raises:
            RuntimeError: there is no checkpoint and nothing to initialize with, or the model is not ready afterwards.
            ValueError: a directory and a checkpoint are given.
        """
        session, is_restored = self._restored_session(
            master, saver, checkpoint_dir, checkpoint_filename_with_path, wait_for_checkpoint, max_wait_secs, config
        )
        try:
            if not is_restored:
                self._initialize(session, init_op, init_feed_dict, init_fn)
            self._check_initialized(session, init_op, init_fn)
        except BaseException:
            _close(session)
            raise
        self._be_ready(session, checkpoint_dir or checkpoint_filename_with_path)
        return session

    def _be_ready(self, session: Session, checkpoints: str | None) -> None:
        _lower_fence(session)
        presence = presence_of(session)
        self._has_been_ready = True
        if presence is not None:
            presence.set_state("ready")
            presence.begin_run(_location(checkpoints))

    def _initialize(
        self, session: Session, init_op: Operation | None, init_feed_dict: Feeds | None, init_fn: InitFunction | None
    ) -> None:
        if init_op is None and not init_fn and self._local_init_op is None:
            raise RuntimeError("Model is not initialized and no init_op or init_fn or local_init_op was given")
        if init_op is not None:
            session.run(init_op, feed_dict=init_feed_dict)
        if init_fn:
            call_watched(init_fn, session)

    def _check_initialized(self, session: Session, init_op: Operation | None, init_fn: object) -> None:
        missing = self._try_local_init(session)
        if missing:
            raise RuntimeError(
                "Init operations did not make model ready for local_init.  Init op: "
                f"{_name(init_op)}, init fn: {init_fn}, error: {missing.told}. {_INIT}"
            )
        missing = what_is_missing(session, self._ready_op)
        if missing:
            raise RuntimeError(
                f"Init operations did not make model ready.  Init op: {_name(init_op)}, init fn: {init_fn}, "
                f"local_init_op: {_name(self._local_init_op)}, error: {missing.told}. {_INIT}"
            )

    def recover_session(
        self,
        master: str,
        saver: Saver | None = None,
        checkpoint_dir: str | None = None,
        checkpoint_filename_with_path: str | None = None,
        wait_for_checkpoint: bool = False,
        max_wait_secs: float = 7200,
        config: config_pb2.ConfigProto | None = None,
    ) -> tuple[Session, bool]:
        """Make a session, and restore the model where there is a checkpoint.

        Arguments are those of `prepare_session`.

        Args:
            master: the server's address; empty for this process.
            saver: reads the checkpoint; None makes a session of variables as they are.
            checkpoint_dir: the folder whose newest checkpoint is read.
            checkpoint_filename_with_path: a checkpoint, in place of the folder's newest.
            wait_for_checkpoint: whether it waits for a checkpoint where there is none.
            max_wait_secs: how long it waits.
            config: the session's ConfigProto.

        Returns:
            The session, and whether its model was restored and is ready.
        """
        session, is_restored = self._restored_session(
            master, saver, checkpoint_dir, checkpoint_filename_with_path, wait_for_checkpoint, max_wait_secs, config
        )
        try:
            missing = self._try_local_init(session)
            if not is_restored:
                # The program gives it its values, and nobody is told when it has them.
                _lower_fence(session)
                return session, False
            what = "" if not missing else " for local init"
            missing = missing or what_is_missing(session, self._ready_op)
        except BaseException:
            _close(session)
            raise
        restored_from = checkpoint_dir or checkpoint_filename_with_path
        if missing:
            _lower_fence(session)
            tf_logging.info("Restoring model from %s did not make model ready%s: %s", restored_from, what, missing)
            return session, False
        tf_logging.info("Restored model from %s", restored_from)
        self._be_ready(session, restored_from)
        return session, True

    def wait_for_session(
        self, master: str, config: config_pb2.ConfigProto | None = None, max_wait_secs: float | None = float("inf")
    ) -> Session:
        """Make a session, and wait until another task has initialized or restored the model.

        Looks several times a second, in one session, and logs every 10 seconds what is missing. A chief that this module made
        ready tells the others about its variables; so a graph that differs from the chief's ends the wait at once.

        Args:
            master: the session's target.
            config: its ConfigProto.
            max_wait_secs: how long to wait; None for ever.

        Raises:
            DeadlineExceededError: the model was not ready in time, or a task that it needs not there; tells what is missing.
            InvalidArgumentError: the chief has other variables; tells which.
        """
        master = checked_target(master)
        check_arguments(SessionManager.wait_for_session, max_wait_secs=max_wait_secs)
        limit_s = float("inf") if max_wait_secs is None else max_wait_secs
        config = filtered_config(master, self._graph, config)
        session = GatedSession(master, graph=self._graph, config=config)
        deadline = time.monotonic() + limit_s
        try:
            with within(None if limit_s == float("inf") else limit_s):
                announce(session, False, config, "waiting")
                _open(session, limit_s)
            self._wait_until_ready(session, limit_s, deadline)
        except BaseException:
            _close(session)
            raise
        presence = presence_of(session)
        if presence is not None:
            session.pause_at(presence.gate())
            presence.set_state("training")
            presence.begin_job()
        return session

    def _wait_until_ready(self, session: Session, limit_s: float, deadline: float) -> None:
        log_due = time.monotonic()
        notice = WaitNotice()
        poll_s = _FIRST_POLL_S
        presence = presence_of(session)
        watch = None if presence is None else ChiefWatch(presence.view, warns=covers_model(self._ready_op, self._graph))
        is_local_done = False
        while True:
            with _telling_conflicts(watch):
                unready = what_is_missing(session, self._ready_for_local_init_op)
                missing = unready or (what_is_missing(session, self._ready_op) if is_local_done else None)
            about_chief = "" if watch is None else f". {watch.look(missing.names if missing else ())}"
            is_steady = watch is None or not watch.is_chief_initializing
            if is_local_done and is_steady and not missing:
                return
            # Where it reads the model it is run when the chief has given that its values, else at once, and no second time.
            is_fit = self._ready_for_local_init_op is None or (is_steady and not unready)
            if not is_fit:
                is_local_done = False
            elif not is_local_done:
                with _telling_conflicts(watch):
                    self._run_local_init(session)
                is_local_done = True
                continue
            now = time.monotonic()
            if now + poll_s > deadline:
                raise errors.DeadlineExceededError.of(
                    f"Session was not ready after waiting {limit_s:g} secs. {missing or _ALL_THERE}{about_chief}"
                )
            if notice.is_due():
                about_chief += _why_silent(session, watch)
                tf_logging.warning(
                    "Waiting for model to be ready, for %.0f s. %s%s. The chief, is_chief=True, initializes it: look whether "
                    "it runs and what it says.", notice.waited_s, missing or _ALL_THERE, about_chief,
                )  # fmt: skip
            elif now >= log_due:
                tf_logging.info("Waiting for model to be ready. %s%s", missing or _ALL_THERE, about_chief)
                log_due = now + _LOG_EVERY_S
            time.sleep(poll_s)
            poll_s = min(2 * poll_s, _LONGEST_POLL_S, max(self._recovery_wait_secs, _FIRST_POLL_S))

    def _restored_session(
        self,
        master: str,
        saver: Saver | None,
        checkpoint_dir: str | None,
        checkpoint: str | None,
        wait_for_checkpoint: bool,
        max_wait_secs: float,
        config: config_pb2.ConfigProto | None,
    ) -> tuple[Session, bool]:
        if checkpoint_dir and checkpoint:
            raise ValueError("Can not provide both checkpoint_dir and checkpoint_filename_with_path.")
        master = checked_target(master)
        config = filtered_config(master, self._graph, config)
        session = Session(master, graph=self._graph, config=config)
        try:
            announce(session, True, config, "initializing")
            where = _location(checkpoint_dir or checkpoint)
            if not saver:
                return session, self._revive(session, None, [], where)
            checkpoints = [checkpoint] if checkpoint else []
            state = self._checkpoint_state(checkpoint_dir, wait_for_checkpoint, max_wait_secs) if checkpoint_dir else None
            if state is not None:
                checkpoints = newest_first(state)
            is_restored = self._revive(session, saver, checkpoints, where)
            if state is not None:
                saver.recover_last_checkpoints(state.all_model_checkpoint_paths)
        except BaseException:
            _close(session)
            raise
        return session, is_restored

    def _revive(self, session: Session, saver: Saver | None, checkpoints: Sequence[str], where: str | None) -> bool:
        """Give the model's variables values, or leave them theirs; false when it is still to be initialized."""
        presence = presence_of(session)
        if presence is None or self._restore == ALWAYS:
            # Without a presence the session has state of its own: nothing can live there.
            if presence is not None:
                presence.fence_off()
            if saver is not None and checkpoints:
                restore_newest_whole(partial(saver.restore, session), checkpoints)
            return bool(checkpoints)
        values = self._values_of(saver)
        scope = self._restore or (WHOLE if trains_in_step(self._graph) else SHARD)
        return Reviver(session, presence, values, scope).revive(saver, checkpoints, where, self._has_been_ready)

    def _values_of(self, saver: Saver | None) -> ModelValues:
        if self._values is None or self._values[0] is not saver:
            self._values = saver, ModelValues(self._graph, saver)
        return self._values[1]

    def _checkpoint_state(self, directory: str, wait: bool, max_wait_secs: float) -> Any:
        deadline = time.monotonic() + max_wait_secs
        poll_s = min(self._recovery_wait_secs, 1.0)
        is_logged = False
        while True:
            state = get_checkpoint_state(directory)
            if state is not None and state.model_checkpoint_path:
                return state
            if not wait or time.monotonic() + poll_s > deadline:
                return None
            if not is_logged:
                tf_logging.info("Waiting for a checkpoint in %s.", directory)
                is_logged = True
            time.sleep(poll_s)

    def _try_local_init(self, session: Session) -> Missing | None:
        """Run the local init op if the model is ready for it; what is missing otherwise."""
        if self._local_init_op is None:
            return None
        missing = what_is_missing(session, self._ready_for_local_init_op)
        if not missing:
            self._run_local_init(session)
        return missing

    def _run_local_init(self, session: Session) -> None:
        if self._local_init_op is not None:
            tf_logging.info("Running local_init_op.")
            session.run(self._local_init_op, feed_dict=self._local_init_feed_dict, options=self._local_init_run_options)
            tf_logging.info("Done running local_init_op.")


@contextmanager
def _telling_conflicts(watch: ChiefWatch | None) -> Iterator[None]:
    """Say of a variable that turns out to be held otherwise whether the chief has another model."""
    try:
        yield
    except errors.InvalidArgumentError:
        if watch is not None:
            watch.wait_for_conflict(_NOTE_S)
        raise


def _why_silent(session: Session, watch: ChiefWatch | None) -> str:
    """Why nothing is heard of a chief that is not there."""
    why = None if watch is None or watch.sees_chief else SilentTasks(session).chief()
    return "" if why is None else f": {why}"


def _open(session: Session, limit_s: float) -> None:
    """Have the tasks that a session needs answer, before the deadline of this thread."""
    try:
        session.list_devices()
    except errors.DeadlineExceededError as error:
        raise errors.DeadlineExceededError.of(
            f"Session was not ready after waiting {limit_s:g} secs. {error.message}\nParameter servers end with the training: "
            "a replica that begins later waits for them in vain."
        ) from None


def _lower_fence(session: Session) -> None:
    presence = presence_of(session)
    if presence is not None:
        presence.view.lower_fence()


def _close(session: Session) -> None:
    """Close a session whose own error is on its way to the caller."""
    try:
        session.close()
    except errors.OpError as error:
        tf_logging.warning("Closing a session that failed: %s", error.message)


def _location(checkpoints: str | None) -> str | None:
    """Where checkpoints are, as a training run is told by: the path, absolute where it is one of this host's files."""
    if checkpoints is None or "://" in checkpoints:
        return checkpoints
    return os.path.abspath(checkpoints)


def _name(element: object) -> str | None:
    return None if element is None else getattr(element, "name", str(element))
