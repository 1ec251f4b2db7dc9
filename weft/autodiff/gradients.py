"""tf.gradients: nodes that compute the derivatives of some tensors for others.

The walk goes from `ys` back to `xs` over the operations between them, each once and only when all its consumers have
been there; what several consumers contribute to one tensor is summed before it goes on.
"""

from __future__ import annotations

import contextlib
from collections import defaultdict, deque
from collections.abc import Callable, Sequence
from enum import Enum
from typing import Any, Final

from weft.autodiff.aggregation import Gradient, aggregate, checked_method
from weft.framework.building.aliases import Gradients, TensorLike
from weft.framework.building.op_builder import graph_of
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.graphs.func_graph import FuncGraph
from weft.framework.graphs.graph import Graph
from weft.framework.graphs.indexed_slices import IndexedSlices
from weft.framework.nodes.eager_tensor import EagerTensor
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.op_types.op_def import Rule
from weft.framework.op_types.op_role import Role
from weft.framework.registry import op_registry
from weft.framework.types import dtypes
from weft.framework.types.dtypes import DType
from weft.ops.array.constant import constant
from weft.ops.array.filling import fill_node, zeros, zeros_like
from weft.ops.array.identity import identity_node
from weft.ops.array.shape_ops import shape
from weft.ops.array.slices_conversion import NODES_OF_DENSE, convert_to_tensor_or_indexed_slices
from weft.ops.control_flow.ordering import tuple_of

_DIFFERENTIABLE: Final = frozenset((
    dtypes.float16, dtypes.bfloat16, dtypes.float32, dtypes.float64, dtypes.complex64, dtypes.complex128,
    dtypes.resource, dtypes.variant,
))  # fmt: skip


# The gradients of tensors inside of a node's branches, by the node's type; see `register_inner_gradients`.
_InnerRule = Callable[[Operation, Sequence[Tensor], Sequence[Any]], list[Any]]
_INNER_RULES: Final[dict[str, _InnerRule]] = {}


def register_inner_gradients(node_type: str, rule: _InnerRule) -> None:
    """Let `rule(node, xs, grads)` give the gradients of tensors inside of the node's branches, by those of its outputs."""
    _INNER_RULES[node_type] = rule


class UnconnectedGradients(Enum):
    """What the gradient of an x is that no y depends on."""

    NONE = "none"
    ZERO = "zero"


def gradients(
    ys: TensorLike,
    xs: TensorLike,
    grad_ys: TensorLike | Sequence[TensorLike | None] | None = None,
    name: str = "gradients",
    colocate_gradients_with_ops: bool = False,
    gate_gradients: bool = False,
    aggregation_method: int | None = None,
    stop_gradients: TensorLike | None = None,
    unconnected_gradients: object = UnconnectedGradients.NONE,
) -> list[Tensor | Any]:
    """Add nodes for the sum of the derivatives of all `ys` with respect to each of `xs`.

    Args:
        ys, xs: a tensor or variable, or a list of them.
        grad_ys: the gradients to start from, one per y, None for ones.
        name: the name scope.
        colocate_gradients_with_ops: put each gradient node on the device of the op that it differentiates.
        gate_gradients: let nothing use a gradient of an op before all gradients of that op are there.
        aggregation_method: how contributions are summed; see AggregationMethod.
        stop_gradients: tensors to treat as constants.
        unconnected_gradients: NONE or ZERO, for an x that no y depends on.

    Returns:
        A list with one Tensor, IndexedSlices or None per x.

    Raises:
        LookupError: an op between has no gradient rule.
        ValueError, TypeError: arguments don't belong together, or a y has no differentiable dtype.

    >>> x = tf.constant(3.0)
    >>> sess.run(tf.gradients(x * x, [x]))
    [np.float32(6.0)]
    """
    ys, xs = _as_list(ys), _as_list(xs)
    stops = [] if stop_gradients is None else _as_list(stop_gradients)
    grad_ys = [None] * len(ys) if grad_ys is None else _as_list(grad_ys)
    try:
        unconnected = UnconnectedGradients(unconnected_gradients)
    except ValueError:
        raise ValueError(f"Unknown value for unconnected_gradients: '{unconnected_gradients}'") from None
    method = checked_method(aggregation_method)
    graph = graph_of([*ys, *xs])
    with graph.as_default(), graph.name_scope(name or "gradients"):
        y_tensors = [_in(graph, convert_to_tensor(y, name=f"y_{index}")) for index, y in enumerate(ys)]
        x_tensors = [_tensor_of(x, f"x_{index}") for index, x in enumerate(xs)]
        stop_ops = [_tensor_of(stop, "stop").op for stop in stops]
        starts = _start_gradients(y_tensors, grad_ys, graph, colocate_gradients_with_ops)
        walk = _Walk(graph, x_tensors, stop_ops, colocate_gradients_with_ops, gate_gradients, method)
        results = walk.run(y_tensors, starts)
    if unconnected is UnconnectedGradients.ZERO:
        with graph.as_default():
            return [_zeros_of(x) if r is None else r for x, r in zip(xs, results, strict=True)]
    return results


