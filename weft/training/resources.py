"""What a graph keeps on tasks beside variables and tables, and initializes as it does variables: ensembles of trees."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from weft.framework.graphs.collections import GraphKeys
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.operation import Operation, Tensor
from weft.ops.array.constant import constant
from weft.ops.control_flow.ordering import group
from weft.ops.variables.collections import uninitialized_names


class Resource(NamedTuple):
    """A resource: its handle, the operation that initializes it, and whether it is initialized."""

    handle: Tensor
    create: Operation
    is_initialized: Tensor


def register_resource(handle: Tensor, create_op: Operation, is_initialized_op: Tensor, is_shared: bool = True) -> None:
    """Have sessions of training initialize a resource, and wait until it is.

    Args:
        handle: the resource's handle.
        create_op: initializes it.
        is_initialized_op: a scalar bool.
        is_shared: whether all tasks use the same one, as they do global variables; else each has its own.
    """
    key = GraphKeys.RESOURCES if is_shared else GraphKeys.LOCAL_RESOURCES
    get_default_graph().add_to_collection(key, Resource(handle, create_op, is_initialized_op))


def shared_resources() -> list[Resource]:
    """The resources that all tasks share."""
    return get_default_graph().get_collection(GraphKeys.RESOURCES)


def local_resources() -> list[Resource]:
    """The resources that each task has for itself."""
    return get_default_graph().get_collection(GraphKeys.LOCAL_RESOURCES)


def initialize_resources(resource_list: Sequence[Resource], name: str = "init") -> Operation:
    """An operation that initializes resources.

    Args:
        resource_list: which.
        name: its name.
    """
    return group(*(each.create for each in resource_list), name=name)


def report_uninitialized_resources(
    resource_list: Sequence[Resource] | None = None, name: str = "report_uninitialized_resources"
) -> Tensor:
    """The names of the handles of resources that are not initialized.

    Args:
        resource_list: the resources to look at; all when None.
        name: the name scope.

    Returns:
        `[n] string`.
    """
    looked_at = shared_resources() + local_resources() if resource_list is None else resource_list
    graph = get_default_graph()
    with graph.name_scope(name), graph.device("/cpu:0"):
        if not looked_at:
            return constant([], dtype="string")
        names = [each.handle.op.name for each in looked_at]
        return uninitialized_names([each.is_initialized for each in looked_at], names=names)
