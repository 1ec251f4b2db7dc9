"""What optimizers share whose workers train copies of their own: the copies' variables, and the hook that fills them."""

from __future__ import annotations

from collections.abc import Callable

from weft.client.session import Session
from weft.framework.building.aliases import Nest, VariableLike
from weft.framework.graphs.collections import GraphKeys
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.types import dtypes
from weft.ops.array.filling import zeros
from weft.ops.array.shape_ops import reshape
from weft.ops.control_flow.cond import cond
from weft.ops.control_flow.ordering import group, no_op
from weft.ops.variables.collections import global_variables, local_variables_initializer
from weft.ops.variables.get_variable import get_variable
from weft.ops.variables.matrix_initializers import zeros_initializer
from weft.ops.variables.variable import Variable
from weft.training.contributed.pairs import Pairs
from weft.training.coordinator import Coordinator
from weft.training.hooks.session_run_hook import SessionRunHook
from weft.training.optimizers.optimizer import Optimizer


def _make_local(variables: list[Variable]) -> None:
    """Move an optimizer's slots for copies to where the copies are listed."""
    graph = get_default_graph()
    listed = graph.get_collection_ref(GraphKeys.GLOBAL_VARIABLES)
    for variable in variables:
        listed.remove(variable)
        graph.add_to_collection(GraphKeys.LOCAL_VARIABLES, variable)


def own_step_counter(worker_device: str) -> VariableLike:
    """The local variable `local_step` beside a worker's copies: on a parameter server all workers would share it."""
    with get_default_graph().device(worker_device):
        return get_variable(
            "local_step",
            [],
            dtypes.int32,
            initializer=zeros_initializer(),
            trainable=False,
            collections=[GraphKeys.LOCAL_VARIABLES],
        )


def apply_to_copies(optimizer: Optimizer, pairs: Pairs) -> Operation:
    """Apply gradients to a worker's copies; the optimizer's variables are the worker's too."""
    before = set(global_variables())
    applied = optimizer.apply_gradients(pairs)
    _make_local([variable for variable in global_variables() if variable not in before])
    return applied


def value_when(is_time: Tensor, variable: VariableLike) -> Tensor:
    """The variable's value as a vector when it is time, an empty vector otherwise, so that little travels between tasks."""
    dtype = variable.dtype.base_dtype
    with get_default_graph().colocate_with(variable):
        found: Nest = cond(is_time, lambda: reshape(variable.read_value(), [-1]), lambda: zeros([0], dtype))
    value: Tensor = found
    return value


def update_when(is_time: Tensor, variable: VariableLike, update: Callable[[], Nest]) -> Operation:
    """Update a variable when it is time, by a branch of its own: a branch updates the variables of one task."""
    with get_default_graph().colocate_with(variable):
        done: Nest = cond(is_time, lambda: group(update()), no_op)
    operation: Operation = done.op
    return operation


def set_when(is_time: Tensor, variable: VariableLike, value: Tensor) -> Operation:
    """Give a variable a value of `value_when` when it is time."""
    return update_when(is_time, variable, lambda: variable.assign(reshape(value, variable.shape)))


def parts_of(variable: VariableLike) -> list[VariableLike]:
    """The parts of a partitioned variable; a list of the variable itself when it is whole."""
    return [variable] if isinstance(variable, Variable) else list(variable)


class CopiesHook(SessionRunHook):
    """Has the copies begin with the common values.

    Args:
        make_init_op: a function that adds the operation which gives the copies these values.
    """

    def __init__(self, make_init_op: Callable[[], Operation | Tensor]) -> None:
        self._make_init_op = make_init_op
        self._init_op: Nest = None

    def begin(self) -> None:
        """Add the operations, while the graph can grow."""
        local_variables_initializer()
        self._init_op = self._make_init_op()

    def after_create_session(self, session: Session, coord: Coordinator) -> None:
        """Begin with the common values."""
        session.run(self._init_op)
