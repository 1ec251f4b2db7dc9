"""Narrow: leave out of a run what If nodes need only for outputs that the run does not use.

TensorFlow's branches are made of plain nodes, so that a run of one result of a cond neither computes nor feeds what only the
others need. Here a branch is a function of all its results: where a run needs less of it, the run gets copies of its nodes, in
which the If node and its functions have only the outputs and arguments that are needed.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from weft.framework.attr_value import FunctionName
from weft.framework.func_graph import FuncGraph, bodies_of, first_argument
from weft.framework.graph import Graph
from weft.framework.op_role import Role
from weft.framework.operation import Operation, Tensor
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
    if not any(_may_be_narrowed(op) for op in ops):
        return None
    demand = _Demand(fetches, feeds, targets)
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


def _may_be_narrowed(op: Operation) -> bool:
    return op.op_def.role is Role.BRANCH and not any(function.control_outputs for function in bodies_of(op))


class _Demand:
    """Which nodes some tensors and nodes need, and for If nodes: which outputs and which inputs of them.

    `is_less` says whether less runs, or is fed, than if all outputs were needed.
    """

    def __init__(self, fetches: Iterable[Tensor], fed: Iterable[Tensor], targets: Iterable[Operation]) -> None:
        self.fed = frozenset(fed)
        self.ops: set[Operation] = set()
        self.used: set[Tensor] = set()
        self.bodies: dict[Operation, tuple[_Demand, _Demand]] = {}
        self.outputs: dict[Operation, list[int]] = {}
        self.places: dict[Operation, list[int]] = {}
        self._wanted: dict[Operation, set[int]] = {}
        self._stack: list[Operation] = []
        for tensor in fetches:
            self._want(tensor)
        for op in targets:
            self._want_all(op)
        self._follow()
        self.is_less = any(self._leaves_out(op) for op in self.bodies)

    def _want(self, tensor: Tensor) -> None:
        if tensor in self.fed:
            self.used.add(tensor)
        elif _may_be_narrowed(tensor.op):
            self._wanted.setdefault(tensor.op, set()).add(tensor.value_index)
        else:
            self._stack.append(tensor.op)

    def _want_all(self, op: Operation) -> None:
        if _may_be_narrowed(op):
            self._wanted.setdefault(op, set()).update(range(len(op.outputs)))
        else:
            self._stack.append(op)

    def _follow(self) -> None:
        while True:
            while self._stack:
                op = self._stack.pop()
                if op not in self.ops:
                    self.ops.add(op)
                    self._want_before(op, op.inputs)
            # All that is known to be wanted of a node is wanted at once: it is gone through once or twice, not for each output.
            grown = [op for op, wanted in self._wanted.items() if len(self.outputs.get(op, ())) < len(wanted)]
            if not grown:
                return
            for op in grown:
                self._enter(op)

    def _enter(self, op: Operation) -> None:
        outputs = sorted(self._wanted[op])
        first, second = bodies_of(op)
        head = first_argument(op)
        inside = tuple(_Demand([body.outputs[i] for i in outputs], body.inputs, ()) for body in (first, second))
        self.ops.add(op)
        self.outputs[op] = outputs
        self.bodies[op] = inside[0], inside[1]
        self.places[op] = [
            place for place, pair in enumerate(zip(first.inputs, second.inputs, strict=True))
            if pair[0] in inside[0].used or pair[1] in inside[1].used
        ]  # fmt: skip
        self._want_before(op, [*op.inputs[:head], *(op.inputs[head + place] for place in self.places[op])])

    def _want_before(self, op: Operation, inputs: Iterable[Tensor]) -> None:
        for tensor in inputs:
            self._want(tensor)
        for other in op.control_inputs:
            # Waiting for a fed placeholder is waiting for its feed, which is there.
            if other.op_def.role is not Role.PLACEHOLDER or other.outputs[0] not in self.fed:
                self._want_all(other)

    def _leaves_out(self, op: Operation) -> bool:
        functions = bodies_of(op)
        if len(self.places[op]) < len(functions[0].inputs) or any(inside.is_less for inside in self.bodies[op]):
            return True
        if len(self.outputs[op]) == len(op.outputs):
            return False
        everything = [set(prune(function.outputs, function.inputs, ())) for function in functions]
        pairs = zip(everything, self.bodies[op], strict=True)
        return any(each.op_def.stateful for nodes, inside in pairs for each in nodes - inside.ops)


class _Copies:
    """Copies of nodes in another graph."""

    def __init__(self, graph: Graph, demand: _Demand, arguments: Collection[Tensor] = ()) -> None:
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
        outputs = [op.outputs[index] for index in self._demand.outputs.get(op, range(len(op.outputs)))]
        attrs = self._narrowed_attrs(op) if op in self._demand.bodies else op.attrs
        copy = Operation(self._graph, op.op_def, op.name, (), (), [tensor.dtype for tensor in outputs], attrs)
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
        inputs = op.inputs
        if op in self._demand.bodies:
            head = first_argument(op)
            inputs = [*inputs[:head], *(inputs[head + place] for place in self._demand.places[op])]
        copy.inputs = [self.tensors.get(tensor, tensor) for tensor in inputs]
        copy.control_inputs = [self.ops.get(other, other) for other in op.control_inputs]
        for tensor in copy.inputs:
            if tensor.op.graph is self._graph:
                tensor.add_consumer(copy)
        for other in copy.control_inputs:
            if other.graph is self._graph:
                other.control_consumers.append(copy)

    def _narrowed_attrs(self, op: Operation) -> dict[str, object]:
        outputs, places = self._demand.outputs[op], self._demand.places[op]
        shapes = op.attrs["output_shapes"]
        bodies = zip(op.op_def.bodies, bodies_of(op), self._demand.bodies[op], strict=True)
        return {
            **op.attrs,
            "Tin": [op.attrs["Tin"][place] for place in places],
            "Tout": [op.attrs["Tout"][index] for index in outputs],
            "output_shapes": [shapes[index] for index in outputs] if shapes else [],
            **{attr: self._add_narrowed(function, inside, outputs, places) for attr, function, inside in bodies},
        }

    def _add_narrowed(
        self, function: FuncGraph, inside: _Demand, outputs: Sequence[int], places: Sequence[int]
    ) -> FunctionName:
        """Add a function that makes these outputs of another one of the arguments at these places, and nothing else."""
        made = FuncGraph(f"{function.name}_of_{next(_NUMBERS)}", self._graph)
        arguments = [function.inputs[place] for place in places]
        copies = _Copies(made, inside, arguments)
        made.inputs = [copies.tensors[tensor] for tensor in arguments]
        for index, argument in enumerate(made.inputs):
            argument.op.attrs = {**argument.op.attrs, "index": index}
        made.outputs = [copies.tensors[function.outputs[index]] for index in outputs]
        self._graph.functions[made.name] = made
        return FunctionName(made.name)
