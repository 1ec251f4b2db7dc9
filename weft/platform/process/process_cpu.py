"""How much a process has computed: what tells one that is slow from one that stands still."""

from __future__ import annotations

import os
from pathlib import Path


def cpu_s(process_id: int) -> float | None:
    """Seconds that all threads of a process have computed, to a hundredth; None where nobody tells."""
    try:
        text = Path(f"/proc/{process_id}/stat").read_text(encoding="ascii", errors="replace")
        # Behind the name, which may have any characters, and its bracket: user and system time, the 14th and 15th of all.
        user, system = text.rpartition(")")[2].split()[11:13]
    except (OSError, ValueError):
        return None
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")