def _in(graph: Graph, y: Tensor) -> Tensor:
    """A y, or what stands outside for one that a branch made."""
    brought = y if graph.building_function else graph.bring(y)
    return brought if isinstance(brought, Tensor) else y


def _as_list(value: object) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else [value]


def _tensor_of(x: object, name: str) -> Tensor:
    """The tensor whose consumers all see `x`: a variable's reference or handle, else the tensor itself."""
    handle = getattr(x, "handle", None)
    if isinstance(handle, Tensor):
        return handle
    if isinstance(x, IndexedSlices):
        return x.values
    return convert_to_tensor(x, name=name, as_ref=True)


def _zeros_of(x: Any) -> Any:
    if isinstance(getattr(x, "handle", None), Tensor):
        return zeros(x.shape, x.dtype.base_dtype)
    return zeros_like(_tensor_of(x, "x"))


# Where the walk starts.


def _start_gradients(ys: Sequence[Tensor], grad_ys: Sequence[Any], graph: Graph, colocate: bool) -> list[Gradient]:
    if len(grad_ys) != len(ys):
        raise ValueError(f"Passed {len(grad_ys)} grad_ys for {len(ys)} ys")
    given = [
        None if grad is None else convert_to_tensor_or_indexed_slices(grad, name=f"grad_y_{index}")
        for index, grad in enumerate(grad_ys)
    ]
    starts: list[Gradient] = []
    for index, (y, grad) in enumerate(zip(ys, given, strict=True)):
        with _beside(graph, y.op, colocate):
            starts.append(_ones(y, index) if grad is None else _checked_start(y, grad, index))
    return starts


def _ones(y: Tensor, index: int) -> Tensor:
    dtype = y.dtype.base_dtype
    if dtype.is_complex:
        raise TypeError(f"Gradients of complex tensors must set grad_ys (y.dtype = {dtype!r})\nThey are asked for by {y}.")
    if dtype is dtypes.string:
        raise TypeError(
            f"Expected string, got 1 of type 'int' instead. Texts have no gradient: ys are floats, and one is {y!r}."
        )
    sizes = shape(y)
    one = constant(True if dtype is dtypes.bool else 1, dtype, name=f"grad_ys_{index}")
    ones: Tensor = fill_node(sizes, one)
    return ones


def _checked_start(y: Tensor, grad: Gradient, index: int) -> Gradient:
    dtype, found = y.dtype.base_dtype, grad.dtype.base_dtype
    name = f"grad_ys_{index}"
    problem = _start_problem(y, dtype, found)
    if problem:
        raise TypeError(problem)
    if isinstance(grad, Tensor):
        start: Tensor = identity_node(grad, name=name)
        return start
    dense_shape = None if grad.dense_shape is None else identity_node(grad.dense_shape, name=f"{name}_shape")
    values = identity_node(grad.values, name=f"{name}_values")
    return IndexedSlices(values, identity_node(grad.indices, name=f"{name}_indices"), dense_shape)


def _start_problem(y: Tensor, dtype: DType, found: DType) -> str:
    """Why a gradient of type `found` cannot be that of `y`; '' when it can."""
    if dtype.is_floating or dtype.is_integer:
        fits, kind, wanted = found.is_floating or found.is_integer, "real or integer-valued", "real or integer"
    elif dtype.is_complex:
        fits, kind, wanted = found.is_complex, "complex-valued", "real"
    elif dtype is dtypes.variant:
        fits, kind, wanted = found is dtypes.variant, "variant", "variant"
    elif dtype is dtypes.resource:
        fits, kind, wanted = found is not dtypes.resource, "resource", "no resource"
    else:
        return f"Tensor {y} with type {dtype.name} must be numeric to obtain a default gradient"
    if fits:
        return ""
    return f"Gradient type {found.name} generated for {kind} tensor {y} with type {dtype.name} must be {wanted}"


def _beside(graph: Graph, op: Operation, colocate: bool) -> contextlib.AbstractContextManager[None]:
    return graph.colocate_with(op) if colocate else contextlib.nullcontext()


