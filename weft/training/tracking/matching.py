"""Matching: which objects of a program are which objects of a checkpoint, by the names on the way from the root."""

from __future__ import annotations

from collections import deque
from typing import Final

from tensorboard.compat.proto.trackable_object_graph_pb2 import TrackableObjectGraph

from weft.ops.variables.variable import Variable
from weft.platform.logs import tf_logging
from weft.training.tracking.autotracking import TrackableBase
from weft.training.tracking.dependencies import SlotOwner, dependencies_of, slot_of
from weft.training.tracking.object_graph import VALUE
from weft.training.tracking.python_state import PY_STATE, PythonState

# What later versions of TensorFlow save of layers beside their variables, and read only where it is asked for.
_CONFIG: Final = "OBJECT_CONFIG_JSON"


class Matching:
    """The objects of a checkpoint that the program has by now; made again whenever the program may have more.

    Args:
        saved: the checkpoint's objects.
        root: the object that stands for the first of them.
    """

    def __init__(self, saved: TrackableObjectGraph, root: object) -> None:
        self._saved = saved
        self.found: dict[int, object] = {}
        self.variables: dict[str, Variable] = {}
        self.states: dict[str, PythonState] = {}
        self.unused: list[tuple[int, str]] = []
        self.missing_slots: list[str] = []
        self._restored: set[int] = set()
        self._match(root)
        self._match_slots()

    def has(self, item: object) -> bool:
        """Whether an object of the program is one of the checkpoint's."""
        return any(each is item for each in self.found.values())

    @property
    def missing(self) -> list[int]:
        """The numbers of the checkpoint's objects that the program lacks; those that hold nothing are no loss."""
        slots = {slot.slot_variable_node_id for node in self._saved.nodes for slot in node.slot_variables}
        return [
            number
            for number, node in enumerate(self._saved.nodes)
            if number not in self.found and number not in slots and (node.attributes or node.children)
        ]

    def _match(self, root: object) -> None:
        waiting: deque[tuple[int, object]] = deque([(0, root)])
        while waiting:
            number, item = waiting.popleft()
            if number in self.found:
                if self.found[number] is not item:
                    tf_logging.warning(
                        "Inconsistent references when loading the checkpoint into this object graph. Either the Trackable "
                        "object references in the Python program have changed in an incompatible way, or the checkpoint was "
                        "generated in an incompatible program: %s and %s are one object there",
                        self.found[number],
                        item,
                    )
                continue
            self._bind(number, item)
            held = dict(dependencies_of(item))
            for child in self._saved.nodes[number].children:
                found = held.get(child.local_name)
                if found is None and isinstance(item, TrackableBase):
                    found = item.dependency_for(child.local_name)
                if found is not None:
                    waiting.append((child.node_id, found))

    def _bind(self, number: int, item: object) -> None:
        self.found[number] = item
        for attribute in self._saved.nodes[number].attributes:
            if isinstance(item, Variable) and attribute.name == VALUE:
                if id(item) not in self._restored:
                    self._restored.add(id(item))
                    self.variables[attribute.checkpoint_key] = item
            elif isinstance(item, PythonState) and attribute.name == PY_STATE:
                self.states[attribute.checkpoint_key] = item
            elif attribute.name != _CONFIG:
                self.unused.append((number, attribute.name))

    def _match_slots(self) -> None:
        for number, node in enumerate(self._saved.nodes):
            owner = self.found.get(number)
            for slot in node.slot_variables:
                original = self.found.get(slot.original_variable_node_id)
                variable = slot_of(owner, original, slot.slot_name) if isinstance(owner, SlotOwner) else None
                if variable is not None:
                    self._bind(slot.slot_variable_node_id, variable)
                else:
                    self.missing_slots.append(f"{slot.slot_name} of object {slot.original_variable_node_id}")
