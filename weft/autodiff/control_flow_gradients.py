"""Gradients of If and While nodes: the gradient of a branch is a branch, that of a loop is a loop backwards.

The gradient bodies use values that the forward bodies computed, rather than computing them again: random values and what Python
functions returned stay the same, and no side effect happens twice. So asking for a gradient makes the forward node return these
values too. An If gets further outputs; a While becomes a RecordingWhile, which returns them stacked over its iterations. That
is compiled to a scan when the number of iterations follows from constants, shapes and static inputs; otherwise the loop runs
on the host. Sessions that have run the node before go on without these outputs; a remote master is sent the node again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from weft.autodiff.aggregation import Gradient
from weft.autodiff.gradients import gradients, is_trainable, register_inner_gradients
from weft.autodiff.sliced_gradients import (
    SlicedSum,
    is_sliced,
    is_sliced_by_branches,
    kind_of_shape,
    merged_slices,
    shape_of_both,
    sum_of,
    whole_shape,
)
from weft.framework.building.aliases import Nest
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.graphs.func_graph import FuncGraph, bodies_of, handle_attrs, is_invariant
from weft.framework.graphs.graph import Graph, get_default_graph
from weft.framework.graphs.indexed_slices import IndexedSlices
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.op_types.op_role import Role
from weft.framework.registry.op_registry import register_gradient
from weft.framework.types import dtypes
from weft.framework.types.dims import Dims
from weft.ops.array.constant import constant
from weft.ops.array.filling import is_zeros, zeros, zeros_like
from weft.ops.array.shape_ops import shape
from weft.ops.control_flow.branch_outputs import branch_output, branch_value, grow
from weft.ops.control_flow.buffers import plus
from weft.ops.control_flow.nodes import build_node, function_name, no_value, recorded_value, recording_while, share_captures
from weft.ops.declaration import definition_of
from weft.ops.math.comparison import greater_equal
from weft.ops.math.elementwise import sub
from weft.ops.state.resource_state import variable_shape


class GradientGraph(FuncGraph):
    """The body of a gradient: it may also use what a forward body computes, which `given` fetches."""

    def __init__(self, name: str, outer_graph: Graph, forward: FuncGraph, given: Callable[[Tensor], Tensor]) -> None:
        super().__init__(name, outer_graph)
        self._forward = forward
        self._given = given

    def _gives(self, graph: Graph) -> bool:
        return graph is self._forward or super()._gives(graph)

    def _is_inside(self, graph: Graph) -> bool:
        return graph is self._forward or super()._is_inside(graph)

    def _stand_in(self, tensor: Tensor) -> Tensor:
        if tensor.op.graph is not self._forward:
            return super()._stand_in(tensor)
        if tensor.op.op_def.role is Role.CONSTANT:
            return self._copied_constant(tensor)
        with self.as_default():
            return self._given(tensor)


def _differentiable(tensor: Tensor) -> bool:
    return is_trainable(tensor) and tensor.dtype.base_dtype is not dtypes.variant


def _zeros_for(tensor: Tensor) -> Tensor:
    """Zeros in the shape of a tensor, or of the variable behind a handle."""
    if tensor.dtype is not dtypes.resource:
        return zeros_like(tensor)
    attrs = handle_attrs(tensor)
    sizes = attrs.get("_handle_shape")
    known = sizes is not None and None not in sizes
    return zeros(sizes if known else variable_shape(tensor), attrs["_handle_dtype"])


def _dense(gradient: object) -> Tensor:
    return convert_to_tensor(gradient)


def _is_zero(gradient: object) -> bool:
    """Whether a gradient only stands in for one that nothing contributed to."""
    return isinstance(gradient, Tensor) and is_zeros(gradient)


# If.


def _if_gradient(node: Operation, *grads: object) -> list[Any]:
    graph = get_default_graph()
    places = [index for index, argument in enumerate(bodies_of(node)[0].inputs) if _differentiable(argument)]
    # Taking the gradients adds outputs to the node; those have none.
    count = len(grads)
    built = []
    for number in (0, 1):
        arguments = bodies_of(node)[number].inputs
        body, found = _branch_gradient(graph, node, number, [arguments[index] for index in places], grads[:count])
        built.append((body, dict(zip(places, found, strict=True))))
    wanted = [index for index in places if any(results[index] is not None for _, results in built)]
    outputs: list[Any] = [None] * len(node.inputs)
    if not wanted:
        return outputs
    by_branches = {index: [results[index] for _, results in built] for index in wanted}
    sliced = {index for index in wanted if is_sliced_by_branches(by_branches[index])}
    for number, (body, _) in enumerate(built):
        with body.building():
            for index in wanted:
                body.outputs += map(
                    body.output, _by_branch(body, number, by_branches[index], node.inputs[1 + index], index in sliced)
                )
    bodies = [body for body, _ in built]
    captured = share_captures(bodies)
    types = [tensor.dtype.base_dtype for tensor in bodies[0].outputs]
    shapes: list[Dims] = []
    for index in wanted:
        outer, place = node.inputs[1 + index], len(shapes)
        if index in sliced:
            pairs = zip(*(body.outputs[place : place + 2] for body in bodies), strict=True)
            shapes += [shape_of_both(first.dims, second.dims) for first, second in pairs]
        else:
            shapes.append(None if outer.dtype is dtypes.resource else outer.dims)
    made = build_node(graph, "If", bodies, [node.inputs[0], captured], {"Tout": types, "output_shapes": shapes}, "If")
    given = iter(made.outputs)
    for index in wanted:
        if index in sliced:
            sizes = whole_shape(node.inputs[1 + index], kind_of_shape(by_branches[index]))
            outputs[1 + index] = IndexedSlices(next(given), next(given), sizes)
        else:
            outputs[1 + index] = next(given)
    return outputs


def _by_branch(
    body: GradientGraph, number: int, found: Sequence[Gradient | None], outer: Tensor, is_sliced: bool
) -> list[Tensor]:
    """What a branch returns for the gradient of one of the node's inputs: a tensor, or values and indices of slices."""
    if is_sliced:
        slices = merged_slices(found, number, lambda: _zeros_for(body.capture(outer)))
        return [slices.values, slices.indices]
    own = found[number]
    return [_zeros_for(body.capture(outer)) if own is None else _dense(own)]


