"""HttpDoor: pages of this process by HTTP, for those whom its other doors let in.

On a loopback address these are processes of the same user, by the kernel's word, as with gRPC; an ssh tunnel's end is one.
Elsewhere there is TLS, and who asks shows a certificate of the cluster's or, as a bearer, what `page_token` makes of its token:
that opens these pages and nothing else.
"""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import http.server
import os
import selectors
import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final, TypeAlias
from urllib.parse import urlsplit

from weft.errors import UnknownError
from weft.platform.hosts.local_address import interfaces_of, is_of_this_host
from weft.platform.hosts.peer_owner import tcp_peer

_PATIENCE_S: Final = 10.0
_AT_ONCE: Final = 32
_LOCAL_NAMES: Final = ("localhost", "127.0.0.1", "[::1]", "::1")
# Nothing from elsewhere is loaded or asked, and no other page may show this one inside itself.
_POLICY: Final = (
    "default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'unsafe-inline'; connect-src 'self'; "
    "frame-ancestors 'none'"
)


@dataclass(frozen=True, slots=True)
class Page:
    """An answer: its bytes, or an iterator of them that are sent one by one as they come."""

    content: bytes | Iterator[bytes]
    kind: str = "text/html; charset=utf-8"
    status: int = 200


Respond = Callable[[str], Page | None]
"""Gives the page at a path with its query, or None when there is none."""


def page_token(cluster_token: bytes) -> str:
    """What opens a task's pages: made of the cluster's token, which it does not give away."""
    return hmac.new(cluster_token, b"weft pages", hashlib.sha256).hexdigest()


_Request: TypeAlias = "socket.socket | tuple[bytes, socket.socket]"
_Address: TypeAlias = "tuple[str, int] | str"


