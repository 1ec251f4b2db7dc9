"""The target of a command: a server's address as a session's target names it."""

from __future__ import annotations

from typing import Final

from weft.cli.parser import OneLineParser
from weft.errors import InvalidArgumentError
from weft.platform.hosts.host_port import split_address

_SCHEME: Final = "grpc://"
HELP: Final = "grpc://host:port of any task of the cluster"


def address_of(target: str, parser: OneLineParser) -> str:
    """The `host:port` of a target, with or without its scheme; ends the process with one line for what is no target."""
    address = target.removeprefix(_SCHEME)
    try:
        split_address(address)
    except InvalidArgumentError as error:
        parser.error(f"{target!r} is no target such as grpc://host:port: {error.message}")
    return address
