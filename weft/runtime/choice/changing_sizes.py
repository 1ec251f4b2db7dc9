"""ChangingSizes: which sizes of a stage's inputs are worth code of their own, where sizes keep changing.

A batch size that changes costs one compilation for each size: 40 to 200 ms for a small stage, half a second for a small CNN's
training step, seconds for a large network. A last partial batch is compiled once, like the full one. A further size is
interpreted until that has cost as much as its code would: no order of sizes then costs more than about twice what it would with
the order known beforehand (the rule of renting skis until they could have been bought). 60 steps of that CNN on 60 different
sizes took 9 s so instead of 32, 600 of an MLP on 441 sizes 2.2 s.

Both costs are counted, in the unit of `compile_rules`, and not measured, where steps wait for code: see there. Where it is made
beside them, the time of runs on the host is compared with what code has taken to make in this process (`code_price`). By the
count, 500 steps of a bidirectional LSTM on 30 lengths of sequences had code made for one length after the other, at 5 s of CPU
each, that saved 20 ms a run (two loaded cores, November 2026).
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Final

COMPILED_AT_ONCE: Final = 2
"""A stage compiles at once for this many sizes, as full batches and a last partial one need."""

CODE_BYTES: Final = 50 << 20
CODE_NODE_BYTES: Final = 4 << 20
"""What code costs: 25 ms, and 2 ms more for each node, at the 2 GB/s of `compile_rules`. Judgement between the times above."""

# Up to here a copy of what is updated costs less than to compile for a size that may not come again. Judgement: such a copy
# takes 32 ms at that rate, and the shortest compilation 25 ms.
CHANGING_UPDATE_BYTES: Final = 64 << 20

_MAX_SIZES: Final = 1024


class ChangingSizes:
    """How often each size of one stage was interpreted. Safe from any thread; a race loses a run's count at most.

    Args:
        nodes: of how many its code is made.
    """

    def __init__(self, nodes: int) -> None:
        self._price = CODE_BYTES + nodes * CODE_NODE_BYTES
        self._runs: dict[Hashable, int] = {}
        self._seconds: dict[Hashable, float] = {}
        # The work of a run on the host: what it makes, and the operations that XLA counts in the code for another size. NumPy
        # may need sixteen times as long for those as XLA, which makes one cost about as much as a byte.
        self.work: float | None = None

    @property
    def affordable_runs(self) -> int:
        """How many runs on the host cost as much as code; 0 where one costs more."""
        return int(self._price // max(self.work or 0.0, 1.0))

    def note_run(self, size: Hashable) -> None:
        """Note a run of this size on the host. Of more than a thousand sizes the notes start anew."""
        if size not in self._runs and len(self._runs) >= _MAX_SIZES:
            self._runs.clear()
        self._runs[size] = self._runs.get(size, 0) + 1

    def note_time(self, size: Hashable, took_s: float) -> None:
        """Note how long a run of this size on the host took. Of more than a thousand sizes the notes start anew."""
        if size not in self._seconds and len(self._seconds) >= _MAX_SIZES:
            self._seconds.clear()
        self._seconds[size] = self._seconds.get(size, 0.0) + took_s

    def is_paid(self, size: Hashable, code_s: float, updated_bytes: int) -> bool:
        """Whether runs of a size on the host have taken as long as its code, or need too large copies of what is updated."""
        return updated_bytes > CHANGING_UPDATE_BYTES or self._seconds.get(size, 0.0) >= code_s

    def is_worth(self, size: Hashable, updated_bytes: int, least_update_bytes: int) -> bool:
        """Whether a size is to have code.

        Args:
            size: what tells it from others.
            updated_bytes: how large the variables are of which NumPy would make a copy.
            least_update_bytes: where they are larger, a size may be worth its code even if it never comes again: if they are
                so large that the copies cost too much, or if one run on the host costs more than the code.
        """
        if updated_bytes > least_update_bytes and (updated_bytes > CHANGING_UPDATE_BYTES or self.affordable_runs == 0):
            return True
        return self._runs.get(size, 0) >= max(self.affordable_runs, 1)
