"""What the kernel of this host tells of a connection's peer, without a word of the peer's own."""

from __future__ import annotations

import select
import socket
import struct
from pathlib import Path
from typing import Final

from weft.platform.hosts.peer_owner import unix_peer_process
from weft.protocol.heartbeat import Evidence

# struct tcp_info of linux/tcp.h: eight bytes, then unsigned ints.
_TCP_INFO: Final = struct.Struct("=8x" + "I" * 13)
_UNACKED, _LAST_DATA_RECEIVED_MS, _LAST_ACK_RECEIVED_MS = 4, 11, 12

# proc(5): stopped by a signal, stopped by a tracer, dead in two ways.
_STOPPED: Final = frozenset("TtZXx")


def is_readable(fd: int) -> bool:
    """Whether something waits to be read."""
    poll = select.poll()
    poll.register(fd, select.POLLIN)
    return bool(poll.poll(0))


def unix_evidence(sock: socket.socket) -> Evidence:
    """What there is to know of the process at the other end of a Unix socket."""
    try:
        process = unix_peer_process(sock)
    except OSError:
        return Evidence.UNKNOWN
    if not process:  # in another namespace
        return Evidence.UNKNOWN
    return process_evidence(process)


def process_evidence(process: int) -> Evidence:
    """Whether a process of this host runs."""
    try:
        # The name in brackets may have anything in it.
        state = Path(f"/proc/{process}/stat").read_text(encoding="ascii", errors="replace").rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return Evidence.STOPPED if Path("/proc/self/stat").exists() else Evidence.UNKNOWN
    except (OSError, IndexError):
        return Evidence.UNKNOWN
    return Evidence.STOPPED if state in _STOPPED else Evidence.BUSY


def tcp_evidence(sock: socket.socket, silent_s: float) -> Evidence:
    """What there is to know of the host at the other end of a TCP connection that has been silent for so long.

    A host that is there confirms within a round trip what it is sent, whatever its processes do.
    """
    try:
        info = _TCP_INFO.unpack(sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, _TCP_INFO.size))
    except (OSError, AttributeError, struct.error):  # not Linux, or it has ended
        return Evidence.UNKNOWN
    silent_ms = silent_s * 1000
    if info[_LAST_DATA_RECEIVED_MS] < silent_ms / 2:
        return Evidence.HEARD  # a payload that arrives slowly
    if info[_UNACKED] and info[_LAST_ACK_RECEIVED_MS] >= silent_ms / 2:
        return Evidence.CUT
    return Evidence.UNKNOWN
