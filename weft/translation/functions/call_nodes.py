"""The nodes of a trace in the place of a call of it."""

from __future__ import annotations

from collections.abc import Sequence

from weft.framework.context import scopes
from weft.framework.graphs.func_graph import FuncGraph, bodies_of
from weft.framework.graphs.graph import Graph
from weft.framework.importing.importer import add_shapes
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.serial.function_def import functions_of
from weft.framework.serial.node_order import inputs_first
from weft.framework.types.attr_value import FunctionName
from weft.ops.control_flow.nodes import function_name


def add_call(graph: Graph, trace: FuncGraph, inputs: Sequence[Tensor]) -> Operation:
    """Copy a trace's nodes into a graph, behind one that returns what the trace does once all its effects are there.

    Args:
        graph: the default graph, whose open scopes count.
        trace: a finished function.
        inputs: tensors of the graph, one for each argument of the trace.

    Returns:
        The node that returns the results: an IdentityN, or a NoOp where there are none.
    """
    name = graph.unique_name("StatefulPartitionedCall" if trace.control_outputs else "PartitionedCall")
    copies = _Copies(graph, dict(zip(trace.inputs, inputs, strict=True)))
    with graph.name_scope(None), graph.node_count.as_many_as(0):
        for op in _in_order(trace):
            copies.add(op, graph.unique_name(f"{name}/{op.name}"))
    results = [copies.tensors[each] for each in trace.outputs]
    types = [each.dtype.base_dtype for each in results]
    with graph.control_dependencies([copies.ops[each] for each in trace.control_outputs]):
        made = graph.create_op("IdentityN" if results else "NoOp", results, types, name=f"{name}/", attrs={"T": types})
    return made


def _in_order(function: FuncGraph) -> list[Operation]:
    arguments = {each.op for each in function.inputs}
    ordered = inputs_first(function.get_operations(), lambda op: [*(each.op for each in op.inputs), *op.control_inputs])
    return [op for op in ordered if op not in arguments]


class _Copies:
    """Copies of a function's nodes in a graph.

    Args:
        graph: gets the copies.
        arguments: the tensors of the graph that stand for the function's arguments.
    """

    def __init__(self, graph: Graph, arguments: dict[Tensor, Tensor]) -> None:
        self._graph = graph
        self._groups: dict[str, str] = {}
        self.tensors = arguments
        self.ops: dict[Operation, Operation] = {}

    def __repr__(self) -> str:
        return f"<copies of {len(self.ops)} nodes>"

    def add(self, op: Operation, name: str) -> None:
        """Copy a node under this name; what it takes was copied before."""
        graph = self._graph
        inputs = [self.tensors[each] for each in op.inputs]
        waits = dict.fromkeys(self.ops[each] for each in op.control_inputs if each in self.ops)
        waits.update(dict.fromkeys(scopes.implied_control_inputs(scopes.current(graph).control, {each.op for each in inputs})))
        types = [each.dtype for each in op.outputs]
        made = graph.add_node(op.op_def, graph.settle_name(f"{name}/"), inputs, types, self._attrs(op), list(waits))
        # Failures are told of where the program built the node.
        made.built_from = op.built_from
        add_shapes(made, [each.dims for each in op.outputs])
        self._place(made, op.device)
        self._groups[f"loc:@{op.name}"] = f"loc:@{name}"
        self.ops[op] = made
        self.tensors.update(zip(op.outputs, made.outputs, strict=True))

    def _attrs(self, op: Operation) -> dict[str, object]:
        attrs = dict(op.attrs)
        if "_class" in attrs:
            attrs["_class"] = [self._groups.get(each, each) for each in attrs["_class"]]
        if op.op_def.calls:
            for function in functions_of([op], op.graph.functions):
                self._graph.add_function(function.name, function)
        for key, body in zip(op.op_def.bodies, bodies_of(op), strict=True):
            # Gradients give bodies further outputs, which another call must not see.
            attrs[key] = FunctionName(self._add_body(body), attrs[key].attrs)
        return attrs

    def _add_body(self, body: FuncGraph) -> str:
        made = FuncGraph(function_name(body.name, "of_call"), self._graph)
        for each in body.inputs:
            described = {key: value for key, value in each.op.attrs.items() if key not in ("T", "index", "_shape")}
            made.add_argument(each.op.name, each.dtype, each.dims, exact=True, **described)
        copies = _Copies(made, dict(zip(body.inputs, made.inputs, strict=True)))
        for op in _in_order(body):
            copies.add(op, op.name)
        made.outputs = [copies.tensors[each] for each in body.outputs]
        made.control_outputs = [copies.ops[each] for each in body.control_outputs]
        self._graph.add_function(made.name, made)
        made.finalize()
        return made.name

    def _place(self, made: Operation, device: str) -> None:
        """Put a copy on the device of its node, as far as open scopes leave it, or to what it is colocated with."""
        if device:
            made.place(device)
            scopes.apply_device_functions(scopes.current(self._graph).devices, made)
        for group in made.attrs.get("_class", ()):
            other = self._graph.operations.get(group.removeprefix("loc:@"))
            if other is not None and other is not made:
                made.place(other.device)
                break
