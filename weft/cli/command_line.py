"""The `weft` command: finds the subcommand, lets it run and returns its exit code."""

from __future__ import annotations

import argparse
import importlib
import sys
from collections.abc import Sequence
from typing import Final

from weft.cli.guarded import guarded
from weft.cli.parser import OneLineParser, did_you_mean

COMMANDS: Final = {
    "run": ("weft.cli.run", "run a program written for TensorFlow 1.x, unchanged"),
    "launch": ("weft.cli.launch", "start a program as every task of a cluster on this machine"),
    "task": ("weft.cli.task", "run a program as the task that a scheduler has started this process for"),
    "k8s": ("weft.cli.kubernetes", "write the objects that run a job on Kubernetes"),
    "stop": ("weft.cli.stop", "stop servers once their running steps have ended"),
    "doctor": ("weft.cli.doctor.command", "check this machine, and the servers of a cluster"),
    "top": ("weft.cli.watching.top", "show the tasks of a cluster in a terminal, refreshed every few seconds"),
    "watch": ("weft.cli.watching.watch", "show a cluster in a browser while it runs"),
    "trace": ("weft.cli.watching.trace", "record the steps of a whole cluster for Perfetto"),
    "checkpoint": ("weft.cli.checkpoint.command", "list, show, compare, export and verify checkpoints"),
    "credentials": ("weft.cli.credentials", "make a cluster's token or certificates"),
    "saved-model": ("weft.cli.saved_model.command", "show or run a SavedModel"),
    "completion": ("weft.cli.completion", "print a script that lets a shell complete this command's words"),
}
"""The subcommands, by name: the module that has each, and what it is for.

A module has `add_arguments(parser)`, which describes the command, gives it its options and sets `run` to what does it. It is
imported when its command is asked for: `weft --help` needs none of them.
"""

_ELSEWHERE: Final = {
    "kubernetes": "objects for Kubernetes are written by 'weft k8s manifest'",
    "ray": "a job in a Ray cluster is started by 'weft launch --on ray PROGRAM'",
    "slurm": "in an allocation of Slurm's, 'srun weft task PROGRAM' runs each task",
    "ssh": "a job on other hosts is started by 'weft launch --hosts A,B PROGRAM'",
}
"""What does the work of commands that somebody may look for."""


class _PrintVersion(argparse.Action):
    """Prints the versions that a report of a fault needs."""

    def __init__(self, option_strings: Sequence[str], dest: str, **_: object) -> None:
        super().__init__(option_strings, dest, nargs=0, help="show the versions of weft, JAX and Python, and exit")

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        """Print them and end the process."""
        print(importlib.import_module("weft.cli.versions").versions())
        parser.exit(0)


def command_parser(loaded: Sequence[str]) -> OneLineParser:
    """The parser of `weft`, with the arguments of these commands; of the others it knows what they are for."""
    parser = OneLineParser(prog="weft", description="Run weft programs.")
    parser.add_argument("--version", action=_PrintVersion)
    parser.set_defaults(is_program=False)
    subcommands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True, parser_class=OneLineParser)
    for name, (module, purpose) in COMMANDS.items():
        command = subcommands.add_parser(name, help=purpose)
        if name in loaded:
            importlib.import_module(module).add_arguments(command)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run the subcommand in `argv`, by default the process's arguments; return its exit code.

    Raises:
        SystemExit: for --help, and for arguments that are wrong.
        KeyboardInterrupt: from the program of `weft run`, which ends as under Python.
    """
    words = sys.argv[1:] if argv is None else argv
    asked = next((word for word in words if not word.startswith("-")), "")
    parser = command_parser([asked])
    unknown = [word for word in words[: words.index(asked) if asked else None] if word not in parser.options]
    if unknown:
        parser.refuse(unknown)
    if asked and asked not in COMMANDS:
        meant = f"; {_ELSEWHERE[asked]}" if asked in _ELSEWHERE else did_you_mean(asked, [*COMMANDS, *parser.options])
        parser.error(f"there is no command {asked!r}{meant}")
    arguments = parser.parse_args(words)
    exit_code: int = arguments.run(arguments) if arguments.is_program else guarded(lambda: arguments.run(arguments))
    return exit_code
