"""CheckpointManager: keeps the last checkpoints of a Checkpoint in a directory, across runs of a program."""

from __future__ import annotations

import os
import time

from tensorboard.compat.proto import saver_pb2

from weft.checkpoint import checkpoint_state
from weft.client.session import BaseSession
from weft.framework.nodes.operation import Tensor
from weft.framework.types.printed import printed
from weft.ops.variables.variable import Variable
from weft.platform.logs import tf_logging
from weft.training import training_util
from weft.training.tracking.checkpoint import Checkpoint
from weft.training.tracking.session_choice import chosen_session

_SECONDS_PER_HOUR = 3600.0


class CheckpointManager:
    """Saves a Checkpoint, and deletes the checkpoints that become too many. One at a time may work in a directory.

    The directory's state file has what a manager must know, so a later one goes on where this one ended.

    Args:
        checkpoint: the objects to save.
        directory: where checkpoints are written.
        max_to_keep: how many to keep; None keeps all.
        keep_checkpoint_every_n_hours: keep for ever one that becomes too many when so many hours have passed since the last
            that was kept for ever; None for none.
        checkpoint_name: the files' name before the number.

    Raises:
        ValueError: `max_to_keep` is zero or less.
    """

    __repr__ = printed("tf.train", lambda manager: f"latest {manager.latest_checkpoint!r}")

    def __init__(
        self,
        checkpoint: Checkpoint,
        directory: str,
        max_to_keep: int | None,
        keep_checkpoint_every_n_hours: float | None = None,
        checkpoint_name: str = "ckpt",
    ) -> None:
        if max_to_keep is not None and max_to_keep <= 0:
            raise ValueError(f"Expected a positive integer or `None` for `max_to_max_to_keep`, got {max_to_keep}.")
        self._checkpoint = checkpoint
        self._directory = os.fsdecode(directory)
        self._max_to_keep = max_to_keep
        self._hours = keep_checkpoint_every_n_hours
        self._prefix = os.path.join(self._directory, checkpoint_name)
        self._latest: str | None = None
        self._written_s: dict[str, float] = {}
        # A second back, as a manager may be made again at once.
        self._last_preserved_s = time.time() - 1.0
        self._recover()

    def _recover(self) -> None:
        state = checkpoint_state.get_checkpoint_state(self._directory)
        if state is None:
            return
        now_s = time.time()
        self._latest = state.model_checkpoint_path
        self._last_preserved_s = state.last_preserved_timestamp
        if now_s < self._last_preserved_s:
            behind_s = self._last_preserved_s - now_s
            tf_logging.warning(
                "time.time() returned a value %f seconds behind the last preserved checkpoint timestamp.", behind_s
            )
            self._last_preserved_s = now_s
        paths = list(state.all_model_checkpoint_paths)
        times = list(state.all_model_checkpoint_timestamps) or [self._last_preserved_s] * len(paths)
        for path, written_s in zip(paths, times, strict=False):
            if min(written_s, now_s) > self._last_preserved_s:
                self._written_s[path] = min(written_s, now_s)

    @property
    def latest_checkpoint(self) -> str | None:
        """The newest checkpoint in the directory, None when there is none."""
        return self._latest

    @property
    def checkpoints(self) -> list[str]:
        """The checkpoints that may be deleted later, oldest first."""
        return list(self._written_s)

    def save(self, checkpoint_number: int | Variable | Tensor | None = None) -> str:
        """Write a checkpoint in the default session, and delete what is too many.

        Args:
            checkpoint_number: its number, or a variable or tensor that has it; the count of saves when None.

        Returns:
            Its path.
        """
        session = chosen_session(None)
        count = self._checkpoint.count(session)
        path = f"{self._prefix}-{_number(session, count if checkpoint_number is None else checkpoint_number)}"
        self._checkpoint.write(path, session)
        self._written_s.pop(path, None)
        self._written_s[path] = time.time()
        self._latest = path
        # Before deleting and after it: a process that ends in between leaves a state that names the new one.
        self._record()
        self._sweep()
        self._record()
        return path

    def _sweep(self) -> None:
        while self._max_to_keep and len(self._written_s) > self._max_to_keep:
            path = next(iter(self._written_s))
            written_s = self._written_s.pop(path)
            if self._hours and written_s - self._hours * _SECONDS_PER_HOUR >= self._last_preserved_s:
                self._last_preserved_s = written_s
            else:
                checkpoint_state.remove_checkpoint(path, saver_pb2.SaverDef.V2)

    def _record(self) -> None:
        checkpoint_state.update_checkpoint_state(
            self._directory,
            self._latest or "",
            all_model_checkpoint_paths=list(self._written_s),
            all_model_checkpoint_timestamps=list(self._written_s.values()),
            last_preserved_timestamp=self._last_preserved_s,
            save_relative_paths=True,
        )


def _number(session: BaseSession, given: int | Variable | Tensor) -> int:
    return training_util.global_step(session, given) if isinstance(given, Variable | Tensor) else int(given)
