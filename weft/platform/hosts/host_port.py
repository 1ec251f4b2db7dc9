"""The parts of a task's address. It imports nothing that takes long: commands check what they are given by it."""

from __future__ import annotations

import re
from typing import Final

from weft.errors import InvalidArgumentError

_EMPTY: Final = "; is the flag that lists the tasks empty, or has it a comma too many?"


def split_address(address: str, task: str = "") -> tuple[str, int]:
    """Host and port of `host:port` or `[v6]:port`; InvalidArgumentError when there is no port.

    Args:
        address: what a program, a flag or a cluster gives.
        task: whose address it is, if that is known.
    """
    scheme, has_scheme, rest = address.partition("://")
    if has_scheme:
        raise InvalidArgumentError.of(
            f"Could not parse address {address!r} of {task or 'a task'}: it has no scheme, as {rest!r}; {scheme + '://'!r} "
            "belongs to the target of a session"
        )
    whose = f" of {task}" if task else ""
    if address != address.strip():
        raise InvalidArgumentError.of(
            f"Could not parse address {address!r}{whose}: it begins or ends with a blank, as text.split(',') leaves them of "
            "'a:1, b:2'; [each.strip() for each in text.split(',')] has none"
        )
    host, colon, port = address.rpartition(":")
    if not colon or not re.fullmatch("[0-9]{1,5}", port) or int(port) > 65535:
        raise InvalidArgumentError.of(
            f"Could not parse port of address {address!r}{whose}: expected 'host:port' with a port from 0 to "
            f"65535{'' if address else _EMPTY}"
        )
    return host.strip("[]"), int(port)
