"""GrowthWatch: notices that a program adds operations to the graph in a loop that also runs it.

Such a loop makes every run prepare a plan and, on a server, send the new nodes; memory grows until the process is killed.
"""

from __future__ import annotations

import logging
from collections import Counter
from typing import Any, Final

from weft.framework.graphs.graph import Graph

_LOG: Final = logging.getLogger("weft")

# How often one line of the program may add operations between two runs before it is told.
PATIENCE: Final = 20


class GrowthWatch:
    """Counts, for one session, between how many runs each line of the program has added operations."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._seen = -1
        self._lines: Counter[tuple[Any, int]] = Counter()
        self._is_over = False

    def look(self) -> None:
        """Called when a run needs a new plan; logs a warning once, when a line has added operations too often."""
        count = len(self._graph.operations)
        if self._is_over or count == self._seen:
            return
        if self._seen >= 0:
            new = self._graph.get_operations()[self._seen :]
            self._note({op.built_from[0]: op for op in new if op.built_from})
        self._seen = count

    def _note(self, added: dict[tuple[Any, int], Any]) -> None:
        self._lines.update(added.keys())
        for (code, line), op in added.items():
            if self._lines[code, line] >= PATIENCE:
                _LOG.warning(
                    'The graph grows in a loop: File "%s", line %d, in %s has added operations (%r the last) between %d runs '
                    "of one session, and the graph has %d operations by now. Every run is slower than the one before. Build "
                    "the graph before the loop, with placeholders for what changes; Graph.finalize() finds what adds to it",
                    code.co_filename, line, code.co_name, op.name, PATIENCE, len(self._graph.operations),
                )  # fmt: skip
                self._is_over = True
                self._lines.clear()
                return
