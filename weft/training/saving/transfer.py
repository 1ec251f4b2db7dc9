"""How a Saver's checkpoints get into files and back: the tasks write and read them, or the process with the session does."""

from __future__ import annotations

import errno
import os
import weakref
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final

from tensorboard.compat.proto import saver_pb2

from weft import errors
from weft.checkpoint import files
from weft.checkpoint.object_description import keys_by_name
from weft.client.session import BaseSession
from weft.framework.building.aliases import SessionLike
from weft.framework.nodes.operation import Operation, Tensor
from weft.platform.logs import tf_logging
from weft.training.saving.staging import Staging
from weft.training.saving.streaming import names_in_checkpoint, streamed_restore, streamed_save

_Feeds = Mapping[Tensor, object]

_FULL: Final = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_KEY_MISSING: Final = "not found in checkpoint"


class CheckpointTransfer:
    """Runs a Saver's nodes where the tasks see this process's files, and streams through this process where they do not.

    What was found out about a session is remembered: its next save or restore streams at once. Used by one thread at a time.

    Args:
        asks_for_shards: the program asked for the tasks to write; then a save fails where they see other files.
    """

    def __init__(self, asks_for_shards: bool) -> None:
        self._asks_for_shards = asks_for_shards
        self._apart: weakref.WeakSet[BaseSession] = weakref.WeakSet()

    def save(
        self, session: BaseSession, saver_def: saver_pb2.SaverDef, path: str, feeds: Mapping[Tensor, object] | None = None
    ) -> str:
        """Write the checkpoint `path`; blocks until it is complete. Returns its name: of shards of the V1 format the pattern.

        Args:
            session: the session.
            saver_def: names the nodes.
            path: the checkpoint's path.
            feeds: values of nodes that are written as they are fed.

        Raises:
            NotFoundError, PermissionDeniedError: the tasks see other files, and the program asked for them to write.
            ResourceExhaustedError: the disk is full; says what to do.
            OpError: a variable has no value, or a file could not be written.
        """
        try:
            return self._save(session, saver_def, path, feeds or {})
        except errors.ResourceExhaustedError as error:
            if not any(os.strerror(number) in error.message for number in _FULL):
                raise
            raise errors.ResourceExhaustedError(error.node_def, error.op, _no_room(error, path)) from error

    def _save(self, session: BaseSession, saver_def: saver_pb2.SaverDef, path: str, feeds: _Feeds) -> str:
        is_old = saver_def.version != saver_pb2.SaverDef.V2
        if is_old or not _may_differ(session, path):
            found = session.run(saver_def.save_tensor_name, {saver_def.filename_tensor_name: path, **feeds})
            return os.fsdecode(found) if is_old else path
        if session in self._apart or not self._save_by_tasks(session, saver_def, path, feeds):
            streamed_save(session, session.graph.as_graph_element(saver_def.save_tensor_name).op, path, feeds)
        return path

    def _save_by_tasks(self, session: BaseSession, saver_def: saver_pb2.SaverDef, path: str, feeds: _Feeds) -> bool:
        with Staging(path) as staging:
            try:
                session.run(saver_def.save_tensor_name, {saver_def.filename_tensor_name: staging.prefix, **feeds})
            except errors.OpError as error:
                if not staging.is_hidden_from(error):
                    raise
                if self._asks_for_shards:
                    raise _not_shared(error, path) from error
                self._note(session, path, error)
                return False
            staging.adopt()
            return True

    def restore(
        self, session: SessionLike, saver_def: saver_pb2.SaverDef, path: str, nodes: Sequence[Operation] = (),
        keys: Mapping[str, str] = MappingProxyType({}),
    ) -> None:  # fmt: skip
        """Give variables the values of the checkpoint `path`, which this process sees; a wrapped session's tasks read it.

        Args:
            session: the session.
            saver_def: names the nodes.
            path: the checkpoint's path.
            nodes: which of the assignments to run; all when empty.
            keys: the keys in the checkpoint of names that have another there.

        Raises:
            OpError: as the RestoreV2 node says.
        """
        ends = list(nodes) or [session.graph.as_graph_element(saver_def.restore_op_name)]
        if not isinstance(session, BaseSession) or session not in self._apart:
            try:
                feeds = {saver_def.filename_tensor_name: path} | (names_in_checkpoint(ends, keys) if keys else {})
                session.run(list(nodes) or saver_def.restore_op_name, feeds)
            except (errors.NotFoundError, errors.PermissionDeniedError) as error:
                if not isinstance(session, BaseSession) or _KEY_MISSING in error.message or not _may_differ(session, path):
                    raise
                self._note(session, path, error)
            else:
                return
        streamed_restore(session, ends, path, keys)

    def restore_by_name(self, session: SessionLike, saver_def: saver_pb2.SaverDef, path: str) -> None:
        """Give variables the values of a checkpoint by their names, also of one of objects, which tells what the names were.

        Args:
            session: the session.
            saver_def: names the nodes.
            path: the checkpoint's path.

        Raises:
            OpError: as the RestoreV2 node says.
        """
        try:
            self.restore(session, saver_def, path)
        except errors.NotFoundError:
            keys = keys_by_name(path)
            if not keys:
                raise
            tf_logging.warning(
                "%s is a checkpoint of objects, as tf.train.Checkpoint writes it, and a Saver goes by the names that the "
                "variables had then; tf.train.Checkpoint.restore goes by the objects, whatever their names.", path,
            )  # fmt: skip
            self.restore(session, saver_def, path, keys=keys)

    def _note(self, session: BaseSession, path: str, error: errors.OpError) -> None:
        self._apart.add(session)
        message = "Checkpoint %s goes through this process, as a task does not see its files: %s"
        tf_logging.info(message, path, error.message)


def _may_differ(session: BaseSession, path: str) -> bool:
    """Whether tasks may see other files than this process: not where it has no servers, and not behind a URL."""
    return bool(session.sess_str) and files.is_local(path)


def _no_room(error: errors.OpError, path: str) -> str:
    return (
        f"Nothing was saved as {path}: there is no room for it ({error.message}). The checkpoints before it are whole. Free "
        "some space, or have the Saver keep fewer (max_to_keep)"
    )


def _not_shared(error: errors.OpError, path: str) -> errors.OpError:
    kind: Any = type(error)
    message = (
        f"Nothing was saved as {path}: Saver(sharded=True) has each task write its own variables, but not all of them see the "
        f"files of this process ({error.message}). Save to a directory that all of them share or to a URL, or leave out "
        "sharded=True: then the variables go through this process"
    )
    return kind(error.node_def, error.op, message)  # type: ignore[no-any-return]
