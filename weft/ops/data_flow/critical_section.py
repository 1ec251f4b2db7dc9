"""CriticalSection: functions of which only one runs at a time, in all steps of all sessions of a task."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple, Protocol

from weft.framework.building.aliases import Nest
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nested import nest
from weft.framework.nodes.operation import Operation, Tensor, outermost
from weft.framework.types import dtypes
from weft.framework.types.printed import printed
from weft.ops.array.constant import constant
from weft.ops.array.identity import identity
from weft.ops.composites import as_leaf
from weft.ops.control_flow.cond import cond
from weft.ops.control_flow.init_scope import init_scope
from weft.ops.control_flow.nodes import no_value
from weft.ops.control_flow.ordering import group
from weft.ops.data_flow.mutex import consume_mutex_lock, mutex_lock, mutex_v2

_SECTIONS: Final = "critical_sections"
_EXECUTIONS: Final = "critical_section_executions"


class _Definition(Protocol):
    """The proto of a section in a MetaGraphDef."""

    critical_section_name: str


class _Execution(NamedTuple):
    """One function of a section: the node that takes the lock, the section's handle, and the resources that it uses."""

    op: Operation
    handle: Tensor
    resources: Sequence[Tensor]
    exclusive_resource_access: bool


class CriticalSection:
    """A section in which one function at a time runs, in all steps on its task.

        section = tf.CriticalSection()
        increased = section.execute(lambda: counter.assign_add(1).read_value() * 2)

    Args:
        name: the name of the section's node.
        shared_name: the name by which sections of other graphs and sessions are the same; the node's name when None.
        critical_section_def: a proto of a MetaGraphDef to take the name of a node that is there from.
        import_scope: the scope into which that graph was imported.

    Raises:
        ValueError: `critical_section_def` and `shared_name` are both given.
    """

    __repr__ = printed("tf")

    def __init__(
        self, name: str | None = None, shared_name: str | None = None, critical_section_def: _Definition | None = None,
        import_scope: str | None = None,
    ) -> None:  # fmt: skip
        if critical_section_def is not None:
            if shared_name is not None:
                raise ValueError(
                    "critical_section_def and shared_name are mutually exclusive: the node that the proto names has its name."
                )
            prefix = f"{import_scope}/" if import_scope else ""
            found = get_default_graph().get_operation_by_name(prefix + critical_section_def.critical_section_name)
            self._handle = found.outputs[0]
            return
        with init_scope(), get_default_graph().name_scope(name or "CriticalSection") as scope:
            self._handle = mutex_v2(shared_name=scope if shared_name is None else shared_name, name=scope)
        self._handle.graph.add_to_collection(_SECTIONS, self)

    @property
    def name(self) -> str:
        """The name of the section's node."""
        return self._handle.op.name

    def execute(self, fn: Callable[[], Nest], exclusive_resource_access: bool = True, name: str | None = None) -> Nest:
        """The results of a function, whose nodes run while no other execution of the section runs.

        What the function uses of the graph around is there before the section is entered, and all its nodes are done before it
        is left.

        Args:
            fn: takes no arguments and returns a nest of tensors and operations.
            exclusive_resource_access: whether the function's variables, tables and queues may be used in this section only.
            name: the name scope.

        Raises:
            ValueError: the function enters this section again, for which it would wait for ever; or it, or another one, wants
                for itself alone a resource that both use.
        """
        inside: list[Nest] = []
        made: list[Nest] = []

        def locked() -> Nest:
            lock: Tensor = mutex_lock(self._handle)
            body = get_default_graph()
            before = len(body.get_operations())
            with body.control_dependencies([lock]):
                made.append(fn())
            created = body.get_operations()[before:]
            self._check_and_note(lock.op, created, exclusive_resource_access)
            results = [_copy(each) for each in nest.flatten(made[0])]
            with body.control_dependencies([*results, *created]):
                left: Operation = consume_mutex_lock(lock)
            with body.control_dependencies([left]):
                inside.extend([constant(True), *(_value(each) for each in results)])
            return inside

        # A function of its own: the stages of a step may have parts of several executions, and would wait for all their locks.
        graph = get_default_graph()
        beside = (
            graph.colocate_with(self._handle.op) if graph is self._handle.graph else graph.device(self._handle.device or "")
        )
        with graph.name_scope(name or "critical_section_execute"), beside:
            _, *values = cond(constant(True), locked, lambda: [_absent(each) for each in inside])
            leaves = nest.flatten(made[0])
            found = [group(each) if isinstance(leaf, Operation) else each for leaf, each in zip(leaves, values, strict=True)]
        return nest.pack_sequence_as(made[0], found)

    def _check_and_note(self, lock: Operation, created: Sequence[Operation], exclusive: bool) -> None:
        resources = [each for op in created for each in op.inputs if each.dtype is dtypes.resource]
        used = dict.fromkeys(map(outermost, resources))
        if self._handle in used:
            raise ValueError(
                "The function fn attempts to directly access the CriticalSection in which it would be running.  This is "
                f"illegal and would cause deadlocks. The section is {self.name!r}: call the inner function itself."
            )
        graph = self._handle.graph
        for other in graph.get_collection(_EXECUTIONS):
            shared = [each.name for each in other.resources if each in used]
            if shared and other.handle is not self._handle and (exclusive or other.exclusive_resource_access):
                raise ValueError(
                    f"This execution would access resources: {shared}.  Either this lock (CriticalSection: {self._handle}) or "
                    f"lock {other.op.name!r} (CriticalSection: {other.handle}) requested exclusive resource access of this "
                    "resource.  Did you mean to call execute with keyword argument exclusive_resource_access=False?"
                )
        graph.add_to_collection(_EXECUTIONS, _Execution(lock, self._handle, list(used), exclusive))


def _copy(value: Nest) -> Nest:
    if isinstance(value, Operation):
        return group(value)
    leaf: Nest = value if value is None else as_leaf(value)
    return identity(leaf)


def _value(result: Nest) -> Tensor:
    copied: Tensor = constant(True) if isinstance(result, Operation) else identity(result)
    return copied


def _absent(like: Tensor) -> Tensor:
    made: Tensor = no_value(dtype=like.dtype.base_dtype, shape=like.dims)
    return made
