"""The user who owns the other end of a local connection, as the kernel tells it.

A Unix socket's end carries its user (SO_PEERCRED, unix(7)). A TCP connection within one host has both ends in this kernel's
table: the socket diagnosis of netlink (sock_diag(7)) finds the end by its addresses and ports, in some 40 µs; where it is
shut, the text form of the table, /proc/net/tcp (proc(5)), tells the same, more slowly.

A closed end belongs to nobody, and the kernel writes user 0, which is root's number, in the place of its owner. So only an
end that is established and has an open file (an inode) tells anything: a stranger who connects, asks and closes at once is
no root.
"""

from __future__ import annotations

import contextlib
import errno
import functools
import ipaddress
import os
import socket
import struct
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

# linux/netlink.h, linux/sock_diag.h, linux/inet_diag.h
_NETLINK_SOCK_DIAG: Final = 4
_SOCK_DIAG_BY_FAMILY: Final = 20
_NLMSG_ERROR: Final = 2
_NLM_F_REQUEST: Final = 1
_HEADER: Final = struct.Struct("=IHHII")
# family, protocol, extensions, padding, states; ports; both addresses, interface, and the cookie that matches any
_REQUEST: Final = struct.Struct("=BBBBI" + "HH" + "16s16sIII")
_NO_COOKIE: Final = 0xFFFFFFFF
_ALL_STATES: Final = 0xFFFFFFFF
# family, state, timer, retransmissions; the identity; then expiry and two queues before the user
_ANSWER: Final = struct.Struct("=BBBB" + "HH16s16sIII" + "IIIII")
_PEER_CREDENTIALS: Final = struct.Struct("3i")
_ESTABLISHED: Final = 1

OUT_OF_DESCRIPTORS: Final = (errno.EMFILE, errno.ENFILE)
"""The errors of a system call for which the process, or the host, has no descriptor left."""

Endpoint = tuple[str, int]

KERNEL_TELLS: Final = sys.platform.startswith("linux")
"""Whether this system's kernel tells who owns a loopback connection's other end."""


def unix_peer(sock: socket.socket) -> int:
    """Return the user at the other end of a connected Unix socket.

    Raises:
        OSError: the platform does not tell.
    """
    if not hasattr(socket, "SO_PEERCRED"):
        raise OSError("This platform does not tell who is at the other end of a Unix socket")
    _, user, _ = _PEER_CREDENTIALS.unpack(sock.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _PEER_CREDENTIALS.size))
    return int(user)


def unix_peer_process(sock: socket.socket) -> int:
    """Return the process at the other end of a connected Unix socket: the one that connected or listened; 0 for a hidden one.

    Raises:
        OSError: the platform does not tell.
    """
    if not hasattr(socket, "SO_PEERCRED"):
        raise OSError("This platform does not tell who is at the other end of a Unix socket")
    process, _, _ = _PEER_CREDENTIALS.unpack(sock.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _PEER_CREDENTIALS.size))
    return int(process)


def tcp_peer(own: Endpoint, peer: Endpoint) -> int | None:
    """Return the user at the other end of a TCP connection within this host; None if the kernel does not tell.

    Args:
        own: this end's address and port.
        peer: the other end's, as this end sees it.

    Raises:
        OSError: this process has no descriptor left to ask with.
    """
    # The other end is a socket whose own endpoint is what this end calls its peer.
    try:
        return _by_netlink(peer, own)
    except OSError as error:
        # The table would take a descriptor as well, and would seem to be empty.
        if error.errno in OUT_OF_DESCRIPTORS:
            raise
        return _by_table(peer, own)


def established_peers(port: int) -> frozenset[str] | None:
    """Return the other ends of the connections that stand with a local port, as `endpoint_key` writes them.

    None where there is no table of the kernel's to read.
    """
    found: set[str] = set()
    is_known = False
    for rows in _tables():
        is_known = True
        for row in rows:
            fields = row.split()
            if fields[1].endswith(f":{port:04X}") and int(fields[3], 16) == _ESTABLISHED:
                found.add(_normal(fields[2]))
    return frozenset(found) if is_known else None


