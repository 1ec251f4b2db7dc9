"""Checkpoint: saves objects by their attributes' names, and restores them into a program that may name variables otherwise."""

from __future__ import annotations

import os
from collections.abc import Iterator

from weft.checkpoint import checkpoint_state
from weft.client.session import BaseSession
from weft.framework.building.aliases import Array
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.operation import Tensor
from weft.framework.types import dtypes
from weft.framework.types.printed import shown
from weft.ops.array.constant import constant
from weft.ops.control_flow.init_scope import init_scope
from weft.ops.variables.resource_variable import ResourceVariable
from weft.training.tracking.dependencies import held_in, is_trackable
from weft.training.tracking.load_status import InitializationOnlyStatus, LoadStatus, status_of
from weft.training.tracking.object_graph import ObjectGraph
from weft.training.tracking.object_saver import ObjectSaver
from weft.training.tracking.session_choice import chosen_session

_OWN = "_own"


class _Own:
    """A Checkpoint's own state, apart from the attributes that it saves."""

    def __init__(self) -> None:
        self.saver = ObjectSaver()
        self.counter: ResourceVariable | None = None
        self.counted: Tensor | None = None


class Checkpoint:
    """Saves what its attributes hold: variables, layers, models, optimizers with their slots, other Checkpoints, and lists and
    dicts of these. Values are found by the attributes' names, not by those of the variables. The format is TensorFlow's.

    Used by one thread at a time. Saving and restoring add nodes to the session's graph, once for each set of variables.

    Args:
        kwargs: the first attributes.

    Raises:
        ValueError: one of these is nothing that can be saved.
        TypeError: one is given by position, without a name.
    """

    def __repr__(self) -> str:
        held = ", ".join(f"{name}={shown(value)}" for name, value in sorted(vars(self).items()) if name != _OWN)
        return f"<tf.train.Checkpoint of {held or 'nothing yet'}>"

    def __init__(self, *given: object, **kwargs: object) -> None:
        if given:
            raise TypeError(
                "Checkpoint takes what it saves by name, by which it is found again, and not by position, as "
                f"{', '.join(map(shown, given))}: tf.train.Checkpoint(model=model, optimizer=optimizer). A list or dict is set "
                "as an attribute afterwards: checkpoint.layers = [one, two]."
            )
        object.__setattr__(self, _OWN, _Own())
        for name, value in sorted(kwargs.items()):
            if not is_trackable(value):
                raise ValueError(
                    "`Checkpoint` was expecting a trackable object (an object derived from `TrackableBase`), got "
                    f"{value}. If you believe this object should be trackable (i.e. it is part of the TensorFlow Python API "
                    f"and manages state), please open an issue. ({name!r} may be a variable, a layer, a model, an optimizer or "
                    "a Checkpoint; set lists and dicts as attributes afterwards.)"
                )
            setattr(self, name, value)

    def __getattr__(self, name: str) -> object:
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __setattr__(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)

    def checkpoint_dependencies(self) -> Iterator[tuple[str, object]]:
        """The attributes that are saved."""
        own = self._state
        for name, value in vars(self).items():
            if name != _OWN and held_in(value):
                yield name, value
        if own.counter is not None:
            yield "save_counter", own.counter

    @property
    def _state(self) -> _Own:
        own: _Own = vars(self)[_OWN]
        return own

    @property
    def save_counter(self) -> ResourceVariable:
        """The variable that counts the calls of `save`; made when it is first asked for."""
        own = self._state
        if own.counter is None:
            with init_scope(), get_default_graph().device("/cpu:0"):
                own.counter = ResourceVariable(
                    lambda: constant(0, dtypes.int64), trainable=False, name="save_counter", dtype=dtypes.int64
                )
        return own.counter

    def write(self, file_prefix: str, session: BaseSession | None = None) -> str:
        """Write a checkpoint at exactly this path, without counting it or noting it as the latest.

        Args:
            file_prefix: the checkpoint's path without suffix; its directory is made when it is absent.
            session: where the variables live; the default session when None.

        Returns:
            The path.
        """
        prefix = os.fsdecode(file_prefix)
        self._state.saver.save(chosen_session(session), ObjectGraph(self), prefix)
        return prefix

    def save(self, file_prefix: str, session: BaseSession | None = None) -> str:
        """Write a checkpoint `PREFIX-N`, numbered by `save_counter`, and note it as the latest of its directory.

        Args:
            file_prefix: the path without number and suffix.
            session: where the variables live; the default session when None.

        Returns:
            The path, with the number.
        """
        prefix = os.fsdecode(file_prefix)
        session = chosen_session(session)
        path = f"{prefix}-{self.count(session)}"
        self.write(path, session)
        checkpoint_state.update_checkpoint_state(
            os.path.dirname(prefix), path, all_model_checkpoint_paths=[path], save_relative_paths=True
        )
        return path

    def count(self, session: BaseSession) -> int:
        """Add one to `save_counter`, initializing it when it is made for this, and return it.

        Args:
            session: the session to count in.
        """
        own = self._state
        with session.graph.as_default():
            if own.counter is None:
                session.run(self.save_counter.initializer)
            counter = self.save_counter
            if own.counted is None:
                with session.graph.control_dependencies(None), session.graph.colocate_with(counter.op):
                    own.counted = counter.assign_add(1, read_value=True)
            counted = own.counted
        count: Array = session.run(counted)
        return int(count)

    def restore(self, save_path: str | None) -> LoadStatus:
        """Match a checkpoint with the objects; the status that is returned runs the restore.

        Objects and variables that come later are matched too, as each method of the status looks anew.

        Args:
            save_path: the checkpoint's path without suffix, of this format or a Saver's, which is restored by the variables'
                names; None to only initialize.

        Returns:
            A status: its `initialize_or_restore` and `run_restore_ops` restore, its `assert_consumed` checks.

        Raises:
            NotFoundError: there is no such checkpoint.
        """
        if save_path is None:
            status: LoadStatus = InitializationOnlyStatus(self)
        else:
            status = status_of(self, os.fsdecode(save_path), self._state.saver)
        # Made now, so that it is restored or initialized with the other variables.
        _ = self.save_counter
        return status
