"""What a user reads of an error that nobody catches: the program's own lines, one frame of weft, and the message.

Frames of weft, and of the packages under it, say nothing to who wrote the program: an error of a step passes twenty of them.
`WEFT_FULL_TRACEBACK=1` shows all. A program that has set `sys.excepthook` itself keeps its own.
"""

from __future__ import annotations

import contextlib
import os
import sys
import threading
import traceback
from collections.abc import Sequence
from types import TracebackType
from typing import Final, TextIO

from weft.errors import OpError
from weft.platform.frames.program_frames import is_under_weft, is_weft
from weft.platform.hints.call_hints import hint_for

SWITCH: Final = "WEFT_FULL_TRACEBACK"


def is_full() -> bool:
    """Whether the user has asked for all frames."""
    return os.environ.get(SWITCH, "") not in ("", "0")


def install() -> None:
    """Show errors that nobody catches, in any thread, as this module's text says; for `weft` itself, once."""
    if sys.excepthook is sys.__excepthook__:
        sys.excepthook = _show
    if threading.excepthook is threading.__excepthook__:
        threading.excepthook = _show_of_thread


def text_of(error: BaseException) -> str:
    """The text that the user reads: traceback and message, with those of the errors that caused it."""
    whole = traceback.TracebackException(type(error), error, error.__traceback__, compact=True)
    if not is_full():
        _shorten(whole, error)
    hint = _hint(error)
    return "".join(whole.format()) + (f"  {hint}\n" if hint else "")


def _hint(error: BaseException) -> str:
    try:
        return hint_for(error)
    except Exception:
        # It asks objects of the program, which may fail at anything; the error itself is shown in any case.
        return ""


def kept_frames(files: Sequence[str]) -> list[int]:
    """Which frames of a traceback are shown, by their files from the outermost on; all where none is weft's."""
    kept: list[int] = []
    below_weft: int | None = None
    for index, file in enumerate(files):
        if (not kept and file == threading.__file__) or file == contextlib.__file__:
            continue  # the start of a thread, and what enters and leaves a block
        if is_weft(file):
            below_weft = index if below_weft is None else below_weft
        elif below_weft is None or not is_under_weft(file):
            kept.append(index)
            below_weft = None
    return kept if below_weft is None else [*kept, below_weft]


def _shorten(whole: traceback.TracebackException, error: BaseException | None) -> None:
    stack = whole.stack
    kept = kept_frames([frame.filename for frame in stack])
    left_out = len(stack) - len(kept)
    if left_out:
        whole.stack = traceback.StackSummary.from_list([stack[index] for index in kept])
    # The class of an error is asked of the error itself: its TracebackException no longer tells it from Python 3.13 on.
    cause, context = (None, None) if error is None else (error.__cause__, error.__context__)
    while whole.__cause__ is not None and cause is not None and _says_the_same(error, cause):
        whole.__cause__, cause = whole.__cause__.__cause__, cause.__cause__
        whole.__suppress_context__ = True
    if whole.__cause__ is not None and _is_of_weft_alone(whole.__cause__, cause):
        whole.__cause__ = None
        whole.__suppress_context__ = True
    if whole.__context__ is not None and _is_of_weft_alone(whole.__context__, context):
        whole.__suppress_context__ = True
    for earlier, its_error in ((whole.__cause__, cause), (whole.__context__, context)):
        if earlier is not None:
            _shorten(earlier, its_error)


def _says_the_same(error: BaseException | None, cause: BaseException) -> bool:
    """Whether a node has failed by what another node, inside of it, has raised: its words come once."""
    if not isinstance(error, OpError):
        return False
    if not isinstance(cause, OpError):
        # A function of the program has failed in a node, whose message has its lines.
        return f"{type(cause).__name__}: {cause}\nTraceback (most recent call last):" in error.message
    # A Saver says what a restore has failed by within words of its own.
    return cause.message.partition("\n")[0] in error.message.split("\n")


def _is_of_weft_alone(earlier: traceback.TracebackException, error: BaseException | None) -> bool:
    """Whether weft has met an error, of a kernel or a look-up, and made the one that is shown of it."""
    if isinstance(error, OpError):
        return False
    files = [frame.filename for frame in earlier.stack]
    return bool(files) and all(is_weft(file) or is_under_weft(file) for file in files)


def concerns_weft(error: BaseException, trace: TracebackType | None) -> bool:
    """Whether an error is shown by this module: it has passed weft, or weft knows a hint."""
    return not isinstance(error, KeyboardInterrupt) and (_passes_weft(trace) or bool(_hint(error)))


def _show(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    if not concerns_weft(error, trace):
        sys.__excepthook__(kind, error, trace)
        return
    _write(sys.stderr, text_of(error.with_traceback(trace)))


def _show_of_thread(arguments: threading.ExceptHookArgs) -> None:
    error = arguments.exc_value
    if error is None or isinstance(error, SystemExit) or not _passes_weft(arguments.exc_traceback):
        threading.__excepthook__(arguments)
        return
    name = "<unknown>" if arguments.thread is None else arguments.thread.name
    _write(sys.stderr, f"Exception in thread {name}:\n{text_of(error)}")


def _passes_weft(trace: TracebackType | None) -> bool:
    while trace is not None:
        if is_weft(trace.tb_frame.f_code.co_filename):
            return True
        trace = trace.tb_next
    return False


def _write(stream: TextIO | None, text: str) -> None:
    if stream is not None:
        stream.write(text)
        stream.flush()
