"""DescriptorDoor: a second socket beside a connection, through which the descriptors of shared segments pass.

The connection's own stream stays free of them, and is read without the cost of looking for any.
"""

from __future__ import annotations

import errno
import os
import socket
import struct
from typing import Final

_NOTE: Final = struct.Struct("<QQ")


class DescriptorDoor:
    """One of two ends. Descriptors come out of the other end in the order in which they were sent; neither end waits."""

    def __init__(self, sock: socket.socket) -> None:
        self._sock = sock
        sock.setblocking(False)

    def send(self, fd: int, number: int, capacity: int) -> bool:
        """Pass a segment's descriptor, which stays the caller's; return whether the peer will find it."""
        try:
            socket.send_fds(self._sock, [_NOTE.pack(number, capacity)], [fd])
        except OSError:
            return False
        return True

    def receive(self) -> tuple[int, int, int] | None:
        """The next descriptor, now the caller's, with its number and capacity; None when none has come.

        Raises:
            OSError: this process has no room for it, or the peer has sent something else.
        """
        try:
            note, fds, _, _ = socket.recv_fds(self._sock, _NOTE.size, 1, socket.MSG_CMSG_CLOEXEC)
        except OSError:
            return None
        if not note:  # the peer has closed its end
            return None
        if len(note) != _NOTE.size:
            for fd in fds:
                os.close(fd)
            raise OSError(errno.EPROTO, f"the peer tells of a segment in {len(note)} bytes, not in {_NOTE.size}")
        if not fds:
            raise OSError(errno.EMFILE, "this process has no descriptor left for a segment; raise its limit (ulimit -n)")
        return (fds[0], *_NOTE.unpack(note))

    def close(self) -> None:
        """Pass nothing more."""
        self._sock.close()
