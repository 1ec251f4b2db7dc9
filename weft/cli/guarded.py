"""How a command ends whose output nobody reads, or which is interrupted: quietly, with the exit code that a shell expects.

One whose output cannot be written, as on a full disk, says so in a line.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable

from weft.cli import os_trouble


def guarded(act: Callable[[], int]) -> int:
    """The exit code of `act`, or 128 and a signal's number: SIGPIPE's once nobody reads, SIGINT's after Ctrl-C.

    An error of the system that `act` does not tell of itself is told, with the exit code 1.
    """
    try:
        exit_code = act()
        # A process that was started with its output closed has none.
        if sys.stdout is not None:
            sys.stdout.flush()
    except BrokenPipeError:
        discard_output()
        return 128 + signal.SIGPIPE
    except OSError as error:
        print(f"weft: {os_trouble.told(error)}", file=sys.stderr)
        discard_output()
        return 1
    except KeyboardInterrupt:
        return 128 + signal.SIGINT
    return exit_code


def discard_output() -> None:
    """Send standard output nowhere from now on, as nobody can read it: so that Python's flush at exit does not fail."""
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, sys.stdout.fileno())
    os.close(null)
