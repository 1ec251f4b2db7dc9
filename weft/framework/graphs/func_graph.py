"""FuncGraph: the body of a branch or of a loop, a graph of its own inside of another one.

A body takes what it uses of the graphs around it as arguments: `capture` adds one the first time. Names, collections and the
library of functions are those of the outermost graph, so a node's name is unique among all bodies.
"""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Iterable, Iterator, Sequence, Set
from typing import Any, Final

import numpy as np

from weft.framework.context import scopes
from weft.framework.graphs.graph import Graph
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.op_types.op_def import OpDef
from weft.framework.op_types.op_role import Role
from weft.framework.registry import op_registry
from weft.framework.serial import function_def, graph_def
from weft.framework.types.dims import Dims
from weft.framework.types.dtypes import DType, resource

# A small constant is copied into the body, where shape rules can see its value.
_COPIED_ELEMENTS: Final = 1024
_NO_SCOPES: Final = {field.name: getattr(scopes.EMPTY, field.name) for field in dataclasses.fields(scopes.EMPTY)}


class FuncGraph(Graph):
    """A body under construction, and afterwards a function of the library.

    Args:
        name: its name in the library.
        outer_graph: the graph in which the body is built; None for a function that came from a GraphDef.
    """

    # Whether a program calls it by a function of its own, of a dataset or of tf.function; else it is a loop's or a branch.
    is_function = False

    def __init__(self, name: str, outer_graph: Graph | None = None) -> None:
        super().__init__()
        self.name = name
        self.inputs: list[Tensor] = []
        self.outputs: list[Tensor] = []
        self.control_outputs: list[Operation] = []
        self.outer_control_inputs: dict[Operation, None] = {}
        self.captures: dict[Tensor, Tensor] = {}
        self._captured: dict[Tensor, Tensor] = {}  # the same the other way round
        self._stand_ins: dict[Tensor, Tensor] = {}
        self._outer_graph = outer_graph
        self.left: dict[Tensor | Operation, Tensor] = {}
        # The If node whose branch this is, and the number of the branch.
        self.branch_of: tuple[Operation, int] | None = None
        if outer_graph is not None:
            self._names = outer_graph._names
            self._suffixes = outer_graph._suffixes
            self.functions = outer_graph.functions
            self._collections = outer_graph._collections
            self._seed = outer_graph.seed
            self.has_inline_bodies = outer_graph.has_inline_bodies
            if self.has_inline_bodies:
                self.node_count = outer_graph.node_count
        self._body = self.node_count.body()

    @property
    def has_outer_graph(self) -> bool:
        """Whether the body is built in another graph; one that came from a GraphDef is not."""
        return self._outer_graph is not None

    @property
    def outer_graph(self) -> Graph:
        """The graph in which the body is built."""
        assert self._outer_graph is not None
        return self._outer_graph

    @property
    def home(self) -> Graph:
        """Where nodes that use tensors of this graph are added: outside of a branch that is finished."""
        return self if self.leave is None else self.outer_graph.home

    @property
    def outermost(self) -> Graph:
        """The graph around all others that this one is a body in."""
        return self if self._outer_graph is None else self._outer_graph.outermost

    @property
    def building_function(self) -> bool:
        """Whether this is the body of a function or a branch: yes."""
        return True

    @property
    def external_captures(self) -> list[Tensor]:
        """The tensors of the graph around it that the body takes, in the order of their arguments."""
        return list(self.captures)

    @contextlib.contextmanager
    def building(self) -> Iterator[FuncGraph]:
        """Build in this graph for the block, under the name and device scopes that are open in the graph around it."""
        state = scopes.current(self.outer_graph)
        inherited = {key: getattr(state, key) for key in ("name", "attrs", "gradient_overrides", "devices", "device_name")}
        with self.as_default(), scopes.entered(self, control_flow=self, **inherited):
            yield self

    @contextlib.contextmanager
    def reopened(self) -> Iterator[FuncGraph]:
        """Add to this finished body in the block."""
        was_finalized, self._finalized = self._finalized, False
        try:
            with self.as_default():
                yield self
        finally:
            self._finalized = was_finalized

    def add_argument(self, name: str, dtype: DType, dims: Dims, exact: bool = False, **attrs: object) -> Tensor:
        """Add an argument after those that there are; `exact` takes its name as it is."""
        values = {"T": dtype.base_dtype, "index": len(self.inputs), "_shape": dims, **attrs}
        with scopes.entered(self, **_NO_SCOPES):
            op = self.add_node(
                op_registry.lookup("_Arg"), name if exact else self._argument_name(name), (), [dtype], values, ()
            )
        self.inputs.append(op.outputs[0])
        return op.outputs[0]

    def _argument_name(self, name: str) -> str:
        base = name.rpartition("/")[2].partition(":")[0].lower() or "arg"
        base = "".join(c if c.isalnum() else "_" for c in base)
        taken = {tensor.op.name for tensor in self.inputs}
        candidate, number = f"arg_{base}", 0
        while candidate in taken:
            number += 1
            candidate = f"arg_{base}_{number}"
        return candidate

    def capture(self, tensor: Tensor) -> Tensor:
        """The argument that stands for a tensor of a graph around this one.

        Raises:
            ValueError: the tensor belongs to a graph that is not around this one.
        """
        if tensor.op.graph is self:
            return tensor
        found = self._stand_ins.get(tensor)
        if found is None:
            with self.node_count.entering(self._body):
                found = self._stand_ins[tensor] = self._stand_in(tensor)
        return found

    def _stand_in(self, tensor: Tensor) -> Tensor:
        graph = tensor.op.graph
        if not self._is_inside(graph):
            if graph.leave is not None:
                return self.capture(graph.leave(tensor))
            raise wrong_context(tensor)
        value = tensor.op.attrs.get("value") if tensor.op.op_def.role is Role.CONSTANT else None
        # Gradients reach the tensors around a body through its arguments only.
        may_have_gradient = tensor.dtype.is_floating or tensor.dtype.is_complex
        if isinstance(value, np.ndarray) and value.size <= _COPIED_ELEMENTS and not may_have_gradient:
            return self._copied_constant(tensor)
        # The graph around may have an argument of its own for a tensor of a graph around that.
        is_next = graph is self.outer_graph or self.outer_graph.runs_eagerly
        outer = tensor if is_next else self.outer_graph.capture(tensor)  # type: ignore[attr-defined]
        return self.captures.get(outer) or self.capture_argument(outer)

    def stand_in(self, tensor: Tensor) -> Tensor | None:
        """What a tensor of a graph around this one is here; None where the body has not used it so far."""
        return self._stand_ins.get(tensor)

    @property
    def stands_in_for(self) -> Set[Tensor]:
        """The tensors of graphs around this one that the body uses."""
        return self._stand_ins.keys()

    def capture_argument(self, outer: Tensor) -> Tensor:
        """Add the argument for a tensor of the graph around."""
        made = self.add_argument(outer.op.name, outer.dtype, outer.dims, **handle_attrs(outer))
        self.captures[outer] = made
        self._captured[made] = outer
        return made

    def around(self, tensor: Tensor) -> Tensor | None:
        """The tensor of the graph around that an argument stands for."""
        return self._captured.get(tensor)

    def _copied_constant(self, tensor: Tensor) -> Tensor:
        with scopes.entered(self, **_NO_SCOPES):
            name = self.unique_name(f"{tensor.op.name}/captured")
            return self.add_node(tensor.op.op_def, name, (), [tensor.dtype], dict(tensor.op.attrs), ()).outputs[0]

    def _is_inside(self, graph: Graph) -> bool:
        """Whether tensors of that graph may be captured: it is around this one."""
        outer = self._outer_graph
        if outer is not None and outer.runs_eagerly:
            return graph.runs_eagerly
        return graph is outer or (isinstance(outer, FuncGraph) and outer._gives(graph))

    def _gives(self, graph: Graph) -> bool:
        """Whether bodies in this graph may use tensors of that one."""
        return self._is_inside(graph)

    def _control_operation(self, item: object) -> Operation:
        element = item._as_graph_element() if hasattr(item, "_as_graph_element") else item
        op = element.op if isinstance(element, Tensor) else getattr(element, "op", element)
        if isinstance(op, Operation) and op.graph is not self and op.graph.leave is not None:
            return self._control_operation(op.graph.leave(op))
        if isinstance(op, Operation) and op.graph is not self and self._is_inside(op.graph):
            self._wait_outside(op)
            return op
        return super()._control_operation(item)

    def _wait_outside(self, op: Operation) -> None:
        """Let the node that runs this body wait for a node of a graph around it."""
        if op.graph is self.outer_graph:
            self.outer_control_inputs[op] = None
        else:
            self.outer_graph._wait_outside(op)  # type: ignore[attr-defined]

    @contextlib.contextmanager
    def control_dependencies(self, control_inputs: Iterable[object] | None) -> Iterator[None]:
        """Make nodes of the block wait; for nodes of a graph around it, the whole body waits."""
        if control_inputs is not None:
            found = [self._control_operation(item) for item in control_inputs]
            # An argument has its value before the body begins, and is no node that runs.
            control_inputs = [op for op in found if op.graph is self and op.op_def.role is not Role.ARGUMENT]
        with super().control_dependencies(control_inputs):
            yield

    def add_node(
        self,
        definition: OpDef,
        name: str,
        inputs: Sequence[Tensor],
        output_types: Sequence[DType],
        attrs: dict[str, Any],
        control_inputs: Sequence[Operation] | None = None,
    ) -> Operation:
        """Add a node; see Graph.add_node. Tensors of graphs around this one are captured."""
        if any(tensor.op.graph is not self for tensor in inputs):
            inputs = [self.capture(tensor) for tensor in inputs]
        return super().add_node(definition, name, inputs, output_types, attrs, control_inputs)

    def output(self, tensor: Tensor) -> Tensor:
        """A tensor of this graph with the value of `tensor`, fit to be returned: a node's output, captured when need be."""
        inner = self.capture(tensor)
        if not inner.dtype.is_ref and tensor.op.graph is self and inner.op.op_def.role is not Role.ARGUMENT:
            return inner
        dtype = inner.dtype.base_dtype
        with self.node_count.as_many_as(0):
            return graph_def.create_op_from_parts(self, "Identity", [inner], [dtype], "output", {"T": dtype}).outputs[0]

    def check_not_finalized(self, change: str = "") -> None:
        if self._finalized:
            raise ValueError(
                f"Cannot add a node to {self.name!r}: a tensor that was made inside of this branch or loop body is used "
                "outside of it. Return the tensor from the branch or loop to use its value outside."
            )

    def note_growth(self, name: str) -> None:
        """Tell the graph around it that the nodes which run this body have changed."""
        super().note_growth(name)
        if self._outer_graph is not None:
            self._outer_graph.note_growth(self.name)

    def to_function_def(self) -> Any:
        """The serial form."""
        return function_def.to_function_def(self)


