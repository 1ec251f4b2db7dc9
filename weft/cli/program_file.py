"""The program that a command runs: a file that is there, of Python where many tasks would find the same fault in it."""

from __future__ import annotations

import ast
import warnings
from pathlib import Path

from weft.cli.parser import OneLineParser


def check_program(program: str, parser: OneLineParser) -> None:
    """End the command with an error if there is no such file."""
    if not Path(program).is_file():
        problem = "is not a file" if Path(program).exists() else "does not exist"
        parser.error(f"the program {program!r} {problem}")


def check_python(program: str, parser: OneLineParser) -> None:
    """End the command with an error if this interpreter cannot read the program: each task would end with the same words."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(Path(program).read_bytes(), program)
    except SyntaxError as error:
        line = f"line {error.lineno}: " if error.lineno else ""
        text = (error.text or "").strip()
        shown = f": {text!r}" if text and text.isprintable() else ""
        parser.error(f"the program {program!r} is no Python that this interpreter reads: {line}{error.msg}{shown}")
    except ValueError as error:
        parser.error(f"the program {program!r} is no Python: {error}")
    except (OSError, RecursionError, MemoryError):
        # What no task can read, it tells itself; what is nested too deep for this check may still run.
        return
