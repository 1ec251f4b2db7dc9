"""What tests wait for that nothing tells of."""

from __future__ import annotations

import threading
from collections.abc import Callable


def until(is_so: Callable[[], bool]) -> None:
    """Look every 10 ms whether it is so; fail after 20 s."""
    pause, looks = threading.Event(), 2000
    while not is_so():
        looks -= 1
        assert looks
        pause.wait(0.01)
