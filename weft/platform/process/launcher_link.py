"""A task's link to the launcher that started it: a pipe, on which it tells how it gets on.

The launcher shows the steps, and knows by the rest when the job is done: a task that only serves others never ends by itself.
"""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import Final, Self

VARIABLE: Final = "WEFT_LAUNCHER"
"""Names the pipe by its descriptor and its inode, such as `7:81726`.

The inode tells it apart from a file that has the descriptor in a process which inherited the variable alone.
"""


@dataclass(frozen=True)
class TaskNews:
    """How a task gets on.

    Args:
        serves: it has nothing left to do but to serve other tasks.
        step: the global step; None where it has not changed or there is none.
        last_step: the step at which the job ends, where that is known.
        loss: the loss of the last step, where a hook has looked at it.
        waits_for: the addresses for which its sessions wait, none where they wait no more; None where that has not changed.
    """

    serves: bool = False
    step: int | None = None
    last_step: int | None = None
    loss: float | None = None
    waits_for: tuple[str, ...] | None = None

    def encode(self) -> bytes:
        """The news as a line."""
        told = {name: value for name, value in asdict(self).items() if value is not None and value is not False}
        return json.dumps(told).encode() + b"\n"

    @classmethod
    def decode(cls, line: bytes) -> Self | None:
        """The news that a line has; None for other lines, as a program may write to any descriptor."""
        try:
            told = json.loads(line)
        except ValueError:
            return None
        if not isinstance(told, dict) or not _is_news(told):
            return None
        addresses = told.pop("waits_for", None)
        return cls(**told, waits_for=None if addresses is None else tuple(addresses))


_TYPES: Final[Mapping[str, tuple[type, ...]]] = {
    "serves": (bool,), "step": (int,), "last_step": (int,), "loss": (int, float), "waits_for": (list,)
}  # fmt: skip


def _is_news(told: Mapping[str, object]) -> bool:
    addresses = told.get("waits_for", [])
    has_types = all(isinstance(value, _TYPES.get(name, ())) for name, value in told.items())
    return has_types and all(isinstance(each, str) for each in addresses)  # type: ignore[attr-defined]


def descriptor_text(descriptor: int) -> str:
    """The value of the variable for a pipe."""
    return f"{descriptor}:{os.fstat(descriptor).st_ino}"


def has_launcher() -> bool:
    """Whether a launcher listens to this process."""
    return _descriptor() is not None


def tell_launcher(news: TaskNews) -> None:
    """Tell the launcher, if there is one; never blocks, and drops what it has no time to read."""
    descriptor = _descriptor()
    if descriptor is not None:
        with suppress(OSError):
            os.write(descriptor, news.encode())


def _descriptor() -> int | None:
    number, _, inode = os.environ.get(VARIABLE, "").partition(":")
    try:
        status = os.fstat(int(number))
    except (ValueError, OSError, OverflowError):
        return None
    return int(number) if stat.S_ISFIFO(status.st_mode) and str(status.st_ino) == inode else None
