"""Rewiring: consumers of some tensors take others, operations wait for others, or for fewer.

A session that has run operations keeps them as they were: rewire before the first run, or open another session.
"""

from __future__ import annotations

from weft.client.editing.elements import make_list_of_op, make_list_of_t, make_placeholder_from_tensor
from weft.client.editing.views import SubGraphView, make_view
from weft.framework.building.aliases import Nest
from weft.framework.graphs.graph import Graph
from weft.framework.nodes.operation import Operation, Tensor

_Edges = list[tuple[Operation, int]]


def _edges_of(tensor: Tensor, can_modify: Nest, cannot_modify: Nest) -> _Edges:
    """The inputs at which operations take a tensor, of those that may be changed."""
    allowed = None if can_modify is None else set(make_list_of_op(can_modify, allow_graph=False))
    kept = set() if cannot_modify is None else set(make_list_of_op(cannot_modify, allow_graph=False))
    return [
        (op, index)
        for op in dict.fromkeys(tensor.consumers())
        if (allowed is None or op in allowed) and op not in kept
        for index, each in enumerate(op.inputs)
        if each is tensor
    ]


def _move(edges: _Edges, tensor: Tensor) -> int:
    for op, index in edges:
        op.update_input(index, tensor)
    return len(edges)


def _pairs(ts0: Nest, ts1: Nest) -> list[tuple[Tensor, Tensor]]:
    first, second = make_list_of_t(ts0, allow_graph=False), make_list_of_t(ts1, allow_graph=False)
    if len(first) != len(second):
        raise ValueError(f"ts0 and ts1 have different sizes: {len(first)} != {len(second)}")
    for a, b in zip(first, second, strict=True):
        if not a.shape.is_compatible_with(b.shape):
            raise ValueError(f"Shapes {a.shape} and {b.shape} are not compatible. ({a.name} in the place of {b.name})")
        if not a.dtype.is_compatible_with(b.dtype):
            raise ValueError(f"Dtypes {a.dtype} and {b.dtype} are not compatible. ({a.name} in the place of {b.name})")
    return list(zip(first, second, strict=True))


def reroute_ts(ts0: Nest, ts1: Nest, can_modify: Nest = None, cannot_modify: Nest = None) -> int:
    """Let the consumers of tensors take others.

    Args:
        ts0: what they take from now on.
        ts1: what they took.
        can_modify: the operations that may be changed; all when None.
        cannot_modify: operations that must not be.

    Returns:
        How many inputs were changed.

    Raises:
        ValueError: the numbers, dtypes or shapes do not fit.
    """
    return sum(_move(_edges_of(old, can_modify, cannot_modify), new) for new, old in _pairs(ts0, ts1))


def swap_ts(ts0: Nest, ts1: Nest, can_modify: Nest = None, cannot_modify: Nest = None) -> int:
    """Let the consumers of tensors take each other's.

    Args:
        ts0, ts1: the tensors.
        can_modify: the operations that may be changed; all when None.
        cannot_modify: operations that must not be.

    Returns:
        How many inputs were changed.

    Raises:
        ValueError: the numbers, dtypes or shapes do not fit.
    """
    count = 0
    for first, second in _pairs(ts0, ts1):
        of_first, of_second = (_edges_of(each, can_modify, cannot_modify) for each in (first, second))
        count += _move(of_first, second) + _move(of_second, first)
    return count


def reroute_inputs(sgv0: Nest, sgv1: Nest) -> tuple[SubGraphView, SubGraphView]:
    """Let a subgraph take the inputs of another.

    Args:
        sgv0: what has the inputs.
        sgv1: what takes them.

    Returns:
        Both, as they are now.
    """
    first, second = make_view(sgv0), make_view(sgv1)
    reroute_ts(first.inputs, second.inputs, can_modify=second.ops)
    return make_view(first.ops), make_view(second.ops)


def reroute_outputs(sgv0: Nest, sgv1: Nest) -> tuple[SubGraphView, SubGraphView]:
    """Let what takes the outputs of a subgraph take those of another.

    Args:
        sgv0: what has the outputs.
        sgv1: what had them.

    Returns:
        Both, as they are now.
    """
    first, second = make_view(sgv0), make_view(sgv1)
    reroute_ts(first.outputs, second.outputs, cannot_modify=[*first.ops, *second.ops])
    return make_view(first.ops), make_view(second.ops)


def reroute_ios(sgv0: Nest, sgv1: Nest) -> tuple[SubGraphView, SubGraphView]:
    """Put a subgraph in the place of another: it has its inputs, and its outputs are taken.

    Args:
        sgv0: what takes the place.
        sgv1: what was there.

    Returns:
        Both, as they are now.
    """
    first, second = make_view(sgv0), make_view(sgv1)
    reroute_inputs(second, first)
    return reroute_outputs(first, second)


def _checked(op: Operation) -> Operation:
    if not isinstance(op, Operation):
        raise TypeError(f"Expected a tf.Operation, got: {type(op)}")
    return op