def _branch_gradient(
    graph: Graph, node: Operation, number: int, xs: Sequence[Tensor], grads: Sequence[Nest]
) -> tuple[GradientGraph, list[Gradient | None]]:
    """The gradient of a branch: a body, and in it the gradients of tensors of the branch by those of its first outputs."""
    forward = bodies_of(node)[number]
    positions = {tensor: index for index, tensor in enumerate(forward.inputs)}

    def given(tensor: Tensor) -> Tensor:
        if tensor in positions:
            return body.capture(node.inputs[1 + positions[tensor]])
        return body.capture(branch_output(node, number, tensor))

    body = GradientGraph(function_name(graph.get_name_scope(), "grad"), graph, forward, given)
    with body.building():
        pairs = [
            (output, grad)
            for output, grad in zip(forward.outputs[: len(grads)], grads, strict=True)
            if grad is not None and _differentiable(output) and output.op.op_def.role is not Role.ABSENT
        ]
        pairs = [pair for pair in pairs if not _is_zero(pair[1])] or pairs
        return body, gradients([y for y, _ in pairs], xs, [g for _, g in pairs]) if pairs else [None] * len(xs)


def _inner_gradients(node: Operation, xs: Sequence[Tensor], grads: Sequence[object]) -> list[Tensor | None]:
    """The gradients of tensors inside of an If's branches; each has a value only when its branch runs."""
    found: dict[Tensor, Tensor | None] = {}
    for number in (0, 1):
        own = [x for x in xs if _branch_number(node, x) == number]
        if own:
            found.update(_in_branch(node, number, own, grads))
    return [found[x] for x in xs]


def _branch_number(node: Operation, x: Tensor) -> int:
    function = x.op.graph
    while isinstance(function, FuncGraph) and function.branch_of is not None:
        owner, number = function.branch_of
        if owner is node:
            return number
        function = owner.graph
    raise AssertionError(f"{x} is in no branch of {node.name!r}")


def _in_branch(node: Operation, number: int, xs: Sequence[Tensor], grads: Sequence[object]) -> dict[Tensor, Tensor | None]:
    graph = get_default_graph()
    body, found = _branch_gradient(graph, node, number, xs, grads)
    with body.building():
        results = [None if each is None else _dense(each) for each in found]
    values = [value for value in results if value is not None]
    if not values:
        return dict(zip(xs, results, strict=True))
    other = FuncGraph(function_name(graph.get_name_scope(), "no_grad"), graph)
    with body.building():
        body.outputs = [body.output(value) for value in values]
    types, shapes = [value.dtype.base_dtype for value in values], [value.dims for value in values]
    with other.building():
        other.outputs = [no_value(dtype=kind, shape=dims) for kind, dims in zip(types, shapes, strict=True)]
    bodies = [body, other] if number == 0 else [other, body]
    inputs = [node.inputs[0], share_captures(bodies)]
    made = build_node(graph, "If", bodies, inputs, {"Tout": types, "output_shapes": shapes}, "If")
    outside = iter(branch_value(output, node.inputs[0], taken=number == 0, name="Value") for output in made.outputs)
    return {x: None if value is None else next(outside) for x, value in zip(xs, results, strict=True)}


