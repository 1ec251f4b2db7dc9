"""Running a node when it is made: what the functions of `tf.py_function` do."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Final

from weft.framework.building.aliases import Array
from weft.framework.building.eager_graph import seed_epoch
from weft.framework.nodes.eager_tensor import EagerTensor
from weft.framework.nodes.operation import Operation, Tensor
from weft.runtime.host.frame import Frame
from weft.runtime.host.host_program import HostProgram
from weft.runtime.program.program_builder import build_program
from weft.runtime.state.binder import Binder
from weft.runtime.state.function_plan import StepView
from weft.runtime.state.random_streams import RandomStream, first_place
from weft.runtime.state.resource_manager import ResourceManager
from weft.runtime.state.session_state import SessionState

# Variables and other state of such functions are the process's, as the functions are. A graph clears its container at its end.
EAGER_STATE: Final = SessionState(ResourceManager(), name="py_function")


class _EagerStreams:
    """The streams of nodes that run at once: one for all of a kind with the same seeds, since the seed was set."""

    def __init__(self) -> None:
        self._epoch: object = None
        self._streams: dict[Hashable, RandomStream] = {}

    def of(self, op: Operation) -> RandomStream:
        seeds = op.attrs.get("seed"), op.attrs.get("seed2")
        made = RandomStream(op.name, first_place(op))
        if not any(seeds):
            return made
        epoch = seed_epoch()
        if epoch is not self._epoch:
            self._epoch, self._streams = epoch, {}
        return self._streams.setdefault((op.type, *seeds, op.attrs.get("dtype")), made)


_STREAMS: Final = _EagerStreams()


def run_node(op: Operation, context: Callable[[Operation], StepView]) -> list[Array]:
    """Run a node of an EagerGraph on the values of its inputs; returns those of its outputs, None for a variable's handle.

    Args:
        op: the node.
        context: makes the contexts of host nodes.

    Raises:
        OpError: the kernel failed.
    """
    bind = Binder(EAGER_STATE.resources)
    inputs = [tensor for tensor in dict.fromkeys(op.inputs) if bind(tensor) is None]
    outputs = [tensor for tensor in op.outputs if bind(tensor) is None]
    program = build_program([op], inputs, outputs, bind)
    frame = Frame([_STREAMS.of(node) for node in program.random_nodes], context)
    made = dict(zip(outputs, HostProgram(program).run(_values(inputs), frame), strict=True))
    return [made.get(tensor) for tensor in op.outputs]


def _values(tensors: Sequence[Tensor]) -> list[Array]:
    return [tensor.value for tensor in tensors if isinstance(tensor, EagerTensor)]


def drop_container(container: str) -> None:
    """Drop the state that the functions of one call made."""
    EAGER_STATE.resources.clear([container])
