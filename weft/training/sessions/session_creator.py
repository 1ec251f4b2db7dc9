"""How a MonitoredSession makes its sessions: as the chief, or as a worker that waits for the chief."""

from __future__ import annotations

from weft.client.session import BaseSession, Session, checked_target
from weft.framework.graphs.graph import get_default_graph
from weft.framework.types.printed import printed
from weft.platform.hints.argument_checks import check_arguments
from weft.proto.messages import ConfigProto
from weft.training.scaffold import Scaffold
from weft.training.sessions.session_manager import SessionManager


class SessionCreator:
    """Makes sessions that are ready to train; asked again after each recovery."""

    __repr__ = printed("tf.train")

    def create_session(self) -> BaseSession:
        """A new session."""
        raise NotImplementedError(f"create_session is not implemented for {type(self).__name__}.")


class ChiefSessionCreator(SessionCreator):
    """Makes sessions for the chief: joins a model that lives, else restores the last checkpoint or initializes the model.

    Args:
        scaffold: the parts of the graph; a new Scaffold when None.
        master: the sessions' target.
        config: their ConfigProto.
        checkpoint_dir: where to look for the last checkpoint.
        checkpoint_filename_with_path: a checkpoint to restore instead.
        restore: 'shard', 'whole' or 'always': what to restore where the model lives; see `SessionManager`.
    """

    def __init__(
        self,
        scaffold: Scaffold | None = None,
        master: str = "",
        config: ConfigProto | None = None,
        checkpoint_dir: str | None = None,
        checkpoint_filename_with_path: str | None = None,
        restore: str | None = None,
    ) -> None:
        check_arguments(
            ChiefSessionCreator.__init__, scaffold=scaffold, config=config, checkpoint_dir=checkpoint_dir,
            checkpoint_filename_with_path=checkpoint_filename_with_path,
        )  # fmt: skip
        self._scaffold = scaffold or Scaffold()
        self._master = checked_target(master)
        self._config = config
        self._checkpoint_dir = checkpoint_dir
        self._checkpoint_filename_with_path = checkpoint_filename_with_path
        self._restore = restore
        self._session_manager: SessionManager | None = None

    def create_session(self) -> Session:
        """A new session with a model that is ready."""
        self._scaffold.finalize()
        if self._session_manager is None:
            self._session_manager = _session_manager(self._scaffold, self._restore)
        return self._session_manager.prepare_session(
            self._master,
            saver=self._scaffold.saver,
            checkpoint_dir=self._checkpoint_dir,
            checkpoint_filename_with_path=self._checkpoint_filename_with_path,
            config=self._config,
            init_op=self._scaffold.init_op,
            init_feed_dict=self._scaffold.init_feed_dict,
            init_fn=self._scaffold.init_fn,
        )


class WorkerSessionCreator(SessionCreator):
    """Makes sessions for a worker: waits until the chief has made the model ready.

    Args:
        scaffold: the parts of the graph; a new Scaffold when None.
        master: the sessions' target.
        config: their ConfigProto.
        max_wait_secs: how long to wait for the chief; None for ever.
    """

    def __init__(
        self,
        scaffold: Scaffold | None = None,
        master: str = "",
        config: ConfigProto | None = None,
        max_wait_secs: float | None = 30 * 60,
    ) -> None:
        check_arguments(WorkerSessionCreator.__init__, scaffold=scaffold, config=config, max_wait_secs=max_wait_secs)
        self._scaffold = scaffold or Scaffold()
        self._master = checked_target(master)
        self._config = config
        self._max_wait_secs = max_wait_secs
        self._session_manager: SessionManager | None = None

    def create_session(self) -> Session:
        """A new session, once the model is ready."""
        self._scaffold.finalize()
        if self._session_manager is None:
            self._session_manager = _session_manager(self._scaffold)
        return self._session_manager.wait_for_session(self._master, config=self._config, max_wait_secs=self._max_wait_secs)


def _session_manager(scaffold: Scaffold, restore: str | None = None) -> SessionManager:
    return SessionManager(
        local_init_op=scaffold.local_init_op,
        local_init_feed_dict=scaffold.local_init_feed_dict,
        ready_op=scaffold.ready_op,
        ready_for_local_init_op=scaffold.ready_for_local_init_op,
        graph=get_default_graph(),
        restore=restore,
    )