class _Walk:
    """One backward walk: the contributions that each tensor has received, and how many consumers each op waits for."""

    def __init__(
        self,
        graph: Graph,
        xs: Sequence[Tensor],
        stops: Sequence[Operation],
        colocate: bool,
        gate: bool,
        method: int,
    ) -> None:
        self._graph = graph
        self._xs = xs
        self._stops = stops
        self._colocate = colocate
        self._gate = gate
        self._method = method
        self._received: dict[Tensor, list[Gradient]] = {}
        # Slices out of branches and loops stand behind others: in TensorFlow the way through these is longer.
        self._received_last: dict[Tensor, list[Gradient]] = {}
        self._summed: dict[Tensor, Gradient | None] = {}
        self._waiting: defaultdict[Operation, int] = defaultdict(int)
        # Where the walk begins in a branch or loop body and an x is outside of it, it goes on from the body's arguments to the
        # tensors around that they stand for; so it does from a late read to the one that the program has.
        self._arguments: dict[Tensor, list[Tensor]] = {}
        self._behind: dict[Operation, Tensor] = {}
        # The xs that lie inside of a branch, by the node that runs it.
        self._inner: defaultdict[Operation, list[Tensor]] = defaultdict(list)
        self._leads: set[Operation] = set()

    def _lead_on(self, op: Operation, to: Tensor) -> None:
        self._arguments.setdefault(to, []).append(op.outputs[0])
        self._behind[op] = to

    def _cross_borders(self, ys: Sequence[Tensor]) -> None:
        for read, first in self._graph.late_reads.made.items():
            self._lead_on(read, first)
        if all(x.op.graph is y.op.graph for x in self._xs for y in ys):
            return
        graph: Graph | None = self._graph
        while isinstance(graph, FuncGraph):
            for outer, argument in graph.captures.items():
                self._lead_on(argument.op, outer)
            graph = graph.outer_graph if graph.has_outer_graph else None

    def _enter_branches(self, ys: Sequence[Tensor]) -> None:
        around = {y.op.graph for y in ys}
        for x in self._xs:
            graph, node = x.op.graph, None
            while graph not in around and isinstance(graph, FuncGraph) and graph.branch_of is not None:
                node = graph.branch_of[0]
                graph = node.graph
            if node is not None and graph in around:
                self._inner[node].append(x)

    def _inputs(self, op: Operation) -> Sequence[Tensor]:
        return [self._behind[op]] if op in self._behind else op.inputs

    def run(self, ys: Sequence[Tensor], starts: Sequence[Gradient]) -> list[Gradient | None]:
        """Differentiate every op between `ys` and the xs, consumers first, and return the gradients of the xs."""
        for y, start in zip(ys, starts, strict=True):
            self._received.setdefault(y, []).append(start)
        self._cross_borders(ys)
        self._enter_branches(ys)
        reached = self._leads = self._reached()
        sources = [op for op in dict.fromkeys(y.op for y in ys) if op in reached]
        self._count(sources, reached)
        ends = {x.op for x in self._xs if not any(self._waiting[t.op] > 0 for t in self._inputs(x.op))}
        ends.update(self._stops)
        ready = deque(op for op in sources if self._waiting[op] == 0)
        while ready:
            op = ready.popleft()
            with _beside(self._graph, op, self._colocate):
                self._visit(op, is_end=op in ends)
            for tensor in self._inputs(op):
                self._waiting[tensor.op] -= 1
                if self._waiting[tensor.op] == 0:
                    ready.append(tensor.op)
        return [self._summed.get(x) for x in self._xs]

    def _reached(self) -> set[Operation]:
        """The ops that an x leads to through tensors that have gradients."""
        reached: set[Operation] = set()
        queue = deque([*(x.op for x in self._xs), *self._inner])
        while queue:
            op = queue.popleft()
            if op not in reached:
                reached.add(op)
                for tensor in op.outputs:
                    if is_trainable(tensor):
                        queue.extend(tensor.consumers())
                        queue.extend(argument.op for argument in self._arguments.get(tensor, ()))
        return reached

    def _count(self, sources: Sequence[Operation], reached: set[Operation]) -> None:
        """Count, for each op between the sources and the xs, the edges that gradients will come over."""
        between: dict[Operation, None] = {}
        queue = deque(sources)
        while queue:
            op = queue.popleft()
            if op in reached and op not in between:
                between[op] = None
                queue.extend(t.op for t in self._inputs(op))
        for op in between:
            for tensor in self._inputs(op):
                if tensor.op in between:
                    self._waiting[tensor.op] += 1

    def _visit(self, op: Operation, is_end: bool) -> None:
        """Sum what the outputs of `op` have received and hand it on to its inputs."""
        received = [[*self._received.get(t, ()), *self._received_last.get(t, ())] for t in op.outputs]
        incoming = [aggregate(op, index, given, self._method) for index, given in enumerate(received)]
        self._summed.update(zip(op.outputs, incoming, strict=True))
        arrived = [gradient for gradient in incoming if gradient is not None]
        if is_end or not arrived:
            return
        if op in self._behind:
            # An argument has one output, and so has a read.
            self._received.setdefault(self._behind[op], []).extend(arrived)
            return
        rule = _rule_of(op)
        if rule is None:
            return
        filled = [_filled(t, g) for t, g in zip(op.outputs, incoming, strict=True)]
        with self._graph.name_scope(f"{op.name}_grad"):
            if op in self._inner:
                inner = self._inner[op]
                self._summed.update(zip(inner, _INNER_RULES[op.type](op, inner, filled), strict=True))
                if not any(tensor.op in self._leads for tensor in op.inputs):
                    return
            outgoing = self._outgoing(op, rule, filled)
        for tensor, gradient in zip(op.inputs, outgoing, strict=True):
            if gradient is not None:
                _narrow(op, tensor, gradient)
                comes_last = op.op_def.bodies and isinstance(gradient, IndexedSlices)
                (self._received_last if comes_last else self._received).setdefault(tensor, []).append(gradient)

    def _outgoing(self, op: Operation, rule: Rule, incoming: Sequence[Gradient | None]) -> Gradients:
        told = op.op_def.gradient_nodes if rule is op.op_def.gradient else None
        nodes = None if told is None else told(op)
        if nodes is not None and any(isinstance(gradient, IndexedSlices) for gradient in incoming):
            # TensorFlow's rule makes the dense form anew for each input that it has a gradient of.
            nodes += NODES_OF_DENSE * sum(is_trainable(each) for each in op.inputs)
        counted = contextlib.nullcontext() if nodes is None else self._graph.node_count.as_many_as(nodes)
        with self._graph.original_op(op):
            with counted:
                outgoing = _as_list(rule(op, *incoming))
            if len(outgoing) != len(op.inputs) and op.op_def.role is not Role.LOOP:
                raise ValueError(
                    f"Num gradients {len(outgoing)} generated for op {op.name!r} (op type: {op.type}) do not match num inputs "
                    f"{len(op.inputs)}: {[each.name for each in op.inputs]}. A gradient's function returns one for each input, "
                    "None where there is none; of tf.custom_gradient one for each argument."
                )
            if self._gate and sum(gradient is not None for gradient in outgoing) > 1:
                with self._graph.device(None), self._graph.colocate_with(None, ignore_existing=True):
                    outgoing = tuple_of(outgoing)
        return outgoing


