"""SmallWay: how a stage runs that is too little work for XLA, until it is given more."""

from __future__ import annotations

from collections.abc import Sequence

from weft.framework.building.aliases import Array
from weft.runtime.choice.compile_rules import LIGHT_GROWTH
from weft.runtime.state.session_state import SessionState
from weft.runtime.ways.compiled_way import CompiledWay
from weft.runtime.ways.host_way import ContextOf, HostWay, nbytes


class SmallWay:
    """On the host where inputs are about as large as those that were found to be little work, compiled where they are larger.

    One and the same function of a program may answer for one observation in each step, and now and then for a thousand.
    """

    def __init__(self, host: HostWay, compiled: CompiledWay) -> None:
        self._host = host
        self._compiled = compiled
        self._most_bytes = host.counted.most_input_bytes * LIGHT_GROWTH

    def run(self, inputs: Sequence[Array], session: SessionState, context: ContextOf | None) -> Sequence[Array]:
        """Run it; returns the outputs, perhaps still being computed."""
        way = self._host if self.fits(inputs) else self._compiled
        return way.run(inputs, session, context)

    def fits(self, inputs: Sequence[Array]) -> bool:
        """Whether the stage runs on the host with these inputs."""
        size_bytes: int = sum(map(nbytes, inputs))
        return size_bytes <= self._most_bytes
