"""Which kinds of state nodes share only where a program gives it a name.

All sessions of a task share variables by the names of their nodes. Two programs that know nothing of each other, such as one
that trains and one that evaluates beside it, both call their input `IteratorV2` or `batch/fifo_queue`: if these were shared,
each would take the other's elements, and close the queue at its end.
"""

from __future__ import annotations

from typing import Final, TypeVar

C = TypeVar("C", bound=type[object])

_MARK: Final = "_is_unshared"


def unshared(kind: C) -> C:
    """Let each session have its own state of this class for a node that has no shared_name, until it is closed."""
    setattr(kind, _MARK, True)
    return kind


def is_unshared(kind: type[object]) -> bool:
    """Whether a class was decorated so, or one that it is made from."""
    return getattr(kind, _MARK, False)