class HttpDoor:
    """Serves pages on threads of its own until `stop`.

    Args:
        host: where to listen.
        port: the port; 0 is any free one.
        respond: gives the pages; called from several threads.
        is_open: whether anybody may ask; for servers that were told so.
        tls: the cluster's context for servers; None on a loopback address.
        token: what a bearer may show there instead of a certificate; None for nothing.

    Raises:
        UnknownError: the port is in use.
    """

    def __init__(
        self, host: str, port: int, respond: Respond, *, is_open: bool = False, tls: ssl.SSLContext | None = None,
        token: str | None = None,
    ) -> None:  # fmt: skip
        if tls is not None:
            tls.verify_mode = ssl.CERT_OPTIONAL
        try:
            interface = interfaces_of(host)[0]
            self._server = _Server(interface, port, respond, is_open, tls, token)
        except OSError as error:
            raise UnknownError.of(
                f"Pages cannot be served at {host}:{port}: {error.strerror}. Choose another port, or 0 for any"
            ) from None
        self.port = int(self._server.server_address[1])
        self.url = f"{'http' if tls is None else 'https'}://{host}:{self.port}/"
        self._thread = threading.Thread(target=self._server.serve, name="weft-pages", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Serve no more; answers that are under way end when their readers leave or the process does."""
        self._server.is_over.set()
        self._server.wake()
        self._thread.join(_PATIENCE_S)
        self._server.server_close()


class _Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    timeout = 0.0  # a request that is gone again is waited for by `serve`, which can be woken
    allow_reuse_address = True

    def __init__(
        self, interface: str, port: int, respond: Respond, is_open: bool, tls: ssl.SSLContext | None, token: str | None
    ) -> None:
        self.address_family = socket.AF_INET6 if ":" in interface else socket.AF_INET
        self.respond = respond
        self.is_open = is_open
        self.tls = tls
        self.token = token
        self.is_over = threading.Event()
        self._room = threading.BoundedSemaphore(_AT_ONCE)
        super().__init__((interface, port), _Handler)
        # Made now: when it is to end, the process may have no descriptor left.
        self._woken, self._waker = socket.socketpair()

    def serve(self) -> None:
        """Hand out connections until it is over."""
        # It waits for somebody to ask, and not in turns: those of a busy process cost more than what it serves.
        with selectors.PollSelector() as selector:
            selector.register(self, selectors.EVENT_READ)
            selector.register(self._woken, selectors.EVENT_READ)
            while not self.is_over.is_set():
                selector.select()
                self.handle_request()

    def wake(self) -> None:
        """Let `serve` look whether it is over."""
        with contextlib.suppress(OSError):  # it has been closed
            self._waker.send(b"w")

    def server_close(self) -> None:
        super().server_close()
        # The base class closes, too, where it could not listen.
        for each in (getattr(self, "_woken", None), getattr(self, "_waker", None)):
            if each is not None:
                each.close()

    def server_bind(self) -> None:
        # Not the base class's, which asks the resolver for this host's name.
        socket.socket.setsockopt(self.socket, socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.socket.bind(self.server_address)
        self.server_address = self.socket.getsockname()
        self.server_name, self.server_port = "", int(self.server_address[1])

    def process_request(self, request: _Request, client_address: _Address) -> None:
        if self._room.acquire(blocking=False):
            super().process_request(request, client_address)
        else:
            self.shutdown_request(request)

    def process_request_thread(self, request: _Request, client_address: _Address) -> None:
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._room.release()

    def finish_request(self, request: _Request, client_address: _Address) -> None:
        assert isinstance(request, socket.socket)
        request.settimeout(_PATIENCE_S)
        if self.tls is None:
            super().finish_request(request, client_address)
            return
        # On the connection's own thread: who does not go on with the handshake keeps nobody else.
        with self.tls.wrap_socket(request, server_side=True) as secured:
            super().finish_request(secured, client_address)

    def handle_error(self, request: _Request, client_address: _Address) -> None:
        """Say nothing: a browser that leaves, or a stranger's handshake, is no event."""


class _Handler(http.server.BaseHTTPRequestHandler):
    server: _Server
    protocol_version = "HTTP/1.1"
    server_version = "weft"
    sys_version = ""

    def do_GET(self) -> None:
        refusal = self._refusal()
        page = Page(refusal.encode(), "text/plain; charset=utf-8", 403) if refusal else self.server.respond(self.path)
        if page is None:
            page = Page(b"There is no such page\n", "text/plain; charset=utf-8", 404)
        self.send_response(page.status)
        self.send_header("Content-Type", page.kind)
        self.send_header("Cache-Control", "no-store")
        self.send_header("Content-Security-Policy", _POLICY)
        self.send_header("X-Content-Type-Options", "nosniff")
        self.send_header("Referrer-Policy", "no-referrer")
        if isinstance(page.content, bytes):
            self.send_header("Content-Length", str(len(page.content)))
            self.end_headers()
            self.wfile.write(page.content)
            return
        self.close_connection = True
        self.send_header("Connection", "close")
        self.end_headers()
        with contextlib.suppress(OSError):  # the reader has left
            for part in page.content:
                if self.server.is_over.is_set():
                    return
                self.wfile.write(part)
                self.wfile.flush()

    def _refusal(self) -> str:
        """Why whoever asks gets no page; empty when he does."""
        server = self.server
        if server.is_open:
            return ""
        if server.tls is not None:
            shown = self.headers.get("Authorization", "").removeprefix("Bearer ").strip()
            has_token = server.token is not None and hmac.compare_digest(shown.encode(), server.token.encode())
            if has_token or self.connection.getpeercert():
                return ""
            return "These pages are for holders of a certificate of the cluster's, or of the bearer token of its pages\n"
        # A page of another site, whose name was made to lead here, must not read this one by the user's browser.
        name = urlsplit(f"//{self.headers.get('Host', '')}").hostname or ""
        if name not in _LOCAL_NAMES and not is_of_this_host(name):
            return f"This page is asked for by a name of this host, such as localhost, and not by {name!r}\n"
        own, peer = self.connection.getsockname()[:2], self.client_address[:2]
        try:
            owner = tcp_peer(own, peer)
        except OSError:
            owner = None
        return "" if owner == os.getuid() else "These pages are for processes of their own user on this host\n"

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing: the log is the program's."""
