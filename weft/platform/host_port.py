"""The parts of a task's address. It imports nothing that takes long: commands check what they are given by it."""

from __future__ import annotations

import re
from typing import Final

from weft.errors import InvalidArgumentError

_EMPTY: Final = "; is the flag that lists the tasks empty?"


def split_address(address: str) -> tuple[str, int]:
    """Host and port of `host:port` or `[v6]:port`; InvalidArgumentError when there is no port."""
    scheme, has_scheme, rest = address.partition("://")
    if has_scheme:
        raise InvalidArgumentError.of(
            f"Could not parse address {address!r} of a task: it has no scheme, as {rest!r}; {scheme + '://'!r} belongs to the "
            "target of a session"
        )
    host, colon, port = address.rpartition(":")
    if not colon or not re.fullmatch("[0-9]{1,5}", port) or int(port) > 65535:
        raise InvalidArgumentError.of(
            f"Could not parse port of address {address!r}: expected 'host:port' with a port from 0 to "
            f"65535{'' if address else _EMPTY}"
        )
    return host.strip("[]"), int(port)
