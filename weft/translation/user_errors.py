"""Errors in translated functions, told by the lines of the program instead of those of the translation."""

from __future__ import annotations

import traceback
from typing import Final

from weft.framework.nodes import built_at

_HEAD: Final = "in converted code:\n"
_MARK: Final = "_weft_program_lines"


def tell_lines(error: BaseException) -> None:
    """Put the program's lines in front of an error's message, once; the error stays the object that it is."""
    if getattr(error, _MARK, False) or not isinstance(error, Exception):
        return
    lines = _program_lines(error)
    if not lines:
        return
    setattr(error, _MARK, True)
    text = str(error)
    head = "\n".join([_HEAD, *lines, ""])
    body = "\n".join("    " + line for line in f"{type(error).__name__}: {text}".splitlines())
    if type(error).__str__ is BaseException.__str__ and error.args == (text,):
        error.args = (f"{head}\n{body}\n",)
    else:
        error.add_note("\n".join([_HEAD, *lines]))


def _program_lines(error: Exception) -> list[str]:
    lines: list[str] = []
    for frame in traceback.extract_tb(error.__traceback__):
        found = built_at.origin(frame.filename, frame.lineno or 0)
        if found is not None:
            file, line, function = found
            told = [f"    {file}:{line} {function}  *", f"        {built_at.source_line(file, line)}"]
            if lines[-2:] != told:
                lines += told
    return lines
