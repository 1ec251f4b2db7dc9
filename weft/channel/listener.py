"""The address of a task's tensor channel: accepts connections, admits those that may talk, ends them all at the stop.

Every accepted socket gets a thread, which does the handshake. So a peer that says nothing holds up nothing but its own
thread, for `handshake_timeout_s`; there are at most `MAX_UNADMITTED` of them. Then the thread goes on as the connection's
reader if the peer is a task, whose messages other threads wait for, too. A client's connection goes to the listener's crew.
"""

from __future__ import annotations

import contextlib
import functools
import hmac
import logging
import secrets
import selectors
import shutil
import socket
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final, TypeAlias

from weft.channel.address import TcpAddress, UnixAddress, host_identity
from weft.channel.admission import NotAdmittedError, admit
from weft.channel.connection import CLOSE_TIMEOUT_S, Connection, OnClosed, OnMessage
from weft.channel.outbox import MAX_QUEUED_BYTES
from weft.channel.shared_memory.exchange import join_exchange
from weft.channel.waiting import reading_crew
from weft.channel.waiting.reading_crew import ReadingCrew
from weft.errors import UnavailableError
from weft.platform.fork_release import release_in_children
from weft.protocol.handshake import MAX_HELLO_BYTES, Acceptor
from weft.protocol.messages import Hello
from weft.protocol.protocol_error import ProtocolError
from weft.protocol.tensor_frame import MAX_HEADER_BYTES, FrameDecoder

OnConnection: TypeAlias = Callable[[Connection, Hello], None]

MAX_UNADMITTED: Final = 256
"""How many sockets may be in their handshake at the same time; further ones are closed at once."""

_BACKLOG: Final = 1024
_PAUSE_S: Final = 0.1  # when the process is out of file descriptors

_log = logging.getLogger("weft")


def has_token(token: bytes) -> Callable[[Hello], bool]:
    """Return a judge of tokens that takes the same time for every wrong one."""
    return lambda hello: hmac.compare_digest(hello.token, token)


