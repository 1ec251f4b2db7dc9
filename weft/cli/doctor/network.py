"""Names, credentials and settings of the network, as this host sees them."""

from __future__ import annotations

import datetime
import os
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from cryptography import x509

from weft.cli.doctor.finding import Finding, problem, warning
from weft.credentials.credentials import CLIENT, Credentials
from weft.errors import OpError
from weft.platform.files.owner_folder import owner_folder
from weft.platform.hosts.host_port import split_address
from weft.platform.hosts.local_address import interfaces_of
from weft.platform.hosts.peer_owner import is_loopback

_PROXIES: Final = ("http_proxy", "https_proxy", "grpc_proxy", "all_proxy")
_HOSTS: Final = "/etc/hosts or DNS"
_SOON: Final = datetime.timedelta(days=30)
_PORT_RANGE: Final = "/proc/sys/net/ipv4/ip_local_port_range"


def own_folder() -> Finding:
    """The folder of this user's sockets."""
    try:
        return Finding("folder of sockets", str(owner_folder()))
    except (OpError, OSError) as error:
        text = error.message if isinstance(error, OpError) else str(error)
        return problem("folder of sockets", text, "make XDG_RUNTIME_DIR or TMPDIR name a folder that you can write to")


def credentials() -> Finding:
    """What this process would show to servers on other hosts."""
    try:
        found = Credentials.find(os.environ, CLIENT)
    except OpError as error:
        return problem("credentials", error.message, "weft credentials --help tells how they are made")
    if found is None:
        return Finding("credentials", "none are set; servers on other hosts take only who has their cluster's")
    end = x509.load_pem_x509_certificate(found.own.certificate).not_valid_after_utc
    if end - datetime.datetime.now(datetime.UTC) < _SOON:
        remedy = "weft credentials issue makes new certificates"
        return warning("credentials", f"those of {found.identity} expire on {end:%Y-%m-%d}", remedy)
    return Finding("credentials", f"those of {found.identity}")


def proxies() -> Iterator[Finding]:
    """Variables that send other programs' connections through a proxy."""
    names = sorted(name for each in _PROXIES for name in (each, each.upper()) if os.environ.get(name))
    if names:
        text = f"{', '.join(names)} set; weft's connections go past proxies, TensorFlow's clients go through them"
        yield warning("proxy", text, "set no_proxy to the cluster's hosts if such clients are to reach them")


def own_name() -> Iterator[Finding]:
    """Whether this host's name leads to it, and from where."""
    name = socket.gethostname()
    yield from _names("this host", name)
    try:
        addresses = interfaces_of(name)
    except OSError:
        return
    if all(is_loopback(address) for address in addresses):
        text = f"{name} is {', '.join(addresses)} here: a server at that name listens for this host only"
        yield warning("this host", text, f"use another name or address of it in ClusterSpecs, or change {_HOSTS}")


def server_name(address: str) -> Iterator[Finding]:
    """Whether a server's host name resolves, both ways, and whether its port is one that the system gives away."""
    host, port = split_address(address)
    yield from _names(address, host)
    try:
        first, last = map(int, Path(_PORT_RANGE).read_text(encoding="ascii").split())
    except (OSError, ValueError):
        return  # another system than Linux
    if first <= port <= last:
        text = f"port {port} is among those that the system gives to outgoing connections here ({first} to {last})"
        yield warning(address, text, f"choose one below {first}: another program may hold it when the server starts")


def _names(subject: str, host: str) -> Iterator[Finding]:
    try:
        addresses = interfaces_of(host)
    except OSError as error:
        text = f"the name {host!r} does not resolve ({error.strerror})"
        yield problem(subject, text, f"look at its spelling, and at {_HOSTS}")
        return
    back = sorted({_name_of(address) for address in addresses} - {""})
    told = f"which {'is' if len(back) == 1 else 'are'} {', '.join(back)}" if back else "which no name leads back to"
    yield Finding(subject, f"{host} is {', '.join(addresses)}, {told}")


def _name_of(address: str) -> str:
    try:
        return socket.gethostbyaddr(address)[0]
    except OSError:
        return ""