def settle_references(functions: Sequence[FuncGraph], reads_inside: bool = False) -> None:
    """Let a variable that none of a node's bodies updates come in as its value, in all of them alike.

    Args:
        functions: the bodies.
        reads_inside: leave references that bodies read themselves: a branch that is not chosen asks for no value.
    """
    for arguments in zip(*(function.inputs for function in functions), strict=True):
        if any(tensor.dtype.is_ref and is_updated(tensor) for tensor in arguments):
            continue
        if not (reads_inside and arguments[0].dtype.is_ref and all(map(_is_only_read, arguments))):
            for tensor in arguments:
                tensor.dtype = tensor.dtype.base_dtype


def _is_only_read(argument: Tensor) -> bool:
    return all(op.op_def.role is Role.ALIAS for op in argument.consumers())


def wrong_context(tensor: Tensor) -> ValueError:
    """The error for using a tensor outside of the branch or loop that makes it."""
    graph = tensor.op.graph
    if isinstance(graph, FuncGraph):
        return ValueError(
            f"Cannot use {tensor.op.name!r} here because {tensor.op.name!r} is inside of a branch or loop body ({graph.name}). "
            "Return the tensor from the branch or loop to use its value outside."
        )
    return ValueError(f"Tensor {tensor} must be from the same graph as the graph that is being built.")


