"""Replicas of which a job has heard nothing: which there should be, and why they are silent, for who waits for them."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Final

from weft.distributed.client.server_status import server_status
from weft.distributed.server.in_process import local_servers
from weft.errors import OpError
from weft.framework.building.aliases import SessionLike
from weft.framework.devices.cluster_spec import ClusterSpec

_REPLICAS: Final = ("chief", "master", "worker")
_ASK_S: Final = 1.0
_MOST: Final = 4


class SilentTasks:
    """The tasks that train in the cluster of a session's server, where that server is one of this process.

    Args:
        session: the session; without a server of this process there is no such task.
        ask: raises the error of a server at an address that does not answer within so many seconds.
    """

    def __init__(self, session: SessionLike, ask: Callable[[str, float], object] = server_status) -> None:
        self._ask = ask
        target = getattr(session, "sess_str", b"").decode()
        server = local_servers.find(target.removeprefix("grpc://")) if target.startswith("grpc://") else None
        self._own = "" if server is None else server.worker.task.replace("/replica:0", "")
        self._addresses: dict[str, str] = {}
        if server is not None:
            cluster = ClusterSpec(server.server_def.cluster)
            for job in [job for job in _REPLICAS if job in cluster.jobs]:
                for index in cluster.task_indices(job):
                    self._addresses[f"/job:{job}/task:{index}"] = cluster.task_address(job, index)

    def chief(self) -> str | None:
        """Why the chief is silent, where it is another task: the first of the replicas."""
        chief = next(iter(self._addresses), None)
        return None if chief is None or chief == self._own else self._why(chief, "it runs, and its session has not begun")

    def of(self, known: Collection[str]) -> list[str]:
        """The tasks beside those that are known, such as `/job:worker/task:1`, each with the reason; blocks for seconds."""
        silent = [task for task in self._addresses if task not in known]
        told = [self._why(task, "it runs, and has given no gradient yet") for task in silent[:_MOST]]
        return told if len(silent) <= _MOST else [*told, f"{len(silent) - _MOST} more"]

    def _why(self, task: str, answers: str) -> str:
        address = self._addresses[task]
        if task == self._own:
            return f"{task} ({answers})"
        try:
            self._ask(address, _ASK_S)
        except OpError as error:
            _, _, reason = error.message.partition(" is unavailable: ")
            return f"{task} at {address} ({reason.partition(' (')[0] or error.message})"
        return f"{task} at {address} ({answers})"
