"""Free ports for servers that are about to start, in other processes or this one.

A port is free when it is chosen, and nothing can keep it so until the server has it: a socket that is held open would
keep the server out as well. What makes the gap harmless is the choice. Ports come from below the range from which the
kernel takes the ports of outgoing connections, so none of the many connections that are opened meanwhile, the cluster's
own among them, can take one; only another server that asks for this very port could, and then the task says so and the
job ends. Starting at a random place keeps launchers that run at the same time apart.
"""

from __future__ import annotations

import random
import socket
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

_LOWEST = 10_000
# Used where the kernel does not tell its range, or leaves no room below it.
_FALLBACK = (20_000, 32_000)


def free_ports(count: int) -> list[int]:
    """Return that many different ports on which a server can listen.

    Raises:
        OSError: there are not enough.
    """
    found: list[int] = []
    with ExitStack() as held:
        for port in _candidates():
            if len(found) == count:
                break
            try:
                probe = held.enter_context(socket.socket(socket.AF_INET, socket.SOCK_STREAM))
            except OSError as error:
                many = f"{count} tasks need a port each, and after {len(found)} there is none"
                raise OSError(f"{many}: {error.strerror}; see ulimit -n") from None
            try:
                probe.bind(("", port))
            except OSError:
                probe.close()
                continue
            found.append(port)
    if len(found) < count:
        raise OSError(f"{count} tasks need a port each, {len(found)} are free")
    return found


def _candidates() -> Iterator[int]:
    low, high = _range_below_outgoing()
    start = random.randrange(low, high)
    yield from range(start, high)
    yield from range(low, start)


def _range_below_outgoing() -> tuple[int, int]:
    try:
        lowest_outgoing = int(Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])
    except OSError:
        return _FALLBACK
    return (_LOWEST, lowest_outgoing) if lowest_outgoing >= _LOWEST + 1000 else _FALLBACK
