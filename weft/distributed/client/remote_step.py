"""What a client has prepared on a master elsewhere: a step that it runs again and again, or one that it runs in pieces."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from tensorboard.compat.proto.config_pb2 import RunMetadata, RunOptions

from weft.distributed.client.call_channel import CallChannel
from weft.distributed.master.steps.awaited import named
from weft.errors import UnavailableError
from weft.framework.building.aliases import Array
from weft.framework.nodes.operation import Operation, Tensor
from weft.protocol.tensor_frame import RepeatedCall
from weft.runtime.choice.stage_report import StageReport


class RemoteStep:
    """A prepared run on a server, which forgets it when it is dropped here.

    Args:
        calls: the way to the server.
        session_handle, number: by which the server knows the run.
        retire: takes the number when the run is dropped, on any thread.
        explain: asks the server what the stages of the run with this number tell about themselves.
        awaited: what the run is there for, for errors.
    """

    def __init__(
        self,
        calls: CallChannel,
        session_handle: str,
        number: int,
        retire: Callable[[int], None],
        explain: Callable[[int], list[StageReport]],
        awaited: Sequence[Tensor | Operation] = (),
    ) -> None:
        self._calls = calls
        self._number = number
        self._repeated = RepeatedCall(session_handle, number)
        self._retire = retire
        self._explain = explain
        self._awaited = awaited

    def __del__(self) -> None:
        self._retire(self._number)

    def run(self, feeds: Sequence[Array], options: RunOptions | None = None) -> tuple[list[Array], RunMetadata | None]:
        """Run one step there; returns the fetches and the RunMetadata, or None."""
        try:
            done = self._calls.call(self._number, self._repeated, feeds, options)
        except UnavailableError as error:
            raise named(error, self._awaited) from error.__cause__
        return list(done.fetches), RunMetadata.FromString(done.metadata) if done.metadata else None

    def repeat(self, go_on: Callable[[], bool]) -> None:
        """Run one step there: each further one is asked for."""
        self.run(())

    def explain(self) -> list[StageReport]:
        """What the stages of the run tell about themselves, in all tasks."""
        return self._explain(self._number)


RunPiece = Callable[[str, Mapping[Tensor, Array], Sequence[Tensor]], list[Array]]


class RemotePartialRun:
    """A step that is run in pieces on a server, which knows it by a handle."""

    def __init__(self, run_piece: RunPiece, handle: str) -> None:
        self._run_piece = run_piece
        self._handle = handle

    def run(self, feeds: Mapping[Tensor, Array], fetches: Sequence[Tensor]) -> list[Array]:
        """Run what these fetches need and has not run."""
        return self._run_piece(self._handle, feeds, fetches)
