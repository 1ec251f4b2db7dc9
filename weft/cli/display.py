"""The display of a launched job: tasks' lines with the task's name before each, and how the job goes.

On a terminal names are coloured and a line at the bottom shows which tasks run and for how long. Otherwise tasks' lines
go to standard output and the launcher's own to standard error, as plain text.
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Protocol, Self, TextIO

from rich.console import Console
from rich.live import Live
from rich.text import Text

from weft.cli.progress import duration

_COLOURS = ("cyan", "magenta", "green", "yellow", "blue", "bright_red", "bright_cyan", "bright_magenta")
_LAUNCHER = "launch"
# Between two lines about the progress, where lines stay.
_PROGRESS_S = 30.0


class Display(Protocol):
    """Shows a job. Raises BrokenPipeError once nobody reads."""

    def task_line(self, name: str, line: str) -> None:
        """Show a line that a task wrote."""

    def task_state(self, name: str, state: str) -> None:
        """Tell in which state a task is from now on: one word, such as `running`."""

    def progress(self, text: str) -> None:
        """Show how far the job has come."""

    def note(self, text: str) -> None:
        """Show a line of the launcher's own."""


class PlainDisplay:
    """Lines of text on two streams, flushed one by one."""

    def __init__(self, names: Sequence[str], output: TextIO, notes: TextIO) -> None:
        self._width = max(map(len, [*names, _LAUNCHER]))
        self._output = output
        self._notes = notes
        self._told_s = time.monotonic()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc_info: object) -> None:
        pass

    def task_line(self, name: str, line: str) -> None:
        self._output.write(f"{name:<{self._width}} | {line}\n")
        self._output.flush()

    def task_state(self, name: str, state: str) -> None:
        pass

    def progress(self, text: str) -> None:
        now_s = time.monotonic()
        if now_s - self._told_s >= _PROGRESS_S:
            self._told_s = now_s
            self.note(text)

    def note(self, text: str) -> None:
        self._notes.write(f"{_LAUNCHER:<{self._width}} | {text}\n")
        self._notes.flush()


class TerminalDisplay:
    """Coloured lines above a status line that is drawn again four times a second."""

    def __init__(self, names: Sequence[str], console: Console) -> None:
        self._width = max(map(len, [*names, _LAUNCHER]))
        self._console = console
        self._styles = {name: _COLOURS[i % len(_COLOURS)] for i, name in enumerate(names)}
        self._states = dict.fromkeys(names, "waiting")
        self._progress = ""
        self._started_s = time.monotonic()
        self._live = Live(get_renderable=self._status, console=console, transient=True)

    def __enter__(self) -> Self:
        self._live.start()
        return self

    def __exit__(self, *exc_info: object) -> None:
        self._live.stop()

    def task_line(self, name: str, line: str) -> None:
        self._print(name, self._styles[name], Text.from_ansi(line))

    def task_state(self, name: str, state: str) -> None:
        self._states[name] = state
        self._live.refresh()

    def progress(self, text: str) -> None:
        self._progress = text

    def note(self, text: str) -> None:
        self._print(_LAUNCHER, "bold", Text(text, style="bold"))

    def _print(self, name: str, style: str, line: Text) -> None:
        prefix = f"{name:<{self._width}} │ "
        self._console.print(Text.assemble((prefix, style), line), soft_wrap=True)

    def _status(self) -> Text:
        parts = [duration(time.monotonic() - self._started_s)]
        if self._progress:
            parts.append(self._progress)
        for job in dict.fromkeys(name.partition(":")[0] for name in self._states):
            counts = Counter(state for name, state in self._states.items() if name.partition(":")[0] == job)
            parts.append(f"{job}: " + ", ".join(f"{count} {state}" for state, count in counts.items()))
        return Text("   ".join(parts), style="reverse", no_wrap=True, overflow="ellipsis")


class JobDisplay(Display, AbstractContextManager["JobDisplay"], Protocol):
    """A display that is opened and closed around the job."""


def display_for_this_terminal(names: Sequence[str]) -> JobDisplay:
    """Choose how to show a job with these tasks: as a terminal can when both streams are one, else plainly."""
    console = Console(highlight=False)
    if sys.stdout.isatty() and sys.stderr.isatty() and not console.is_dumb_terminal:
        return TerminalDisplay(names, console)
    return PlainDisplay(names, sys.stdout, sys.stderr)
