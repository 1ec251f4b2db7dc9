"""Further outputs of If nodes: what a branch computes besides its results, for gradients and for nodes outside of it."""

from __future__ import annotations

import functools
from collections.abc import Sequence

from weft.errors import InvalidArgumentError
from weft.framework.building.aliases import Array, Gradients, Result
from weft.framework.building.op_context import OpContext
from weft.framework.graphs.func_graph import FuncGraph, bodies_of
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.types.dims import Dims
from weft.ops.array.constant import constant
from weft.ops.control_flow.nodes import no_value
from weft.ops.declaration import op, same_as_input


def grow(node: Operation, tensor: Tensor, dims: Dims) -> Tensor:
    """A further output of a node, of the type of `tensor`; plans that were made before go on without it."""
    output = Tensor(node, len(node.outputs), tensor.dtype.base_dtype)
    output.dims = dims
    shapes = node.attrs["output_shapes"] or [None] * len(node.outputs)
    node.attrs["output_shapes"] = [*shapes, dims]
    node.outputs.append(output)
    node.graph.note_growth(node.name)
    return output


def branch_output(node: Operation, number: int, tensor: Tensor) -> Tensor:
    """The If node's output with the value of a tensor of one of its branches; it has none where the other one ran."""
    branches = bodies_of(node)
    branch, other = branches[number], branches[1 - number]
    if tensor in branch.outputs:
        return node.outputs[branch.outputs.index(tensor)]
    branch.outputs.append(tensor)
    other.outputs.append(_filler(other, tensor))
    node.attrs["Tout"] = [*node.attrs["Tout"], tensor.dtype.base_dtype]
    return grow(node, tensor, tensor.dims)


def _filler(function: FuncGraph, tensor: Tensor) -> Tensor:
    with function.reopened():
        return no_value(dtype=tensor.dtype.base_dtype, shape=tensor.dims)


def open_branches(node: Operation, branches: Sequence[FuncGraph]) -> None:
    """Let nodes outside of a new If node use what its branches compute, as programs do that keep a tensor of a branch."""
    for number, branch in enumerate(branches):
        branch.branch_of = node, number
        branch.leave = functools.partial(_outside, node, number)


def _value_gradient(node: Operation, grad: Tensor) -> Gradients:
    return [grad, None]


@op("BranchValue", "value: T, cond: bool -> output: T", infer=same_as_input, gradient=_value_gradient)
def branch_value(ctx: OpContext, value: Array, cond: Array, *, taken: bool) -> Result:
    """What a branch computed, for a node outside of it; an error where the other branch ran: `[...], scalar bool -> [...]`."""
    if bool(cond) is not taken:
        raise InvalidArgumentError.of(
            f"Retval[0] does not have value\n\tIt was made in the branch of a tf.cond that runs when the predicate is {taken}, "
            f"and the predicate is {not taken}. Return the value from both branches to have one in either case"
        )
    return value


def _outside(node: Operation, number: int, element: Tensor | Operation) -> Tensor:
    """The tensor in the graph around that stands for a tensor of a branch, or that is there when an operation of it has run."""
    branch = bodies_of(node)[number]
    found = branch.left.get(element)
    if found is None:
        with branch.reopened():
            inner = branch.output(element) if isinstance(element, Tensor) else _ran(branch, element)
        graph = node.graph
        opened = graph.reopened() if isinstance(graph, FuncGraph) else graph.as_default()
        with opened, graph.control_dependencies(None), graph.name_scope(f"{node.name}/"):
            output = branch_output(node, number, inner)
            found = branch.left[element] = branch_value(output, node.inputs[0], taken=number == 0, name="Value")
    return found


def _ran(branch: FuncGraph, op: Operation) -> Tensor:
    with branch.control_dependencies([op]):
        return constant(True, name="ran")
