"""The latest lines of weft's log, kept for whoever looks at a running process."""

from __future__ import annotations

import logging
from collections import deque
from typing import Final

_KEPT: Final = 200


class RecentLog(logging.Handler):
    """Keeps records that are logged anyway, as text. Safe from any thread."""

    def __init__(self) -> None:
        super().__init__()
        self.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s", "%H:%M:%S"))
        self._lines: deque[str] = deque(maxlen=_KEPT)

    def begin(self) -> None:
        """Keep lines from now on; a second call does nothing."""
        logging.getLogger("weft").addHandler(self)

    def emit(self, record: logging.LogRecord) -> None:
        """Keep a record."""
        self._lines.append(self.format(record))

    def lines(self) -> list[str]:
        """Those that are kept, the oldest first."""
        return list(self._lines)


recent_log: Final = RecentLog()
"""Of this process."""
