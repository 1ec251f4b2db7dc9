"""The program that a command runs: a file that is there."""

from __future__ import annotations

from pathlib import Path

from weft.cli.parser import OneLineParser


def check_program(program: str, parser: OneLineParser) -> None:
    """End the command with an error if there is no such file."""
    if not Path(program).is_file():
        problem = "is not a file" if Path(program).exists() else "does not exist"
        parser.error(f"the program {program!r} {problem}")
