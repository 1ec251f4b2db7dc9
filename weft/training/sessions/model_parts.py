"""ModelParts: the operations of a graph that a Supervisor initializes, saves and summarizes a model with."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from weft.framework.building.aliases import Feeds, VariableLike
from weft.framework.graphs.collections import GraphKeys
from weft.framework.graphs.graph import Graph, get_default_graph
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.op_types.op_role import Role
from weft.framework.types import dtypes
from weft.ops.summary.merge import merge_all
from weft.ops.variables.collections import global_variables, global_variables_initializer, report_uninitialized_variables
from weft.ops.variables.variable import Variable
from weft.platform.logs import tf_logging
from weft.training.saving.saver import Saver
from weft.training.scaffold import Scaffold

USE_DEFAULT: Final[Any] = 0
"""Stands for a part that is not given."""


class ModelParts:
    """What is not given is the first of its collection in the graph, else made and put there; None does without.

    Args:
        graph: the graph.
        ready_op: gives the names of variables that have no value.
        ready_for_local_init_op: gives the names of variables that `local_init_op` needs; from its collection, else None.
        init_op: initializes the global variables.
        init_feed_dict: what to feed it.
        local_init_op: initializes local variables and tables, in every process.
        summary_op: gives all summaries.
        saver: saves and restores.
        global_step: counts the steps.
    """

    def __init__(
        self,
        graph: Graph,
        ready_op: Tensor | None,
        ready_for_local_init_op: Tensor | None,
        init_op: Operation | None,
        init_feed_dict: Feeds | None,
        local_init_op: Operation | None,
        summary_op: object,
        saver: Saver | None,
        global_step: Variable,
    ) -> None:
        self._graph = graph
        with self._graph.as_default():
            self._ready_op: Tensor | None = _part(ready_op, GraphKeys.READY_OP, report_uninitialized_variables)
            self._ready_for_local_init_op: Tensor | None = _part(
                ready_for_local_init_op, GraphKeys.READY_FOR_LOCAL_INIT_OP, lambda: None
            )
            self._init_op: Operation | None = _part(init_op, GraphKeys.INIT_OP, global_variables_initializer)
            self._local_init_op: Operation | None = _part(
                local_init_op, GraphKeys.LOCAL_INIT_OP, Scaffold.default_local_init_op
            )
            self._saver: Saver | None = _part(saver, GraphKeys.SAVERS, lambda: Saver() if global_variables() else None)
            self._summary_op: Tensor | None = _part(summary_op, GraphKeys.SUMMARY_OP, merge_all)
            self._global_step = _part(global_step, GraphKeys.GLOBAL_STEP, _global_step_by_name)
        self._init_feed_dict = init_feed_dict

    @property
    def init_op(self) -> Operation | None:
        """The operation that initializes the global variables."""
        return self._init_op

    @property
    def init_feed_dict(self) -> Feeds | None:
        """The feeds of `init_op`."""
        return self._init_feed_dict

    @property
    def ready_op(self) -> Tensor | None:
        """The tensor of the names of variables without a value."""
        return self._ready_op

    @property
    def ready_for_local_init_op(self) -> Tensor | None:
        """The tensor of the names of variables that the local initialization needs."""
        return self._ready_for_local_init_op

    @property
    def summary_op(self) -> Tensor | None:
        """The tensor of all summaries, or None."""
        return self._summary_op

    @property
    def global_step(self) -> VariableLike:
        """The tensor that counts the steps, or None."""
        return self._global_step

    @property
    def saver(self) -> Saver | None:
        """The Saver, or None."""
        return self._saver

    def _check_devices(self) -> None:
        """Raise ValueError where a variable has no device: on another task than the chief it would not be the chief's."""
        for op in self._graph.get_operations():
            # TensorFlow does not ask it of variables behind handles.
            if op.op_def.role is Role.VARIABLE and op.outputs[0].dtype.is_ref and not op.device:
                raise ValueError(f"When using replicas, all Variables must have their device set: {op.name!r} has none")


def _part(given: object, key: str, make: Callable[[], object]) -> Any:
    """The item given; by default the first of a collection, else one that `make` makes, which is put there."""
    # A Tensor compares to 0 as a new node: compare identities only.
    if given is not USE_DEFAULT:
        return given
    graph = get_default_graph()
    found = graph.get_collection(key)
    if len(found) > 1:
        tf_logging.info("Found %d %s operations. Returning the first one.", len(found), key)
    if found:
        return found[0]
    made = make()
    if made is not None:
        graph.add_to_collection(key, made)
    return made


def _global_step_by_name() -> Any:
    try:
        step = get_default_graph().get_tensor_by_name("global_step:0")
    except KeyError:
        return None
    if step.dtype.base_dtype in (dtypes.int32, dtypes.int64):
        # The variable of that name, if it is one: unlike its tensor it can be exported.
        return next((variable for variable in global_variables() if variable.name == step.name), step)
    tf_logging.warning("Found 'global_step' is not an int type: %s", step.dtype)
    return None
