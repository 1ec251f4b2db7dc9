"""Assignments to variables of a model by name: of values, and of what a checkpoint has."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from weft.checkpoint.checkpoint_reader import NewCheckpointReader
from weft.framework.building.aliases import Nest, VariableLike
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.operation import Operation, Tensor
from weft.ops.array.placeholder import placeholder
from weft.ops.control_flow.ordering import group
from weft.ops.variables.model_variables import get_unique_variable
from weft.platform.logs import tf_logging
from weft.training.saving.saver import Saver


def get_variable_full_name(var: VariableLike) -> str:
    """The name under which a variable, or the whole that it is a part of, is saved.

    Args:
        var: the variable, or a part of a partitioned one.
    """
    info = var._get_save_slice_info()
    return str(info.full_name if info else var.op.name)


def assign_from_values(var_names_to_values: Mapping[str, object]) -> tuple[Any, dict[Any, Any]]:
    """An operation that assigns values to variables by name, and the feeds that it needs.

    Args:
        var_names_to_values: values, arrays of the variables' shapes, by the variables' names.

    Returns:
        The operation, and a feed_dict to run it with.

    Raises:
        ValueError: there is not just one variable of a name.
    """
    assignments, feeds = [], {}
    for name, value in var_names_to_values.items():
        var = get_unique_variable(name)
        given = placeholder(var.dtype.base_dtype, var.get_shape(), name=f"{var.op.name}/placeholder")
        assignments.append(var.assign(given))
        feeds[given] = value
    graph = get_default_graph()
    with graph.control_dependencies([each.op for each in assignments]), graph.name_scope(None):
        return graph.create_op("NoOp", [], [], name="assign_from_values"), feeds


def assign_from_values_fn(var_names_to_values: Mapping[str, object]) -> Callable[[Any], Any]:
    """A function of a session that assigns values to variables by name.

    Args:
        var_names_to_values: values, arrays of the variables' shapes, by the variables' names.

    Raises:
        ValueError: there is not just one variable of a name.
    """
    operation, feeds = assign_from_values(var_names_to_values)
    return lambda session: session.run(operation, feeds)


def assign_from_checkpoint_fn(
    model_path: str, var_list: Any, ignore_missing_vars: bool = False, reshape_variables: bool = False
) -> Callable[[Any], Any]:
    """A function of a session that restores variables from a checkpoint.

    Args:
        model_path: the checkpoint.
        var_list: variables, or a dict of them by their names in the checkpoint; may not be empty.
        ignore_missing_vars: leave variables alone that the checkpoint does not have, rather than fail.
        reshape_variables: take values of another shape with as many elements.

    Raises:
        ValueError: there is no variable to restore.
    """
    if not var_list:
        raise ValueError("var_list cannot be empty")
    if ignore_missing_vars:
        named = var_list if isinstance(var_list, Mapping) else {get_variable_full_name(var): var for var in var_list}
        reader = NewCheckpointReader(model_path)
        var_list = {name: var for name, var in named.items() if reader.has_tensor(name)}
        if not var_list:
            return lambda session: None
    saver = Saver(var_list, reshape=reshape_variables)
    return lambda session: saver.restore(session, model_path)


def assign_from_checkpoint(
    model_path: str, var_list: Nest, ignore_missing_vars: bool = False
) -> tuple[Operation, dict[Tensor, Nest]]:
    """An operation that assigns what a checkpoint has to variables, and the feeds that it needs.

    Args:
        model_path: the checkpoint.
        var_list: variables, or a dict of them, or of lists of them, by their names in the checkpoint; a part of a
            partitioned variable gets its part of the whole.
        ignore_missing_vars: leave variables alone that the checkpoint does not have, with a warning, rather than fail.

    Raises:
        ValueError: the checkpoint has no such variable, or one of another shape.
    """
    assignments: list[Nest] = []
    feeds: dict[Tensor, Nest] = {}
    reader = NewCheckpointReader(model_path)
    for name, variables in _by_saved_name(var_list).items():
        if not reader.has_tensor(name):
            if not ignore_missing_vars:
                raise ValueError(f"Checkpoint is missing variable [{name}]")
            tf_logging.warning("Checkpoint is missing variable [%s]", name)
            continue
        value = reader.get_tensor(name)
        for var in variables:
            given = placeholder(var.dtype.base_dtype, var.get_shape(), name=f"placeholder/{var.op.name}")
            assignments.append(var.assign(given))
            feeds[given] = _part_of(value, var, name)
    return group(*assignments), feeds


def _by_saved_name(var_list: Nest) -> dict[str, list[Nest]]:
    if isinstance(var_list, Mapping):
        return {name: list(each) if isinstance(each, list | tuple) else [each] for name, each in var_list.items()}
    named: dict[str, list[Nest]] = {}
    for var in var_list:
        named.setdefault(get_variable_full_name(var), []).append(var)
    return named


def _part_of(value: Nest, var: Nest, name: str) -> Nest:
    info = var._get_save_slice_info()
    if info:
        return value[tuple(slice(start, start + size) for start, size in zip(info.var_offset, info.var_shape, strict=True))]
    if tuple(var.get_shape().as_list()) != value.shape:
        raise ValueError(
            f"Total size of new array must be unchanged for {name} lh_shape: [{value.shape}], rh_shape: [{var.get_shape()}]"
        )
    return value
