"""The address of a task's tensor channel: accepts connections, admits those that may talk, ends them all at the stop.

Every accepted peer gets a thread, which does the handshake. So a peer that says nothing holds up nothing but its own
thread, for `handshake_timeout_s`; there are at most `MAX_UNADMITTED` of them. Then a task's connection, whose messages other
threads wait for, gets a thread that reads it alone; a client's is read by the listener's pool.
"""

from __future__ import annotations

import functools
import hmac
import os
import selectors
import socket
import ssl
import threading
import time
from collections.abc import Callable
from typing import Final, Protocol, TypeAlias

from weft.channel.admission import NotAdmittedError, PeerLeftError, admit
from weft.channel.connection import CLOSE_TIMEOUT_S, Connection, OnClosed, OnMessage
from weft.channel.heartbeats import Watch
from weft.channel.outbox import MAX_QUEUED_BYTES
from weft.channel.shared_memory.exchange import join_exchange
from weft.channel.transport.tcp import TcpListener
from weft.channel.transport.tls import TlsListener
from weft.channel.transport.transport import Transport, TransportListener
from weft.channel.transport.unix import UnixListener
from weft.channel.waiting import reader_pool
from weft.channel.waiting.reader_pool import ReaderPool
from weft.channel.waiting.wait import role
from weft.platform.logs.limited_log import peer_log
from weft.platform.process.fork_release import release_in_children
from weft.protocol.handshake import MAX_HELLO_BYTES, Acceptor
from weft.protocol.messages import Hello, Message
from weft.protocol.protocol_error import ProtocolError
from weft.protocol.tensor_frame import MAX_HEADER_BYTES, FrameDecoder

OnConnection: TypeAlias = Callable[[Connection, Hello], None]

MAX_UNADMITTED: Final = 256
"""The number of peers that may be in their handshake at the same time; further ones are closed at once."""

_PAUSE_S: Final = 0.1  # when the process is out of file descriptors


def has_token(token: bytes) -> Callable[[Hello], bool]:
    """Return a judge of tokens that takes the same time for every wrong one."""
    return lambda hello: hmac.compare_digest(hello.token, token)


class ClientService(Protocol):
    """The owner of connections with clients, whose Hello names no task; called as Connection says."""

    def on_connection(self, connection: Connection, hello: Hello) -> None:
        """Take over a connection, before any message of it."""
        ...

    def on_message(self, connection: Connection, message: Message) -> None:
        """Handle a client's message."""
        ...

    def on_closed(self, connection: Connection, cause: Exception | None) -> None:
        """Take note of a connection's end."""
        ...