# While.


class _Loop:
    """A While node whose gradient is taken: the stacks that it was made to return."""

    def __init__(self, node: Operation) -> None:
        self.node = node
        self.condition, self.body = bodies_of(node)
        self.count = len(node.inputs)
        self.varying = [index for index in range(self.count) if not is_invariant(self.body, index)]

    def stack(self, tensor: Tensor) -> Tensor:
        """The node's output with the values that a tensor of the body had in all iterations."""
        node, body = self.node, self.body
        if node.op_def.role is not Role.RECORDING_LOOP:
            node.op_def = definition_of(recording_while)
            node.type = node.op_def.name
            node.attrs["Trecorded"] = []
        recorded = body.outputs[self.count :]
        if tensor in recorded:
            return node.outputs[self.count + recorded.index(tensor)]
        body.outputs.append(tensor)
        node.attrs["Trecorded"] = [*node.attrs["Trecorded"], tensor.dtype.base_dtype]
        return grow(node, tensor, None if tensor.dims is None else (None, *tensor.dims))

    def pacing_stack(self) -> Tensor:
        """A stack whose length is the number of iterations: of what the condition uses, which every run of the loop needs."""
        arguments = self.body.inputs
        pacing = _behind(self.condition.outputs, self.condition.inputs) & set(self.varying)
        return self.stack(min((arguments[index] for index in pacing or self.varying), key=_size))

    def behind_variables(self, tensors: Iterable[Tensor]) -> set[int]:
        """The loop variables that some tensors of the body, and these variables in earlier iterations, are computed from."""
        found: set[int] = set()
        reached = _behind(tensors, self.body.inputs) & set(self.varying)
        while not reached <= found:
            found |= reached
            reached = _behind([self.body.outputs[index] for index in reached], self.body.inputs) & set(self.varying)
        return found


def _behind(tensors: Iterable[Tensor], arguments: Sequence[Tensor]) -> set[int]:
    """The places of the arguments of a function that some of its tensors are computed from."""
    places = {argument: place for place, argument in enumerate(arguments)}
    seen: set[Tensor] = set()
    stack = list(tensors)
    while stack:
        tensor = stack.pop()
        if tensor not in seen:
            seen.add(tensor)
            stack.extend(tensor.op.inputs)
    return {places[tensor] for tensor in seen if tensor in places}


def _size(tensor: Tensor) -> int:
    size = tensor.shape.num_elements()
    return 1 << 62 if size is None else size


def _while_gradient(node: Operation, *grads: object) -> list[Any]:
    loop = _Loop(node)
    results: list[Any] = [None] * len(node.inputs)
    if node.attrs.get("_back_prop") is False or not loop.varying:
        return results
    arguments = loop.body.inputs
    # The gradients for the stacks, which a gradient of the gradient asks for.
    recorded = {
        loop.body.outputs[index]: _dense(grad) for index, grad in enumerate(grads)
        if index >= loop.count and grad is not None and _differentiable(node.outputs[index]) and not _is_zero(grad)
    }  # fmt: skip
    fixed = [i for i in range(loop.count) if i not in loop.varying and _differentiable(arguments[i])]
    for index in fixed:
        results[index] = None if _is_zero(grads[index]) else grads[index]
    given = {i for i in loop.varying if _differentiable(arguments[i]) and grads[i] is not None}
    asked = {i for i in given if not _is_zero(grads[i])}
    # A variable whose result nobody asks the gradient of has one only where others are computed from it.
    reached = loop.behind_variables([*(loop.body.outputs[index] for index in asked), *recorded])
    moving = sorted(asked | (given & reached))
    if not (asked or recorded):
        return results
    backward = _Backward(loop, moving, fixed, recorded)
    made = backward.build([_dense(grads[index]) for index in moving])
    for index, gradient in made.items():
        results[index] = sum_of(results[index], gradient)
    return results