class Listener:
    """Listens on TCP and, for peers of this host, on a Unix socket, from its construction to `stop`.

    For every admitted peer, `on_connection(connection, hello)` is called first, then `on_message` and `on_closed` as
    Connection says, one at a time. `host` "" is every interface, for which `advertised_host` tells
    peers what to dial; port 0 is any free one. `has_permission` judges a Hello's token; see `has_token`.

    Raises:
        UnavailableError: the address cannot be bound.
    """

    def __init__(
        self,
        host: str,
        port: int,
        *,
        receiver: str,
        incarnation: int,
        has_permission: Callable[[Hello], bool],
        on_connection: OnConnection,
        on_message: OnMessage,
        on_closed: OnClosed,
        advertised_host: str = "",
        handshake_timeout_s: float = 10.0,
        max_queued_bytes: int = MAX_QUEUED_BYTES,
    ) -> None:
        self._receiver = receiver
        self._acceptor = functools.partial(Acceptor, receiver, incarnation, has_permission)
        self._on_connection = on_connection
        self._on_message = on_message
        self._on_closed = on_closed
        self._handshake_timeout_s = handshake_timeout_s
        self._max_queued_bytes = max_queued_bytes
        self._lock = threading.Lock()
        self._is_stopped = False
        self._unadmitted: set[socket.socket] = set()
        self._threads: set[threading.Thread] = set()
        self._connections: set[Connection] = set()
        self._is_forked = False
        unix, self._unix_address, self._directory = _listen_unix()
        try:
            tcp = _listen_tcp(host, port)
        except BaseException:
            _forget_unix(unix, self._directory)
            raise
        if not advertised_host:
            advertised_host = socket.gethostname() if host in ("", "0.0.0.0", "::") else host
        self._tcp_address = TcpAddress(advertised_host, tcp.getsockname()[1])
        self._wake_receiver, self._wake_sender = socket.socketpair()
        self._sockets = [tcp, unix]
        self._crew = ReadingCrew(receiver) if reading_crew.IS_AVAILABLE else None
        self._accepting = threading.Thread(target=self._accept, name=f"weft-accept-{receiver}", daemon=True)
        self._accepting.start()
        release_in_children(self)

    @property
    def port(self) -> int:
        """The TCP port."""
        return self._tcp_address.port

    @property
    def addresses(self) -> tuple[str, ...]:
        """Where this task can be dialed, as `dial` takes it."""
        return str(self._unix_address), str(self._tcp_address)

    @property
    def connections(self) -> tuple[Connection, ...]:
        """The connections that are admitted and not closed."""
        with self._lock:
            return tuple(self._connections)

    def stop(self, reason: str = "the task stops", timeout_s: float = CLOSE_TIMEOUT_S) -> None:
        """Accept no more, close every connection, wait for the threads. Idempotent."""
        if self._is_forked:
            return
        with self._lock:
            is_first, self._is_stopped = not self._is_stopped, True
            unadmitted, connections, threads = list(self._unadmitted), list(self._connections), list(self._threads)
        if is_first:
            self._wake_sender.send(b"x")
        for sock in unadmitted:
            with contextlib.suppress(OSError):
                sock.shutdown(socket.SHUT_RDWR)
        for connection in connections:
            connection.begin_close(reason, timeout_s)
        self._accepting.join()
        for thread in threads:
            if thread is not threading.current_thread():
                thread.join()
        if self._crew is not None:
            self._crew.join()

    def release_after_fork(self) -> None:
        """In a forked child: give up the child's copies of the sockets."""
        self._is_stopped = self._is_forked = True
        for sock in [*self._sockets, self._wake_receiver, self._wake_sender, *self._unadmitted]:
            sock.close()

    def _accept(self) -> None:
        """The accepting thread: from the construction to the stop."""
        # Without a descriptor of its own, which forked children would have in common.
        with selectors.PollSelector() as selector:
            for sock in [*self._sockets, self._wake_receiver]:
                selector.register(sock, selectors.EVENT_READ)
            while not self._is_stopped:
                for key, _ in selector.select():
                    if key.fileobj is not self._wake_receiver:
                        assert isinstance(key.fileobj, socket.socket)
                        self._accept_one(key.fileobj)
        tcp, unix = self._sockets
        for sock in (tcp, self._wake_receiver, self._wake_sender):
            sock.close()
        _forget_unix(unix, self._directory)

    def _accept_one(self, listening: socket.socket) -> None:
        try:
            sock, _ = listening.accept()
        except (BlockingIOError, ConnectionError):  # the peer has gone already
            return
        except OSError as error:
            _log.warning("%s cannot accept a connection: %s", self._receiver, error)
            time.sleep(_PAUSE_S)
            return
        thread = threading.Thread(target=self._serve, args=(sock,), name=f"weft-read-{self._receiver}", daemon=True)
        with self._lock:
            is_full = len(self._unadmitted) >= MAX_UNADMITTED
            if not is_full and not self._is_stopped:
                self._unadmitted.add(sock)
                self._threads.add(thread)
                thread.start()
                return
        sock.close()
        if is_full:
            _log.warning("%s closed a connection: %d others are not admitted yet", self._receiver, MAX_UNADMITTED)

    def _serve(self, sock: socket.socket) -> None:
        """One connection's thread, from the handshake to the end."""
        try:
            connection = self._admit(sock)
            if connection is not None:
                self._read(connection)
        finally:
            with self._lock:
                self._threads.discard(threading.current_thread())

    def _read(self, connection: Connection) -> None:
        """Have a connection read: a client's by the crew, which nobody waits for; a task's on this thread."""
        if self._crew is not None and isinstance(connection.peer, Hello) and not connection.peer.sender:
            connection.begin(self._crew.step_aside)
            try:
                self._crew.add(connection)
            except OSError as error:  # more than this system can watch
                connection.abort(error)
                connection.finish()
        else:
            connection.run()

    def _admit(self, sock: socket.socket) -> Connection | None:
        """Do the handshake; return a connection that the owner knows of, or None with the socket closed."""
        connection = None
        try:
            connection = self._greet(sock)
        except (NotAdmittedError, ProtocolError, OSError) as error:
            if not self._is_stopped:
                _log.warning("%s did not admit a connection from %s: %s", self._receiver, _peer_name(sock), error)
        except Exception:
            _log.exception("%s failed to admit a connection from %s", self._receiver, _peer_name(sock))
        with self._lock:
            self._unadmitted.discard(sock)
            if connection is None:
                sock.close()
            elif self._is_stopped:
                connection.abort(None)
            else:
                self._connections.add(connection)
        return connection

    def _greet(self, sock: socket.socket) -> Connection:
        decoder = FrameDecoder(max_header_bytes=MAX_HELLO_BYTES, max_payload_bytes=0)
        admitted = admit(sock, self._acceptor(), decoder, self._handshake_timeout_s)
        hello = admitted.peer
        assert isinstance(hello, Hello)
        exchange = join_exchange(admitted.descriptors)
        decoder.max_header_bytes, decoder.max_payload_bytes = MAX_HEADER_BYTES, None
        name = hello.sender or "a client"
        connection = Connection(
            sock,
            self._on_message,
            self._closed,
            name,
            peer=hello,
            decoder=decoder,
            received=admitted.received,
            max_queued_bytes=self._max_queued_bytes,
            exchange=exchange,
        )
        try:
            self._on_connection(connection, hello)
        except BaseException:
            if exchange is not None:
                exchange.close()
            raise
        return connection

    def _closed(self, connection: Connection, cause: Exception | None) -> None:
        with self._lock:
            self._connections.discard(connection)
        self._on_closed(connection, cause)


def _peer_name(sock: socket.socket) -> str:
    try:
        address = sock.getpeername()
    except OSError:
        return "a peer that has gone"
    return f"{address[0]}:{address[1]}" if isinstance(address, tuple) else "this host"


def _listen_tcp(host: str, port: int) -> socket.socket:
    sock = None
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host or None, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        sock = socket.socket(family, kind, protocol)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.bind(address)
        sock.listen(_BACKLOG)
        sock.setblocking(False)
    except OSError as error:
        if sock is not None:
            sock.close()
        raise UnavailableError(None, None, f"cannot listen on {TcpAddress(host, port)}: {error}") from error
    return sock


def _listen_unix() -> tuple[socket.socket, UnixAddress, Path | None]:
    """Return a listening socket under a name that nobody can guess, and the directory to remove with it, if any."""
    directory = None
    name = f"@weft-{secrets.token_hex(16)}"
    if sys.platform != "linux":
        directory = Path(tempfile.mkdtemp(prefix="weft-"))
        name = str(directory / "channel")
    address = UnixAddress(host_identity(), name)
    sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    sock.bind(address.path)
    sock.listen(_BACKLOG)
    sock.setblocking(False)
    return sock, address, directory


def _forget_unix(sock: socket.socket, directory: Path | None) -> None:
    sock.close()
    if directory is not None:
        shutil.rmtree(directory, ignore_errors=True)
