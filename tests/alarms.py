"""What a program that does nothing wrong has no reason to print: warnings, errors in its log, tracebacks.

The tests that run the examples and the guides' programs to a good end look for such lines, with Python's warnings shown.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable
from typing import Final

SHOWN: Final = {"PYTHONWARNINGS": "always,ignore:This process (pid"}
"""The environment in which Python shows all warnings, but for the one of forks beside threads: the guides' programs fork."""

_TASK: Final = r"^(?:[a-z]+:\d+ *\| )?"
_ALARM: Final = re.compile(rf"{_TASK}(?:(?:WARNING|ERROR|CRITICAL|FATAL):|Traceback \()|\b[A-Z]\w*Warning: |Exception ignored")
_EXPECTED: Final = {
    r"(?:waited|compiled|run|Waiting for) .*\d+ s\b": "tests share a machine, on which a task may start or compile for 10 s",
    r"Standard services need a 'logdir'": "TensorFlow's own word to a chief whose Supervisor has none: it saves nothing",
    r"Step \d+ has \d+/\d+ gradients; missing: .*late \d+ s": "for the same reason a replica may be that late",
}


def unexpected(lines: Iterable[str], more: Iterable[str] = ()) -> list[str]:
    """The lines that alarm without reason.

    Args:
        lines: what a program printed, on both streams.
        more: patterns of lines that this program's test brings about.
    """
    allowed = re.compile("|".join([*_EXPECTED, *more]))
    return [line for line in lines if _ALARM.search(line) and not allowed.search(line)]


def logged(records: Iterable[logging.LogRecord]) -> list[str]:
    """The lines of a log as a program's stderr has them.

    Args:
        records: those of a test's `caplog`.
    """
    return [f"{each.levelname}:{each.name}:{line}" for each in records for line in each.getMessage().splitlines()]
