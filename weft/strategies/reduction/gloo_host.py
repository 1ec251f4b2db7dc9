"""Where Gloo listens: at the address that this host's own name stands for. JAX has no public way to tell it another one."""

from __future__ import annotations

import socket

from weft.platform.hosts.local_address import interfaces_of, is_of_this_host


def check() -> None:
    """Look the name up.

    Raises:
        OSError: it does not resolve; the text says what to do.
    """
    name = socket.gethostname()
    try:
        interfaces_of(name)
    except OSError as error:
        raise OSError(
            f"this host's own name, {name!r}, does not resolve ({error.strerror}). Gloo, which carries sums between CPUs, "
            "listens at its address: add a line to /etc/hosts with the address at which others reach this host, and the name"
        ) from error


def what_may_be_wrong(address: str) -> str:
    """A sentence where a group that meets at an address of several hosts has one whose name is a loopback address; else ""."""
    name = socket.gethostname()
    if is_of_this_host(address.rpartition(":")[0]) or not is_of_this_host(name):
        return ""
    return (
        f"This host's own name, {name!r}, is a loopback address, at which Gloo listens, so that others do not reach it from "
        "other hosts: /etc/hosts should give it the address at which they do. "
    )
