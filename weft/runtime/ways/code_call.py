"""CodeCall: calls a stage's code, with the values of its variables and the places of its random nodes in their streams."""

from __future__ import annotations

from collections.abc import Sequence

from weft.errors import FailedPreconditionError, OpError
from weft.framework.building.aliases import Array
from weft.runtime.compiled import engine
from weft.runtime.compiled.leaving_values import LeavingValues
from weft.runtime.program.kernel_errors import kernel_error
from weft.runtime.program.program import Program
from weft.runtime.state.random_streams import NO_DRAWS, Draws, RandomStream
from weft.runtime.state.session_state import SessionState


class CodeCall:
    """What code of one stage is called with. Who calls it has the locks of the variables.

    Args:
        program: what the stage runs.

    Attributes:
        read_slots, written_slots, updated_slots: the variables that are read alone, written, and read and written, in the order
            in which `CompiledStage` takes and returns their values.
    """

    __slots__ = ("_program", "_streams", "read_slots", "updated_slots", "written_slots")

    def __init__(self, program: Program) -> None:
        self._program = program
        self.read_slots = [program.slots[n] for n in sorted(program.read_slots - program.written_slots)]
        self.written_slots = [program.slots[n] for n in sorted(program.written_slots)]
        self.updated_slots = [program.slots[n] for n in sorted(program.written_slots & program.read_slots)]
        self._streams: Sequence[RandomStream] = ()  # from the first run on

    def __call__(
        self, compiled: engine.CompiledStage, inputs: Sequence[Array], draws: Draws, looks: Sequence[Array] = ()
    ) -> tuple[Sequence[Array] | LeavingValues, Sequence[Array]]:
        """Call the code; returns its outputs, which `engine.outputs_of` gives, and the new values of the written variables.

        Raises:
            OpError: a variable has no value, or the code refuses what it got.
        """
        reads, updates = self.values()
        try:
            outputs, values, draws.moved = compiled(inputs, reads, updates, draws.starts, looks)
            return outputs, values
        except OpError:
            raise
        except Exception as error:
            if any(value is None for value in (*reads, *updates)):
                raise self._uninitialized() from None
            raise kernel_error(self._program.nodes[-1], error) from error

    def values(self) -> tuple[list[Array], list[Array]]:
        """The values of the variables that are read alone, and of those that are updated; None for one without."""
        return [slot.value for slot in self.read_slots], [slot.value for slot in self.updated_slots]

    def draws(self, compiled: engine.CompiledStage, inputs: Sequence[Array], session: SessionState) -> Draws:
        """What a run takes of the streams of random nodes."""
        nodes = self._program.random_nodes
        if not nodes:
            return NO_DRAWS
        blocks = compiled.known_blocks(inputs)
        if blocks is None:
            reads, updates = self.values()
            if any(value is None for value in (*reads, *updates)):
                raise self._uninitialized()
            blocks = compiled.blocks(inputs, reads, updates)
        # A stage belongs to one session.
        streams = self._streams = self._streams or session.streams.of(nodes)
        return Draws(streams, blocks, compiled.moving)

    def _uninitialized(self) -> OpError:
        slot = next(slot for slot in [*self.read_slots, *self.updated_slots] if slot.value is None)
        op = next((op for op in self._program.nodes if op.name == slot.name), None)
        return FailedPreconditionError.of(f"Attempting to use uninitialized value {slot.name}", op)
