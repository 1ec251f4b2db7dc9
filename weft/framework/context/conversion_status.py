"""Whether the Python function that builds nodes now was translated, as the refusal of a tensor as a condition tells."""

from __future__ import annotations

import contextlib
import enum
from collections.abc import Iterator
from contextvars import ContextVar
from typing import Final


class OperatorNotAllowedInGraphError(TypeError):
    """A tensor of a graph is taken for a value of Python's."""


class Status(enum.Enum):
    """What is known of the function that runs: nothing, that it was to be translated, or that it was not to be."""

    UNSPECIFIED = 0
    ENABLED = 1
    DISABLED = 2


_STATUS: Final[ContextVar[Status]] = ContextVar("weft_conversion", default=Status.UNSPECIFIED)
_REMEDIES: Final = {
    Status.UNSPECIFIED: " in Graph execution. Use Eager execution or decorate this function with @tf.function.",
    Status.ENABLED: ": AutoGraph did not convert this function. Try decorating it directly with @tf.function.",
    Status.DISABLED: ": AutoGraph is disabled in this function. Try decorating it directly with @tf.function.",
}


def current() -> Status:
    """The status where the program is now."""
    return _STATUS.get()


@contextlib.contextmanager
def entered(status: Status) -> Iterator[None]:
    """Let the block have a status."""
    token = _STATUS.set(status)
    try:
        yield
    finally:
        _STATUS.reset(token)


def not_allowed(task: str) -> str:
    """The words that refuse a task, such as "iterating over `tf.Tensor`"."""
    return f"{task} is not allowed{_REMEDIES[current()]}"
