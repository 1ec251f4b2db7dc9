"""ObjectGraph: the objects that a checkpoint reaches from its root, their keys, and the message that describes them.

A variable's key is the shortest path of names to it, `/` and `.` in names escaped by a dot, with a suffix; the message is
TensorFlow's TrackableObjectGraph, which a checkpoint has as the value of `OBJECT_GRAPH_KEY`.
"""

from __future__ import annotations

from collections import deque
from typing import Final

from tensorboard.compat.proto.trackable_object_graph_pb2 import TrackableObjectGraph

from weft.ops.variables.variable import Variable
from weft.training.tracking.dependencies import SlotOwner, dependencies_of, slot_of
from weft.training.tracking.python_state import PY_STATE, PythonState

VALUE: Final = "VARIABLE_VALUE"
_ATTRIBUTES: Final = ".ATTRIBUTES"
_SLOTS: Final = ".OPTIMIZER_SLOT"


def _escaped(name: str) -> str:
    return name.replace(".", "..").replace("/", ".S")


class ObjectGraph:
    """The objects as they are when this is made, in the order of their distance from the root; slots come last."""

    def __init__(self, root: object) -> None:
        self.objects: list[object] = []
        self.variables: dict[str, Variable] = {}
        self.states: dict[str, PythonState] = {}
        self.proto = TrackableObjectGraph()
        self._ids: dict[int, int] = {}
        self._paths: list[tuple[str, ...]] = []
        self._reach(root)
        self._reach_slots()

    def _add(self, item: object, path: tuple[str, ...]) -> int:
        number = self._ids[id(item)] = len(self.objects)
        self.objects.append(item)
        self._paths.append(path)
        node = self.proto.nodes.add()
        if isinstance(item, Variable):
            key = "/".join((*path, _ATTRIBUTES, VALUE))
            self.variables[key] = item
            node.attributes.add(name=VALUE, full_name=item.op.name, checkpoint_key=key)
        elif isinstance(item, PythonState):
            key = "/".join((*path, _ATTRIBUTES, PY_STATE))
            self.states[key] = item
            node.attributes.add(name=PY_STATE, checkpoint_key=key)
        return number

    def _reach(self, root: object) -> None:
        self._add(root, ())
        waiting = deque([root])
        while waiting:
            item = waiting.popleft()
            number = self._ids[id(item)]
            for name, held in dependencies_of(item):
                if id(held) not in self._ids:
                    self._add(held, (*self._paths[number], _escaped(name)))
                    waiting.append(held)
                self.proto.nodes[number].children.add(node_id=self._ids[id(held)], local_name=name)

    def _reach_slots(self) -> None:
        held = list(enumerate(self.objects))
        for owner_number, owner in held:
            if not isinstance(owner, SlotOwner):
                continue
            for name in owner.get_slot_names():
                for number, variable in held:
                    slot = slot_of(owner, variable, name)
                    if slot is not None:
                        self._add_slot(owner_number, number, name, slot)

    def _add_slot(self, owner: int, original: int, name: str, slot: Variable) -> None:
        number = self._ids.get(id(slot))
        if number is None:
            path = (*self._paths[original], _SLOTS, *self._paths[owner], _escaped(name))
            number = self._add(slot, path)
        self.proto.nodes[owner].slot_variables.add(
            original_variable_node_id=original, slot_name=name, slot_variable_node_id=number
        )
