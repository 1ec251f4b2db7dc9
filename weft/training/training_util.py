"""The global step: the variable that counts updates, found or made in a graph's GLOBAL_STEP collection."""

from __future__ import annotations

import contextlib
from typing import Any, Final

from weft.framework.building.aliases import SessionLike, VariableLike
from weft.framework.graphs.collections import GraphKeys
from weft.framework.graphs.graph import Graph, get_default_graph
from weft.framework.nodes.operation import Tensor
from weft.framework.types import dtypes
from weft.framework.types.value_types import OrNone
from weft.ops.math.elementwise import add
from weft.ops.variables.get_variable import get_variable
from weft.ops.variables.initializers import Zeros
from weft.ops.variables.options import VariableAggregation
from weft.ops.variables.resource_variable import is_resource_variable
from weft.ops.variables.variable import Variable
from weft.platform.logs import tf_logging

_READINGS: Final = "global_step_read_op_cache"


def global_step(sess: SessionLike, global_step_tensor: VariableLike | str) -> int:
    """The value of the global step in a session, which this runs.

    Args:
        sess: the Session.
        global_step_tensor: the variable or tensor, or its name.

    Returns:
        An int.

    Raises:
        FailedPreconditionError: the variable has no value yet.
    """
    return int(sess.run(global_step_tensor))


def get_global_step(graph: Graph | None = None) -> Variable | OrNone:
    """The global step of a graph: what the GLOBAL_STEP collection holds, or the tensor `global_step:0`.

    Args:
        graph: the graph to look in; the default graph when None.

    Returns:
        The variable or tensor; None when there is none, or the collection holds several.

    Raises:
        TypeError: it is no integer scalar variable or tensor.

    >>> tf.train.get_global_step() is None
    True
    """
    graph = graph or get_default_graph()
    if len(graph.get_collection(GraphKeys.GLOBAL_STEP)) > 1:
        tf_logging.error("Multiple tensors in global_step collection.")
        return None
    step = _only_step(graph)
    if step is not None:
        assert_global_step(step)
    return step


def counting_step(graph: Graph) -> Variable | OrNone:
    """The global step of a graph whatever its type; None where there is none, or no single number.

    For what weft itself tells of a step. Programs count in floats too (`tf.get_variable("global_step", [],
    initializer=tf.constant_initializer(0))`); only what adds to the step, or stops at one, may refuse that, as TensorFlow does.

    Args:
        graph: the graph to look in.
    """
    step = _only_step(graph)
    is_number = isinstance(step, Variable | Tensor) and (step.dtype.is_integer or step.dtype.is_floating)
    return step if is_number and step.get_shape().ndims == 0 else None


def _only_step(graph: Graph) -> Variable | OrNone:
    found = graph.get_collection(GraphKeys.GLOBAL_STEP)
    if found:
        return found[0] if len(found) == 1 else None
    try:
        return graph.get_tensor_by_name("global_step:0")
    except KeyError:
        return None


def create_global_step(graph: Graph | None = None) -> Variable:
    """Make the global step, a [] int64 variable that starts at zero.

    Args:
        graph: the graph to make it in; the default graph when None.

    Returns:
        The variable, which is in the collections GLOBAL_VARIABLES and GLOBAL_STEP.

    Raises:
        ValueError: the graph has one.
    """
    graph = graph or get_default_graph()
    if get_global_step(graph) is not None:
        raise ValueError('"global_step" already exists. tf.train.get_or_create_global_step() takes the one that is there.')
    with graph.as_default(), graph.name_scope(None):
        return get_variable(
            GraphKeys.GLOBAL_STEP,
            shape=[],
            dtype=dtypes.int64,
            initializer=Zeros(),
            trainable=False,
            aggregation=VariableAggregation.ONLY_FIRST_REPLICA,
            collections=[GraphKeys.GLOBAL_VARIABLES, GraphKeys.GLOBAL_STEP],
        )