def endpoint_key(endpoint: Endpoint) -> str:
    """Return what `established_peers` calls an endpoint."""
    return _in_table(endpoint)


def is_loopback(host: str) -> bool:
    """Whether an address in digits is one of this host alone."""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return False
    mapped = getattr(address, "ipv4_mapped", None)
    return (mapped or address).is_loopback


def _packed(endpoint: Endpoint) -> tuple[int, bytes, int]:
    """The family, the address in 16 bytes and the port in network order, IPv4 also where it is written as IPv6."""
    address = ipaddress.ip_address(endpoint[0])
    address = getattr(address, "ipv4_mapped", None) or address
    family = socket.AF_INET if address.version == 4 else socket.AF_INET6
    return family, address.packed.ljust(16, b"\0"), socket.htons(endpoint[1])


def _by_netlink(source: Endpoint, destination: Endpoint) -> int | None:
    family, source_bytes, source_port = _packed(source)
    _, destination_bytes, destination_port = _packed(destination)
    request = _REQUEST.pack(
        family, socket.IPPROTO_TCP, 0, 0, _ALL_STATES, source_port, destination_port, source_bytes, destination_bytes,
        0, _NO_COOKIE, _NO_COOKIE,
    )  # fmt: skip
    if not hasattr(socket, "AF_NETLINK"):
        raise OSError("This platform has no socket diagnosis")
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW | socket.SOCK_CLOEXEC, _NETLINK_SOCK_DIAG) as diagnosis:
        diagnosis.settimeout(1.0)
        diagnosis.send(_HEADER.pack(_HEADER.size + len(request), _SOCK_DIAG_BY_FAMILY, _NLM_F_REQUEST, 1, 0) + request)
        answer = diagnosis.recv(4096)
    _, kind, _, _, _ = _HEADER.unpack_from(answer)
    if kind == _NLMSG_ERROR:
        (code,) = struct.unpack_from("=i", answer, _HEADER.size)
        raise OSError(-code, os.strerror(-code))
    found = _ANSWER.unpack_from(answer, _HEADER.size)
    state, user, inode = found[1], found[-2], found[-1]
    return int(user) if state == _ESTABLISHED and inode else None


def _by_table(source: Endpoint, destination: Endpoint) -> int | None:
    wanted = (_in_table(source), _in_table(destination))
    for rows in _tables():
        for row in rows:
            fields = row.split()
            if (_normal(fields[1]), _normal(fields[2])) == wanted:
                is_open = int(fields[3], 16) == _ESTABLISHED and int(fields[9])
                return int(fields[7]) if is_open else None
    return None


def _tables() -> Iterator[list[str]]:
    """The rows of the kernel's tables of TCP connections, one table after the other."""
    for name in ("tcp", "tcp6"):
        with contextlib.suppress(OSError):
            yield Path(f"/proc/net/{name}").read_text(encoding="ascii").splitlines()[1:]


def _in_table(endpoint: Endpoint) -> str:
    """An endpoint as /proc/net/tcp writes it: each 32-bit word of the address in the machine's order."""
    family, packed, _ = _packed(endpoint)
    words = struct.unpack("=4I" if family == socket.AF_INET6 else "=I", packed[: 16 if family == socket.AF_INET6 else 4])
    return "".join(f"{word:08X}" for word in words) + f":{endpoint[1]:04X}"


@functools.cache
def _mapped_prefix() -> str:
    return "".join(f"{word:08X}" for word in struct.unpack("=3I", bytes(10) + b"\xff\xff"))


def _normal(text: str) -> str:
    """IPv4 written as IPv6 in its short form."""
    return text.removeprefix(_mapped_prefix()) if len(text) > 13 else text
