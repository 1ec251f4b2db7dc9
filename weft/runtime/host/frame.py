"""Frame: what one run of a host program needs beside its values, and what it notes about itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from weft.framework.nodes.operation import Operation
from weft.platform.files.file_access import FileAccess
from weft.runtime.state.function_plan import StepView
from weft.runtime.state.random_streams import RandomStream


class Frame:
    """One run of a program, or of a body in it, on the host.

    Args:
        streams: those of the program's random nodes.
        context: gives a node's OpContext; None where no host op runs.
        compiles_loops: whether loops that turn out to be long may go on compiled.
        file_access: what host ops may open; None for everything.
        sizes_change: whether the sizes of the stage's inputs keep changing.
    """

    __slots__ = ("compiles_loops", "context", "file_access", "nodes_run", "sizes_change", "streams")

    def __init__(
        self,
        streams: Sequence[RandomStream] = (),
        context: Callable[[Operation], StepView] | None = None,
        compiles_loops: bool = False,
        file_access: FileAccess | None = None,
        sizes_change: bool = False,
    ) -> None:
        self.streams = streams
        self.context = context
        self.compiles_loops = compiles_loops
        self.file_access = file_access
        self.sizes_change = sizes_change
        # How many nodes ran in loops.
        self.nodes_run = 0

    def inside(self, streams: Sequence[RandomStream]) -> Frame:
        """The frame of a body."""
        return Frame(streams, self.context, self.compiles_loops, self.file_access, self.sizes_change)

    def check_of(self, op: Operation) -> Callable[[], None]:
        """What a node that may take long calls now and then; raises the step's error when it has one."""
        return _nothing if self.context is None else self.context(op).raise_if_cancelled


def _nothing() -> None:
    return None


PLAIN = Frame()
"""The frame of programs without random nodes, host ops and bodies, which look at none."""
