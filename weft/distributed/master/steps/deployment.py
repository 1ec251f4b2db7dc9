"""Deployment: a plan's parts as they are registered with their tasks now."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from weft.channel.waiting.wait import Source
from weft.distributed.worker.worker_handle import WorkerHandle
from weft.passes.partition import Partition


@dataclass(frozen=True, slots=True)
class Part:
    """One task's part of a plan: the partition, which of the plan's feeds it takes, and how it is registered."""

    partition: Partition
    feed_places: Sequence[int]
    worker: WorkerHandle
    graph_handle: str
    incarnation: int


class Deployment:
    """The parts by task; never changes. Steps that run keep theirs when a task is restarted and the plan gets another one.

    The tasks of this process come last, in the order of asking: a request that waits for the first value from here is there
    when the value leaves, and travels with it. `elsewhere` has the tasks in other processes, `sources` the connections with
    them.
    """

    __slots__ = ("elsewhere", "parts", "sources")

    def __init__(self, parts: Mapping[str, Part]) -> None:
        self.parts = dict(sorted(parts.items(), key=lambda item: item[1].worker.is_local))
        workers = [part.worker for part in self.parts.values()]
        self.elsewhere = [worker for worker in workers if not worker.is_local]
        self.sources: Sequence[Source] = [source for worker in workers if (source := worker.source()) is not None]

    @property
    def is_current(self) -> bool:
        """Whether no task has been restarted since."""
        # A loop: asked at each step, and a generator costs as much as the question.
        for part in self.parts.values():  # noqa: SIM110
            if part.worker.incarnation != part.incarnation:
                return False
        return True