def handle_attrs(tensor: Tensor) -> dict[str, Any]:
    """Attributes that describe the variable behind a reference or a handle, for the argument that stands for it."""
    if tensor.dtype is not resource and not tensor.dtype.is_ref:
        return {}
    attrs = tensor.op.attrs
    if tensor.op.op_def.role is Role.ARGUMENT:
        return {key: attrs[key] for key in ("_variable", "_handle_shape", "_handle_dtype") if key in attrs}
    known: dict[str, Any] = {"_variable": tensor.op.name}
    if tensor.dtype is resource and "shape" in attrs and "dtype" in attrs:
        known.update(_handle_shape=attrs["shape"], _handle_dtype=attrs["dtype"])
    return known


def is_updated(argument: Tensor) -> bool:
    """Whether a node of a body needs the variable itself behind a reference argument."""
    for op in argument.consumers():
        for position, needs_reference in enumerate(_reference_inputs(op)):
            if needs_reference and op.inputs[position] is argument:
                return True
    return False


def _reference_inputs(op: Operation) -> list[bool]:
    if op.op_def.bodies:
        return [t.dtype.is_ref for t in input_arguments(op)]
    from_def: list[bool] = []
    for arg in op.op_def.inputs:
        count = op.attrs[arg.number_attr] if arg.number_attr else len(op.attrs[arg.type_list_attr]) if arg.type_list_attr else 1
        from_def.extend([arg.is_ref] * count)
    return from_def


def bodies_of(op: Operation) -> list[FuncGraph]:
    """The functions that an If or While node runs, in the order of its OpDef's `bodies`."""
    return [op.graph.get_function(op.attrs[name]) for name in op.op_def.bodies]


def is_invariant(function: FuncGraph, index: int) -> bool:
    """Whether a loop's body hands its argument of that index on as it came."""
    return function.outputs[index] is function.inputs[index]


def first_argument(op: Operation) -> int:
    """The number of the node's inputs before those that its bodies take: 1 for an If, whose predicate comes first."""
    return len(op.op_def.inputs) - 1


def input_arguments(op: Operation) -> list[Tensor]:
    """For each input of an If or While node the argument that says how its bodies want it: by reference or by value."""
    functions = bodies_of(op)
    head = first_argument(op)
    result = list(op.inputs[:head])
    for arguments in zip(*(f.inputs for f in functions), strict=True):
        result.append(next((a for a in arguments if a.dtype.is_ref), arguments[0]))
    return result
