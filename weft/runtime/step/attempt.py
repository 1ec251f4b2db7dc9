"""Attempt: one try of a stage that takes what others put, such as a queue's element: at once, or not at all."""

from __future__ import annotations

from weft.errors import CancelledError
from weft.framework.building.op_context import Parked
from weft.framework.nodes.operation import Operation
from weft.runtime.cancellation import Cancellation
from weft.runtime.host_context import HostContext
from weft.runtime.state.session_state import SessionState


class Attempt:
    """The parking of kernels that do at once what they are to do, or nothing: what the last one asked for is given up.

    Args:
        session: whose step it is.
        device: where its stage runs.
        step_id: the step's number.
    """

    def __init__(self, session: SessionState, device: str, step_id: int) -> None:
        self._session = session
        self._device = device
        self._step_id = step_id
        self._cancellation = Cancellation()
        self.request: object = None
        self.resource: object = None

    def context(self, op: Operation) -> HostContext:
        """What a node of the stage gets."""
        return HostContext(op, self._device, self._step_id, self._session, self._cancellation, parking=self)

    def keep(self, request: object) -> Parked:
        """Have the kernel leave; see `give_up`."""
        return Parked()

    def pass_on(self) -> Parked:
        """Have the kernel leave."""
        return Parked()

    def resume(self) -> None:
        """Do nothing: the request is given up."""

    def give_up(self) -> None:
        """Take the kernel's request back."""
        self._cancellation.cancel(CancelledError.of("There is nothing to take yet."))
