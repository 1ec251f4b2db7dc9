"""`weft completion`: prints the script by which a shell completes the words of `weft`."""

from __future__ import annotations

from argparse import Namespace

import shtab

from weft.cli.command_line import COMMANDS, command_parser
from weft.cli.parser import OneLineParser

_DESCRIPTION = """\
Print a script that completes commands, options and files for a shell:

  weft completion bash > ~/.local/share/bash-completion/completions/weft
  weft completion zsh > ~/.zfunc/_weft
"""


def add_arguments(parser: OneLineParser) -> None:
    """Describe the command."""
    parser.description = _DESCRIPTION
    parser.add_argument(
        "shell", metavar="SHELL", choices=shtab.SUPPORTED_SHELLS, help=f"one of {', '.join(shtab.SUPPORTED_SHELLS)}"
    )
    parser.set_defaults(run=_run)


def _run(arguments: Namespace) -> int:
    print(shtab.complete(command_parser([*COMMANDS]), arguments.shell))
    return 0
