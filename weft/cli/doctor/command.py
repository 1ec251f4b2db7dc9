"""The command `weft doctor`."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import Final

from weft.cli.doctor import limits, network, servers, software
from weft.cli.doctor.finding import Finding, Health
from weft.cli.option_values import seconds_above_0
from weft.cli.parser import OneLineParser
from weft.cli.target import address_of

_DESCRIPTION: Final = """\
Look for what keeps weft's programs from running: the versions of packages, JAX
and its devices, limits of the system, names of hosts, credentials; and, of each
server that is named, whether it can be reached, who it is, its clock, and
whether the replicas that train on it have one model.

Each finding that is not well comes with a remedy. The exit code is 1 when there
is a problem, and 0 when there are warnings at most. Nothing is changed.
"""


def add_arguments(parser: OneLineParser) -> None:
    """Describe the command."""
    parser.description = _DESCRIPTION
    parser.add_argument("servers", nargs="*", metavar="HOST:PORT", help="servers to ask, as a ClusterSpec names them")
    parser.add_argument(
        "--timeout", type=seconds_above_0, default=5.0, metavar="S", help="seconds that a server has to answer (5)"
    )
    parser.set_defaults(run=lambda arguments: _run(arguments, parser))


def _run(arguments: argparse.Namespace, parser: OneLineParser) -> int:
    addresses = [address_of(each, parser) for each in arguments.servers]
    counts = dict.fromkeys(Health, 0)
    for finding in _findings(addresses, arguments.timeout):
        counts[finding.health] += 1
        print(finding, flush=True)
    print(f"{_count(counts[Health.PROBLEM], 'problem')}, {_count(counts[Health.WARNING], 'warning')}")
    return 1 if counts[Health.PROBLEM] else 0


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _findings(addresses: list[str], timeout_s: float) -> Iterator[Finding]:
    yield from software.packages()
    yield software.devices()
    yield from limits.of_process()
    yield limits.shared_memory()
    yield from limits.shared_folder()
    yield network.own_folder()
    yield network.credentials()
    yield from network.proxies()
    yield from network.own_name()
    for address in addresses:
        of_name = list(network.server_name(address))
        yield from of_name
        if all(finding.health is not Health.PROBLEM for finding in of_name):
            yield from servers.examine(address, timeout_s)
