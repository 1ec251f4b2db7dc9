"""Addresses are text that leads back to the same place."""

from __future__ import annotations

import pytest

from weft.channel.address import parse_address
from weft.channel.transport import unix as unix_transport
from weft.channel.transport.tcp import TcpAddress
from weft.channel.transport.tls import TlsAddress
from weft.channel.transport.unix import UnixAddress, host_identity


@pytest.mark.parametrize(
    "address",
    [TcpAddress("::1", 80), TcpAddress("host.example", 65535), UnixAddress("id", "/a:b"), TlsAddress("ps-0.weft", "::1", 80)],
)
def test_addresses_are_written_as_they_are_read(address: TcpAddress | UnixAddress | TlsAddress) -> None:
    assert parse_address(str(address)) == address


@pytest.mark.parametrize(
    "text",
    [
        "",
        "tcp:host",
        "tcp::80",
        "tcp:host:http",
        "tcp:host:70000",
        "unix:id:x",
        "unix:id:@abstract",
        "tls:h:80",
        "tls:@h:80",
        "udp:a:1",
    ],
)
def test_what_is_no_address_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is no address of a tensor channel"):
        parse_address(text)


def test_a_host_identity_is_made_without_linux_files(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(*arguments: object, **settings: object) -> str:
        raise FileNotFoundError

    usual = host_identity()
    monkeypatch.setattr(unix_transport.Path, "read_text", missing)
    other = host_identity.__wrapped__()
    assert other != usual
    assert len(other) == 16
