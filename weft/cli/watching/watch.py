"""`weft watch`: a live page of a cluster, on this host's loopback address."""

from __future__ import annotations

import argparse
import os
import signal
import sys
import threading
from typing import Final

from weft.cli import target
from weft.cli.option_values import port_or_any, seconds_above_0
from weft.cli.parser import OneLineParser
from weft.cli.watching.cluster_view import ClusterView
from weft.cli.watching.page import LivePage
from weft.distributed.rpc.pages.http_door import HttpDoor
from weft.errors import OpError

_DESCRIPTION: Final = """\
Serve a page that shows a cluster while it runs, until Ctrl-C: tasks with state,
load and rates, who waits for whom, traffic, where variables lie and how hot
each server is, staleness, the graph's parts, failures with their first cause,
and the log. Open the address that is printed in a browser on this host; from
another host through a tunnel: ssh -L PORT:localhost:PORT THIS_HOST. The page is
for processes of your own user; tasks are asked with the cluster's credentials,
which the environment tells as for any client.
"""


def add_arguments(parser: OneLineParser) -> None:
    """Describe the command."""
    parser.description = _DESCRIPTION
    parser.add_argument("target", metavar="TARGET", help=target.HELP)
    parser.add_argument(
        "--port", type=port_or_any, default=0, metavar="PORT", help="the page's port, 0 for any that is free (0)"
    )
    parser.add_argument("--interval", type=seconds_above_0, default=1.0, metavar="S", help="seconds between two looks (1)")
    parser.add_argument("--wait", action="store_true", help="begin before the cluster does, and wait for it")
    parser.add_argument("--log", action="store_true", help="show the lines of standard input in the log; end with it")
    parser.set_defaults(run=lambda arguments: _run(arguments, parser))


def _run(arguments: argparse.Namespace, parser: OneLineParser) -> int:
    view = ClusterView(target.address_of(arguments.target, parser))
    try:
        if not arguments.wait:
            view.open()
        page = LivePage(view, arguments.interval)
        try:
            door = HttpDoor("localhost", arguments.port, page.respond)
        except OpError:
            page.close()
            raise
    except OpError as error:
        print(f"weft watch: {arguments.target}: {error.message}", file=sys.stderr)
        return 1
    print(f"Watching {arguments.target} at {door.url}", flush=True)
    signal.signal(signal.SIGTERM, lambda *_: os.kill(os.getpid(), signal.SIGINT))
    try:
        if arguments.log:
            for line in sys.stdin:
                page.add_line(line.rstrip("\n"))
        else:
            threading.Event().wait()
    except KeyboardInterrupt:
        pass
    finally:
        door.stop()
        page.close()
    return 0
