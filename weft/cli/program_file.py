"""The program that a command runs: a file that is there, of Python where many tasks would find the same fault in it."""

from __future__ import annotations

import ast
import re
import warnings
from pathlib import Path
from typing import Final

from weft.cli.parser import OneLineParser, did_you_mean

# What a file of another kind is, and how it becomes a program's.
_OTHER_FILES: Final = {
    ".toml": "a job's description stands behind --job of `weft launch` or `weft task`",
    ".ipynb": "`jupyter nbconvert --to script` makes a program of a notebook",
}
_TASKS: Final = re.compile(r"(\w+)[=:](\d+)")


def check_program(program: str, parser: OneLineParser) -> None:
    """End the command with an error if there is no such file."""
    path = Path(program)
    if path.suffix in _OTHER_FILES and path.is_file():
        parser.error(f"the program {program!r} is no Python: {_OTHER_FILES[path.suffix]}")
    if path.is_dir():
        own = path / "__main__.py"
        parser.error(f"the program {program!r} is not a file{f', but a folder: its program is {own}' if own.is_file() else ''}")
    if not path.is_file():
        parser.error(f"the program {program!r} {'is not a file' if path.exists() else 'does not exist'}{_meant(path, parser)}")


def _meant(program: Path, parser: OneLineParser) -> str:
    """The end of a sentence that names what is there and was probably meant."""
    tasks = _TASKS.fullmatch(str(program))
    if tasks and f"--{tasks[1]}" in parser.options:
        return f"; did you mean '--{tasks[1]} {tasks[2]}'?"
    for other in (program.with_name(f"{program.name}.py"), Path(str(program).replace(".", "/") + ".py")):
        if other.is_file():
            return f"; did you mean {str(other)!r}?"
    try:
        beside = [str(each) for each in sorted(program.parent.glob("*.py"))]
    except OSError:
        return ""
    return did_you_mean(str(program), beside)


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
