"""Why nobody answers at an address, as the system tells it: gRPC has one status for all reasons, and a wait has none at all."""

from __future__ import annotations

import contextlib
import os
import queue
import socket
import threading
from collections.abc import Callable
from typing import Final, TypeAlias

from weft.platform.hosts.peer_owner import OUT_OF_DESCRIPTORS

_RESOLVE_S: Final = 0.3
_CONNECT_S: Final = 0.15

_Address: TypeAlias = tuple[socket.AddressFamily, tuple[str | int, ...] | tuple[int, bytes]]


def why_unreachable(host: str, port: int, why_refused: Callable[[], str]) -> str:
    """Return why a server could not be reached at an address, as the end of a sentence. Blocks for half a second.

    `why_refused` is asked why a server that listens there may not take this process.
    """
    try:
        _look_for_descriptors()
        family, place = _resolved(host, port)
        with socket.socket(family) as probe:
            probe.settimeout(_CONNECT_S)
            probe.connect(place)
    except _NotResolvedYetError:
        return f"the name service has said nothing of {host!r} for {_RESOLVE_S} s. Look whether this host can reach it"
    except socket.gaierror as error:
        return f"the name {host!r} does not resolve ({error.strerror}). Correct it, or the name service of this host"
    except ConnectionRefusedError:
        return "nothing listens there. Look whether its process runs, and listens at that port"
    except TimeoutError:
        return f"{host!r} does not answer: the host is off or cut off, or a firewall is in between"
    except OSError as error:
        if error.errno in OUT_OF_DESCRIPTORS:
            return f"this process has no file descriptors left ({error.strerror}). Close sessions, or raise their limit"
        return f"the system says: {error.strerror or error}"
    return f"something listens there and does not answer: its process stands still, it is no task, or {why_refused()}"


class _NotResolvedYetError(Exception):
    """The name service has not answered."""


def _look_for_descriptors() -> None:
    """Raise OSError where there are none left: the name service would call every name unknown."""
    first = os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.close(os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC))
    finally:
        os.close(first)


def _resolved(host: str, port: int) -> _Address:
    """The first address of a name. The name service may take many seconds, which nobody has who has waited already."""
    with contextlib.suppress(OSError):
        family, _, _, _, place = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_NUMERICHOST)[0]
        return family, place
    found: queue.SimpleQueue[_Address | OSError] = queue.SimpleQueue()

    def resolve() -> None:
        try:
            family, _, _, _, place = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
            found.put((family, place))
        except OSError as error:
            found.put(error)

    threading.Thread(target=resolve, name="weft-resolve", daemon=True).start()
    try:
        result = found.get(timeout=_RESOLVE_S)
    except queue.Empty:
        raise _NotResolvedYetError from None
    if isinstance(result, OSError):
        raise result
    return result
