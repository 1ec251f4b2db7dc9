"""ModelValues: which variables of a model have values on their tasks, and how to give values to a part of them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from weft.client.session import Session
from weft.framework.devices.device_spec import DeviceSpec
from weft.framework.graphs.collections import GraphKeys
from weft.framework.graphs.graph import Graph
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.op_types.op_role import Role
from weft.ops.state.reference_state import is_variable_initialized
from weft.ops.state.resource_state import var_is_initialized_op
from weft.training.saving.saver import Saver
from weft.training.training_util import counting_step


class ModelValues:
    """A model's global variables and those of its saver. Used by one thread at a time.

    The nodes that ask and restore are those that the graph has anyway, so that they are placed as the program's own: a variable
    that was looked for in a wrong place would be restored over a value that lives. Only where a variable has no node that asks
    for its value, because the program brought a ready op of its own, one is added.

    Args:
        graph: the program's graph.
        saver: restores the model; None when nothing does.
    """

    def __init__(self, graph: Graph, saver: Saver | None) -> None:
        self._graph = graph
        self._saver = saver
        self._restores = _restores(graph, saver)
        self._variables = {variable.op: variable for variable in graph.get_collection(GraphKeys.GLOBAL_VARIABLES)}
        restored = {op for node in self._restores for op in _updated(node)}
        self._flags = _flags(graph, dict.fromkeys([*self._variables, *restored]))

    def missing(self, session: Session) -> set[Operation]:
        """The variables that have no value now."""
        values = session.run(list(self._flags.values()))
        return {op for op, has_value in zip(self._flags, values, strict=True) if not has_value}

    @property
    def all(self) -> set[Operation]:
        """The variables."""
        return set(self._flags)

    def live_step(self, session: Session, missing: Collection[Operation]) -> int | None:
        """The global step, or None when it has no value."""
        step = counting_step(self._graph)
        return None if step is None or step.op in missing else int(session.run(step))

    def restore(self, session: Session, path: str, missing: set[Operation]) -> set[Operation]:
        """Give variables the values of a checkpoint, in one step; returns those for which it has none.

        What is no variable (a table, an iterator) is restored with the variables of its task.
        """
        tasks = {_task(op) for op in missing}
        nodes = [
            node
            for node in self._restores
            if (not missing.isdisjoint(_updated(node)) if _updated(node) else _task(node) in tasks)
        ]
        if nodes:
            assert self._saver is not None
            self._saver.restore_some(session, path, nodes)
        return missing.difference(*map(_updated, nodes))

    def initialize(self, session: Session, missing: Iterable[Operation]) -> None:
        """Run the initializers of variables, in one step."""
        session.run([self._variables[op].initializer for op in missing if op in self._variables])


def tasks_of(variables: Iterable[Operation]) -> str:
    """The tasks of variables in words."""
    return ", ".join(sorted({_task(op) or "the default task" for op in variables}))


def _task(op: Operation) -> str:
    spec = DeviceSpec.from_string(op.device)
    return "" if spec.job is None else f"/job:{spec.job}/task:{spec.task or 0}"


def _restores(graph: Graph, saver: Saver | None) -> list[Operation]:
    """The nodes that give the values, which the saver's restore operation waits for."""
    if saver is None or not saver.saver_def:
        return []
    found: dict[Operation, None] = {}
    waiting = [graph.get_operation_by_name(saver.saver_def.restore_op_name)]
    while waiting:
        op = waiting.pop()
        if op.op_def.role is Role.ORDER:
            waiting.extend(op.control_inputs)
        else:
            found[op] = None
    return list(found)


def _updated(node: Operation) -> list[Operation]:
    """The variable that a node gives a value; none when it gives one to something else."""
    if not node.op_def.updates or node.inputs[0].op.op_def.role is not Role.VARIABLE:
        return []
    return [node.inputs[0].op]


def _flags(graph: Graph, variables: Iterable[Operation]) -> dict[Operation, Tensor]:
    """For each variable the tensor that tells whether it has a value."""
    found = dict(_probes(graph))
    absent = [op for op in variables if op not in found]
    if absent:
        _add_probes(graph, absent)
        found = dict(_probes(graph))
    return {op: found[op] for op in variables}


def _probes(graph: Graph) -> Iterator[tuple[Operation, Tensor]]:
    for op in graph.get_operations():
        if op.op_def.role is Role.PROBE:
            yield op.inputs[0].op, op.outputs[0]


def _add_probes(graph: Graph, variables: Iterable[Operation]) -> None:
    was_finalized = graph.finalized
    graph._unsafe_unfinalize()
    try:
        with graph.as_default(), graph.name_scope(None), graph.name_scope("has_value"):
            for op in variables:
                state = op.outputs[0]
                with graph.device(op.device):
                    (is_variable_initialized if state.dtype.is_ref else var_is_initialized_op)(state, name=None)
    finally:
        if was_finalized:
            graph.finalize()