def is_trainable(tensor: Tensor) -> bool:
    """Whether gradients pass through this tensor at all."""
    return tensor.dtype.base_dtype in _DIFFERENTIABLE


def _filled(tensor: Tensor, gradient: Gradient | None) -> Gradient | None:
    # A rule of an op with several outputs may rely on every differentiable one having a gradient.
    if gradient is not None or not is_trainable(tensor) or tensor.dtype.base_dtype in (dtypes.resource, dtypes.variant):
        return gradient
    return zeros_like(tensor)


def _rule_of(op: Operation) -> Rule | None:
    try:
        return op_registry.lookup_gradient(op.attrs.get("_gradient_op_type") or op.type)
    except LookupError:
        asked = op.attrs.get("_gradient_op_type")
        registered = (
            f" gradient_override_map asks for {asked!r}, which no @tf.RegisterGradient has registered." if asked else ""
        )
        raise LookupError(
            f"No gradient defined for operation '{op.name}' (op type: {op.type}). In general every operation must have "
            "an associated `@tf.RegisterGradient` for correct autodiff, which this op is lacking. To treat its output "
            f"as a constant, pass it through `tf.stop_gradient`.{registered}"
        ) from None


def _narrow(op: Operation, tensor: Tensor, gradient: Gradient) -> None:
    """Add what the input's shape says to the gradient's; ValueError when they contradict each other."""
    if not isinstance(gradient, Tensor) or isinstance(gradient, EagerTensor) or tensor.dtype is dtypes.resource:
        return
    try:
        gradient.set_shape(tensor.dims)
    except ValueError:
        raise ValueError(
            "Incompatible shapes between op input and calculated input gradient. Forward operation: "
            f"{op.name}. Input index: {op.inputs.index(tensor)}. Original input shape: {tensor.shape}. "
            f"Calculated input gradient shape: {gradient.shape}"
        ) from None
