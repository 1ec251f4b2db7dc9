"""Demand: what of the nodes with bodies a run needs: which outputs of an If or a While, which arguments, which nodes in it.

A branch computes what is wanted of its node. A loop also goes round: a variable that its condition or another wanted variable
uses is wanted itself, in every iteration.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from weft.framework.graphs.func_graph import FuncGraph, bodies_of, first_argument
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.op_types.op_role import Role
from weft.passes.prune import prune


def may_need_less(op: Operation) -> bool:
    """Whether a node may run without some of its results: a loop, and a branch whose nodes need not run for themselves."""
    is_branch = op.op_def.role is Role.BRANCH
    return op.op_def.is_loop or (is_branch and not any(function.control_outputs for function in bodies_of(op)))


class Demand:
    """Which nodes some tensors and nodes of one graph need; of those that may need less, what they need.

    Args:
        fed: the tensors whose values come from outside: what a run feeds, or a function's arguments.
    """

    def __init__(self, fed: Iterable[Tensor]) -> None:
        self.fed = frozenset(fed)
        self.ops: set[Operation] = set()
        self.used: set[Tensor] = set()
        """Those of `fed` that something needs."""
        self.parts: dict[Operation, PartDemand] = {}
        self._stack: list[Operation] = []

    def want(self, tensors: Iterable[Tensor], ops: Iterable[Operation] = ()) -> None:
        """Add what these need."""
        for tensor in tensors:
            self._want(tensor)
        for op in ops:
            self._want_all(op)
        self._follow()

    @property
    def is_less(self) -> bool:
        """Whether less runs, or is fed, than if all outputs of all nodes were needed."""
        return any(part.is_less for part in self.parts.values())

    def _want(self, tensor: Tensor) -> None:
        if tensor in self.fed:
            self.used.add(tensor)
        elif may_need_less(tensor.op):
            self._part(tensor.op).wanted.add(tensor.value_index)
        else:
            self._stack.append(tensor.op)

    def _want_all(self, op: Operation) -> None:
        if may_need_less(op):
            self._part(op).wanted.update(range(len(op.outputs)))
        else:
            self._stack.append(op)

    def _part(self, op: Operation) -> PartDemand:
        if op not in self.parts:
            self.parts[op] = (_LoopDemand if op.op_def.is_loop else _BranchDemand)(op)
        return self.parts[op]

    def _follow(self) -> None:
        while True:
            while self._stack:
                op = self._stack.pop()
                if op not in self.ops:
                    self.ops.add(op)
                    self._want_before(op, op.inputs)
            # All that is known to be wanted of a node is wanted at once: it is gone through once or twice, not for each output.
            grown = [part for part in self.parts.values() if part.has_grown or part.op not in self.ops]
            if not grown:
                return
            for part in grown:
                part.enter()
                self.ops.add(part.op)
                self._want_before(part.op, part.inputs)

    def _want_before(self, op: Operation, inputs: Iterable[Tensor]) -> None:
        for tensor in inputs:
            self._want(tensor)
        for other in op.control_inputs:
            # Waiting for a fed placeholder is waiting for its feed, which is there.
            if other.op_def.role is not Role.PLACEHOLDER or other.outputs[0] not in self.fed:
                self._want_effects(other)

    def _want_effects(self, op: Operation) -> None:
        """A node that another one waits for runs; a loop has no more to do for that than what it says runs in it for itself.

        A loop without state says nothing and has nothing to do: the gradients that a loop's variables get wait for all of them,
        and those of what is fed would be computed in each iteration.
        """
        if op.op_def.is_loop and (not op.op_def.stateful or any(function.control_outputs for function in bodies_of(op))):
            self._part(op)
        else:
            self._want_all(op)


class PartDemand:
    """What a run needs of one node with bodies.

    `wanted` are the numbers of the outputs that something uses. After `enter`, `outputs` are those that the node has to have,
    `places` those of its arguments, and `bodies` what is needed in its functions.
    """

    def __init__(self, op: Operation) -> None:
        self.op = op
        self.functions = bodies_of(op)
        self.bodies = tuple(Demand(function.inputs) for function in self.functions)
        self.wanted: set[int] = set()
        self.outputs: list[int] = []
        self.places: list[int] = []
        self._entered = 0

    @property
    def has_grown(self) -> bool:
        """Whether more is wanted than when it was last entered."""
        return len(self.wanted) > self._entered

    @property
    def inputs(self) -> list[Tensor]:
        """The inputs that the node needs."""
        head = first_argument(self.op)
        return [*self.op.inputs[:head], *(self.op.inputs[head + place] for place in self.places)]

    @property
    def is_less(self) -> bool:
        """Whether less runs, or is fed, than if all outputs were needed."""
        return len(self.places) < len(self.functions[0].inputs) or any(inside.is_less for inside in self.bodies)

    def results_of(self, function: FuncGraph) -> list[Tensor]:
        """The outputs that one of the node's functions has to have."""
        raise NotImplementedError

    def enter(self) -> None:
        """Find what the wanted outputs need."""
        self._entered = len(self.wanted)
        self._enter()

    def _enter(self) -> None:
        raise NotImplementedError

    def _used_places(self) -> list[int]:
        pairs = zip(*(function.inputs for function in self.functions), strict=True)
        return [
            place for place, arguments in enumerate(pairs)
            if any(argument in inside.used for argument, inside in zip(arguments, self.bodies, strict=True))
        ]  # fmt: skip


class _BranchDemand(PartDemand):
    """Of an If: the wanted outputs of both branches."""

    @property
    def is_less(self) -> bool:
        if super().is_less:
            return True
        return len(self.outputs) < len(self.op.outputs) and any(
            _leaves_out_state(prune(function.outputs, function.inputs, ()), inside)
            for function, inside in zip(self.functions, self.bodies, strict=True)
        )

    def _enter(self) -> None:
        self.outputs = sorted(self.wanted)
        for function, inside in zip(self.functions, self.bodies, strict=True):
            inside.want(function.outputs[index] for index in self.outputs)
        self.places = self._used_places()

    def results_of(self, function: FuncGraph) -> list[Tensor]:
        return [function.outputs[index] for index in self.outputs]


def _leaves_out_state(nodes: Collection[Operation], inside: Demand) -> bool:
    return any(op.op_def.stateful and op not in inside.ops for op in nodes)


class _LoopDemand(PartDemand):
    """Of a While: the wanted variables, and all that they, the condition and what runs for itself need from round to round."""

    @property
    def is_less(self) -> bool:
        return len(self.outputs) < len(self.op.outputs) or super().is_less

    def _enter(self) -> None:
        condition, body = self.functions
        test, step = self.bodies
        count = len(body.inputs)
        kept = {index for index in self.wanted if index < count}
        records = {index for index in self.wanted if index >= count}
        test.want(condition.outputs, condition.control_outputs)
        step.want((body.outputs[index] for index in sorted(records)), body.control_outputs)
        while True:
            kept.update(self._used_places())
            if len(kept) == len(self.places):
                break
            self.places = sorted(kept)
            step.want(body.outputs[index] for index in self.places)
        self.outputs = [*self.places, *sorted(records)]

    def results_of(self, function: FuncGraph) -> list[Tensor]:
        condition, body = self.functions
        return list(condition.outputs) if function is condition else [body.outputs[index] for index in self.outputs]
