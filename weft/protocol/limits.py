"""ServerLimits: how much a server keeps for its clients, and how long it waits for one that is not heard of."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from typing import Final, Self

from weft.errors import InvalidArgumentError, ResourceExhaustedError

VARIABLE: Final = "WEFT_LIMITS"
"""The environment variable with a server's limits, as `ServerLimits.from_text` reads them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerLimits:
    """The limits of one server; what would exceed one is refused with a ResourceExhaustedError that names it.

        tf.train.Server(cluster, "ps", 0, limits=tf.train.ServerLimits(max_sessions=20))

    Times are in seconds, and what they limit ends without an error, but for `absent_task_s`.

    Args:
        max_sessions: how many sessions of clients in other processes may be open.
        max_graph_nodes: how many nodes a session's graph may have, those of its functions included.
        max_graph_bytes: how many bytes the GraphDefs may have that a client sends for one session.
        max_prepared_runs: how many prepared runs (callables) a session may have at a time.
        max_kept_tensors, max_kept_bytes: how many tensors, and bytes of them, a session may keep by handles on this task.
        max_early_bytes: how many bytes of tensors are kept for steps that have not started here.
        early_s: how long they are kept.
        unused_session_s: how long a session is kept that its client has opened and never used.
        lost_session_s: how long one is kept whose client called by gRPC alone, or whose master is another task, and whose
            connection was lost.
        idle_session_s: how long one is kept whose client has not called by gRPC, where gRPC may have closed the connection for
            idleness, or nothing is known of it.
        lost_job_s: how long a server in `join()` waits, when nobody is there, for a training job that has failed or whose chief
            has died.
        absent_task_s: how long a session waits at its opening for tasks that do not answer; without a limit by default. For a
            server of another process a session waits as long as the environment of its own says.
    """

    max_sessions: int = 1000
    max_graph_nodes: int = 2_000_000
    max_graph_bytes: int = 2 << 30
    max_prepared_runs: int = 10_000
    max_kept_tensors: int = 100_000
    max_kept_bytes: int = 16 << 30
    max_early_bytes: int = 4 << 30
    early_s: float = 60.0
    unused_session_s: float = 300.0
    lost_session_s: float = 600.0
    idle_session_s: float = 24 * 3600.0
    lost_job_s: float = 60.0
    absent_task_s: float = math.inf

    @classmethod
    def from_text(cls, text: str) -> Self:
        """The limits that a text such as "max_sessions=20,early_s=10" gives; those that it leaves out have their defaults.

        Args:
            text: pairs NAME=NUMBER with commas between them.

        Raises:
            InvalidArgumentError: there is no such limit, or its value is no number.
        """
        kinds = {field.name: int if field.type == "int" else float for field in dataclasses.fields(cls)}
        given: dict[str, int | float] = {}
        for part in filter(None, map(str.strip, text.split(","))):
            name, _, value = part.partition("=")
            name = name.strip()
            try:
                given[name] = kinds[name](value)
            except (KeyError, ValueError):
                raise InvalidArgumentError.of(
                    f"{VARIABLE}: {part!r} is not NAME=NUMBER with a name of {', '.join(kinds)}"
                ) from None
        return cls(**given)  # type: ignore[arg-type]


def absent_advice(limit_s: float) -> str:
    """What stands below the error for tasks that have not answered within `absent_task_s`: why that may be, and what to do."""
    return (
        f"\nIt has waited {limit_s:g} s. Servers end with the training job that they serve: where that is over, this task has "
        "come too late, or come back for nothing. Where they are late themselves, give them longer: weft task --wait S, or "
        f"absent_task_s of the limits of this task's server ({VARIABLE})."
    )


def exceeded(what: str, found: int, setting: str, limit: int) -> ResourceExhaustedError:
    """The error for what exceeds a limit.

    Args:
        what: whose and what is limited.
        found: how much there would be.
        setting: the limit's name in ServerLimits.
        limit: its value.
    """
    return ResourceExhaustedError.of(
        f"{what}: {found}, and the limit is {limit}. It is {setting} of the server's limits: "
        f"tf.train.Server(..., limits=tf.train.ServerLimits({setting}=N)), or {VARIABLE}={setting}=N in its environment"
    )