def get_or_create_global_step(graph: Graph | None = None) -> Variable:
    """The global step of a graph, made when it has none.

    Args:
        graph: the graph; the default graph when None.

    Returns:
        The one that is there, or a new [] int64 variable that starts at zero.

    Raises:
        TypeError: what is there is no integer scalar variable or tensor.

    >>> tf.train.get_or_create_global_step()
    <tf.Variable 'global_step:0' shape=() dtype=int64_ref>
    """
    graph = graph or get_default_graph()
    step = get_global_step(graph)
    return create_global_step(graph) if step is None else step


def assert_or_get_global_step(
    graph: Graph | None = None, global_step_tensor: VariableLike | None = None
) -> VariableLike | None:
    """The global step that is given, after a check, or else the graph's; None where there is none.

    Args:
        graph: the graph, the default one when None.
        global_step_tensor: a step, if the caller has one.

    Raises:
        TypeError: it is no scalar of an integer type.
    """
    if global_step_tensor is None:
        return get_global_step(graph)
    assert_global_step(global_step_tensor)
    return global_step_tensor


def assert_global_step(global_step_tensor: object) -> None:
    """Raise TypeError unless this is a scalar variable or tensor of an integer type.

    Args:
        global_step_tensor: what is to be checked.
    """
    if not isinstance(global_step_tensor, Variable | Tensor):
        raise TypeError(f'Existing "global_step" must be a Variable or Tensor: {global_step_tensor}.')
    dtype: Any = getattr(global_step_tensor, "dtype", None)
    if not dtype.base_dtype.is_integer:
        raise TypeError(
            f'Existing "global_step" does not have integer type: {dtype}. '
            f"{global_step_tensor!r} counts steps; tf.train.get_or_create_global_step() makes one of tf.int64."
        )
    shape = global_step_tensor.get_shape()
    if shape.ndims != 0 and shape.is_fully_defined():
        raise TypeError(f'Existing "global_step" is not scalar: {shape}')


def increment_global_step(increment: int, graph: Graph | None = None) -> Tensor:
    """An operation that adds to the global step.

    Args:
        increment: what is added.
        graph: the graph whose step it is; the default graph when None.

    Raises:
        ValueError: the graph has no global step.
    """
    graph = get_default_graph() if graph is None else graph
    step = get_global_step(graph)
    if step is None:
        raise ValueError("Global step tensor should be created by tf.train.get_or_create_global_step before calling increment.")
    with graph.as_default(), graph.name_scope(None), graph.name_scope(f"{step.op.name}/"):
        return step.assign_add(increment)


def global_step_reading(graph: Graph | None = None) -> Tensor | OrNone:
    """The tensor by which hooks and programs read the global step: one for all, made before the graph is closed.

    Args:
        graph: the graph; the default graph when None.

    Returns:
        A tensor with the step's value as it was at some moment of the run that fetches it; None where there is no step.

    Raises:
        RuntimeError: the graph has several such tensors.
    """
    graph = get_default_graph() if graph is None else graph
    found = graph.get_collection(_READINGS)
    if len(found) > 1:
        raise RuntimeError(f"There are multiple items in collection {_READINGS}. There should be only one.")
    if found:
        reading: Tensor = found[0]
        return reading
    step = get_global_step(graph)
    if step is None:
        return None
    # Outside of the program's scopes: the reading waits for nothing and is where the step is.
    # TensorFlow has the initial value stand in for a step without a value, by a branch; seeds of later nodes go by the count.
    nodes = 12 if is_resource_variable(step) else 11
    counted = graph.node_count.as_many_as(nodes) if isinstance(step, Variable) else contextlib.nullcontext()
    with graph.as_default(), graph.control_dependencies(None), graph.name_scope(f"{step.op.name}/"), counted:
        value = step.read_value() if isinstance(step, Variable) else step
        read: Tensor = add(value, 0)
    graph.add_to_collection(_READINGS, read)
    return read


# As programs know them, by the names of tensorflow.python.training.
_get_or_create_global_step_read = global_step_reading
_increment_global_step = increment_global_step
