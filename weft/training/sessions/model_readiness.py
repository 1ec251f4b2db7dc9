"""Whether a model is ready: which variables have no value, and whether the chief is going to give them one."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Final, Protocol

import numpy as np

from weft import errors
from weft.framework.building.aliases import SessionLike
from weft.framework.graphs.collections import GraphKeys
from weft.framework.graphs.graph import Graph
from weft.framework.nodes.operation import Tensor
from weft.platform.logs import tf_logging
from weft.training.sessions.board_view import Replica
from weft.training.sessions.model_signature import ModelSignature, SignatureDiff

_NAMES_SHOWN: Final = 8
# Two jobs may share servers. A chief that has none of this replica's variables may be the other one's, for so long.
_STRANGER_S: Final = 5.0
_LOOK_AGAIN_S: Final = 0.05


@dataclass(frozen=True)
class Missing:
    """The answer of a ready op: the names of missing variables, where it tells them, and the same in words."""

    names: tuple[str, ...]
    told: str
    # Why, for who waits for another process to initialize the model.
    why: str = ""

    def __str__(self) -> str:
        return f"{self.told}{self.why}"


def what_is_missing(session: SessionLike, ready_op: Tensor | None) -> Missing | None:
    """The missing things in a session by a ready op; None when nothing is missing.

    Raises:
        TypeError: the ready op gives no names.
    """
    if ready_op is None:
        return None
    try:
        value = session.run(ready_op)
    except errors.FailedPreconditionError as error:
        if "uninitialized" not in str(error):
            raise
        return Missing((), str(error))
    # Old programs used `assert_variables_initialized` and int32 ranks here.
    if value is None or (found := np.asarray(value)).dtype == np.int32 or found.size == 0:
        return None
    if found.dtype.kind not in "OS":
        raise TypeError(
            f"ready_op gives the names of variables without a value, as tf.report_uninitialized_variables() does; {ready_op!r} "
            f"gave {value!r}"
        )
    names = tuple(name.decode() for name in np.ravel(found).tolist())
    return Missing(names, _told(names), _why(names, session.graph))


def _told(missing: tuple[str, ...]) -> str:
    shown = ", ".join(missing[:_NAMES_SHOWN])
    more = f" and {len(missing) - _NAMES_SHOWN} more" if len(missing) > _NAMES_SHOWN else ""
    return f"Variables not initialized: {shown}{more}"


def _why(missing: tuple[str, ...], graph: Graph) -> str:
    shared = {variable.op.name for variable in graph.get_collection(GraphKeys.GLOBAL_VARIABLES)}
    if not shared & set(missing):
        return ""
    if shared <= set(missing):
        return ". The chief has not initialized the model yet: none of its variables has a value"
    return (
        f". The other {len(shared - set(missing))} variables have values: if this does not change, these are not in the "
        "chief's graph, or have other names or devices there (a name with a task's index or a time in it, variables that "
        "only this task makes)"
    )


def covers_model(ready_op: Tensor | None, graph: Graph) -> bool:
    """Whether a ready op asks for all global variables: a program may leave out those that each replica has for itself."""
    if ready_op is None:
        return False
    asked: set[str] = set()
    left = [ready_op.op]
    while left:
        for tensor in left.pop().inputs:
            if tensor.op.name not in asked:
                asked.add(tensor.op.name)
                left.append(tensor.op)
    return all(variable.op.name in asked for variable in graph.get_collection(GraphKeys.GLOBAL_VARIABLES))


class Present(Protocol):
    """This replica among the others."""

    @property
    def signature(self) -> ModelSignature:
        """The signature of this replica's model."""
        ...

    def others(self) -> list[Replica]:
        """The replicas that are there now."""
        ...

    @property
    def is_fenced(self) -> bool:
        """Whether that look found a model whose values were being replaced."""
        ...


class ChiefWatch:
    """Looks, while a replica waits, at whether the chief that is there has the same model.

    Args:
        presence: what the replica knows of itself and the others.
        clock: gives seconds.
        warns: whether trained variables that only the chief has are worth a warning.
    """

    def __init__(self, presence: Present, clock: Callable[[], float] = time.monotonic, warns: bool = True) -> None:
        self._presence = presence
        self._warns = warns
        self._clock = clock
        self._first_seen: dict[str, float] = {}
        self._warned: set[str] = set()
        self._is_initializing = False
        self.sees_chief = False
        """Whether the last look found a chief."""

    @property
    def is_chief_initializing(self) -> bool:
        """Whether the last look found a chief that gives the model its values: they may still be others a moment later."""
        return self._is_initializing

    def look(self, missing: Collection[str]) -> str:
        """Tell what the chief does; `missing` are the variables that this replica waits for.

        Raises:
            InvalidArgumentError: the chief's model is another one, so the wait would not end, or end with wrong values.
        """
        self._is_initializing = False
        chiefs = [replica for replica in self._presence.others() if replica.is_chief]
        self.sees_chief = bool(chiefs)
        if not chiefs and self._presence.is_fenced:
            self._is_initializing = True
            return "The chief has gone while it gave the model its values; the next one does it again"
        if not chiefs:
            return "No chief is there: it was not started yet, or it has failed"
        diffs = [SignatureDiff(self._presence.signature, chief.signature) for chief in chiefs]
        for chief, diff in zip(chiefs, diffs, strict=True):
            if not self._is_in_conflict(diff, missing):
                if diff.is_smaller_model and not missing and self._warns and str(chief) not in self._warned:
                    self._warned.add(str(chief))
                    tf_logging.warning("The %s has variables that this replica has not:\n%s", chief, diff)
                self._is_initializing = chief.state == "initializing" or self._presence.is_fenced
                return f"The {chief} is {chief.state}"
        for chief, diff in zip(chiefs, diffs, strict=True):
            seen = self._first_seen.setdefault(str(chief), self._clock())
            if diff.is_related or self._clock() - seen >= _STRANGER_S:
                raise errors.InvalidArgumentError.of(_disagreement(chief, diff))
        return f"The {chiefs[0]} has none of this replica's variables"

    def wait_for_conflict(self, limit_s: float) -> None:
        """Look for so long whether the chief has another model, after a variable turned out to be held otherwise.

        Raises:
            InvalidArgumentError: it has.
        """
        deadline = self._clock() + limit_s
        while self._clock() < deadline:
            self.look(())
            time.sleep(_LOOK_AGAIN_S)

    def _is_in_conflict(self, diff: SignatureDiff, missing: Collection[str]) -> bool:
        return bool(diff.different or diff.never_initialized(missing))


def _disagreement(chief: Replica, diff: SignatureDiff) -> str:
    return (
        f"This replica's variables are not those of the {chief}, which initializes the model:\n{diff}\n"
        "What only this replica has would never get a value, and what differs would be shared by mistake. Build the same "
        "variables in every replica: no task's index and no time in their names, none made by the chief or a replica alone "
        "(or leave those out of the ready_op), the same devices for all"
    )