def add_control_inputs(op: Operation, cops: Nest) -> None:
    """Let an operation wait for others.

    Args:
        op: the operation.
        cops: the others.

    Raises:
        TypeError: `op` is none.
        ValueError: it waits for one of them already.
    """
    given = make_list_of_op(cops, allow_graph=False)
    for each in given:
        if each in _checked(op).control_inputs:
            raise ValueError(f"{each.name} is already a control_input of {op.name}")
    _checked(op)._add_control_inputs(given)


def remove_control_inputs(op: Operation, cops: Nest) -> None:
    """Let an operation no longer wait for others.

    Args:
        op: the operation.
        cops: the others.

    Raises:
        TypeError: `op` is none.
        ValueError: it does not wait for one of them.
    """
    given = make_list_of_op(cops, allow_graph=False)
    for each in given:
        if each not in _checked(op).control_inputs:
            raise ValueError(f"{each.name} is not a control_input of {op.name}")
    for each in given:
        op.control_inputs.remove(each)
        each.control_consumers.remove(op)
    _checked(op).graph.note_change()


def detach_control_inputs(sgv: Nest) -> None:
    """Let the operations of a subgraph no longer wait for any outside of it.

    Args:
        sgv: the subgraph.
    """
    view = make_view(sgv)
    inside = set(view.ops)
    for op in view.ops:
        remove_control_inputs(op, [each for each in op.control_inputs if each not in inside])


def detach_control_outputs(sgv: Nest, control_outputs: object = None) -> None:
    """Let no operation outside of a subgraph wait for those in it.

    Args:
        sgv: the subgraph.
        control_outputs: not needed: operations know who waits for them.
    """
    view = make_view(sgv)
    inside = set(view.ops)
    for op in view.ops:
        for each in [other for other in op.control_consumers if other not in inside]:
            remove_control_inputs(each, op)


def detach_inputs(sgv: Nest, control_inputs: bool = False) -> tuple[SubGraphView, list[Tensor]]:
    """Put placeholders in the place of the inputs of a subgraph.

    Args:
        sgv: the subgraph.
        control_inputs: whether it no longer waits for operations outside, either.

    Returns:
        The subgraph, and the placeholders.
    """
    view = make_view(sgv)
    with _graph_of(view).as_default():
        made = [make_placeholder_from_tensor(each) for each in view.inputs]
    reroute_ts(made, view.inputs, can_modify=view.ops)
    if control_inputs:
        detach_control_inputs(view)
    return make_view(view.ops), made


def detach_outputs(sgv: Nest, control_outputs: object = None) -> tuple[SubGraphView, list[Tensor]]:
    """Put placeholders in the place of the outputs of a subgraph, for those that take them.

    Args:
        sgv: the subgraph.
        control_outputs: a ControlOutputs, where no operation outside is to wait for it, either.

    Returns:
        The subgraph, and the placeholders.
    """
    view = make_view(sgv)
    inside = set(view.ops)
    leaving = [each for each in view.outputs if any(op not in inside for op in each.consumers())]
    with _graph_of(view).as_default():
        made = [make_placeholder_from_tensor(each) for each in leaving]
    reroute_ts(made, leaving, cannot_modify=view.ops)
    if control_outputs is not None:
        detach_control_outputs(view)
    return view, made


def detach(
    sgv: Nest, control_inputs: bool = False, control_outputs: object = None, control_ios: object = None
) -> tuple[SubGraphView, list[Tensor], list[Tensor]]:
    """Put placeholders in the place of the inputs and outputs of a subgraph.

    Args:
        sgv: the subgraph.
        control_inputs, control_outputs, control_ios: whether it is detached of waiting, too.

    Returns:
        The subgraph, the placeholders of the inputs, and those of the outputs.
    """
    view, entering = detach_inputs(sgv, control_inputs or control_ios is not None)
    view, leaving = detach_outputs(view, control_outputs or control_ios)
    return view, entering, leaving


def connect(sgv0: Nest, sgv1: Nest, disconnect_first: bool = False) -> tuple[SubGraphView, SubGraphView]:
    """Let a subgraph take the outputs of another.

    Args:
        sgv0: what has the outputs.
        sgv1: what takes them.
        disconnect_first: whether nothing else takes them any more.

    Returns:
        Both, as they are now.

    Raises:
        ValueError: the numbers, dtypes or shapes do not fit.
    """
    first, second = make_view(sgv0), make_view(sgv1)
    if disconnect_first:
        detach_outputs(first)
    reroute_ts(first.outputs, second.inputs, can_modify=second.ops)
    return first, make_view(second.ops)


def bypass(sgv: Nest) -> tuple[SubGraphView, list[Tensor]]:
    """Let what takes the outputs of a subgraph take its inputs; it is left with placeholders.

    Args:
        sgv: the subgraph, with as many outputs as inputs.

    Returns:
        The subgraph, and its placeholders.

    Raises:
        ValueError: the numbers, dtypes or shapes do not fit.
    """
    view = make_view(sgv)
    entering = view.inputs
    view, made = detach_inputs(view)
    reroute_ts(entering, view.outputs)
    return view, made


def _graph_of(view: SubGraphView) -> Graph:
    if view.graph is None:
        raise ValueError("the subgraph is empty")
    return view.graph
