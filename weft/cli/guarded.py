"""How a command ends whose output nobody reads, or which is interrupted: quietly, with the exit code that a shell expects."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable


def guarded(act: Callable[[], int]) -> int:
    """The exit code of `act`, or 128 and a signal's number: SIGPIPE's once nobody reads, SIGINT's after Ctrl-C."""
    try:
        exit_code = act()
        sys.stdout.flush()
    except BrokenPipeError:
        discard_output()
        return 128 + signal.SIGPIPE
    except KeyboardInterrupt:
        return 128 + signal.SIGINT
    return exit_code


def discard_output() -> None:
    """Send standard output nowhere from now on, as nobody reads it: so that Python's flush at exit does not fail."""
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, sys.stdout.fileno())
    os.close(null)