class _Backward:
    """The backward loop: an index that counts down, a gradient per loop variable, and a sum per captured tensor."""

    def __init__(self, loop: _Loop, moving: list[int], fixed: list[int], recorded: dict[Tensor, Tensor]) -> None:
        self._loop = loop
        self._recorded = recorded
        self._graph = get_default_graph()
        scope = self._graph.get_name_scope()
        self._positions = {tensor: index for index, tensor in enumerate(loop.body.inputs)}
        self._body = GradientGraph(function_name(scope, "grad_body"), self._graph, loop.body, self._given)
        self._moving, self._fixed = moving, fixed
        with self._body.building():
            self._index = self._body.add_argument("index", dtypes.int32, ())

    def _given(self, tensor: Tensor) -> Tensor:
        index = self._positions.get(tensor)
        if index is not None and index not in self._loop.varying:
            return self._body.capture(self._loop.node.inputs[index])
        value: Tensor = recorded_value(self._loop.stack(tensor), self._index)
        if value.dims is None:
            value.set_shape(tensor.dims)
        return value

    def build(self, grads: list[Tensor]) -> dict[int, Gradient]:
        """Build the loop that starts from the gradients of its variables; returns the gradients of the node's inputs."""
        loop, body, graph = self._loop, self._body, self._graph
        forward = loop.body
        with body.building():
            starts = [
                body.add_argument("grad", grad.dtype.base_dtype, forward.inputs[i].dims)
                for i, grad in zip(self._moving, grads, strict=True)
            ]
            ys = [forward.outputs[index] for index in self._moving]
            xs = [forward.inputs[index] for index in (*self._moving, *self._fixed)]
            per_iteration = [recorded_value(stack, self._index) for stack in self._recorded.values()]
            found = gradients([*ys, *self._recorded], xs, [*starts, *per_iteration])
            steps = dict(zip((*self._moving, *self._fixed), found, strict=True))
            outputs = [sub(self._index, 1)]
            for index, start in zip(self._moving, starts, strict=True):
                step = steps[index]
                outputs.append(zeros_like(start) if step is None else _dense(step))
            # A variable of the loop that stays as it is has a dense gradient, as its others.
            captured = [i for i in self._fixed if forward.around(forward.inputs[i]) is not None]
            rows = {i: SlicedSum(body, step, loop.node.inputs[i]) for i in captured if is_sliced(step := steps[i])}
        sums = [index for index in self._fixed if steps[index] is not None and index not in rows]
        grown = [index for index, each in rows.items() if not each.is_even]
        with graph.as_default():
            zero_sums = [_zeros_for(loop.node.inputs[index]) for index in sums]
            first_rows = [part for index in grown for part in rows[index].begin()]
            last = sub(shape(loop.pacing_stack())[0], 1)
        with body.building():
            for index, zero in zip(sums, zero_sums, strict=True):
                total = body.add_argument("sum", zero.dtype, zero.dims)
                outputs.append(plus(total, _dense(steps[index])))
            for index in grown:
                outputs += rows[index].grown(body)
            body.outputs = [
                tensor if tensor in body.inputs and body.inputs.index(tensor) == place else body.output(tensor)
                for place, tensor in enumerate(outputs)
            ]
        made = self._node([last, *grads, *zero_sums, *first_rows])
        given = iter(made.outputs[1:])
        gradients_of: dict[int, Gradient] = {index: next(given) for index in (*self._moving, *sums)}
        gradients_of.update((index, rows[index].of_rows(next(given), next(given))) for index in grown)
        backward = _Loop(made)
        for index, each in rows.items():
            if each.is_even:
                gradients_of[index] = each.of_stacks(backward.stack(each.values), backward.stack(each.indices))
        return gradients_of

    def _node(self, initial: list[Tensor]) -> Operation:
        body, graph = self._body, self._graph
        condition = FuncGraph(function_name(graph.get_name_scope(), "grad_cond"), graph)
        own = [argument for argument in body.inputs if argument not in set(body.captures.values())]
        with condition.building():
            arguments = [condition.add_argument("value", tensor.dtype, tensor.dims) for tensor in own]
            condition.outputs = [greater_equal(arguments[0], constant(0))]
        captured = share_captures([condition, body])
        count = len(own)
        body.outputs = body.outputs[:count] + body.inputs[count:]
        shapes = [*(tensor.dims for tensor in own), *(tensor.dims for tensor in captured)]
        return build_node(graph, "While", [condition, body], [[*initial, *captured]], {"output_shapes": shapes}, "While")


for _type, _rule in (("If", _if_gradient), ("While", _while_gradient)):
    register_gradient(_type, _rule)
    register_gradient(f"Stateless{_type}", _rule)
for _type in ("If", "StatelessIf"):
    register_inner_gradients(_type, _inner_gradients)
register_gradient(definition_of(recording_while).name, _while_gradient)
