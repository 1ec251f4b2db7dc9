"""`weft stop`: stops servers, here or on other hosts, after the steps that run."""

from __future__ import annotations

import argparse
import sys
from typing import Final

from weft.cli.option_values import seconds
from weft.cli.parser import OneLineParser
from weft.cli.target import address_of
from weft.distributed.client.stopping import stop_server
from weft.errors import OpError

_DESCRIPTION: Final = """\
Drain each server and stop it: it takes no new sessions and steps, those that
run have the time of --grace to end, and its program's server.join() returns.
Servers take the word of their own user's processes on their host, and of
holders of their cluster's credentials, which the environment tells as for any
client.
"""


def add_arguments(parser: OneLineParser) -> None:
    """Describe the command."""
    parser.description = _DESCRIPTION
    parser.add_argument("targets", nargs="+", metavar="TARGET", help="grpc://host:port of a server")
    parser.add_argument("--grace", type=seconds, default=10.0, metavar="S", help="seconds that running steps have (10)")
    parser.set_defaults(run=lambda arguments: _run(arguments, parser))


def _run(arguments: argparse.Namespace, parser: OneLineParser) -> int:
    addresses = {target: address_of(target, parser) for target in arguments.targets}
    failed = 0
    for target, address in addresses.items():
        try:
            print(f"Stopped {stop_server(address, arguments.grace)} at {target}", flush=True)
        except OpError as error:
            print(f"weft stop: {target}: {error.message}", file=sys.stderr)
            failed = 1
    return failed
