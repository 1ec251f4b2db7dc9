"""Whose a frame of a traceback is: the program's, weft's, or that of a package under weft."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import TracebackType
from typing import Final

_PACKAGE: Final = str(Path(__file__).resolve().parents[2]) + os.sep
# What stands in the package but is read as a program: examples of its use.
_EXAMPLES: Final = os.path.join(_PACKAGE, "examples") + os.sep
_STANDARD: Final = os.path.dirname(os.path.realpath(os.__file__)) + os.sep
_INSTALLED: Final = (f"{os.sep}site-packages{os.sep}", f"{os.sep}dist-packages{os.sep}")
# The packages that weft calls and is called by; any other one counts as the program's.
_UNDER_WEFT: Final = ("jax", "jaxlib", "numpy", "absl", "grpc", "google", "tensorboard", "opt_einsum", "ml_dtypes", "fsspec")
# The frames of IPython, below which the cells of a notebook run.
_SHELL: Final = f"{os.sep}IPython{os.sep}core{os.sep}"

# What a shell calls a file that stands for one of its cells; None for any other file.
_name_of: Callable[[str], str | None] = lambda file: None  # noqa: E731


def name_files_by(function: Callable[[str], str | None]) -> None:
    """Let a shell name the files that stand for its cells."""
    global _name_of
    _name_of = function


def shown_name(file: str) -> str:
    """A file as messages name it: `train.py`, and a notebook's cell `In[3]`."""
    return _name_of(file) or os.path.basename(file)


def is_shell(file: str) -> bool:
    """Whether a file is of IPython's shell, which runs the cells of a notebook."""
    return _SHELL in file


def is_weft(file: str) -> bool:
    """Whether a file is of weft itself."""
    return file.startswith(_PACKAGE) and not file.startswith(_EXAMPLES)


def is_of_weft(thing: object) -> bool:
    """Whether a function or class, or the class of an object, is defined in weft."""
    module = getattr(thing, "__module__", "")
    return isinstance(module, str) and module.startswith("weft.")


def levels(trace: TracebackType | None) -> Iterator[TracebackType]:
    """The levels of a traceback, the outermost first."""
    while trace is not None:
        yield trace
        trace = trace.tb_next


def level_of_program() -> int:
    """The `stacklevel` by which a warning of the function that asks shows the program's line."""
    frame, level = sys._getframe(1), 1
    while frame.f_back is not None and is_weft(frame.f_code.co_filename):
        frame, level = frame.f_back, level + 1
    return level


def is_under_weft(file: str) -> bool:
    """Whether a file is Python's own, or of a package that weft stands on."""
    for installed in _INSTALLED:
        _, found, inside = file.partition(installed)
        if found:
            return inside.partition(os.sep)[0].removesuffix(".py") in _UNDER_WEFT
    return file.startswith((_STANDARD, "<frozen "))
