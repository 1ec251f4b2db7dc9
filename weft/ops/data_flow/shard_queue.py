"""The shard queue: what is left of an input, handed out to whoever trains, on a task that all of them reach.

A session that takes a shard holds it until it takes the next, and by that says that it is done with the one before. When the
session ends first, or its process does, the shard goes back to those that are left.
"""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Sequence
from typing import Final

import numpy as np

from weft.errors import InvalidArgumentError, OutOfRangeError
from weft.framework.building.aliases import Array, Result
from weft.framework.building.op_context import OpContext, StepOwner
from weft.framework.nodes.built_at import named
from weft.ops.declaration import op, scalar_shape
from weft.platform.waits.wait_notice import WaitNotice

_LOG: Final = logging.getLogger("weft.queues")

# How often those that wait look whether somebody who holds a shard has gone.
_LOOK_S: Final = 0.25


class ShardQueueState:
    """The shards that are left, and who holds which. Safe from any thread; `take` blocks.

    Args:
        shards: all of them.
        num_epochs: how often each is handed out; -1 for ever.
        shuffle: whether each epoch has a random order.
        seed: that of the order; -1 for any.
    """

    def __init__(self, shards: Sequence[bytes], num_epochs: int, shuffle: bool, seed: int) -> None:
        self._shards = list(shards)
        self._epochs_left = num_epochs
        self._random = np.random.RandomState(None if seed < 0 else seed) if shuffle else None
        self._left: deque[bytes] = deque()
        self._held: list[tuple[bytes, StepOwner]] = []
        self._changed = threading.Condition()

    @property
    def shards(self) -> list[bytes]:
        """All shards."""
        return self._shards

    def take(self, ctx: OpContext, waits: bool = True) -> bytes:
        """The next shard, for the session of the step, which is done with the one that it had.

        Blocks while none is left and others still hold some of the last epoch, which may come back; without `waits` all are
        done then.

        Raises:
            OutOfRangeError: all are done.
            CancelledError: the step was cancelled.
        """
        owner, is_cancelled = ctx.session, threading.Event()

        def cancel() -> None:
            is_cancelled.set()
            with self._changed:
                self._changed.notify_all()

        notice: WaitNotice | None = None
        withdraw = ctx.on_cancel(cancel)
        try:
            with self._changed:
                self._held = [(shard, holder) for shard, holder in self._held if holder.name != owner.name]
                self._changed.notify_all()
                while True:
                    if is_cancelled.is_set():
                        ctx.raise_if_cancelled()
                    self._take_back()
                    self._begin_epoch()
                    if self._left:
                        shard = self._left.popleft()
                        self._held.append((shard, owner))
                        return shard
                    if not self._held or not waits:
                        raise OutOfRangeError.of("All shards of the input are done, in all of its epochs")
                    notice = notice or WaitNotice()
                    self._changed.wait(_LOOK_S)
                    if notice.is_due():
                        self._tell(ctx, notice.waited_s)
        finally:
            withdraw()

    def _tell(self, ctx: OpContext, waited_s: float) -> None:
        holders = ", ".join(sorted({holder.name for _, holder in self._held}))
        _LOG.warning(
            "%s has waited %.0f s for a shard: all are taken, by %s. Look whether those still run; theirs go to others "
            "when they ask for their next shard, or are gone.",
            named(ctx.op.type, ctx.op.name, ctx.op.built_from), waited_s, holders,
        )  # fmt: skip

    def _take_back(self) -> None:
        gone = [shard for shard, holder in self._held if holder.is_away]
        if gone:
            self._held = [(shard, holder) for shard, holder in self._held if not holder.is_away]
            self._left.extendleft(reversed(gone))

    def _begin_epoch(self) -> None:
        if self._left or not self._epochs_left:
            return
        self._epochs_left -= self._epochs_left > 0
        order = self._shards if self._random is None else [self._shards[i] for i in self._random.permutation(len(self._shards))]
        self._left.extend(order)

    def close(self) -> None:
        """Wake those that wait; the queue is being dropped."""
        with self._changed:
            self._changed.notify_all()


@op("ShardQueueTake", "shards: string -> shard: string", infer=scalar_shape, gradient=None, stateful=True)
def shard_queue_take(
    ctx: OpContext, shards: Array, *, container: str = "", shared_name: str = "", num_epochs: int = 1, shuffle: bool = True,
    seed: int = -1, waits: bool = True,
) -> Result:  # fmt: skip
    """The next shard of those that all sessions take from: `[n] string -> scalar string`."""
    told = [bytes(each) for each in shards.ravel().tolist()]
    if not told:
        raise InvalidArgumentError.of("A shard queue needs at least one shard, and got none")
    state = ctx.find_or_create(ShardQueueState, lambda: ShardQueueState(told, num_epochs, shuffle, seed))
    if state.shards != told:
        raise InvalidArgumentError.of(
            f"Shard queue {shared_name or ctx.node_name!r}: there are {len(state.shards)} shards in it, and this program has "
            f"{len(told)} others. Give all replicas the same list, in the same order, or the queue another shared_name"
        )
    taken = np.empty((), np.object_)
    taken[()] = state.take(ctx, waits)
    return taken
