"""GatedSession: a replica's session, whose runs pause while the chief replaces the values of the model."""

from __future__ import annotations

from typing import Any

from weft.client.session import Session
from weft.framework.building.aliases import Feeds, Fetches
from weft.framework.building.run_signature import typed_run
from weft.proto.messages import RunMetadata, RunOptions
from weft.training.sessions.step_gate import StepGate


class GatedSession(Session):
    """A Session with a gate in front of `run`, once it has one. Callables, as queue runners use them, are not held.

    It is the program's own session with a Supervisor, and inside of a MonitoredTrainingSession, so both pause.
    """

    _gate: StepGate | None = None

    def pause_at(self, gate: StepGate) -> None:
        """Take the runs from now on through a gate."""
        self._gate = gate

    @typed_run
    def run(
        self,
        fetches: Fetches,
        feed_dict: Feeds | None = None,
        options: RunOptions | None = None,
        run_metadata: RunMetadata | None = None,
    ) -> Any:
        """Run a step as `Session.run` does, when the gate is open."""
        gate = self._gate
        if gate is None:
            return super().run(fetches, feed_dict, options, run_metadata)
        gate.begin_step()
        try:
            return super().run(fetches, feed_dict, options, run_metadata)
        finally:
            gate.end_step()
