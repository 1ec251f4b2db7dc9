"""Backend: what a session asks of the master that runs its steps, in this process or elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from tensorboard.compat.proto import config_pb2

from weft.framework.building.aliases import Array
from weft.framework.devices.device_attributes import DeviceAttributes
from weft.framework.nodes.operation import Operation, Tensor
from weft.runtime.choice.stage_report import StageReport


class PreparedStep(Protocol):
    """A plan that is ready to run."""

    def run(
        self, feeds: Sequence[object], options: config_pb2.RunOptions | None = None
    ) -> tuple[list[Array], config_pb2.RunMetadata | None]:
        """Run one step; returns the fetched values and the RunMetadata, or None."""
        ...

    def repeat(self, go_on: Callable[[], bool]) -> None:
        """Run steps without feeds one after the other, for a short while and as long as `go_on` says so; at least one."""
        ...

    def explain(self) -> list[StageReport]:
        """What the stages of the plan tell about themselves, in all tasks."""
        ...


class PartialStep(Protocol):
    """A step that is run in pieces."""

    def run(self, feeds: Mapping[Tensor, object], fetches: Sequence[Tensor]) -> list[Array]:
        """Run what these fetches need and has not run; returns their values."""
        ...


class Backend(Protocol):
    """Runs a session's steps: a master session in this process, or a stub of one elsewhere."""

    def prepare(
        self,
        feeds: Sequence[Tensor],
        fetches: Sequence[Tensor],
        targets: Sequence[Operation],
        timeout_s: float | None = None,
    ) -> PreparedStep:
        """Make the plan for these feeds, fetches and targets; new nodes of the graph are taken over first.

        DeadlineExceededError when opening the session, sending nodes or planning takes longer than `timeout_s`, each alone.
        """
        ...

    def prepare_partial(self, feeds: Sequence[Tensor], fetches: Sequence[Tensor], targets: Sequence[Operation]) -> PartialStep:
        """Begin a step that is run in pieces."""
        ...

    def close(self) -> None:
        """Cancel the steps that run and end the session."""
        ...

    def abandon(self) -> None:
        """End the session without waiting for anything; for a session that was dropped without being closed."""
        ...

    def list_devices(self) -> list[DeviceAttributes]:
        """The DeviceAttributes of every task."""
        ...