class Listener:
    """Listens on TCP and, for peers of this host, on a Unix socket, from its construction to `stop`.

    For every admitted peer, `on_connection(connection, hello)` is called first, then `on_message` and `on_closed` as
    Connection says, one at a time. With `clients`, a peer whose Hello names no task is a client, and goes there instead.
    `host` "" is every interface, for which `advertised_host` tells peers what to dial; port 0 is any free one.
    `has_permission` judges a Hello's token; see `has_token`.

    Peers of this host are to be of the same user, unless `is_open`. With `tls` the TCP port takes holders of credentials only,
    and `tls_name` is the name in this side's certificate. `watch_of` says how a task is watched, or, for "", a client.

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
        clients: ClientService | None = None,
        advertised_host: str = "",
        tls: ssl.SSLContext | None = None,
        tls_name: str = "",
        is_open: bool = False,
        watch_of: Callable[[str], Watch | None] = lambda sender: None,
        handshake_timeout_s: float = 10.0,
        max_queued_bytes: int = MAX_QUEUED_BYTES,
    ) -> None:
        self._receiver = receiver
        self._acceptor = functools.partial(Acceptor, receiver, incarnation, has_permission)
        self._on_connection = on_connection
        self._on_message = on_message
        self._on_closed = on_closed
        self._clients = clients
        self._watch_of = watch_of
        self._handshake_timeout_s = handshake_timeout_s
        self._max_queued_bytes = max_queued_bytes
        self._lock = threading.Lock()
        self._is_stopped = False
        self._unadmitted: set[Transport] = set()
        self._threads: set[threading.Thread] = set()
        self._connections: set[Connection] = set()
        self._is_forked = False
        unix = UnixListener()
        try:
            tcp = TcpListener(host, port, advertised_host)
            outer: TransportListener = tcp if tls is None else TlsListener(tcp, tls, tls_name)
        except BaseException:
            unix.close()
            raise
        self._tcp_address = tcp.address
        self._listeners: list[TransportListener] = [unix, outer]
        self._is_open = is_open
        self._wake_receiver, self._wake_sender = socket.socketpair()
        self._pool = ReaderPool(receiver) if reader_pool.IS_AVAILABLE else None
        self._accepting = threading.Thread(target=self._accept, name=f"weft-accept-{receiver}", daemon=True)
        self._accepting.start()
        release_in_children(self)

    @property
    def port(self) -> int:
        """The TCP port."""
        return self._tcp_address.port

    @property
    def addresses(self) -> tuple[str, ...]:
        """The addresses of this task, as `dial` takes them."""
        return tuple(str(listener.address) for listener in self._listeners)

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
        for transport in unadmitted:
            transport.shut_down()
        for connection in connections:
            connection.begin_close(reason, timeout_s)
        self._accepting.join()
        # The threads of handshakes first: they start the connections.
        for thread in threads:
            if thread is not threading.current_thread():
                thread.join()
        for connection in connections:
            connection.join()
        if self._pool is not None:
            self._pool.join()

    def release_after_fork(self) -> None:
        """In a forked child: give up the child's copies of the sockets."""
        self._is_stopped = self._is_forked = True
        self._wake_receiver.close()
        self._wake_sender.close()
        for transport in self._unadmitted:
            transport.close()
        for listener in self._listeners:
            listener.release_after_fork()

    def _accept(self) -> None:
        """The accepting thread: from the construction to the stop."""
        # Without a descriptor of its own, which forked children would have in common.
        with selectors.PollSelector() as selector:
            for listener in self._listeners:
                selector.register(listener, selectors.EVENT_READ, listener)
            selector.register(self._wake_receiver, selectors.EVENT_READ)
            while not self._is_stopped:
                for key, _ in selector.select():
                    if key.data is not None:
                        self._accept_one(key.data)
        self._wake_receiver.close()
        self._wake_sender.close()
        for listener in self._listeners:
            listener.close()

    def _accept_one(self, listener: TransportListener) -> None:
        try:
            transport = listener.accept()
        except (BlockingIOError, ConnectionError):  # the peer has gone already
            return
        except OSError as error:
            peer_log.warning("%s cannot accept a connection: %s", self._receiver, error)
            time.sleep(_PAUSE_S)
            return
        thread = threading.Thread(target=self._serve, args=(transport,), name=f"weft-admit-{self._receiver}", daemon=True)
        with self._lock:
            is_full = len(self._unadmitted) >= MAX_UNADMITTED
            if not is_full and not self._is_stopped and self._start_admitting(transport, thread):
                return
        transport.close()
        if is_full:
            peer_log.warning("%s closed a connection: %d others are not admitted yet", self._receiver, MAX_UNADMITTED)

    def _start_admitting(self, transport: Transport, thread: threading.Thread) -> bool:
        """Start the thread of a handshake; False where the system gives none. The lock is held."""
        try:
            thread.start()
        except RuntimeError as error:  # this thread must go on: without it nobody is admitted any more
            peer_log.warning("%s closed a connection: %s", self._receiver, error)
            return False
        self._unadmitted.add(transport)
        self._threads.add(thread)
        return True

    def _serve(self, transport: Transport) -> None:
        """The thread of a handshake, which also handles the messages that came right behind it."""
        role.reads = True
        try:
            connection = self._admit(transport)
            if connection is not None:
                # Nobody waits for a client's messages, and there may be many clients.
                is_client = isinstance(connection.peer, Hello) and not connection.peer.sender
                connection.start(self._pool if is_client else None)
        finally:
            with self._lock:
                self._threads.discard(threading.current_thread())

    def _admit(self, transport: Transport) -> Connection | None:
        """Do the handshake; return a connection that the owner knows of, or None with the transport closed."""
        connection = None
        peer_name = transport.peer_name
        try:
            connection = self._greet(transport)
        except PeerLeftError as error:
            peer_log.info("%s did not admit a connection from %s: %s", self._receiver, peer_name, error)
        except (NotAdmittedError, ProtocolError, OSError) as error:
            if not self._is_stopped:
                peer_log.warning("%s did not admit a connection from %s: %s", self._receiver, peer_name, error)
        except Exception:
            peer_log.exception("%s failed to admit a connection from %s", self._receiver, peer_name)
        with self._lock:
            self._unadmitted.discard(transport)
            if connection is None:
                transport.close()
            elif self._is_stopped:
                connection.abort(None)
            else:
                self._connections.add(connection)
        return connection

    def _greet(self, transport: Transport) -> Connection:
        user = transport.peer_user
        if not self._is_open and user not in (None, os.getuid()):
            raise NotAdmittedError(f"it belongs to user {user}; this task takes processes of user {os.getuid()} only")
        decoder = FrameDecoder(max_header_bytes=MAX_HELLO_BYTES, max_payload_bytes=0)
        admitted = admit(transport, self._acceptor(), decoder, self._handshake_timeout_s)
        hello = admitted.peer
        assert isinstance(hello, Hello)
        exchange = join_exchange(admitted.descriptors)
        decoder.max_header_bytes, decoder.max_payload_bytes = MAX_HEADER_BYTES, None
        clients = None if hello.sender else self._clients
        on_closed = self._on_closed if clients is None else clients.on_closed
        connection = Connection(
            transport,
            self._on_message if clients is None else clients.on_message,
            lambda connection, cause: self._closed(connection, cause, on_closed),
            hello.sender or "a client",
            peer=hello,
            decoder=decoder,
            received=admitted.received,
            max_queued_bytes=self._max_queued_bytes,
            exchange=exchange,
            watch=self._watch_of(hello.sender),
        )
        try:
            on_connection = self._on_connection if clients is None else clients.on_connection
            on_connection(connection, hello)
        except BaseException:
            if exchange is not None:
                exchange.close()
            raise
        return connection

    def _closed(self, connection: Connection, cause: Exception | None, on_closed: OnClosed) -> None:
        with self._lock:
            self._connections.discard(connection)
        on_closed(connection, cause)
