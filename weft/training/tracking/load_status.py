"""What `Checkpoint.restore` returns: checks of what was matched, and the runs that restore or initialize.

Matching is asked for anew by each call, so that variables made since the restore are found.
"""

from __future__ import annotations

from typing import Self

from tensorboard.compat.proto.trackable_object_graph_pb2 import TrackableObjectGraph

from weft.checkpoint.checkpoint_reader import NewCheckpointReader
from weft.checkpoint.object_description import described_objects
from weft.client.session import BaseSession
from weft.ops.variables.saveables import saveables_for
from weft.ops.variables.variable import Variable
from weft.training.saving.saver import Saver
from weft.training.tracking.dependencies import dependencies_of
from weft.training.tracking.matching import Matching
from weft.training.tracking.object_graph import ObjectGraph
from weft.training.tracking.object_saver import ObjectSaver
from weft.training.tracking.python_state import PythonState
from weft.training.tracking.session_choice import chosen_session


class LoadStatus:
    """The base of the three kinds."""

    def __init__(self, root: object) -> None:
        self._root = root

    def assert_consumed(self) -> Self:
        """Raise AssertionError unless all of the checkpoint and all of the program matched."""
        raise NotImplementedError

    def assert_existing_objects_matched(self) -> Self:
        """Raise AssertionError when an object of the program has no value in the checkpoint."""
        return self.assert_consumed()

    def assert_nontrivial_match(self) -> Self:
        """Raise AssertionError when nothing but the root matched."""
        return self.assert_consumed()

    def run_restore_ops(self, session: BaseSession | None = None) -> None:
        """Restore what is matched by now, in a session, the default one when None."""
        raise NotImplementedError

    def initialize_or_restore(self, session: BaseSession | None = None) -> None:
        """Restore what is matched, and initialize the other variables of the objects."""
        self.run_restore_ops(session)

    def expect_partial(self) -> Self:
        """Accepted: what stays unused is not warned of."""
        return self


class CheckpointLoadStatus(LoadStatus):
    """The restore of an object-based checkpoint."""

    def __init__(self, root: object, saved: TrackableObjectGraph, saver: ObjectSaver, path: str) -> None:
        super().__init__(root)
        self._saved = saved
        self._saver = saver
        self._path = path
        # Those that have theirs, by identity: a program's class may compare its objects otherwise.
        self._restored_states: dict[int, PythonState] = {}
        # What a program holds by now of Python has its state when `restore` returns, as no run gives it.
        self._matching()

    def assert_consumed(self) -> Self:
        """Raise AssertionError unless all of the checkpoint and all of the program matched."""
        self.assert_existing_objects_matched()
        matching = self._matching()
        names = _names(self._saved)
        for number in matching.missing:
            raise AssertionError(f"Unresolved object in checkpoint {names[number]}: {self._saved.nodes[number]}")
        if matching.missing_slots:
            raise AssertionError(f"Unresolved slot restorations: {matching.missing_slots}")
        if matching.unused:
            lines = "\n".join(f"{names[number]} ({matching.found[number]}): {name}" for number, name in matching.unused)
            raise AssertionError(
                "Unused attributes in these objects (the attributes exist in the checkpoint but were not restored):\n" + lines
            )
        return self

    def assert_existing_objects_matched(self) -> Self:
        """Raise AssertionError when an object of the program has no value in the checkpoint."""
        unmatched = self._unmatched(self._matching())
        if unmatched:
            raise AssertionError(
                "Some Python objects were not bound to checkpointed values, likely due to changes in the Python program: "
                f"{unmatched}"
            )
        return self

    def assert_nontrivial_match(self) -> Self:
        """Raise AssertionError when nothing but the root matched."""
        matching = self._matching()
        if len(matching.found) > 1:
            return self
        unmatched = self._unmatched(matching)
        if unmatched:
            raise AssertionError(
                "Nothing except the root object matched a checkpointed value. Typically this means that the checkpoint does "
                "not match the Python program. The following objects have no matching checkpointed value: "
                f"{unmatched}"
            )
        raise AssertionError(f"Nothing to load. No dependencies have been added to {self._root} yet.")

    def run_restore_ops(self, session: BaseSession | None = None) -> None:
        """Restore what is matched by now."""
        self._saver.restore(chosen_session(session), self._matching().variables, self._path)

    def initialize_or_restore(self, session: BaseSession | None = None) -> None:
        """Restore what is matched, and initialize the other variables of the objects."""
        session = chosen_session(session)
        matching = self._matching()
        self._saver.restore(session, matching.variables, self._path)
        restored = {id(each) for each in matching.variables.values()}
        _initialize(session, [each for each in _variables(self._root) if id(each) not in restored])

    def _matching(self) -> Matching:
        matching = Matching(self._saved, self._root)
        self._restore_states(matching)
        return matching

    def _restore_states(self, matching: Matching) -> None:
        """Give objects of Python the state that the checkpoint has, each once."""
        new = {key: state for key, state in matching.states.items() if id(state) not in self._restored_states}
        if new:
            reader = NewCheckpointReader(self._path)
            for key, state in new.items():
                state.deserialize(reader.get_tensor(key))
                self._restored_states[id(state)] = state

    def _unmatched(self, matching: Matching) -> list[object]:
        found = {id(each) for each in matching.found.values()}
        return [each for each in ObjectGraph(self._root).objects if id(each) not in found and not _is_bare(each)]


