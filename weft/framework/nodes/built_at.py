"""The lines of a program that made a node, as messages show them."""

from __future__ import annotations

import linecache
import os.path
import sys
import sysconfig
from collections.abc import Iterable, Iterator
from types import CodeType, FrameType
from typing import Final

from weft.platform.frames.program_frames import is_shell, is_under_weft, shown_name

# Frames of the interpreter's own modules, such as those of contextlib and runpy, stand between a program and weft; they are no
# lines for its author to look at.
_STANDARD: Final = tuple(
    {sysconfig.get_path("stdlib") + os.sep, os.path.dirname(os.path.realpath(os.__file__)) + os.sep, "<frozen "}
)
_INSTALLED: Final = (os.sep + "site-packages" + os.sep, os.sep + "dist-packages" + os.sep)
_FRAME_LIMIT: Final = 24

Stack = tuple[tuple[CodeType, int], ...]

# Of lines of translated functions the program's: file, line, function.
_ORIGINS: Final[dict[tuple[str, int], tuple[str, int, str]]] = {}


def note_origin(file: str, line: int, origin: tuple[str, int, str]) -> None:
    """Remember of which line of the program a line of a translated function is made."""
    _ORIGINS[file, line] = origin


def origin(file: str, line: int) -> tuple[str, int, str] | None:
    """The program's file, line and function of a line of a translated function; None of any other line."""
    return _ORIGINS.get((file, line))


def capture_stack() -> Stack:
    """Code objects and lines of the calling program, innermost first; frames of weft itself are left out."""
    frames: list[tuple[CodeType, int]] = []
    frame: FrameType | None = sys._getframe(2)
    while frame is not None and len(frames) < _FRAME_LIMIT:
        if not frame.f_globals.get("__name__", "").startswith("weft."):
            frames.append((frame.f_code, frame.f_lineno))
        frame = frame.f_back
    return tuple(frames)


def is_program_file(file: str) -> bool:
    """Whether a file may be the user's: none of Python's own modules, nor of what weft stands on, such as gRPC."""
    if any(part in file for part in _INSTALLED):
        return not is_under_weft(file)
    return not file.startswith(_STANDARD)


def place(stack: Stack) -> str:
    """The innermost line of the program as `train.py:12`; empty where none is known, as for nodes out of a GraphDef."""
    found = next(_program_lines(stack), None)
    return "" if found is None else f"{shown_name(found[0])}:{found[1]}"


def named(kind: str, name: str, stack: Stack) -> str:
    """A node in a message: `MatMul 'dense/MatMul' (train.py:12)`."""
    line = place(stack)
    return f"{kind} {name!r}{f' ({line})' if line else ''}"


def stack_text(stack: Stack) -> str:
    """The program's lines from the outermost to the innermost, with their source, as a traceback prints them."""
    lines = []
    for file, line, function in reversed(list(_program_lines(stack))):
        lines.append(f'  File "{file}", line {line}, in {function}')
        source = source_line(file, line)
        if source:
            lines.append(f"    {source}")
    return "\n".join(lines)


def entries(stack: Stack) -> list[tuple[str, int, str, str | None]]:
    """(file, line, function, source) from the outermost to the innermost."""
    places = [_meant(code, line) for code, line in reversed(stack)]
    return [(file, line, function, source_line(file, line) or None) for file, line, function in places]


def entries_with_starts(stack: Stack) -> list[tuple[str, int, str, str | None, int | None]]:
    """`entries`, each with the line at which its function begins; None where the function is translated."""
    starts = [None if origin(code.co_filename, line) else code.co_firstlineno for code, line in reversed(stack)]
    return [(*entry, start) for entry, start in zip(entries(stack), starts, strict=True)]


def source_line(file: str, line: int) -> str:
    """The text of a line; empty where it is not to be had."""
    return linecache.getline(file, line).strip()


def _program_lines(stack: Iterable[tuple[CodeType, int]]) -> Iterator[tuple[str, int, str]]:
    for code, line in stack:
        if is_shell(code.co_filename):
            return
        if is_program_file(code.co_filename):
            yield _meant(code, line)


def _meant(code: CodeType, line: int) -> tuple[str, int, str]:
    """The program's line: of a translated function the one that it is made of."""
    return _ORIGINS.get((code.co_filename, line)) or (code.co_filename, line, code.co_name)
