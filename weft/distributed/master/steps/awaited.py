"""What a step waits for that a task has not delivered, for the errors that have to name it.

Such an error is of the node that makes what is awaited, so that its client can show the line where the program built it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from weft.distributed.master.steps.deployment import Part
from weft.errors import OpError, UnavailableError
from weft.framework.nodes.operation import Operation, Tensor
from weft.passes.partition import Partition

_NAMED = 3  # of many values, so many are named


def awaited_from(task: str, parts: Mapping[str, Part], step_id: int) -> Sequence[Tensor | Operation]:
    """What the parts of a step lack of a task's, as far as it is known here; else what the task's part is there for."""
    lacking = [source for part in parts.values() for source in part.worker.awaits(step_id, task)]
    return lacking or _purpose(parts[task].partition, parts)


def told(awaited: Sequence[Tensor | Operation]) -> str:
    """The names of what is awaited, with the node of the first."""
    if not awaited:
        return ""
    names = ", ".join(repr(source.name) for source in awaited[:_NAMED])
    more = f" and {len(awaited) - _NAMED} more" if len(awaited) > _NAMED else ""
    op = node_of(awaited[0])
    return f"{names}{more}, of node {op.name!r} ({op.type})"


def named(lost: OpError, awaited: Sequence[Tensor | Operation]) -> OpError:
    """The error of a step whose task, or server, was lost, with what it waited for if it does not say so."""
    if not awaited or not isinstance(lost, UnavailableError) or lost.op is not None or lost.node_def is not None:
        return lost
    error = UnavailableError.of(
        f"{lost.message}{'' if lost.message.endswith('.') else '.'} The step waited for {told(awaited)}.", node_of(awaited[0])
    )
    error.__cause__ = lost.__cause__
    return error


def _purpose(part: Partition, parts: Mapping[str, Part]) -> Sequence[Tensor | Operation]:
    sent = [edge.source for other in parts.values() for edge in other.partition.recvs.values() if edge.sender == part.task]
    return part.fetches or sent or part.nodes[-1:]


def node_of(source: Tensor | Operation) -> Operation:
    """The node that makes what is awaited."""
    return source.op if isinstance(source, Tensor) else source
