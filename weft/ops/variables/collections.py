"""The variables of a graph, the operations that initialize them, and what is not initialized yet."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from weft.framework.building.aliases import Array, ArrayModule, Result, VariableLike
from weft.framework.building.op_context import OpContext
from weft.framework.graphs.collections import GraphKeys
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.types.dims import Dims
from weft.ops.array.constant import constant
from weft.ops.array.stacking import stack
from weft.ops.control_flow.ordering import group, no_op
from weft.ops.declaration import Role, not_differentiable, op
from weft.ops.variables.assign import is_variable_initialized
from weft.ops.variables.variable import Variable


def global_variables(scope: str | None = None) -> list[Variable]:
    """The variables that the tasks of a cluster share; with `scope` those whose name it matches from the start.

    >>> v = tf.Variable(1.0, name="v")
    >>> tf.global_variables()
    [<tf.Variable 'v:0' shape=() dtype=float32_ref>]

    Args:
        scope: a regular expression, or None for all of them.

    Returns:
        A new list of variables, in the order in which they were made.
    """
    return get_default_graph().get_collection(GraphKeys.GLOBAL_VARIABLES, scope)


def all_variables() -> list[Variable]:
    """The former name of `global_variables`."""
    return global_variables()


def _all_saveable_objects(scope: str | None = None) -> list[Variable]:
    graph = get_default_graph()
    keys = (GraphKeys.GLOBAL_VARIABLES, GraphKeys.SAVEABLE_OBJECTS)
    return [item for key in keys for item in graph.get_collection(key, scope)]


def local_variables(scope: str | None = None) -> list[Variable]:
    """The variables of each process itself, which checkpoints leave out.

    >>> epoch = tf.Variable(0, collections=[tf.GraphKeys.LOCAL_VARIABLES], name="epoch")
    >>> tf.local_variables()
    [<tf.Variable 'epoch:0' shape=() dtype=int32_ref>]

    Args: those of `tf.global_variables`.

    Returns:
        A new list of variables, in the order in which they were made.
    """
    return get_default_graph().get_collection(GraphKeys.LOCAL_VARIABLES, scope)


def model_variables(scope: str | None = None) -> list[Variable]:
    """The variables in the collection MODEL_VARIABLES.

    Args: those of `tf.global_variables`.
    """
    return get_default_graph().get_collection(GraphKeys.MODEL_VARIABLES, scope)


def trainable_variables(scope: str | None = None) -> list[Variable]:
    """The variables that optimizers change by default.

    >>> v, frozen = tf.Variable(1.0, name="v"), tf.Variable(2.0, trainable=False)
    >>> tf.trainable_variables()
    [<tf.Variable 'v:0' shape=() dtype=float32_ref>]

    Args: those of `tf.global_variables`.

    Returns:
        A new list of variables, in the order in which they were made.
    """
    return get_default_graph().get_collection(GraphKeys.TRAINABLE_VARIABLES, scope)


def moving_average_variables(scope: str | None = None) -> list[Variable]:
    """The variables whose moving averages are kept.

    Args: those of `tf.global_variables`.

    Returns:
        A new list of variables, in the order in which they were made.
    """
    return get_default_graph().get_collection(GraphKeys.MOVING_AVERAGE_VARIABLES, scope)


def variables_initializer(var_list: Sequence[VariableLike], name: str = "init") -> Operation:
    """An operation that initializes the variables given; it does nothing when there are none.

    >>> a, b = tf.Variable(1.0), tf.Variable(2.0)
    >>> sess.run(tf.variables_initializer([a, b]))
    >>> sess.run([a, b])
    [np.float32(1.0), np.float32(2.0)]

    Args:
        var_list: a list of variables.

    Returns:
        An operation, which has no value.
    """
    if var_list:
        return group(*[variable.initializer for variable in var_list], name=name)
    return no_op(name=name)


def initialize_variables(var_list: Sequence[VariableLike], name: str = "init") -> Operation:
    """The former name of `variables_initializer`.

    Args: those of `tf.variables_initializer`.
    """
    return variables_initializer(var_list, name=name)


def global_variables_initializer() -> Operation:
    """An operation that initializes all global variables that there are now.

    >>> v = tf.Variable(3.0)
    >>> sess.run(tf.global_variables_initializer())
    >>> sess.run(v)
    np.float32(3.0)

    Returns:
        An operation, which has no value.
    """
    return variables_initializer(global_variables())


def initialize_all_variables() -> Operation:
    """The former name of `global_variables_initializer`."""
    return global_variables_initializer()


def local_variables_initializer() -> Operation:
    """An operation that initializes all local variables that there are now.

    >>> v = tf.Variable(2, collections=[tf.GraphKeys.LOCAL_VARIABLES])
    >>> sess.run(tf.local_variables_initializer())
    >>> sess.run(v)
    np.int32(2)

    Returns:
        An operation, which has no value.
    """
    return variables_initializer(local_variables())


def initialize_local_variables() -> Operation:
    """The former name of `local_variables_initializer`."""
    return local_variables_initializer()


def _variables_or_all(var_list: Sequence[VariableLike] | None) -> Sequence[VariableLike]:
    if var_list is not None:
        return var_list
    found = global_variables() + local_variables()
    if found:
        return found
    states = [each.outputs[0] for each in get_default_graph().get_operations() if each.op_def.role is Role.VARIABLE]
    return [state for state in states if state.dtype.is_ref]


def _some(node: Operation) -> list[Dims]:
    return [(None,)]


@op("UninitializedNames", "is_initialized: N*bool -> output: string", infer=_some, gradient=not_differentiable)
def uninitialized_names(ctx: OpContext, is_initialized: Array, *, names: list[str]) -> Result:
    """The names whose flag is not set: `N*scalar bool -> [n] string`."""
    left = [name.encode() for name, flag in zip(names, is_initialized, strict=True) if not flag]
    return np.array(left, np.object_)


def report_uninitialized_variables(
    var_list: Sequence[VariableLike] | None = None, name: str = "report_uninitialized_variables"
) -> Tensor:
    """A 1-D string tensor with the names of variables that have no value yet; empty when all are ready.

    Args:
        var_list: the variables to look at; all global and local ones when None.
        name: the name scope.

    Returns:
        [count] string tensor of names.

    >>> v = tf.Variable(1.0, name="v")
    >>> sess.run(tf.report_uninitialized_variables())
    array([b'v'], dtype=object)
    """
    variables = _variables_or_all(var_list)
    graph = get_default_graph()
    with graph.name_scope(name):
        flags = [is_variable_initialized(variable) for variable in variables]
        with graph.device("/cpu:0"):
            if not flags:
                return constant([], dtype="string")
            names = [variable.op.name for variable in variables]
            return uninitialized_names(flags, names=names)


@op("ReadyToRead", "value: T -> rank: int32", infer=lambda node: [()], gradient=not_differentiable, stateful=True)
def ready_to_read(xp: ArrayModule, value: Array) -> Result:
    """The rank; reading a variable without a value is a FailedPreconditionError: `[...] -> scalar int32`."""
    return np.asarray(value.ndim, np.int32)


def assert_variables_initialized(var_list: Sequence[VariableLike] | None = None) -> Tensor | None:
    """A tensor whose run raises FailedPreconditionError while a variable has no value; None when there are no variables.

    Args:
        var_list: the variables; the global and local ones when None.
    """
    variables = _variables_or_all(var_list)
    ranks = []
    for variable in variables:
        with get_default_graph().colocate_with(variable.op):
            ranks.append(ready_to_read(variable, name="Rank"))
    return ranks[0] if len(ranks) == 1 else stack(ranks) if ranks else None
