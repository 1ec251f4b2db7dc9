"""The name of a process among those of a cluster."""

from __future__ import annotations

import os
import socket


def this_process() -> str:
    """A name that no other process of the cluster has: the host and the process id."""
    return f"{socket.gethostname()}:{os.getpid()}"
