"""Narrow: leave out of a run what If and While nodes need only for outputs that the run does not use.

TensorFlow's branches and loops are made of plain nodes, so that a run of one result of a cond, or of one variable of a loop,
neither computes nor feeds what only the others need. Here a body is a function of all its results: where a run needs less of
it, the run gets copies of its nodes, in which the node and its functions have only the outputs and arguments that are needed.
A loop that was made to record values for its gradient records none in a run that does not use them.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from weft.framework.graphs.func_graph import FuncGraph
from weft.framework.graphs.graph import Graph
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.op_types.op_def import OpDef
from weft.framework.op_types.op_role import Role
from weft.framework.registry import op_registry
from weft.framework.types.attr_value import FunctionName
from weft.passes.demand import Demand, PartDemand, may_need_less
from weft.passes.prune import prune

_NUMBERS: Final = itertools.count()


@dataclass(frozen=True, slots=True)
class Narrowed:
    """The nodes of a run as copies, in order, with what the run fetches of them, and the node that each is a copy of."""

    ops: list[Operation]
    fetches: list[Tensor]
    originals: dict[Operation, Operation]


def narrow(
    ops: Iterable[Operation], fetches: Sequence[Tensor], feeds: Sequence[Tensor], targets: Sequence[Operation]
) -> Narrowed | None:
    """The run of `ops`, which are what `prune` gave, without what it does not need; None where it needs all of it."""
    if not any(may_need_less(op) for op in ops):
        return None
    demand = Demand(feeds)
    demand.want(fetches, targets)
    if not demand.is_less:
        return None
    graph = Graph()
    some = next(iter(demand.ops)).graph
    graph.functions = dict(some.functions)
    copies = _Copies(graph, demand)
    # A node may ask for the device of one that is not in this run.
    graph.operations = {**some.operations, **graph.operations}
    wanted = [tensor if tensor in demand.fed else copies.tensors[tensor] for tensor in fetches]
    order = prune(wanted, feeds, [copies.ops[op] for op in targets])
    return Narrowed(order, wanted, {copy: op for op, copy in copies.ops.items()})


class _Copies:
    """Copies of nodes in another graph."""

    def __init__(self, graph: Graph, demand: Demand, arguments: Collection[Tensor] = ()) -> None:
        self._graph = graph
        self._demand = demand
        self.tensors: dict[Tensor, Tensor] = {}
        self.ops: dict[Operation, Operation] = {}
        # Those of a function are its own; what a run feeds stays what the program knows.
        for tensor in arguments:
            self._copy(tensor.op)
        for op in demand.ops:
            self._copy(op)
        for op in demand.ops:
            self._connect(op)

    def _copy(self, op: Operation) -> None:
        part = self._demand.parts.get(op)
        outputs = op.outputs if part is None else [op.outputs[index] for index in part.outputs]
        attrs = op.attrs if part is None else self._narrowed_attrs(part)
        definition = op.op_def if part is None else _definition(part)
        copy = Operation(self._graph, definition, op.name, (), (), [tensor.dtype for tensor in outputs], attrs)
        # Where edges leave a choice, nodes run in the order of the program.
        copy.id, copy.built_from = op.id, op.built_from
        copy.place(op.device)
        for tensor, made in zip(outputs, copy.outputs, strict=True):
            made.dims = tensor.dims
            if tensor not in self._demand.fed or op.op_def.role is Role.ARGUMENT:
                self.tensors[tensor] = made
        self.ops[op] = copy
        self._graph.operations[copy.name] = copy

    def _connect(self, op: Operation) -> None:
        copy = self.ops[op]
        inputs = self._demand.parts[op].inputs if op in self._demand.parts else op.inputs
        copy.inputs = [self.tensors.get(tensor, tensor) for tensor in inputs]
        copy.control_inputs = [self.ops.get(other, other) for other in op.control_inputs]
        for tensor in copy.inputs:
            if tensor.op.graph is self._graph:
                tensor.add_consumer(copy)
        for other in copy.control_inputs:
            if other.graph is self._graph:
                other.control_consumers.append(copy)

    def _narrowed_attrs(self, part: PartDemand) -> dict[str, object]:
        attrs, shapes = part.op.attrs, part.op.attrs["output_shapes"]
        kept: dict[str, object] = {"output_shapes": [shapes[index] for index in part.outputs] if shapes else []}
        if part.op.op_def.is_loop:
            count = len(attrs["T"])
            kept["T"] = [attrs["T"][place] for place in part.places]
            if "Trecorded" in attrs:
                kept["Trecorded"] = [attrs["Trecorded"][index - count] for index in part.outputs if index >= count]
        else:
            kept["Tin"] = [attrs["Tin"][place] for place in part.places]
            kept["Tout"] = [attrs["Tout"][index] for index in part.outputs]
        for attr, function, inside in zip(part.op.op_def.bodies, part.functions, part.bodies, strict=True):
            kept[attr] = self._add_narrowed(function, inside, part)
        return {**attrs, **kept}

    def _add_narrowed(self, function: FuncGraph, inside: Demand, part: PartDemand) -> FunctionName:
        """Add a function that makes of another one's outputs those that are needed, of the arguments that are, and no more."""
        made = FuncGraph(f"{function.name}_of_{next(_NUMBERS)}", self._graph)
        arguments = [function.inputs[place] for place in part.places]
        copies = _Copies(made, inside, arguments)
        made.inputs = [copies.tensors[tensor] for tensor in arguments]
        for index, argument in enumerate(made.inputs):
            argument.op.attrs = {**argument.op.attrs, "index": index}
        made.outputs = [copies.tensors[tensor] for tensor in part.results_of(function)]
        made.control_outputs = [copies.ops[op] for op in function.control_outputs]
        self._graph.functions[made.name] = made
        return FunctionName(made.name)


def _definition(part: PartDemand) -> OpDef:
    """What the copy of a node is: a loop of whose records none is used does not record."""
    op = part.op
    records = op.op_def.role is Role.RECORDING_LOOP and len(part.outputs) > len(part.places)
    return op.op_def if records or op.op_def.role is not Role.RECORDING_LOOP else op_registry.lookup("While")
