"""The `weft` command: finds the subcommand, lets it run and returns its exit code."""

from __future__ import annotations

from collections.abc import Sequence

from weft.cli import credentials, launch, run, stop
from weft.cli.parser import OneLineParser
from weft.cli.saved_model import command as saved_model


def main(argv: Sequence[str] | None = None) -> int:
    """Run the subcommand in `argv`, by default the process's arguments; return its exit code.

    Raises:
        SystemExit: for --help, and for arguments that are wrong.
    """
    parser = OneLineParser(prog="weft", description="Run weft programs.", allow_abbrev=False)
    subcommands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    run.add_to(subcommands)
    launch.add_to(subcommands)
    credentials.add_to(subcommands)
    stop.add_to(subcommands)
    saved_model.add_to(subcommands)
    arguments = parser.parse_args(argv)
    exit_code: int = arguments.run(arguments)
    return exit_code