class InitializationOnlyStatus(LoadStatus):
    """The restore of no checkpoint: variables are initialized."""

    def assert_consumed(self) -> Self:
        """Raise AssertionError: there is nothing to restore."""
        raise AssertionError("No checkpoint specified (save_path=None); nothing is being restored.")

    def run_restore_ops(self, session: BaseSession | None = None) -> None:
        """Raise AssertionError: there is nothing to restore."""
        raise AssertionError("No checkpoint specified, so no restore ops are available (save_path=None to Saver.restore).")

    def initialize_or_restore(self, session: BaseSession | None = None) -> None:
        """Initialize the variables of the objects."""
        _initialize(chosen_session(session), _variables(self._root))


class NameBasedSaverStatus(LoadStatus):
    """The restore of a checkpoint that a Saver wrote, by the variables' names."""

    def __init__(self, root: object, path: str) -> None:
        super().__init__(root)
        self._path = path
        self._restored: set[int] = set()
        self._savers: dict[tuple[int, ...], Saver] = {}

    def assert_consumed(self) -> Self:
        """Raise AssertionError when a variable of the objects was not restored."""
        for variable in _variables(self._root):
            if id(variable) not in self._restored:
                raise AssertionError(f"Object not restored: {variable}")
        return self

    def run_restore_ops(self, session: BaseSession | None = None) -> None:
        """Restore all variables of the objects; NotFoundError when the checkpoint lacks one."""
        session = chosen_session(session)
        variables = _variables(self._root)
        key = tuple(id(each) for each in variables)
        if variables and key not in self._savers:
            with session.graph.as_default():
                self._savers[key] = Saver([item for each in variables for item in saveables_for(each, each.op.name)])
        if variables:
            self._savers[key].restore(session, self._path)
        self._restored.update(key)


def status_of(root: object, path: str, saver: ObjectSaver) -> LoadStatus:
    """The restore of a checkpoint, by its objects or, of a Saver's, by the variables' names.

    Args:
        root: the object that holds what is restored.
        path: the checkpoint's path without suffix.
        saver: reads the variables.

    Raises:
        NotFoundError: there is no such checkpoint.
    """
    saved = described_objects(path)
    return NameBasedSaverStatus(root, path) if saved is None else CheckpointLoadStatus(root, saved, saver, path)


def _variables(root: object) -> list[Variable]:
    return list(ObjectGraph(root).variables.values())


def _initialize(session: BaseSession, variables: list[Variable]) -> None:
    if variables:
        session.run([each.initializer for each in variables])


def _is_bare(item: object) -> bool:
    """Whether the object is a list or dict that holds nothing to save."""
    return isinstance(item, list | dict) and not dependencies_of(item)


def _names(saved: TrackableObjectGraph) -> list[str]:
    """How errors call the objects of a checkpoint: by a path from the root."""
    names = ["(root)"] + [""] * (len(saved.nodes) - 1)
    for number, node in enumerate(saved.nodes):
        for child in node.children:
            names[child.node_id] = names[child.node_id] or f"{names[number]}.{child.local_name}"
    for node, owner in zip(saved.nodes, list(names), strict=True):
        for slot in node.slot_variables:
            original = names[slot.original_variable_node_id]
            names[slot.slot_variable_node_id] = f"{owner}'s state '{slot.slot_name}' for {original}"
    return names
