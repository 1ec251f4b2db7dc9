"""Nodes that only order others: no_op, group and tuple."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from weft.framework.building.aliases import ArrayModule, Nest, VariableLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.operation import Operation, Tensor
from weft.ops.array.identity import identity_node
from weft.ops.declaration import Role, no_outputs, op


@op("NoOp", "->", role=Role.ORDER, infer=no_outputs, gradient=None)
def no_op(xp: ArrayModule) -> tuple[()]:
    """Do nothing, in the order that control dependencies give: `->`.

    >>> sess.run(tf.no_op())

    Returns:
        The operation.
    """
    return ()


@op("ControlTrigger", "->", role=Role.ORDER, infer=no_outputs, gradient=None)
def control_trigger(xp: ArrayModule) -> tuple[()]:
    """Do nothing, in the order that control dependencies give, also behind branches that are not taken: `->`."""
    return ()


def with_dependencies(dependencies: Sequence[object], output_tensor: VariableLike, name: str | None = None) -> Tensor:
    """`output_tensor` once the dependencies have run, on the device of `output_tensor`."""
    graph = get_default_graph()
    with (
        graph.name_scope(name or "control_dependency") as scope,
        graph.colocate_with(output_tensor),
        graph.control_dependencies(dependencies),
    ):
        value = _as_tensor(output_tensor)
        if isinstance(value, Tensor):
            return identity_node(value, name=scope)
        return value.with_values(identity_node(value.values, name=scope))


def _as_tensor(value: Tensor) -> Tensor:
    return value if hasattr(value, "with_values") else convert_to_tensor(value)


def _flatten(inputs: Iterable[object]) -> Iterator[Any]:
    for item in inputs:
        if isinstance(item, list | tuple | set) and not hasattr(item, "op"):
            yield from _flatten(item)
        elif isinstance(item, dict):
            yield from _flatten(item[key] for key in sorted(item))
        else:
            yield item


def _dependency(item: Operation) -> Operation | None:
    if isinstance(item, Operation):
        return item
    item = item._as_graph_element() if hasattr(item, "_as_graph_element") else item
    found = getattr(item, "op", None)
    return found if isinstance(found, Operation) else None


def group(*inputs: object, **kwargs: Any) -> Operation:
    """Make one operation that is done when all of `inputs` are.

    Inputs of several devices are first gathered device by device, so one edge leaves each.

    Args:
        inputs: operations, tensors, variables, or (nested) lists and dicts of them.
        kwargs: `name`, the operation's name.

    Returns:
        The operation.

    Raises:
        ValueError: another keyword is given.
        TypeError: an input is none of these.

    >>> v = tf.Variable(1)
    >>> sess.run(v.initializer)
    >>> sess.run(tf.group(v.assign_add(1), tf.no_op()))
    >>> sess.run(v)
    np.int32(2)
    """
    name = kwargs.pop("name", None)
    if kwargs:
        raise ValueError(f"Unknown keyword arguments: {', '.join(kwargs)}")
    graph = get_default_graph()
    by_device: dict[str, list[Operation]] = {}
    for item in _flatten(inputs):
        found = _dependency(item)
        if found is None:
            raise TypeError(
                f"Expected tf.group() expected Tensor arguments not '{item}' with type '{type(item)}'\n  inputs: {inputs}"
                f"{_meant_input(item)}"
            )
        by_device.setdefault(found.device, []).append(found)
    with graph.name_scope(name or "group_deps") as scope:
        if len(by_device) <= 1:
            return _group_on(next(iter(by_device.items()), ("", [])), scope)
        joined = [_group_on(item, None) for item in sorted(by_device.items())]
        with graph.control_dependencies(joined):
            return no_op(name=scope)


def _meant_input(item: object) -> str:
    if item is None:
        return "\n  Which function has returned None? One that builds ops returns what is to be run."
    if isinstance(item, str):
        return f"\n  Names are looked up first: graph.get_operation_by_name({item!r})."
    return ""


def _group_on(device_and_inputs: tuple[str, list[Operation]], name: str | None) -> Operation:
    device, inputs = device_and_inputs
    graph = get_default_graph()
    with graph.control_dependencies(inputs):
        if not device:
            return no_op(name=name)
        with graph.device(device):
            return no_op(name=name)


def tuple_of(tensors: Sequence[Nest], name: str | None = None, control_inputs: Sequence[Operation] | None = None) -> list[Any]:
    """Make copies of `tensors`, none of which is there before all of them are.

    Args:
        tensors: tensors or IndexedSlices; None entries stay None.
        name: a name scope for the nodes.
        control_inputs: operations and tensors to wait for besides.

    Returns:
        A list of the copies.

    Raises:
        ValueError: there is no tensor among `tensors`.
        TypeError: an entry of `control_inputs` is neither an operation nor a tensor.
    """
    if isinstance(tensors, Tensor):
        tensors = [tensors]
    graph = get_default_graph()
    with graph.name_scope(name or "tuple"):
        tensors = [item if item is None or hasattr(item, "op") else convert_to_tensor(item) for item in tensors]
        gates = [item.op for item in tensors if item is not None]
        for item in control_inputs or ():
            found = _dependency(item)
            if found is None:
                raise TypeError(f"Control input must be Operation or Tensor: {item}")
            gates.append(found)
        if not any(item is not None for item in tensors):
            raise ValueError(f"Must have at least one Tensor: {tensors}")
        unique = sorted(set(gates), key=lambda each: each.id)
        gate = group(*unique)
        return [None if item is None else with_dependencies([gate], item) for item in tensors]
