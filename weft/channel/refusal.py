"""Why a peer could not be reached: nothing listens there, it does not take this process, or a connection was cut in the making.

Errors tell it by their causes (`__cause__`): the system's errno, and the peer's verdict. gRPC has one status for all that can
happen to a transport and gives the reason in words alone, so where that is what there is, the port itself is asked.
"""

from __future__ import annotations

import socket
import ssl
from collections.abc import Iterable, Iterator
from typing import Final

from weft.channel.admission import PeerLeftError, RejectedError
from weft.protocol.protocol_error import CutShortError

_ASK_S: Final = 0.25
_REFUSALS: Final = (ConnectionRefusedError, RejectedError)
_CUTS: Final = (PeerLeftError, CutShortError, ConnectionResetError, ConnectionAbortedError, BrokenPipeError, ssl.SSLEOFError)


def is_refusal(error: BaseException) -> bool:
    """Whether nothing listens at the peer's address, as when its process is dead, or what listens does not take this one."""
    return any(isinstance(cause, _REFUSALS) for cause in _causes(error))


def is_cut_in_the_making(error: BaseException) -> bool:
    """Whether the peer, or what stands for it, took a connection that ended before it was one: the peer may well be there."""
    return any(isinstance(cause, _CUTS) for cause in _causes(error))


def decisive(causes: Iterable[BaseException]) -> BaseException | None:
    """The reason that tells most of a peer none of whose addresses led to it; None without reasons."""
    found = list(causes)
    # A cut shows that somebody is there, whatever the other addresses say; a refusal, that nobody is at this one. A timeout, or
    # a network that is not there, tells nothing of the peer.
    for kind in (_CUTS, _REFUSALS):
        for cause in found:
            if isinstance(cause, kind):
                return cause
    return found[-1] if found else None


def refusal_of(host: str, port: int) -> ConnectionRefusedError | None:
    """The system's refusal to connect with a port; None if something listens, or nobody says. Blocks for a moment."""
    if not port:
        return None  # one that is not known yet
    try:
        socket.create_connection((host, port), _ASK_S).close()
    except ConnectionRefusedError as refusal:
        return refusal
    except OSError:
        return None
    return None


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__
