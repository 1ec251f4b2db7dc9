"""The interfaces that a host name stands for on this machine, and whether they are this machine's alone."""

from __future__ import annotations

import socket

from weft.platform.hosts.peer_owner import is_loopback

EVERY_INTERFACE = frozenset({"0.0.0.0", "::"})


def interfaces_of(host: str) -> list[str]:
    """The addresses in digits that a host name stands for, IPv4 before IPv6, each once.

    Raises:
        OSError: the name does not resolve.
    """
    found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    found.sort(key=lambda entry: entry[0] != socket.AF_INET)
    addresses = list(dict.fromkeys(str(entry[4][0]) for entry in found))
    if host == "localhost" and "::1" not in addresses and socket.has_ipv6:
        # Many hosts files have only the IPv4 form, and clients try the other one all the same.
        addresses.append("::1")
    return addresses


def is_of_this_host(host: str) -> bool:
    """Whether a host name stands for loopback addresses only, which no other machine reaches."""
    try:
        return all(is_loopback(address) for address in interfaces_of(host))
    except OSError:
        return False
