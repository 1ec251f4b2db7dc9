"""Ends a job whose launcher died without ending it. Run as a script, as the leader of the job's process group.

Standard input is a pipe whose other end only the launcher holds, so reading it ends when the launcher does, however
that happens. Everything in the group is then asked to end, and killed two seconds later.
"""

from __future__ import annotations

import os
import signal
import time

_GRACE_S = 2.0


def main() -> None:
    """Wait for the launcher's end, then end the process group, this process included."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    while os.read(0, 4096):
        pass
    os.killpg(0, signal.SIGTERM)
    time.sleep(_GRACE_S)
    os.killpg(0, signal.SIGKILL)


if __name__ == "__main__":
    main()
