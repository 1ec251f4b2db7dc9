"""LostLinks: what becomes of a task's steps when a connection with a peer has ended: they go on by another, or end."""

from __future__ import annotations

import dataclasses
import threading
from typing import TypeAlias

from weft.channel.connection import Connection, is_cut
from weft.distributed.worker.network.asked_parts import AskedParts
from weft.distributed.worker.network.link_repair import CutLink, LinkRepair
from weft.distributed.worker.network.peer_connections import PeerConnections, incarnation_at
from weft.distributed.worker.worker_handle import StepOwner
from weft.errors import AbortedError, OpError
from weft.protocol.master_step import WorkerLost
from weft.protocol.outcome_table import UNKNOWN_FATE
from weft.runtime.worker import Worker

Awaited: TypeAlias = dict[tuple[int, str], StepOwner]
"""By step and task, the owners of the parts that peers were asked for and have not answered."""


class LostLinks:
    """Repairs the connections of one task that were cut, and ends what waits for those that are lost. Safe from any thread.

    Args:
        worker: the task's.
        peers: its connections.
        awaited: the parts that it waits for; those that are lost are taken out.
        asked: the parts that it was asked for.
    """

    def __init__(self, worker: Worker, peers: PeerConnections, awaited: Awaited, asked: AskedParts) -> None:
        self._worker = worker
        self._peers = peers
        self._awaited = awaited
        self._asked = asked
        self._lock = threading.Lock()  # an owner is told by one thread
        self._repair = LinkRepair(peers, self._go_on_with, self._give_up)

    def note(self, connection: Connection, task: str, cause: Exception | None) -> None:
        """Repair a connection that was cut, if that is worth it; end what waits for one that is lost. Does not wait."""
        link = CutLink(connection, task, incarnation_at(connection), cause)
        if is_cut(cause) and not self._peers.is_closed:
            # A link that nobody needs has nothing that could be lost. Who comes for it from now on finds it cut, or another.
            if self._is_needed(link):
                self._repair.start(dataclasses.replace(link, lacking=self._lacking_from(task)))
            return
        lost = self._peers.lost(task, cause)
        self._lose(link, lost)
        # Steps of other masters, too, whose connections with all their tasks may be well.
        for step_id in self._lacking_from(task):
            self._worker.abort(step_id, lost)

    def stop(self) -> None:
        """Give every repair up."""
        self._repair.stop()

    def _is_needed(self, link: CutLink) -> bool:
        """Whether a step waits for the peer, or the peer for a step."""
        if any(key[1] == link.task for key in list(self._awaited)):
            return True
        return self._asked.has_any_of(link.connection) or bool(self._worker.steps_with(link.task))

    def _lacking_from(self, task: str) -> list[int]:
        """The steps that run here and wait for a value of a peer."""
        return [step.step_id for step in self._worker.steps_with(task) if step.awaits(task)]

    def _go_on_with(self, link: CutLink) -> None:
        """A link was repaired: repeat what may have been lost."""
        for key in list(self._awaited):
            owner = self._awaited.get(key) if key[1] == link.task else None
            if owner is not None:
                owner.repeat(link.task)
        for step in self._worker.steps_with(link.task):
            step.push_again(link.task)

    def _give_up(self, link: CutLink, error: OpError | None) -> None:
        """A link was not repaired; or it was, and what the peer has not asked for again it does not want."""
        if error is None:
            self._asked.abort_of(link.connection, link.task, self._peers.connection_with(link.task))
            self._abort_stuck(link)
            return
        lost = self._peers.lost(link.task, link.cause)
        self._lose(link, lost)
        for step in self._worker.steps_with(link.task):
            self._worker.abort(step.step_id, lost)

    def _abort_stuck(self, link: CutLink) -> None:
        """End the steps whose values were lost with a connection, and are not sent again: the part that made them is over.

        A master sends the values of its own task again as long as a step runs, and a part that runs does so too.
        """
        for step_id in set(link.lacking) & set(self._lacking_from(link.task)):
            if (step_id, link.task) in self._awaited or self._asked.asker_of(step_id) == link.task:
                continue
            text = f"Values of {link.task} for a step were lost when its connection with {self._worker.task} was cut"
            self._worker.abort(step_id, AbortedError.of(f"{text}; {UNKNOWN_FATE}"))

    def _lose(self, link: CutLink, lost: OpError) -> None:
        with self._lock:
            keys = [key for key in self._awaited.copy() if key[1] == link.task]
            waiting = [owner for key in keys if (owner := self._awaited.pop(key, None)) is not None]
        for owner in waiting:
            owner.tell(WorkerLost(link.task, lost))
        self._asked.abort_of(link.connection, link.task, self._peers.connection_with(link.task))
