"""FunctionGraph: a function of a dataset or of `tf.function` under construction."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence

from weft.framework.context import scopes
from weft.framework.graphs.func_graph import FuncGraph
from weft.framework.graphs.graph import Graph
from weft.framework.graphs.node_count import NodeCount
from weft.framework.nodes.operation import Tensor
from weft.framework.types.attr_value import FunctionName
from weft.ops.array.identity import identity_node
from weft.ops.control_flow.automatic_order import order_effects
from weft.ops.declaration import Role, definition_of


class FunctionGraph(FuncGraph):
    """A function under construction. Its nodes' names are its own, so that those of the graph around it are what they were.

    Args:
        name: its name in the library.
        outer_graph: the graph in which it is traced.
    """

    is_function = True

    def __init__(self, name: str, outer_graph: Graph) -> None:
        super().__init__(name, outer_graph)
        self._names = {}
        self._suffixes = {}
        self.node_count = NodeCount()
        self.has_inline_bodies = False

    @contextlib.contextmanager
    def building(self) -> Iterator[FunctionGraph]:
        """Build in this graph for the block, on the devices that are open around it and in no name scope."""
        state = scopes.current(self.outer_graph)
        with self.as_default(), scopes.entered(self, control_flow=self, devices=state.devices, device_name=state.device_name):
            yield self

    def _stand_in(self, tensor: Tensor) -> Tensor:
        reference = read_reference(tensor)
        if reference is None or not self._is_inside(tensor.op.graph):
            return super()._stand_in(tensor)
        # In TensorFlow the read that a variable makes of itself shares its memory, so functions see it as it is by then.
        with self.building(), self.control_dependencies(None):
            return identity_node(self.capture(reference), name=f"{reference.op.name.rpartition('/')[2]}/read")

    def finish(self, outputs: Sequence[Tensor]) -> FunctionName:
        """Have it return these tensors, after all nodes that read or change state, and put it into the library."""
        with self.building():
            self.outputs = [self.output(tensor) for tensor in outputs]
        order_effects(self)
        self.outer_graph.add_function(self.name, self)
        self.finalize()
        return FunctionName(self.name)


def read_reference(tensor: Tensor) -> Tensor | None:
    """The variable's reference of which a tensor is a read, None for any other tensor."""
    op = tensor.op
    is_read = op.op_def is definition_of(identity_node) and op.inputs[0].dtype.is_ref
    return op.inputs[0] if is_read and op.inputs[0].op.op_def.role is Role.VARIABLE else None
