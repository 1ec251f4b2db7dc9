"""Admissions: who may use a server, of its services and of its tensor channel."""

from __future__ import annotations

import os
import secrets
import ssl
import threading
import time
from dataclasses import dataclass
from typing import Final

from weft.credentials.cluster_token import FILE_VARIABLE
from weft.credentials.credentials import FOLDER_VARIABLE, Credentials, task_identity
from weft.distributed.rpc.gate import Gate
from weft.errors import PermissionDeniedError
from weft.platform.hosts.host_port import split_address
from weft.platform.hosts.local_address import interfaces_of, is_of_this_host
from weft.protocol.messages import Hello

TOKEN_S: Final = 60.0
"""How long an admission to the tensor channel is good for."""


@dataclass(slots=True)
class _Grant:
    """Until when a token admits a connection, whose (a task's, or for "" a client's), and for which session of the client."""

    until_s: float
    sender: str
    session_handle: str
    is_used: bool = False


class Admissions:
    """The rules of one server. Safe from any thread.

    On a loopback address processes of the server's own user are let in. Elsewhere the cluster's credentials are needed, on both
    sides, unless the server is told to be open.

    Args:
        job, index: the server's task.
        address: `host:port`, where it listens.
        insecure: whether anybody may use it.

    Raises:
        PermissionDeniedError: other hosts can reach the address, and the environment gives no credentials.
    """

    def __init__(self, job: str, index: int, address: str, insecure: bool) -> None:
        self._host, _ = split_address(address)
        self._lock = threading.Lock()
        self._grants: dict[bytes, _Grant] = {}
        self.is_open = insecure
        self.identity = task_identity(job, index)
        self.credentials = None if insecure else Credentials.for_host(self._host, os.environ, self.identity)
        if self.credentials is None and not insecure and not is_of_this_host(self._host):
            raise _without_credentials(job, index, address)

    def gate(self, port: int) -> Gate:
        """The gate of the services at a port of the server's host."""
        return Gate(interfaces_of(self._host), port, is_open=self.is_open)

    def context(self, *, is_server: bool) -> ssl.SSLContext | None:
        """The TLS context of the tensor channel; None where it goes without."""
        return None if self.credentials is None else self.credentials.context(is_server=is_server)

    def grant(self, sender: str, session_handle: str = "") -> bytes:
        """A token for one connection of a task, or, for "", of the client that has the session."""
        token, now_s = secrets.token_bytes(16), time.monotonic()
        with self._lock:
            # A client of TensorFlow never dials, so its token would stay for ever.
            self._grants = {known: grant for known, grant in self._grants.items() if grant.until_s > now_s}
            self._grants[token] = _Grant(now_s + TOKEN_S, sender, session_handle)
        return token

    def has_permission(self, hello: Hello) -> bool:
        """Whether a token was granted to whom the Hello says it comes from; a token is good once."""
        with self._lock:
            grant = self._grants.get(hello.token)
            if grant is None or grant.is_used or grant.sender != hello.sender or grant.until_s <= time.monotonic():
                # Shown by the wrong one it is known to strangers, so it is good for nobody any more.
                self._grants.pop(hello.token, None)
                return False
            grant.is_used = True
            return True

    def take_session(self, hello: Hello) -> str:
        """The session that a client was admitted for, asked once per connection; "" if there is none."""
        with self._lock:
            grant = self._grants.pop(hello.token, None)
        return "" if grant is None else grant.session_handle


def _without_credentials(job: str, index: int, address: str) -> PermissionDeniedError:
    return PermissionDeniedError.of(
        f"The server of /job:{job}/task:{index} would listen at {address!r}, where other hosts can reach it, "
        f"and has no credentials: whoever reached it could run what he likes here. Make a token with 'weft credentials "
        f"token -o FILE', copy it to each host of the cluster and set {FILE_VARIABLE} to its path for every task and "
        f"client; or make certificates with 'weft credentials authority' and 'weft credentials issue' and set "
        f"{FOLDER_VARIABLE}; or, in a network that nobody else can reach, pass insecure=True"
    )
