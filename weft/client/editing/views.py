"""SubGraphView: some operations of a graph, with what enters and leaves them in an order of one's own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

from weft.client.editing.elements import flat, make_list_of_op, make_list_of_t
from weft.client.editing.selection import compute_boundary_ts, get_name_scope_ops, select_ops_and_ts
from weft.framework.building.aliases import Nest
from weft.framework.graphs.graph import Graph, get_default_graph
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.types.printed import printed


class SubGraphView:
    """Some operations of a graph, the tensors that enter them, and those that leave them.

    Args:
        inside_ops: the operations.
        passthrough_ts: tensors that are input and output at once, with none of the operations between.

    Raises:
        TypeError: they are of several graphs.
    """

    __repr__ = printed(
        "tf.contrib.graph_editor",
        lambda view: f"{len(view.ops)} ops, {len(view.inputs)} inputs, {len(view.outputs)} outputs",
    )

    def __init__(self, inside_ops: Nest = (), passthrough_ts: Nest = ()) -> None:
        self._ops = make_list_of_op(inside_ops) if inside_ops else []
        passed = make_list_of_t(passthrough_ts) if passthrough_ts else []
        entering, leaving, staying = compute_boundary_ts(self._ops)
        known = {id(each) for each in (*entering, *leaving, *staying)}
        self._passthrough = [each for each in passed if id(each) not in known]
        self._inputs = [*entering, *self._passthrough]
        self._outputs = [*leaving, *self._passthrough]
        everything: list[Operation | Tensor] = [*self._ops, *self._passthrough]
        self._graph: Graph | None = everything[0].graph if everything else None

    @property
    def graph(self) -> Graph | None:
        """The graph; None where there is nothing."""
        return self._graph

    @property
    def ops(self) -> list[Operation]:
        """The operations."""
        return list(self._ops)

    @property
    def inputs(self) -> list[Tensor]:
        """The tensors that enter."""
        return list(self._inputs)

    @property
    def outputs(self) -> list[Tensor]:
        """The tensors that leave."""
        return list(self._outputs)

    @property
    def passthroughs(self) -> list[Tensor]:
        """The tensors that enter and leave, with none of the operations between."""
        return list(self._passthrough)

    @property
    def connected_inputs(self) -> list[Tensor]:
        """The inputs that an operation in here takes."""
        return [each for each in self._inputs if not self.is_passthrough(each)]

    @property
    def connected_outputs(self) -> list[Tensor]:
        """The outputs that an operation in here makes."""
        return [each for each in self._outputs if not self.is_passthrough(each)]

    def is_passthrough(self, t: Tensor) -> bool:
        """Whether a tensor enters and leaves with none of the operations between.

        Args:
            t: a tensor of the graph.
        """
        return any(each is t for each in self._passthrough)

    def consumers(self) -> list[Operation]:
        """The operations outside that take what leaves, each once."""
        inside = set(self._ops)
        return list(dict.fromkeys(op for each in self._outputs for op in each.consumers() if op not in inside))

    def find_op_by_name(self, op_name: str) -> Operation:
        """The operation of a name; AssertionError when there is none.

        Args:
            op_name: the full name, with its scopes.
        """
        for op in self._ops:
            if op.name == op_name:
                return op
        raise AssertionError(f'Op "{op_name}" not found.')

    def op(self, op_id: int) -> Operation:
        """The operation of a number, counted from 0.

        Args:
            op_id: the operation's place in `ops`.
        """
        return self._ops[op_id]

    def input_index(self, t: Tensor) -> int:
        """The number of an input; ValueError when it is none.

        Args:
            t: one of `inputs`.
        """
        return _index(self._inputs, t, "inputs")

    def output_index(self, t: Tensor) -> int:
        """The number of an output; ValueError when it is none.

        Args:
            t: one of `outputs`.
        """
        return _index(self._outputs, t, "outputs")

    def copy(self) -> Self:
        """A view of the same."""
        made = type(self)(self._ops, self._passthrough)
        made._inputs, made._outputs = list(self._inputs), list(self._outputs)
        return made

    def remap_inputs(self, new_input_indices: Sequence[int]) -> Self:
        """A view whose inputs are these of mine, by number; IndexError beyond the last.

        Args:
            new_input_indices: numbers of inputs in their new order; one that is left out is no input any more.
        """
        made = self.copy()
        made._inputs = [self._inputs[each] for each in new_input_indices]
        return made

    def remap_outputs(self, new_output_indices: Sequence[int]) -> Self:
        """A view whose outputs are these of mine, by number; IndexError beyond the last.

        Args:
            new_output_indices: numbers of outputs in their new order; one may stand there several times, or not at all.
        """
        made = self.copy()
        made._outputs = [self._outputs[each] for each in new_output_indices]
        return made

    def remap(self, new_input_indices: Sequence[int] | None = None, new_output_indices: Sequence[int] | None = None) -> Self:
        """A view whose inputs and outputs are these of mine, by number.

        Args:
            new_input_indices: numbers of inputs in their new order, None to leave them as they are.
            new_output_indices: the same of outputs.
        """
        made = self.copy() if new_input_indices is None else self.remap_inputs(new_input_indices)
        return made if new_output_indices is None else made.remap_outputs(new_output_indices)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc_info: object) -> None:
        """Do nothing: a view holds nothing open."""


def _index(tensors: Sequence[Tensor], wanted: Tensor, what: str) -> int:
    for index, each in enumerate(tensors):
        if each is wanted:
            return index
    raise ValueError(f"{wanted!r} is none of the {what}: {list(tensors)}")


def make_view(*args: Nest, graph: Graph | None = None) -> SubGraphView:
    """The view of the operations and tensors that are meant.

    Args:
        args: a view, operations, tensors, regular expressions of names, or lists of these.
        graph: the graph for the names; the default one when None.

    Raises:
        TypeError: they are of several graphs.
    """
    if len(args) == 1 and isinstance(args[0], SubGraphView):
        return args[0]
    ops, tensors = select_ops_and_ts(*flat(list(args)), graph=graph or get_default_graph())
    return SubGraphView(ops, tensors)


def make_view_from_scope(scope: str, graph: Graph) -> SubGraphView:
    """The view of the operations in a name scope.

    Args:
        scope: the name scope.
        graph: the graph.
    """
    return SubGraphView(get_name_scope_ops(graph, scope))
