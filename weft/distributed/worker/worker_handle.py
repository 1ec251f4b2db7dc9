"""WorkerHandle: a task as masters use it, in this process or elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from tensorboard.compat.proto.config_pb2 import ConfigProto

from weft.channel.waiting.wait import Source
from weft.errors import OpError
from weft.framework.building.aliases import Array
from weft.framework.nodes.operation import Operation, Tensor
from weft.passes.partition import Partition
from weft.protocol.master_step import PartEvent
from weft.runtime.choice.stage_report import StageReport
from weft.runtime.executor import Executor
from weft.runtime.step.step import Step


class StepOwner(Protocol):
    """A step on its master, as the tasks see it that run its parts."""

    go_on: Callable[[], bool] | None
    """Whether its only part, in this process, is to run once more; None for a step that is run once."""

    context: bytes
    """Where the step stands in a trace of OpenTelemetry's; empty where it is in none."""

    def tell(self, event: PartEvent) -> None:
        """Say how a part ended, once for each part, on any thread. Does not wait."""
        ...

    def repeat(self, task: str) -> None:
        """Ask a task for its part again, under the same number: the connection with it was cut, and there is another."""
        ...

    def put(self, action: Callable[[], None]) -> None:
        """Have the step's own thread do something for a part in this process. Does not wait."""
        ...


class WorkerHandle(Protocol):
    """A task as the master sees it. Safe from any thread."""

    task: str

    @property
    def is_local(self) -> bool:
        """Whether the task is in this process."""
        ...

    @property
    def incarnation(self) -> int:
        """Which run of the task this handle reaches; 0 while it reaches none."""
        ...

    def connect(self) -> int:
        """Make sure that the task can be reached; returns its incarnation. Blocks while it is asked.

        Raises:
            UnavailableError: it cannot be reached.
        """
        ...

    def register(self, session_handle: str, config: ConfigProto, partition: Partition) -> str:
        """Register a partition, the session before it when the task does not know it; returns the graph handle."""
        ...

    def deregister(self, graph_handle: str) -> None:
        """Forget a registered graph."""
        ...

    def run_graph(
        self,
        step_id: int,
        graph_handle: str,
        feeds: Sequence[Array],
        trace: bool,
        owner: StepOwner,
        is_again: bool = False,
    ) -> Step | None:
        """Start a part of a step, at the latest at `flush`; its owner is told once of its end, perhaps before this returns.

        Returns the part itself, if it is in this process. A task elsewhere may be asked again, after a cut, for a part whose
        owner has not been told yet.

        Raises:
            OpError: the part did not start; the owner is told nothing.
        """
        ...

    def flush(self) -> None:
        """Start what was not started yet: the parts of this process have sent what they send first."""
        ...

    def waits_at(self, step_id: int) -> list[str]:
        """The nodes at which a step is blocked in the task, as far as that is known without asking it."""
        ...

    def awaits(self, step_id: int, task: str) -> Sequence[Tensor | Operation]:
        """What a step lacks here of another task's, as far as that is known without asking."""
        ...

    def abort(self, step_id: int, error: OpError) -> None:
        """Tell the task to give a step up."""
        ...

    def close_session(self, session_handle: str) -> None:
        """Forget a session."""
        ...

    def clear(self, containers: Sequence[str]) -> None:
        """Drop the containers given, or all."""
        ...

    def explain(self, graph_handle: str) -> list[StageReport]:
        """What the stages of a registered graph tell about themselves.

        Raises:
            OpError: the task does not know the graph, or cannot be reached.
        """
        ...

    def local_executor(self, graph_handle: str) -> Executor | None:
        """The executor when the task is in this process."""
        ...

    def source(self) -> Source | None:
        """The connection that brings the task's messages; None when the task is in this process."""
        ...
