"""Reviver: gives the variables of a shared model their values when a chief's session begins, without undoing what lives.

Other replicas may train meanwhile. A variable without a value fails every step that uses it, and a replica that waits for the
model goes on only when all variables have values and no chief says that it is initializing. So nobody trains on a part:

- A lost shard is restored in one step, from no value to the checkpoint's; a value that lives is never assigned.
- A whole model is restored in two steps, the lost shard last: until then no replica gets past its ready op.
- Where values are replaced, a fence stands on the board from before the first to after the last of them. It outlives a chief
  that dies between: replicas that wait go on waiting, and the next chief begins with the whole model again.
  Those that train see it too, and pause between two steps; the chief waits for them.
"""

from __future__ import annotations

from collections.abc import Sequence

from weft.checkpoint.checkpoint_reader import NewCheckpointReader
from weft.client.session import Session
from weft.errors import OpError
from weft.framework.nodes.operation import Operation
from weft.platform.logs import tf_logging
from weft.training.saving.fallback import restore_newest_whole
from weft.training.saving.saver import Saver
from weft.training.sessions.model_values import ModelValues, tasks_of
from weft.training.sessions.presence import Presence
from weft.training.sessions.revival import ModelFound, Revival, revival_of
from weft.training.training_util import counting_step

_POSTED_S = 2.0


class Reviver:
    """What one session of a chief does. Used once.

    Args:
        session: the session.
        presence: the chief among the replicas.
        values: the model.
        scope: SHARD or WHOLE.
    """

    def __init__(self, session: Session, presence: Presence, values: ModelValues, scope: str) -> None:
        self._session = session
        self._presence = presence
        self._values = values
        self._scope = scope

    def revive(self, saver: Saver | None, checkpoints: Sequence[str], where: str | None, is_returning: bool) -> bool:
        """Join or restore the model, or a part of it; false when it is still to be initialized. Blocks.

        Args:
            saver: restores the whole model.
            checkpoints: what there is to restore, the latest first.
            where: where this chief's checkpoints are; None for nowhere.
            is_returning: whether this process has had the model ready before.
        """
        missing = self._values.missing(self._session)
        found = self._look(missing, checkpoints, where, is_returning)
        revival = revival_of(found, self._scope)
        if found.live:
            tf_logging.info("%s", _told(found, revival, missing, checkpoints))
        if found.live and revival in (Revival.RESTORE_ALL, Revival.INITIALIZE_ALL):
            self._presence.fence_off()
        match revival:
            case Revival.RESTORE_MISSING:
                left = self._restore(checkpoints, missing)
                if left:
                    self._initialize(left)
            case Revival.INITIALIZE_MISSING:
                self._initialize(missing)
            case Revival.RESTORE_ALL:
                assert saver is not None
                self._restore_all(saver, checkpoints, missing, found)
        return revival is not Revival.INITIALIZE_ALL

    def _look(self, missing: set[Operation], checkpoints: Sequence[str], where: str | None, is_returning: bool) -> ModelFound:
        run, others = self._presence.view.job()
        live_step = self._values.live_step(self._session, missing)
        return ModelFound(
            live=len(self._values.all - missing),
            missing=len(missing),
            live_step=live_step,
            has_checkpoint=bool(checkpoints),
            checkpoint_step=None if live_step is None or not checkpoints else self._step_of(checkpoints[0]),
            checkpoints=where,
            run=run,
            is_returning=is_returning,
            has_replicas=any(other.state == "training" for other in others),
            is_half_made=self._presence.view.is_fenced,
        )

    def _step_of(self, checkpoint: str) -> int | None:
        step = counting_step(self._session.graph)
        try:
            reader = NewCheckpointReader(checkpoint)
            return int(reader.get_tensor(step.op.name)) if reader.has_tensor(step.op.name) else None
        except (OpError, ValueError) as error:
            tf_logging.warning("The global step of %s cannot be read: %s", checkpoint, error)
            return None

    def _restore(self, checkpoints: Sequence[str], variables: set[Operation]) -> set[Operation]:
        """Restore a part of the model; returns the variables that no checkpoint has."""
        left: set[Operation] = set()

        def restore(path: str) -> None:
            nonlocal left
            left = self._values.restore(self._session, path, variables)

        restore_newest_whole(restore, checkpoints)
        return left

    def _initialize(self, missing: set[Operation]) -> None:
        names = ", ".join(sorted(op.name for op in missing))
        tf_logging.warning(
            "No checkpoint has a value for these variables of %s: initializing them: %s", tasks_of(missing), names
        )
        self._values.initialize(self._session, missing)

    def _restore_all(self, saver: Saver, checkpoints: Sequence[str], missing: set[Operation], found: ModelFound) -> None:
        if found.live:
            # Replicas that find the old values ready must know that others are on their way.
            self._presence.wait_until_posted(_POSTED_S)

        def restore(path: str) -> None:
            if not (found.live and missing):
                saver.restore(self._session, path)
                return
            self._values.restore(self._session, path, self._values.all - missing)
            self._values.restore(self._session, path, missing)

        restore_newest_whole(restore, checkpoints)


def _told(found: ModelFound, revival: Revival, missing: set[Operation], checkpoints: Sequence[str]) -> str:
    at = "" if found.live_step is None else f" at global step {found.live_step}"
    of = "" if found.checkpoint_step is None else f" (global step {found.checkpoint_step})"
    lost = f"{found.missing} variables have no value: {tasks_of(missing)} was restarted. " if missing else ""
    match revival:
        case Revival.JOIN:
            return f"The model lives{at}: joining it, nothing is restored"
        case Revival.RESTORE_MISSING:
            return f"{lost}Restoring these from {checkpoints[0]}; the other {found.live} variables keep their values{at}"
        case Revival.INITIALIZE_MISSING:
            return f"{lost}The other {found.live} variables keep their values{at}"
    what = f"restoring all variables from {checkpoints[0]}{of}" if checkpoints else "initializing the model"
    if found.is_half_made:
        return f"{lost}The chief before has died while it gave the model its values{at}: {what}"
    if not found.is_own:
        return f"The tasks hold values that another training run has left{at}: {what}"
    return f"{lost}The model is{at or ' there in part'}: {what}"
