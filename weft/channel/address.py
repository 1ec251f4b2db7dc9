"""Reads the addresses of tensor channels, which travel over gRPC as text. One scheme is one kind of transport."""

from __future__ import annotations

import ssl
from collections.abc import Callable
from typing import Final

from weft.channel.transport.tcp import TcpAddress
from weft.channel.transport.tls import TlsAddress
from weft.channel.transport.transport import Address
from weft.channel.transport.unix import UnixAddress

_SCHEMES: Final[dict[str, Callable[[str], Address | None]]] = {"tcp": TcpAddress.parse, "unix": UnixAddress.parse}


def parse_address(text: str, tls: ssl.SSLContext | None = None) -> Address:
    """Return the address that the text stands for; `tls` has this process's credentials, if it has any.

    Raises:
        ValueError: it stands for none.
    """
    scheme, _, rest = text.partition(":")
    parse = _SCHEMES.get(scheme)
    address = TlsAddress.parse(rest, tls) if scheme == "tls" else None if parse is None else parse(rest)
    if address is None:
        raise ValueError(
            f"{text!r} is no address of a tensor channel: expected tcp:HOST:PORT, tls:NAME@HOST:PORT or unix:IDENTITY:PATH"
        )
    return address
