"""`weft trace`: records the steps of all tasks of a cluster into one file."""

from __future__ import annotations

import argparse
import errno
import os
import sys
import tempfile
import threading
from contextlib import suppress
from pathlib import Path
from typing import Final

from weft.cli import target
from weft.cli.option_values import seconds_above_0
from weft.cli.parser import OneLineParser
from weft.distributed.client.observation.cluster_trace import record
from weft.distributed.client.observation.task_report import short_name
from weft.errors import OpError

_DESCRIPTION: Final = """\
Record what all tasks of a cluster do for some seconds, while it runs: steps of
masters, their parts and stages, sends and receives joined by arrows, queueing
and compiling, by clocks that are aligned. Open the file in ui.perfetto.dev or
chrome://tracing. Steps that began before are not in it. Ctrl-C ends the
recording earlier.
"""


def add_arguments(parser: OneLineParser) -> None:
    """Describe the command."""
    parser.description = _DESCRIPTION
    parser.add_argument("target", metavar="TARGET", help=target.HELP)
    parser.add_argument("-o", "--output", type=Path, default=Path("trace.json"), metavar="FILE", help="the file (trace.json)")
    parser.add_argument("--seconds", type=seconds_above_0, default=10.0, metavar="S", help="how long to record (10)")
    parser.set_defaults(run=lambda arguments: _run(arguments, parser))


def _wait(seconds: float) -> None:
    with suppress(KeyboardInterrupt):
        threading.Event().wait(seconds)


def _check_writable(path: Path) -> None:
    """Raise OSError where no file can be written: before the recording, which may take minutes and would be lost."""
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    with tempfile.TemporaryFile(dir=path.parent):
        pass


def _run(arguments: argparse.Namespace, parser: OneLineParser) -> int:
    address = target.address_of(arguments.target, parser)
    if arguments.seconds > 600:
        parser.error(f"--seconds {arguments.seconds:g}: tasks record for 600 seconds at most")
    try:
        _check_writable(arguments.output)
        trace = record(address, lambda: _wait(arguments.seconds), arguments.seconds, "weft trace")
        arguments.output.write_text(trace.as_json(), encoding="utf-8")
    except OpError as error:
        print(f"weft trace: {arguments.target}: {error.message}", file=sys.stderr)
        return 1
    except OSError as error:
        print(f"weft trace: cannot write {str(arguments.output)!r}: {error.strerror}", file=sys.stderr)
        return 1
    for task, why in trace.missing.items():
        print(f"weft trace: nothing of {short_name(task)}: {why}", file=sys.stderr)
    for task, count in trace.dropped.items():
        print(f"weft trace: {count} events of {short_name(task)} were too many; record for a shorter time", file=sys.stderr)
    print(f"Recorded {trace.steps} steps, {len(trace.events)} events, into {arguments.output}; open it in ui.perfetto.dev")
    return 0
