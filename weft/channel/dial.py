"""Opens a connection of the tensor channel to a task."""

from __future__ import annotations

import ssl
import time
from collections.abc import Sequence
from typing import NamedTuple

from weft.channel.address import parse_address
from weft.channel.admission import NotAdmittedError, admit, close_all
from weft.channel.connection import Connection, OnClosed, OnMessage
from weft.channel.heartbeats import Watch
from weft.channel.outbox import MAX_QUEUED_BYTES
from weft.channel.refusal import decisive
from weft.channel.shared_memory.exchange import PayloadExchange, open_exchange
from weft.channel.transport.transport import Address, DescriptorTransport, Transport
from weft.errors import UnavailableError
from weft.protocol.handshake import Dialer
from weft.protocol.messages import Hello, Message, Welcome
from weft.protocol.protocol_error import ProtocolError
from weft.protocol.tensor_frame import FrameDecoder


def dial(
    addresses: Sequence[str],
    hello: Hello,
    on_message: OnMessage,
    on_closed: OnClosed,
    timeout_s: float,
    *,
    max_queued_bytes: int = MAX_QUEUED_BYTES,
    tls: ssl.SSLContext | None = None,
    watch: Watch | None = None,
) -> tuple[Connection, Welcome]:
    """Return a started connection to the task at `addresses` (a Listener's), by one of this host alone if it can be.

    `tls` has the credentials for addresses that ask for them, `watch` says how the task is watched.

    Blocks, `timeout_s` at most. A task that refuses, or is another one than `hello.target`, is not connected.

    Raises:
        UnavailableError: no address led to the task; names each with its reason. `refusal` tells what that says of the task.
        ValueError: an address is malformed.
    """
    deadline_s = time.monotonic() + timeout_s
    candidates = [parse_address(text, tls) for text in addresses]
    candidates.sort(key=lambda address: not address.is_of_one_host)
    attempts = []
    causes: list[Exception] = []
    for address in candidates:
        left_s = deadline_s - time.monotonic()
        if not address.is_reachable:
            attempts.append(f"{address}: {address.why_unreachable}")
            continue
        if left_s <= 0:
            attempts.append(f"{address}: not tried, the {timeout_s:g} s are over")
            continue
        try:
            greeted = _greet(address, hello, left_s)
        except (OSError, NotAdmittedError, ProtocolError) as error:
            attempts.append(f"{address}: {error}")
            causes.append(error)
            continue
        welcome = greeted.welcome
        connection = Connection(
            greeted.transport,
            on_message,
            on_closed,
            welcome.receiver or str(address),
            peer=welcome,
            decoder=greeted.decoder,
            received=greeted.received,
            max_queued_bytes=max_queued_bytes,
            exchange=greeted.exchange,
            watch=watch,
        )
        connection.start()
        return connection, welcome
    target = hello.target or "a task"
    raise UnavailableError.of(f"cannot reach {target}: {'; '.join(attempts) or 'it has no address'}") from decisive(causes)


class _Greeted(NamedTuple):
    transport: Transport
    welcome: Welcome
    decoder: FrameDecoder
    received: Sequence[Message]
    exchange: PayloadExchange | None


def _greet(address: Address, hello: Hello, timeout_s: float) -> _Greeted:
    """Connect and do the handshake; return what a Connection continues with."""
    deadline_s = time.monotonic() + timeout_s
    transport = address.connect(timeout_s)
    decoder = FrameDecoder()
    # Tasks alone: what a client fetches is the program's for good, and may be looked at by processes that it forks.
    opened = open_exchange() if hello.sender and isinstance(transport, DescriptorTransport) else None
    exchange = None if opened is None else opened[0]
    try:
        attached = []
        if opened is not None:
            # The peer may use it right behind its answer.
            decoder.borrower = opened[0].borrower
            attached.append(opened[1].fileno())
        admitted = admit(transport, Dialer(hello), decoder, max(deadline_s - time.monotonic(), 0.001), attached)
        assert isinstance(admitted.peer, Welcome)
    except BaseException:
        transport.shut_down()
        transport.close()
        if exchange is not None:
            exchange.close()
        raise
    finally:
        if opened is not None:
            opened[1].close()
    close_all(admitted.descriptors)
    return _Greeted(transport, admitted.peer, decoder, admitted.received, exchange)
