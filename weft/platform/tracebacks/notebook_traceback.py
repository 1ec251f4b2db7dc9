"""What a user of a notebook, or of IPython, reads of an error: the same few lines as on the console, with the cells' names.

IPython shows errors itself and asks no `sys.excepthook`. It takes a handler of exceptions (`set_custom_exc`), and shows for an
exception what its `_render_traceback_` gives; a shell that has a handler keeps its own.
"""

from __future__ import annotations

import contextlib
import re
import sys
from collections.abc import Callable
from types import TracebackType
from typing import Final, Protocol

from weft.platform.frames import program_frames
from weft.platform.tracebacks import short_traceback

_FRAME: Final = re.compile(r'File "([^"\n]+)", line (\d+)')


class _Shell(Protocol):
    """An IPython shell, as far as this module asks."""

    custom_exceptions: tuple[type[BaseException], ...]
    compile: object

    def set_custom_exc(self, exc_tuple: tuple[type[BaseException], ...], handler: Callable[..., None]) -> None: ...

    def showtraceback(
        self, exc_tuple: tuple[type[BaseException], BaseException, TracebackType | None], *, tb_offset: int | None
    ) -> None: ...


def install() -> None:
    """Show the errors of cells shortly, if this process has an IPython shell without a handler of its own."""
    ipython = sys.modules.get("IPython")
    shell: _Shell | None = None if ipython is None else ipython.get_ipython()
    if shell is None or shell.custom_exceptions:
        return
    shell.set_custom_exc((Exception,), _show)
    program_frames.name_files_by(lambda file: _cell_name(shell, file))


def _show(
    shell: _Shell, kind: type[BaseException], error: BaseException, trace: TracebackType | None, tb_offset: int | None = None
) -> None:
    if short_traceback.concerns_weft(error, trace) and not short_traceback.is_full():
        inside = _within_cells(trace)
        text = short_traceback.text_of(error.with_traceback(inside))
        error.with_traceback(trace)
        lines = _FRAME.sub(lambda found: _place(shell, *found.groups()), text).rstrip("\n").split("\n")
        # An exception without a place for attributes, which is rare, is shown in IPython's own way.
        with contextlib.suppress(TypeError):
            vars(error)["_render_traceback_"] = lambda: lines
    shell.showtraceback((kind, error, trace), tb_offset=tb_offset)


def _place(shell: _Shell, file: str, line: str) -> str:
    name = _cell_name(shell, file)
    return f'File "{file}", line {line}' if name is None else f"Cell {name}, line {line}"


def _cell_name(shell: _Shell, file: str) -> str | None:
    """`In[3]` for the file that stands for a cell."""
    found = getattr(shell.compile, "format_code_name", lambda _: None)(file)
    return None if found is None else str(found[1])


def _within_cells(trace: TracebackType | None) -> TracebackType | None:
    """The part of a traceback that is below the shell's own frames."""
    inside = trace
    while trace is not None:
        if program_frames.is_shell(trace.tb_frame.f_code.co_filename):
            inside = trace.tb_next
        trace = trace.tb_next
    return inside if inside is not None else trace
