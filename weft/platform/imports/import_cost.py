"""ImportCost: what importing weft has cost this process, by which it knows how fast it runs Python.

How long Python takes for something differs tenfold between machines, and with what else they do. What is to be told before
it has been done is told as a part of this import, which every process has done by then.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final


class ImportCost:
    """CPU time of the thread that imported weft, in seconds; 0 where nothing has imported the whole of it."""

    def __init__(self) -> None:
        self.seconds = 0.0

    @contextmanager
    def measured(self) -> Iterator[None]:
        """A block that imports it."""
        begin_s = time.thread_time()
        yield
        self.seconds = time.thread_time() - begin_s


import_cost: Final = ImportCost()
"""Of this process."""
