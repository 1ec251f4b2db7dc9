"""What is told of a call that a TensorFlow server has not answered yet: whether its process lives, and for whom it may wait.

Such a server sends no heartbeats, and takes frequent pings for an attack. So it is asked only when a wait is told of, or has
taken too long, on a connection of its own: a process that stands still greets nobody there. Of the tasks behind it nothing can
be asked; one of 1.15 waits in silence, and without an end, for a task that was killed before or while its part of a step runs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

from weft.distributed.rpc.status import STANDS_STILL
from weft.framework.devices.device_spec import DeviceSpec
from weft.framework.nodes.operation import Operation
from weft.platform.waits.wait_watch import Watched
from weft.protocol.heartbeat import Evidence

OF_OPENING: Final = (
    "It waits for tasks of its cluster that do not answer, and its log names them: look whether they run. A session that needs "
    "few tasks names them in ConfigProto(device_filters=[...])."
)
"""What to do where a session takes long to open."""

_ASK_S: Final = 3.0
_ASK_BRIEFLY_S: Final = 0.3  # a deadline has passed already
_MOST_TASKS: Final = 8


class Unanswered:
    """Tells of calls of one server. Safe from any thread.

    Args:
        peer: what messages call the server.
        probe: asks whether its process lives, for so many seconds at most.
    """

    def __init__(self, peer: str, probe: Callable[[float], Evidence]) -> None:
        self._peer = peer
        self._probe = probe

    def watched(self, doing: Callable[[], str], operations: Callable[[], Iterable[Operation]] | None) -> Watched:
        """The wait for a call, in a `with` block.

        Args:
            doing: says what the server has been doing.
            operations: gives what it runs; None where it opens a session.
        """
        return Watched(lambda: f"{self._peer} has been {doing()}", lambda: self._advice(operations))

    def _advice(self, operations: Callable[[], Iterable[Operation]] | None) -> str:
        if self._probe(_ASK_S) is Evidence.UNREACHED:
            return f"It does not answer at all: {STANDS_STILL}. {_LIMIT}"
        return OF_OPENING if operations is None else f"Its process lives. {self._waits(operations())} {_LIMIT}"

    def why(self, operations: Iterable[Operation]) -> str:
        """Why a call was not answered in time."""
        if self._probe(_ASK_BRIEFLY_S) is Evidence.UNREACHED:
            return STANDS_STILL
        return f"its process lives. {self._waits(operations)}"

    def _waits(self, operations: Iterable[Operation]) -> str:
        tasks = sorted(_tasks_of(operations))
        others = f", or for a task that is gone: the step has nodes on {_listed(tasks)}" if tasks else ""
        return f"It computes still, or waits: for another step, such as one that fills a queue{others}."


_LIMIT: Final = "A time limit ends such a wait: tf.Session(target, timeout=60), or timeout_in_ms of RunOptions."


def _listed(tasks: list[str]) -> str:
    more = len(tasks) - _MOST_TASKS
    return ", ".join(tasks[:_MOST_TASKS]) + (f" and {more} more" if more > 0 else "")


def _tasks_of(operations: Iterable[Operation]) -> set[str]:
    """The tasks that the program asks for."""
    devices = {op.device for op in operations}
    specs = [DeviceSpec.from_string(device) for device in devices if device]
    return {f"/job:{spec.job}/task:{spec.task or 0}" for spec in specs if spec.job is not None}
